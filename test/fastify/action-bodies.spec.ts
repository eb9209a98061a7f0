// @tags http nest
import './on-fastify.js';
import '../features/action-bodies.spec.js';
