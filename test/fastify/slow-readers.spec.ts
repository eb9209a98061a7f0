// @tags http
import './on-fastify.js';
import '../faults/slow-readers.spec.js';
