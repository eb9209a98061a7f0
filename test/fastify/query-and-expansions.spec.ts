// @tags http
import './on-fastify.js';
import '../security/query-and-expansions.spec.js';
