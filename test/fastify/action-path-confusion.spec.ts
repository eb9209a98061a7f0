// @tags http
import './on-fastify.js';
import '../regression/action-path-confusion.spec.js';
