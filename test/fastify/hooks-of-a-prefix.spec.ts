// @tags http
import './on-fastify.js';
import '../features/hooks-of-a-prefix.spec.js';
