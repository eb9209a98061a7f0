// @tags http
import './on-fastify.js';
import '../features/descriptions.spec.js';
