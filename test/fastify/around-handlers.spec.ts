// @tags http
import './on-fastify.js';
import '../features/around-handlers.spec.js';
