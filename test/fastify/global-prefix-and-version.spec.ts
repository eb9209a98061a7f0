// @tags http
import './on-fastify.js';
import '../features/global-prefix-and-version.spec.js';
