// @tags http
import './on-fastify.js';
import '../browser/session.spec.js';
