import { FastifyAdapter } from '@nestjs/platform-fastify';
import { ContractApp } from './contract-app.js';
import { serve } from './serve.js';
import { startNest } from './start-nest.js';

await serve(() =>
  startNest(ContractApp, new FastifyAdapter({ routerOptions: { ignoreTrailingSlash: true } })),
);
