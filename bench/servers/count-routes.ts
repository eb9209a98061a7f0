import type { INestApplication } from '@nestjs/common';
import type { Platform } from './start-nest.js';

interface Layer {
  readonly route?: object;
  readonly handle?: { readonly stack?: readonly Layer[] };
}

/** How many routes Express has, one for all verbs counted once; 0 where it cannot be told (Fastify, and routes behind a look-up). */
export function countRoutes(app: INestApplication, platform: Platform): number {
  if (platform === 'fastify') return 0;
  const { router } = app.getHttpAdapter().getInstance() as { readonly router: { readonly stack: readonly Layer[] } };
  return countLayers(router.stack);
}

function countLayers(stack: readonly Layer[]): number {
  return stack.map(({ route, handle }) => (route ? 1 : countLayers(handle?.stack ?? []))).reduce((sum, each) => sum + each, 0);
}
