// @tags http nest
import './on-fastify.js';
import '../features/wrapped-handlers.spec.js';
