// @tags http nest
import './on-fastify.js';
import '../features/overrides.spec.js';
