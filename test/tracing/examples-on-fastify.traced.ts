import '../fastify/on-fastify.js';
import './examples.traced.js';
