// @tags http
import './on-fastify.js';
import '../features/expansion.spec.js';
