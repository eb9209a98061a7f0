// @tags http
import './on-fastify.js';
import '../features/every-option.spec.js';
