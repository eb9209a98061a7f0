// @tags http nest
import './on-fastify.js';
import '../features/long-bulk-writes.spec.js';
