import { CrossSiteWrite, NotAuthenticated, PermissionDenied } from '../../core/errors/http-exceptions.js';
import type { Requester } from '../../core/query/plan.js';
import type { AuthenticationScheme, LibraryRequest } from '../../core/contracts/authentication.js';
import { mapMaybe } from '../../core/maybe-promise.js';
import type { MaybePromise } from '../../core/maybe-promise.js';
import type { Actor } from '../../core/schema/caller.js';
import { callerKey } from '../../core/schema/caller.js';
import type { Resource } from '../../core/schema/resource.js';
import type { HttpExchange } from '../../request/http-exchange.js';
import type { RestContext, Stage } from '../../request/rest-context.js';
import { challengeOf } from './credentials.js';
import { isCrossSiteWrite, isSentByScript } from './cross-site-write.js';
import { statusOfError } from './run-scheme.js';
import { actorOn } from './guard-scheme.js';
import type { RefusedCredentials } from './refused-credentials.js';
import { tryCounted, trySchemes } from './try-schemes.js';
import type { AuthenticationRequest, Tried } from './try-schemes.js';

/** Finds the caller by the model's schemes. Throws 401, 403 for a cross-site write, 429 and 503. */
export function authenticate(resource: Resource, authenticator: Authenticator): Stage {
  if (resource.guarded) return authenticateByGuards(resource, authenticator);
  return (context) => {
    const exchange = requireExchange(context);
    return mapMaybe(authenticator.authenticate({ exchange }, resource.schemes), (actor) => {
      setCaller(context, exchange, actor);
    });
  };
}

/**
 * An error of a guard other than 401 is deferred to `throwGuardError`: it may depend on an object, and permissions are
 * checked first.
 */
function authenticateByGuards(resource: Resource, authenticator: Authenticator): Stage {
  return (context) => {
    const exchange = requireExchange(context);
    const request = { exchange, context: context.nestContext };
    return mapMaybe(authenticator.identify(request, resource.schemes), ({ actor, rejection }) => {
      setCaller(context, exchange, actor);
      context.guardError = rejection;
    });
  };
}

export const throwGuardError: Stage = ({ guardError }) => {
  if (guardError !== undefined) throw guardError;
};

function requireExchange({ exchange }: RestContext): HttpExchange {
  if (!exchange) throw new Error('Only requests over HTTP are authenticated.');
  return exchange;
}

function setCaller(context: RestContext, exchange: HttpExchange, actor: Actor): void {
  context.actor = actor;
  context.requester = new HttpRequester(exchange, actor);
}

/** The client of an HTTP request: identified by its actor, else by its address. */
class HttpRequester implements Requester {
  constructor(
    readonly call: Pick<HttpExchange, 'isAborted' | 'address' | 'method' | 'request'>,
    private readonly actor: Actor,
  ) {}

  isAborted(): boolean {
    return this.call.isAborted();
  }

  get caller(): string {
    return callerKey({ actor: this.actor, address: this.call.address });
  }
}

/** The authenticated caller, and the error of a guard that denies it nevertheless. */
export interface Identified {
  readonly actor: Actor;
  /** The scheme that authenticated it; undefined if the application did. */
  readonly scheme?: AuthenticationScheme;
  /** Thrown after the permissions have been evaluated: their denial has precedence. */
  readonly rejection?: Error;
}

export interface AuthenticatorRules {
  /** Time limit in milliseconds for all credential checks of one request. */
  readonly timeout: number;
  /** Undefined if rejected credentials are not counted. */
  readonly refused: RefusedCredentials | undefined;
  /** Origins whose pages may send unsafe requests with the caller's cookies. */
  readonly trustedOrigins: ReadonlySet<string>;
}

/** Authenticates the requests of one prefix. */
export class Authenticator {
  constructor(private readonly rules: AuthenticatorRules) {}

  /**
   * Uses an actor that the application has already put on the request; otherwise tries the schemes in order until one
   * authenticates the caller. Throws 429 if too many credentials have been rejected, 401 for wrong credentials of a scheme
   * in use, on open endpoints too, 503 if a scheme fails or times out, and 403 for a cross-site write of a caller who is
   * known by cookies.
   */
  authenticate(asking: AuthenticationRequest, schemes: readonly AuthenticationScheme[]): MaybePromise<Actor> {
    const found = actorOn(asking.exchange.request);
    if (found) return mapMaybe(this.assertSameSite(asking, undefined), () => found);
    return schemes.length === 0 ? null : mapMaybe(this.identify(asking, schemes), ({ actor }) => actor);
  }

  /** As `authenticate`, for schemes that include guards. The guards of a model always run. */
  identify(
    asking: AuthenticationRequest,
    schemes: readonly AuthenticationScheme[],
  ): MaybePromise<Identified> {
    const found = actorOn(asking.exchange.request);
    const ends = performance.now() + this.rules.timeout;
    if (found && !schemes.some(({ guards }) => guards === 'all'))
      return mapMaybe(this.assertSameSite(asking, undefined), () => ({ actor: found }));
    // A caller authenticated by the application has presented no credentials here that could be guessed.
    const tried = found
      ? trySchemes(schemes, asking, ends)
      : tryCounted(schemes, asking, { ends, refused: this.rules.refused });
    return mapMaybe(tried, (outcome) => this.identifyBy(outcome, asking, schemes));
  }

  private identifyBy(
    tried: Tried,
    asking: AuthenticationRequest,
    schemes: readonly AuthenticationScheme[],
  ): MaybePromise<Identified> {
    const { request } = asking.exchange;
    switch (tried.kind) {
      case 'actor': {
        const { actor, scheme } = tried;
        return mapMaybe(this.assertSameSite(asking, scheme), () => {
          (request as { user?: unknown }).user = actor;
          return { actor, scheme };
        });
      }
      case 'wrong':
        throw new NotAuthenticated(challengeOf(schemes), rejectionOf(tried.scheme, request));
      case 'unknown':
        throw new NotAuthenticated(challengeOf(schemes));
      case 'refused':
        return { actor: tried.actor, rejection: toAuthenticationError(tried, schemes) };
      case 'none':
        return { actor: null };
      default:
        return tried satisfies never;
    }
  }

  /** Throws 403 for a cross-site write of a caller who is known by what the browser sends by itself. */
  private assertSameSite(
    { exchange }: AuthenticationRequest,
    scheme: AuthenticationScheme | undefined,
  ): MaybePromise<void> {
    const { trustedOrigins, timeout } = this.rules;
    if (!isCrossSiteWrite(exchange, trustedOrigins)) return;
    return mapMaybe(isSentByScript({ exchange, scheme, timeout }), (isScript) => {
      if (!isScript) throw new CrossSiteWrite();
    });
  }
}

function rejectionOf({ rejection }: AuthenticationScheme, request: LibraryRequest): string {
  return typeof rejection === 'string' ? rejection : rejection(request);
}

/**
 * A guard that returns false denies as permissions do: an anonymous caller gets 401 if a scheme has a challenge. Throws
 * server errors, which are independent of permissions.
 */
function toAuthenticationError(
  { actor, error }: Extract<Tried, { kind: 'refused' }>,
  schemes: readonly AuthenticationScheme[],
): Error {
  if ((statusOfError(error) ?? 500) >= 500) throw error;
  const challenge = challengeOf(schemes);
  const asks = actor === null && challenge !== undefined && error instanceof PermissionDenied;
  return asks ? new NotAuthenticated(challenge) : error;
}
