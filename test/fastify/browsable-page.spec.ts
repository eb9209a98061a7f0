// @tags http
import './on-fastify.js';
import '../features/browsable-page.spec.js';
