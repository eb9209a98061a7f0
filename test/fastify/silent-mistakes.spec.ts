// @tags http nest
import './on-fastify.js';
import '../boot/silent-mistakes.spec.js';
