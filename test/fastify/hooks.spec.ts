// @tags http
import './on-fastify.js';
import '../features/hooks.spec.js';
