// @tags http
import './on-fastify.js';
import '../browser/safety.spec.js';
