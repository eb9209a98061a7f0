// @tags http
import './on-fastify.js';
import '../features/renderers.spec.js';
