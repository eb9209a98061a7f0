// @tags http
import './on-fastify.js';
import '../features/ranked-search.spec.js';
