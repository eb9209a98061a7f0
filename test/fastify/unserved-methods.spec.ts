// @tags http nest
import './on-fastify.js';
import '../features/unserved-methods.spec.js';
