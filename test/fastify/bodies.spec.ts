// @tags http
import './on-fastify.js';
import '../features/bodies.spec.js';
