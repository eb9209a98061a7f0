// @tags http
import './on-fastify.js';
import '../features/body-bytes.spec.js';
