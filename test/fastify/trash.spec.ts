// @tags http
import './on-fastify.js';
import '../features/trash.spec.js';
