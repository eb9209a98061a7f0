// @tags http
import './on-fastify.js';
import '../features/problem-errors.spec.js';
