// @tags http nest
import './on-fastify.js';
import '../features/substitute-responses.spec.js';
