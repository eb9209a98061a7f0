// @tags http nest
import './on-fastify.js';
import '../features/failing-answers.spec.js';
