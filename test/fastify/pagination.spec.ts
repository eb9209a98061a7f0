// @tags http
import './on-fastify.js';
import '../features/pagination.spec.js';
