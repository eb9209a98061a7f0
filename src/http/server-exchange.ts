import type { IncomingMessage } from 'node:http';
import type { RouteMatch } from '../core/schema/route.js';
import type { HttpExchange } from '../request/http-exchange.js';
import type { MaybePromise } from '../core/maybe-promise.js';
import type { RestResponse } from '../request/response/rest-response.js';

/** One call, with the way to answer it. */
export interface ServerExchange extends HttpExchange {
  /** Node's request: the same object for middleware, guards, handlers and filters. */
  readonly raw: IncomingMessage;
  /** The library's own response, as Nest gives it to guards. */
  readonly response: object;
  /** Whether somebody has answered it already. */
  readonly answered: boolean;
  /** The headers of contract 7.1; what the application has set itself is kept. */
  setContractHeaders(allow: string): void;
  setHeader(name: string, value: string): void;
  /** Done when all is handed over, or when the client has gone: at once, for one text. Does nothing where somebody has answered already. */
  send(response: RestResponse, allow: string): MaybePromise<void>;
}

/** A route, with the prefix that it stands below; or the index, or an unknown path below a prefix. */
export type Place =
  { readonly kind: 'route'; readonly prefix: string; readonly match: RouteMatch } | { readonly kind: 'rest' };

/** A call, as Nest gives it to handlers, guards and filters. */
export type ExchangeOf = (request: object, response: object) => ServerExchange;
