// @tags http
import './on-fastify.js';
import '../security/cross-site-writes.spec.js';
