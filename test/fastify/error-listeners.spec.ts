// @tags http nest
import './on-fastify.js';
import '../features/error-listeners.spec.js';
