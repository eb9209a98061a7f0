import { BegunAdapter } from './begun-adapter.js';
import { ContractApp } from './contract-app.js';
import { serve } from './serve.js';
import { startNest } from './start-nest.js';

await serve(() => startNest(ContractApp, new BegunAdapter()));
