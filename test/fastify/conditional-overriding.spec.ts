// @tags http
import './on-fastify.js';
import '../features/conditional-overriding.spec.js';
