// @tags http
import './on-fastify.js';
import '../features/after-commit-failures.spec.js';
