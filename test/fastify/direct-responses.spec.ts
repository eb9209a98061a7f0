// @tags http
import './on-fastify.js';
import '../regression/direct-responses.spec.js';
