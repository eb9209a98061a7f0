// @tags http
import './on-fastify.js';
import '../browser/usability.spec.js';
