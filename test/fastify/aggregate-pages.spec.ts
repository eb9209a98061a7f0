// @tags http
import './on-fastify.js';
import '../features/aggregate-pages.spec.js';
