// @tags http
import './on-fastify.js';
import '../features/chosen-fields.spec.js';
