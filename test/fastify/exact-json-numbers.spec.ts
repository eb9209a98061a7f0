// @tags http
import './on-fastify.js';
import '../features/exact-json-numbers.spec.js';
