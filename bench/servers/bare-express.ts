import { BareApp } from './bare-app.js';
import { BegunAdapter } from './begun-adapter.js';
import { serve } from './serve.js';
import { startNest } from './start-nest.js';

await serve(() => startNest(BareApp, new BegunAdapter()));
