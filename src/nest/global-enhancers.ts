import { VersioningType } from '@nestjs/common';
import type { ApplicationConfig, ModuleRef } from '@nestjs/core';

/** Where Nest keeps what stands around all handlers; it tells nobody, and where it looks otherwise every request goes through its handlers. */
interface Holder {
  readonly container?: { readonly applicationConfig?: ApplicationConfig };
}

/** Lists of what stands around handlers. Pipes do not: a generated handler takes request and response alone. Neither do filters: nothing that it throws gets as far. */
const AROUND = [
  'getGlobalGuards',
  'getGlobalRequestGuards',
  'getGlobalInterceptors',
  'getGlobalRequestInterceptors',
] as const;

/** Not in NestJS 11. */
const HOOKS = 'getGlobalPreRequestHooks';

/**
 * Whether an application has global guards or interceptors, or versions that Nest's handlers tell apart. Decided when it is
 * first asked, with the first request: Nest reads them when it registers its routes, and what comes later has no effect.
 */
export function globalEnhancers(moduleRef: ModuleRef): () => boolean {
  let decided: boolean | undefined;
  return () => (decided ??= isEnhanced((moduleRef as unknown as Holder).container?.applicationConfig));
}

function isEnhanced(config: ApplicationConfig | undefined): boolean {
  if (!config || AROUND.some((list) => typeof config[list] !== 'function' || config[list]().length > 0))
    return true;
  const hooks = (config as Partial<Record<typeof HOOKS, () => readonly unknown[]>>)[HOOKS];
  if (hooks && hooks.call(config).length > 0) return true;
  const versioning = config.getVersioning();
  return versioning !== undefined && versioning.type !== VersioningType.URI;
}
