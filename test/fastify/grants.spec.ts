// @tags http
import './on-fastify.js';
import '../features/grants.spec.js';
