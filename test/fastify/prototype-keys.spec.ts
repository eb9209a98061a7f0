// @tags http nest
import './on-fastify.js';
import '../features/prototype-keys.spec.js';
