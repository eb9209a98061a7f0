// @tags http nest
import './on-fastify.js';
import '../features/paths-and-index.spec.js';
