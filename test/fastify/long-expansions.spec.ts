// @tags http
import './on-fastify.js';
import '../features/long-expansions.spec.js';
