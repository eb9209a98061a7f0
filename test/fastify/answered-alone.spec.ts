// @tags http
import './on-fastify.js';
import '../regression/answered-alone.spec.js';
