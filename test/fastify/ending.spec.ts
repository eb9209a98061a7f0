import './on-fastify.js';
import '../faults/ending.spec.js';
