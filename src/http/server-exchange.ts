import type { IncomingMessage } from 'node:http';
import type { TLSSocket } from 'node:tls';
import type { RouteMatch } from '../core/schema/route.js';
import type { HttpExchange } from '../request/http-exchange.js';
import type { MaybePromise } from '../core/maybe-promise.js';
import type { RestResponse } from '../request/response/rest-response.js';

/** One HTTP call, with the means to respond to it. */
export interface ServerExchange extends HttpExchange {
  /** Node's request: the same object for middleware, guards, handlers and filters. */
  readonly raw: IncomingMessage;
  /** The HTTP library's own response, as Nest passes it to guards. */
  readonly response: object;
  /** Whether a response has already been sent. */
  readonly isResponseSent: boolean;
  /** The status that Nest or code of the application has set for the response. */
  readonly responseStatus: number;
  /** Sets the headers of contract 7.1, and keeps those that the application has set. */
  setContractHeaders(allow: string): void;
  setHeader(name: string, value: string): void;
  /**
   * Sends a response. Completes when everything is written, or the client has disconnected; immediately for a single
   * text. Does nothing if a response has already been sent.
   */
  send(response: RestResponse, allow: string): MaybePromise<void>;
}

/** A route with its prefix, the index, or an unknown path below a prefix. */
export type RequestTarget =
  | { readonly kind: 'route'; readonly prefix: string; readonly match: RouteMatch }
  | { readonly kind: 'unmatched' };

/** Returns the exchange for the objects that Nest passes to handlers, guards and filters. */
export type GetExchange = (request: object, response: object) => ServerExchange;

/** The part of an absolute-form request line after the authority (RFC 9112, 3.2.2). */
export function removeOrigin(url: string): string {
  return url.startsWith('/') ? url : url.replace(/^https?:\/\/[^/?]*/i, '');
}

/** Whether the client of an encrypted connection has presented a certificate. */
export function hasClientCertificate({ socket }: IncomingMessage): boolean {
  const { getPeerCertificate } = socket as Partial<TLSSocket>;
  const certificate = getPeerCertificate?.call(socket) as object | null | undefined;
  return Object.keys(certificate ?? {}).length > 0;
}

export function getHeader({ headers }: IncomingMessage, name: string): string | undefined {
  const value = headers[name];
  return Array.isArray(value) ? value.join(', ') : value;
}
