import { validateHeaderName, validateHeaderValue } from 'node:http';
import type { ErrorContext } from '../core/contracts/errors.js';
import { isPromise } from '../core/maybe-promise.js';
import type { MaybePromise } from '../core/maybe-promise.js';
import type { Actor } from '../core/schema/caller.js';
import { patchTypesOf, servedBy } from '../core/schema/route.js';
import { errorResponse } from '../request/response/error-response.js';
import type { ErrorOrigin, ErrorResponse } from '../request/response/error-response.js';
import { valueResponse } from '../request/response/rest-response.js';
import type { RestResponse } from '../request/response/rest-response.js';
import type { RegisteredApi } from './api-registration.js';
import { withoutDialog } from './browsable/serve-page.js';
import type { RequestStates, RequestState } from './request-authorizer.js';
import type { PathLocation, RouteMatcher } from './route-matcher.js';
import { getRoutePattern } from './route-pattern.js';
import type { ServerExchange } from './server-exchange.js';
import type { ServerLog } from './server-log.js';

const INDEX_ALLOW = 'GET, HEAD, OPTIONS';

/** Sends results and errors as responses. No method throws or rejects. */
export class ResponseSender {
  constructor(
    private readonly states: RequestStates,
    private readonly matcher: RouteMatcher,
    private readonly log: ServerLog,
  ) {}

  /** Sends the response that a function creates, or the error that it throws or rejects with. */
  sendResult(exchange: ServerExchange, create: () => MaybePromise<RestResponse>): MaybePromise<void> {
    try {
      const created = create();
      if (!isPromise(created)) return this.send(exchange, created);
      return created.then(
        (response) => this.send(exchange, response),
        (error: unknown) => this.sendError(exchange, error),
      );
    } catch (error) {
      return this.sendError(exchange, error);
    }
  }

  /** Sends an error in the error format of its prefix, and reports one that is not the client's. */
  sendError(exchange: ServerExchange, error: unknown, isBeforePipeline = false): MaybePromise<void> {
    const registeredApi = this.findApi(exchange);
    // The application's own queries can fail in the same way as those of this package.
    const { response, logged } = createErrorResponse(registeredApi ? registeredApi.mapError(error) : error, {
      format: registeredApi?.errorFormat ?? 'drf',
      isBeforePipeline,
    });
    const shown = withoutDialog(exchange, response, registeredApi?.page);
    const status = exchange.isResponseSent ? undefined : response.status;
    const sent = this.send(exchange, this.withAcceptPatch(exchange, shown));
    if (logged) this.reportError(exchange, error, status);
    return sent;
  }

  /** RFC 5789: the media types of a PATCH, where its own type is not among them. A method of the application may read others. */
  private withAcceptPatch(exchange: ServerExchange, response: RestResponse): RestResponse {
    if (response.status !== 415 || exchange.method !== 'PATCH') return response;
    const { location } = this.states.getState(exchange);
    if (location.kind !== 'route' || location.match.route.actions.has('PATCH')) return response;
    return {
      ...response,
      headers: { ...response.headers, 'Accept-Patch': patchTypesOf(location.match.route).join(', ') },
    };
  }

  /** A stream that fails has closed the connection, so its error can only be reported. */
  send(exchange: ServerExchange, response: RestResponse): MaybePromise<void> {
    const headerError = findHeaderError(response);
    if (headerError) return this.sendError(exchange, headerError);
    try {
      const sent = exchange.send(response, getAllowHeader(this.states.getState(exchange).location));
      if (isPromise(sent))
        return sent.catch((error: unknown) => {
          this.reportError(exchange, error);
        });
    } catch (error) {
      this.reportError(exchange, error);
    }
  }

  private reportError(exchange: ServerExchange, error: unknown, status?: number): void {
    const { method, request } = exchange;
    const state = this.states.getState(exchange);
    this.log.reportError(error, {
      context: describeRequest({ method, request, state, status }),
      listener: this.findApi(exchange)?.errorListener,
    });
  }

  /** The prefix of the path; the first one if the path belongs to several or to none. */
  private findApi(exchange: ServerExchange): RegisteredApi | undefined {
    const { location } = this.states.getState(exchange);
    if ('registeredApi' in location) return location.registeredApi;
    return (location.kind === 'index' ? location.prefixes : this.matcher.registeredApis)[0];
  }
}

/** The `Allow` header of the responses at a location. */
export function getAllowHeader(location: PathLocation): string {
  if (location.kind === 'route') return location.match.route.allow;
  return location.kind === 'index' ? INDEX_ALLOW : '';
}

/**
 * As `errorResponse`; if the application has thrown something that cannot be serialized, the response of an unexpected
 * error.
 */
function createErrorResponse(error: unknown, origin: ErrorOrigin): ErrorResponse {
  try {
    return errorResponse(error, origin);
  } catch (broken) {
    return errorResponse(broken, origin);
  }
}

/**
 * The reason why a response cannot be sent: an invalid header of the application. Checked before anything is written,
 * because afterwards no error response is possible, and the client would wait forever.
 */
function findHeaderError({ headers }: RestResponse): Error | undefined {
  if (!headers) return undefined;
  try {
    for (const [name, value] of Object.entries(headers)) {
      validateHeaderName(name);
      validateHeaderValue(name, value);
    }
    return undefined;
  } catch (error) {
    return error as Error;
  }
}

const RESOLVED = Promise.resolve();

function doNothing(): void {
  // A microtask turn without work.
}

/**
 * Resolves when the caller of a handler has completed: middleware may run code after its `next()`, awaited or not,
 * which must find no response sent yet. Nest's own path to a handler takes as many microtask turns, and no other work
 * of the process runs between them.
 */
export function yieldToMiddleware(): Promise<void> {
  return RESOLVED.then(doNothing).then(doNothing).then(doNothing);
}

/** The part of Nest's `StreamableFile` that is used here. Matched by shape, because Nest may be loaded twice. */
interface FileLike {
  getStream(): AsyncIterable<Uint8Array>;
  getHeaders(): {
    readonly type: string;
    readonly disposition: string | readonly string[] | undefined;
    readonly length: number | undefined;
  };
}

interface ActionStatus {
  /** The status of a response with a body. */
  readonly status: number;
  /** Whether the application has set it. */
  readonly isExplicit: boolean;
  /** `ETag` and `Last-Modified`, if known. */
  readonly validators: Readonly<Record<string, string>> | undefined;
}

/** The response for the value of an action: JSON, a file for a `StreamableFile`, and 204 for undefined. */
export function actionResponse(
  value: unknown,
  { status, isExplicit, validators }: ActionStatus,
): RestResponse {
  if (isFile(value)) return fileResponse(status, value);
  return value === undefined && isExplicit ? { status } : valueResponse(status, value, validators);
}

function fileResponse(status: number, value: FileLike): RestResponse {
  const { type, disposition, length } = value.getHeaders();
  const [name] = typeof disposition === 'string' ? [disposition] : (disposition ?? []);
  return {
    status,
    headers: {
      'Content-Type': type,
      ...(name !== undefined && { 'Content-Disposition': name }),
      ...(length !== undefined && { 'Content-Length': String(length) }),
    },
    body: { kind: 'stream', pieces: value.getStream() },
  };
}

function isFile(value: unknown): value is FileLike {
  const { getStream, getHeaders } = (value ?? {}) as Partial<FileLike>;
  return typeof getStream === 'function' && typeof getHeaders === 'function';
}

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
  const served = route && servedBy(route, method);
  return {
    status,
    method,
    path,
    route: location?.kind === 'route' && route ? `${location.base}/${getRoutePattern('', route)}` : undefined,
    model: route?.resource.id,
    operation: served && (route.actions.get(served)?.handler ?? route.operations.get(served)),
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
