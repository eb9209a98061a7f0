import { PermissionDenied } from '../../core/errors/http-exceptions.js';
import type {
  AuthenticationScheme,
  Credentials,
  LibraryRequest,
  SchemeOutcome,
} from '../../core/contracts/authentication.js';
import type { Actor } from '../../core/schema/caller.js';
import type { RunGuard } from '../../core/contracts/enhancers.js';
import { isPromise, mapMaybe } from '../../core/maybe-promise.js';
import type { MaybePromise } from '../../core/maybe-promise.js';
import {
  parseBasicCredentials,
  challengeFor,
  isBasic,
  isPresented,
  credentialsSource,
  wrongCredentialsMessage,
} from './credentials.js';
import { statusOfError } from './run-scheme.js';

interface GuardRequest extends LibraryRequest {
  user?: unknown;
}

const BASIC: Credentials = { scheme: 'Basic' };
const BEARER: Credentials = { scheme: 'Bearer' };

/** A scheme that authenticates by one guard: if it does not, the next scheme is tried. */
export function guardScheme(run: RunGuard, credentials: Credentials | undefined): AuthenticationScheme {
  return {
    ...placed(credentials),
    guards: 'one',
    authenticate: (request: GuardRequest, context) => {
      const before = request.user;
      return mapMaybe(runGuards([run], { request, context, credentials }), (outcome) => {
        // An actor set by a guard that did not authenticate the caller must not leak into the next scheme.
        if (outcome.kind !== 'actor' && request.user !== before) request.user = before;
        return outcome;
      });
    },
  };
}

/** The guards of a model as one scheme, which replaces its authentication: all of them run, in order. */
export function guardsScheme(runs: readonly RunGuard[]): AuthenticationScheme {
  return {
    ...placed(undefined),
    guards: 'all',
    authenticate: (request, context) => runGuards(runs, { request, context, credentials: undefined }),
  };
}

/** The actor of a request. */
export function actorOn({ user }: GuardRequest): Actor {
  return typeof user === 'object' ? user : null;
}

type Placed = Pick<AuthenticationScheme, 'name' | 'challenge' | 'rejection' | 'presented'>;

/** A guard that does not declare where its credentials are is assumed to read the Authorization header. */
function placed(credentials: Credentials | undefined): Placed {
  return {
    name: credentials && credentialsSource(credentials),
    challenge: credentials && challengeFor(credentials),
    rejection: (request) =>
      wrongCredentialsMessage(credentials ?? (isPresented(request, BASIC) ? BASIC : BEARER)),
    presented: (request) => {
      if (!hasCredentials(request, credentials)) return undefined;
      const named = credentials === undefined || isBasic(credentials);
      return {
        username: named ? parseBasicCredentials(request.headers.authorization)?.username : undefined,
      };
    },
  };
}

function hasCredentials(request: LibraryRequest, credentials: Credentials | undefined): boolean {
  return credentials ? isPresented(request, credentials) : request.headers.authorization !== undefined;
}

interface GuardedRequest {
  readonly request: GuardRequest;
  readonly context: unknown;
  readonly credentials: Credentials | undefined;
}

/**
 * Runs guards in order until one denies access. Throws or rejects if a guard fails otherwise than with an error of HTTP.
 */
function runGuards(
  runs: readonly RunGuard[],
  guarded: GuardedRequest,
  from = 0,
): MaybePromise<SchemeOutcome> {
  const { request, context } = guarded;
  const run = runs[from];
  if (!run) {
    const actor = actorOn(request);
    return actor === null ? { kind: 'none' } : { kind: 'actor', actor };
  }
  const next = (isAdmitted: boolean): MaybePromise<SchemeOutcome> =>
    isAdmitted
      ? runGuards(runs, guarded, from + 1)
      : { kind: 'refused', actor: actorOn(request), error: new PermissionDenied() };
  let isAllowed: MaybePromise<boolean>;
  try {
    isAllowed = run(context);
  } catch (error) {
    return outcomeOfError(error, guarded);
  }
  return isPromise(isAllowed)
    ? Promise.resolve(isAllowed).then(next, (error: unknown) => outcomeOfError(error, guarded))
    : next(isAllowed);
}

/** Throws an error that is none of HTTP. */
function outcomeOfError(error: unknown, { request, credentials }: GuardedRequest): SchemeOutcome {
  const status = statusOfError(error);
  if (status === undefined || !(error instanceof Error)) throw error;
  if (status === 401) return { kind: hasCredentials(request, credentials) ? 'wrong' : 'unknown' };
  return { kind: 'refused', actor: actorOn(request), error };
}
