// @tags http
import './on-fastify.js';
import '../features/responses-after-commit.spec.js';
