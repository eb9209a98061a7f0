// @tags http
import './on-fastify.js';
import '../features/restore.spec.js';
