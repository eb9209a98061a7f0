// @tags http
import './on-fastify.js';
import '../browser/lists.spec.js';
