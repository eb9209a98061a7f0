import { VersioningType, VERSION_NEUTRAL } from '@nestjs/common';
import type { VersioningOptions } from '@nestjs/common';
import type { ApplicationConfig, ModuleRef } from '@nestjs/core';
import type { VersionSelection } from '../http/browsable/browsable-page.js';

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

const GUARDS = ['getGlobalGuards', 'getGlobalRequestGuards'] as const;

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
  if (hasHooks(config)) return true;
  const versioning = config.getVersioning();
  return versioning !== undefined && versioning.type !== VersioningType.URI;
}

function hasHooks(config: ApplicationConfig): boolean {
  const hooks = (config as Partial<Record<typeof HOOKS, () => readonly unknown[]>>)[HOOKS];
  return hooks !== undefined && hooks.call(config).length > 0;
}

/** Whether something global may set the user of a request; true if the configuration has another structure. */
export function mayAuthenticate(config: ApplicationConfig | undefined): boolean {
  if (!config || GUARDS.some((list) => typeof config[list] !== 'function' || config[list]().length > 0))
    return true;
  return hasHooks(config);
}

const NO_VERSION: VersionSelection = { headers: {} };

/** Selects the application's default version, where requests carry the version in a header: a navigation has none. */
export function selectDefaultVersion(moduleRef: ModuleRef): () => VersionSelection {
  let selected: VersionSelection | undefined;
  return () => {
    const versioning = applicationConfigOf(moduleRef)?.getVersioning();
    return (selected ??= versioning ? selectVersion(versioning) : NO_VERSION);
  };
}

function selectVersion(versioning: VersioningOptions): VersionSelection {
  const given = versioning.defaultVersion;
  const version = Array.isArray(given) ? given.find((each) => each !== VERSION_NEUTRAL) : given;
  if (typeof version !== 'string') return NO_VERSION;
  switch (versioning.type) {
    case VersioningType.HEADER:
      return { headers: { [versioning.header]: version } };
    case VersioningType.MEDIA_TYPE:
      return { headers: {}, acceptParameter: `${versioning.key}${version}` };
    // The version is in the path, or the application has to name its own headers.
    case VersioningType.URI:
    case VersioningType.CUSTOM:
      return NO_VERSION;
    default:
      return versioning satisfies never;
  }
}
