import { HandwrittenApp, configure } from './handwritten-app.js';
import { serve } from './serve.js';
import { startNest } from './start-nest.js';

await serve(() => startNest(HandwrittenApp, 'express', configure));
