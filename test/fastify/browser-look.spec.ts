// @tags http
import './on-fastify.js';
import '../browser/look.spec.js';
