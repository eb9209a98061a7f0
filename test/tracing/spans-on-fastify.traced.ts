import '../fastify/on-fastify.js';
import './spans.traced.js';
