// @tags http
import './on-fastify.js';
import '../features/desk-permissions.spec.js';
