// @tags http
import './on-fastify.js';
import '../features/merge-patch.spec.js';
