// @tags http
import './on-fastify.js';
import '../features/simultaneous-callers.spec.js';
