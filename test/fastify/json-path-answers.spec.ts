// @tags http
import './on-fastify.js';
import '../features/json-path-answers.spec.js';
