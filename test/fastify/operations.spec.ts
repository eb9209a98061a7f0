// @tags http
import './on-fastify.js';
import '../features/operations.spec.js';
