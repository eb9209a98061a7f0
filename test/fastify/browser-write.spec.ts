// @tags http
import './on-fastify.js';
import '../browser/write.spec.js';
