// @tags http
import './on-fastify.js';
import '../features/guards-throttle-urls.spec.js';
