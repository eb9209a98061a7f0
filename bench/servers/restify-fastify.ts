import { RestifyApp } from './restify-app.js';
import { serve } from './serve.js';
import { startNest } from './start-nest.js';

await serve(() => startNest(RestifyApp, 'fastify'));
