// @tags http
import './on-fastify.js';
import '../features/long-lists.spec.js';
