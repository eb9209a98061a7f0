// @tags http
import './on-fastify.js';
import '../features/search-over-lists.spec.js';
