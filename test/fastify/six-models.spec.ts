// @tags http
import './on-fastify.js';
import '../features/six-models.spec.js';
