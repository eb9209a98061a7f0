import { VersioningType } from '@nestjs/common';
import type { ApplicationConfig, ModuleRef } from '@nestjs/core';

/** Nest's private configuration of the application; undefined if it has another structure. */
export function applicationConfigOf(moduleRef: ModuleRef): ApplicationConfig | undefined {
  return (moduleRef as unknown as Holder).container?.applicationConfig;
}

/** Nest's private configuration of global enhancers. If it has another structure, every request goes through Nest's handlers. */
interface Holder {
  readonly container?: { readonly applicationConfig?: ApplicationConfig };
}

/** The lists of enhancers that affect generated handlers. Pipes do not, because their parameters are request and response; filters do not, because they throw nothing. */
const AROUND = [
  'getGlobalGuards',
  'getGlobalRequestGuards',
  'getGlobalInterceptors',
  'getGlobalRequestInterceptors',
] as const;

/** Not in NestJS 11. */
const HOOKS = 'getGlobalPreRequestHooks';

/**
 * Whether an application has global guards, interceptors, or versions that Nest's handlers select. Evaluated with the first
 * request: Nest reads them when it registers its routes, and later changes have no effect.
 */
export function globalEnhancers(moduleRef: ModuleRef): () => boolean {
  let decided: boolean | undefined;
  return () => (decided ??= isEnhanced(applicationConfigOf(moduleRef)));
}

function isEnhanced(config: ApplicationConfig | undefined): boolean {
  if (!config || AROUND.some((list) => typeof config[list] !== 'function' || config[list]().length > 0))
    return true;
  const hooks = (config as Partial<Record<typeof HOOKS, () => readonly unknown[]>>)[HOOKS];
  if (hooks && hooks.call(config).length > 0) return true;
  const versioning = config.getVersioning();
  return versioning !== undefined && versioning.type !== VersioningType.URI;
}
