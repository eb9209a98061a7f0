import { mapMaybe } from '../../core/maybe-promise.js';
import type { Resource } from '../../core/schema/resource.js';
import type { RestContext, Stage } from '../../request/rest-context.js';
import type { HttpExchange } from '../../request/http-exchange.js';
import type { Authenticator } from './authenticator.js';

/** Finds the caller by the model's schemes. Throws 401, 403 for a cross-site write, 429 and 503. */
export function authenticate(resource: Resource, authenticator: Authenticator): Stage {
  if (resource.guarded) return authenticateByGuards(resource, authenticator);
  return (context) =>
    mapMaybe(
      authenticator.authenticate({ exchange: requireExchange(context) }, resource.schemes),
      (actor) => {
        context.actor = actor;
      },
    );
}

/**
 * An error of a guard other than 401 is deferred to `throwGuardError`: it may depend on an object, and permissions are
 * checked first.
 */
function authenticateByGuards(resource: Resource, authenticator: Authenticator): Stage {
  return (context) =>
    mapMaybe(
      authenticator.identify(
        { exchange: requireExchange(context), context: context.nestContext },
        resource.schemes,
      ),
      ({ actor, refusal }) => {
        context.actor = actor;
        context.guardError = refusal;
      },
    );
}

export const throwGuardError: Stage = ({ guardError }) => {
  if (guardError !== undefined) throw guardError;
};

function requireExchange({ exchange }: RestContext): HttpExchange {
  if (!exchange) throw new Error('Only requests over HTTP are authenticated.');
  return exchange;
}
