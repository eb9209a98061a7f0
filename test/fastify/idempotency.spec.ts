// @tags http
import './on-fastify.js';
import '../features/idempotency.spec.js';
