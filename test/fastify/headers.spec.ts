// @tags http nest
import './on-fastify.js';
import '../features/headers.spec.js';
