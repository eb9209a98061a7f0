// @tags http
import './on-fastify.js';
import '../features/query-method.spec.js';
