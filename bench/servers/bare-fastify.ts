import { BareApp } from './bare-app.js';
import { serve } from './serve.js';
import { startNest } from './start-nest.js';

await serve(() => startNest(BareApp, 'fastify'));
