// @tags http
import './on-fastify.js';
import '../features/json-paths.spec.js';
