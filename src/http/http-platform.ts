import type { GetExchange } from './server-exchange.js';
import type { RestServer } from './rest-server.js';

/** The part of Nest's HTTP adapter that is used. */
export interface HttpAdapter {
  use(handler: unknown): unknown;
  getInstance(): unknown;
  getHttpServer(): unknown;
}

/** The adapter of an HTTP library below Nest, which contains all code that is specific to it. */
export interface HttpPlatform {
  /** The exchange of a call, from the objects that Nest passes to handlers, guards, filters and middleware. */
  readonly getExchange: GetExchange;
  /** Called between the body parser and the routes: sets headers, and stores body errors. */
  registerBeforeRoutes(adapter: HttpAdapter, server: RestServer): void;
  /** Called after the routes: serves the index, unknown paths below a prefix, and errors before a route. */
  registerAfterRoutes(adapter: HttpAdapter, server: RestServer): void;
}
