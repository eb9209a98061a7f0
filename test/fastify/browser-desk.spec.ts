// @tags http
import './on-fastify.js';
import '../browser/desk.spec.js';
