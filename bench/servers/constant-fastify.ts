import { ConstantApp } from './constant-app.js';
import { serve } from './serve.js';
import { startNest } from './start-nest.js';

await serve(() => startNest(ConstantApp, 'fastify'));
