// @tags http
import './on-fastify.js';
import '../features/rendered-parents.spec.js';
