// @tags http
import './on-fastify.js';
import '../features/conditional-requests.spec.js';
