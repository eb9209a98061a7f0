import { ModulesContainer } from '@nestjs/core';
import type { ModuleRef } from '@nestjs/core';
import { strategyWarnings } from '../adapters/passport/load-passport.js';
import type { RestServer } from '../http/rest-server.js';
import { applicationConfigOf, mayAuthenticate } from './application-config.js';
import { describeMissingIndex, mergeMissingIndexes } from '../core/contracts/missing-index.js';

interface Surroundings {
  readonly moduleRef: ModuleRef;
  /** Whether the HTTP library has middleware of the application. */
  readonly hasMiddleware: boolean;
}

/** Logs mistakes that are certain when the server listens: before, the application may add guards, middleware and strategies. */
export async function warnOfUnusable(
  server: RestServer,
  { moduleRef, hasMiddleware }: Surroundings,
): Promise<void> {
  const config = applicationConfigOf(moduleRef);
  const modules = moduleRef.get(ModulesContainer, { strict: false });
  const setsActors =
    hasMiddleware ||
    mayAuthenticate(config) ||
    [...modules.values()].some(({ middlewares }) => middlewares.size > 0);
  const { prefixes } = server;
  if (!setsActors)
    for (const text of prefixes.flatMap((prefix) => prefix.findUnauthenticated())) server.log.warn(text);
  const resources = prefixes.flatMap(({ api }) => api.routes.map(({ resource }) => resource));
  const guards = resources.flatMap((resource) => [...resource.guards, ...resource.lateGuards]);
  const namesStrategies = resources.some(({ schemes }) => schemes.some(({ problem }) => problem));
  for (const text of await strategyWarnings(
    [...guards, ...(config?.getGlobalGuards() ?? [])],
    namesStrategies,
  ))
    server.log.warn(text);
}

/**
 * Logs once which indexes large tables lack, without delaying the start. Nothing is logged if the catalogue of the database cannot
 * be read, or the application closes in the meantime.
 */
export async function warnOfMissingIndexes(server: RestServer): Promise<void> {
  const found = await Promise.all(
    server.prefixes.map(({ missingIndexRows, findMissingIndexes }) =>
      missingIndexRows === undefined
        ? Promise.resolve([])
        : findMissingIndexes(missingIndexRows).catch(() => []),
    ),
  );
  for (const index of mergeMissingIndexes(found.flat())) server.log.warn(describeMissingIndex(index));
}
