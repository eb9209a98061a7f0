// @tags http
import './on-fastify.js';
import '../features/refused-credentials.spec.js';
