// @tags http
import './on-fastify.js';
import '../features/through-objects.spec.js';
