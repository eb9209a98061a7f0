import type { ExchangeOf } from './server-exchange.js';
import type { RestServer } from './rest-server.js';

/** The part of Nest's HTTP adapter that is used here. */
export interface HttpAdapter {
  use(handler: unknown): unknown;
  getInstance(): unknown;
  getHttpServer(): unknown;
}

/** An HTTP library below Nest: all that is said of one in particular stands behind this. */
export interface HttpPlatform {
  /** The call, as handlers, guards and filters of Nest are given it; as middleware is given it, too. */
  readonly exchange: ExchangeOf;
  /** Called between the body parser and the routes: headers, and errors of bodies that wait for their turn. */
  prepareRequests(adapter: HttpAdapter, server: RestServer): void;
  /** Called behind the routes: the index, unknown paths below a prefix, and what failed on the way to a route. */
  answerTheRest(adapter: HttpAdapter, server: RestServer): void;
}
