// @tags http
import './on-fastify.js';
import '../features/aggregates.spec.js';
