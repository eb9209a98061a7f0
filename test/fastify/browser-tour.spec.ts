// @tags http
import './on-fastify.js';
import '../browser/tour.spec.js';
