// @tags http
import './on-fastify.js';
import '../features/labels.spec.js';
