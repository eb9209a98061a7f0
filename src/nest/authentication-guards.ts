import { loadSchemes } from '../adapters/passport/load-schemes.js';
import type { CredentialAuthentication } from '../adapters/passport/load-schemes.js';
import type { InjectableClass, RestifyOptions } from '../decorators/model-options.js';
import type { Authentication, Credentials } from '../core/contracts/authentication.js';
import type { GuardClass } from '../core/contracts/guard.js';
import { guardScheme, guardsScheme } from '../features/authentication/guard-scheme.js';
import type { Resource } from '../core/schema/resource.js';
import type { RestifyDefaults } from '../restify.options.js';
import { runGuard } from './run-guard.js';
import { validSchemes } from '../compiler/rules/unfit-scheme.js';

/** The authentication of a model: its schemes, its guards among them, and its guards after the permissions. */
export type AuthenticationParts = Pick<Resource, 'schemes' | 'guards' | 'lateGuards'>;

type AuthenticationOptions = Pick<RestifyOptions, 'authentication' | 'guards'>;

interface NamedGuard {
  readonly guard: GuardClass;
  readonly credentials: Credentials | undefined;
}

/** The guard classes in `authentication`. */
export function guardsOfAuthentication({ authentication }: AuthenticationOptions): readonly GuardClass[] {
  return validSchemes(authentication).flatMap((each) => guardOf(each)?.guard ?? []);
}

function guardOf(each: Authentication): NamedGuard | undefined {
  if (typeof each === 'function') return { guard: each, credentials: undefined };
  return typeof each === 'object' && each.kind === 'guard' ? each : undefined;
}

function exceptGuards(each: Authentication): readonly CredentialAuthentication[] {
  return typeof each === 'function' || (typeof each === 'object' && each.kind === 'guard') ? [] : [each];
}

/** Resolves `authentication` and `guards` of options to the instances of their classes. */
export async function resolveAuthentication(
  given: readonly AuthenticationOptions[],
  defaults: Pick<RestifyDefaults, 'authentication' | 'guards'>,
  got: <Instance>(type: InjectableClass<Instance>) => Instance,
): Promise<(options: AuthenticationOptions) => AuthenticationParts> {
  const declared = new Set(given.flatMap(({ authentication }) => validSchemes(authentication)));
  const schemes = new Map(await loadSchemes([...declared].flatMap(exceptGuards)));
  for (const each of declared) {
    const named = guardOf(each);
    if (named) schemes.set(each, guardScheme(runGuard(got(named.guard)), named.credentials));
  }
  return ({ authentication = defaults.authentication, guards = defaults.guards ?? [] }) => {
    const named = validSchemes(authentication).flatMap((each) => schemes.get(each) ?? []);
    const own = guards.map(got);
    if (named.length === 0)
      return {
        schemes: own.length > 0 ? [guardsScheme(own.map(runGuard))] : [],
        guards: own,
        lateGuards: [],
      };
    return {
      schemes: named,
      guards: [...guardsOfAuthentication({ authentication }).map(got), ...own],
      lateGuards: own,
    };
  };
}
