// @tags http
import './on-fastify.js';
import '../features/pagination-overriding.spec.js';
