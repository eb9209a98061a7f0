import type { ErrorContext } from '../core/contracts/error-listener.js';
import type { Actor } from '../core/schema/actor.js';
import { servedMethod } from '../core/schema/operation.js';
import { getRoutePattern } from './route-pattern.js';
import type { RequestState } from './request-authorizer.js';

/** The request of an error; the state is undefined in calls without HTTP. */
interface FailedRequest {
  readonly method: string;
  readonly request: object | undefined;
  readonly state: RequestState | undefined;
  /** The caller, where the state does not know one yet. */
  readonly actor?: Actor;
  readonly status?: number | undefined;
}

/** Describes a request for logs and error listeners. */
export function describeRequest({
  method,
  request,
  state,
  actor = null,
  status,
}: FailedRequest): ErrorContext {
  const { location, path, context } = state ?? {};
  const route = location?.kind === 'route' ? location.match.route : undefined;
  const served = servedMethod(method);
  return {
    status,
    method,
    path,
    route: location?.kind === 'route' && route ? `${location.base}/${getRoutePattern('', route)}` : undefined,
    model: route?.resource.id,
    operation: route?.actions.get(served)?.handler ?? route?.operations.get(served),
    actor: context?.actor ?? actor,
    requestId: request && findRequestId(request),
    request,
  };
}

/** The used part of the request of Express, and of Fastify. */
interface IdentifiedRequest {
  readonly id?: unknown;
  readonly headers?: Readonly<Record<string, string | readonly string[] | undefined>>;
}

function findRequestId({ id, headers }: IdentifiedRequest): string | undefined {
  if (typeof id === 'string' || typeof id === 'number') return String(id);
  const header = headers?.['x-request-id'];
  return typeof header === 'string' ? header : undefined;
}
