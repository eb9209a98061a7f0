// @tags http
import './on-fastify.js';
import '../features/strict-writes.spec.js';
