// @tags http
import './on-fastify.js';
import '../features/cursor-pagination.spec.js';
