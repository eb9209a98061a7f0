// @tags http
import './on-fastify.js';
import '../features/counts.spec.js';
