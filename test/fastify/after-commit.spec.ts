// @tags http
import './on-fastify.js';
import '../features/after-commit.spec.js';
