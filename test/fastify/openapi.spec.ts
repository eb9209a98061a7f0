// @tags http
import './on-fastify.js';
import '../openapi/own-routes.spec.js';
import '../openapi/schemas.spec.js';
