// @tags http
import './on-fastify.js';
import '../faults/held-loop.spec.js';
