// @tags http
import './on-fastify.js';
import '../faults/shutdown.spec.js';
