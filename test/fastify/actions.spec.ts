// @tags http nest
import './on-fastify.js';
import '../features/actions.spec.js';
