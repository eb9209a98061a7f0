// @tags http
import './on-fastify.js';
import '../features/expansion-queries.spec.js';
