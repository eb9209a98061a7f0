// @tags http
import './on-fastify.js';
import '../features/authentication.spec.js';
