// @tags http
import './on-fastify.js';
import '../features/bad-input.spec.js';
