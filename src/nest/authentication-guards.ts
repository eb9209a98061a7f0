import type { CanActivate, ExecutionContext } from '@nestjs/common';
import { isObservable, lastValueFrom } from 'rxjs';
import { loadSchemes } from '../adapters/passport/load-passport.js';
import type { CredentialAuthentication } from '../adapters/passport/load-passport.js';
import { validSchemes } from '../compiler/rules/unfit-scheme.js';
import type { Authentication, Credentials } from '../core/contracts/authentication.js';
import type { GuardClass, GuardLike, RunGuard } from '../core/contracts/enhancers.js';
import type { Resource } from '../core/schema/resource.js';
import type { InjectableClass, RestifyOptions } from '../decorators/model-options.js';
import { guardScheme, guardsScheme } from '../features/authentication/guard-scheme.js';

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
  got: <Instance>(type: InjectableClass<Instance>) => Instance,
): Promise<(options: AuthenticationOptions) => AuthenticationParts> {
  const declared = new Set(given.flatMap(({ authentication }) => validSchemes(authentication)));
  const schemes = new Map(await loadSchemes([...declared].flatMap(exceptGuards)));
  for (const each of declared) {
    const named = guardOf(each);
    if (named) schemes.set(each, guardScheme(runGuard(got(named.guard)), named.credentials));
  }
  return ({ authentication, guards = [] }) => {
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

/** Runs a guard as Nest does: the last value of an Observable is the result. */
export function runGuard(guard: GuardLike): RunGuard {
  const nests = guard as CanActivate;
  return (context) => {
    const answer = nests.canActivate(context as ExecutionContext);
    return isObservable(answer) ? lastValueFrom(answer) : answer;
  };
}
