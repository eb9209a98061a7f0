// @tags http
import './on-fastify.js';
import '../faults/ending.spec.js';
