// @tags http
import './on-fastify.js';
import '../features/nested-lists.spec.js';
