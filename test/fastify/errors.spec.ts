// @tags http
import './on-fastify.js';
import '../features/errors.spec.js';
