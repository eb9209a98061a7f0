// @tags http
import './on-fastify.js';
import '../features/trash-beside-features.spec.js';
