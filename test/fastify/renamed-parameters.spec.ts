// @tags http
import './on-fastify.js';
import '../features/renamed-parameters.spec.js';
