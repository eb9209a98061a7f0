import { MemoryApp } from './memory-app.js';
import { serve } from './serve.js';
import { startNest } from './start-nest.js';

await serve(() => startNest(MemoryApp, 'fastify'));
