// @tags http
import './on-fastify.js';
import '../features/guards-authenticate.spec.js';
