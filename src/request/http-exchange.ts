import type { LibraryRequest } from '../core/contracts/authentication.js';
import type { MaybePromise } from '../core/maybe-promise.js';

/**
 * A body as received by the HTTP layer. Its error is reported at its place in the order of checks (contract 6.3). `unsafe`
 * JSON has keys that could replace a prototype: generated operations ignore them, and methods of the application do not
 * get it.
 */
export type ReceivedBody =
  | { readonly kind: 'none' }
  | { readonly kind: 'text'; readonly text: string; readonly unsafe?: boolean }
  /** `text`: what the value was parsed from, if it is known. */
  | {
      readonly kind: 'value';
      readonly value: unknown;
      readonly text?: () => string | undefined;
      readonly unsafe?: boolean;
    }
  | { readonly kind: 'too-large' }
  | { readonly kind: 'broken'; readonly reason: string }
  /** The content encoding is not supported; `decoded` lists the supported ones for `Accept-Encoding`. */
  | { readonly kind: 'coded'; readonly coding: string; readonly decoded: string }
  /** `text`: of a body that only some methods read: a merge patch, or the parameters of a QUERY. */
  | { readonly kind: 'unsupported'; readonly text?: string };

/** One HTTP request, independent of the HTTP library. */
export interface HttpExchange {
  readonly method: string;
  /** The path as received, relative to the path at which the application is mounted, without the query string. */
  readonly path: string;
  /** Without the `?`. */
  readonly query: string;
  /** `http` or `https`, resolved by the application's trust-proxy setting. */
  readonly protocol: string;
  /** The host, resolved by the application's trust-proxy setting. */
  readonly host: string;
  /** The client address, resolved by the application's trust-proxy setting. */
  readonly address: string;
  /** The path at which the application is mounted in another one; usually empty. */
  readonly mountedAt: string;
  /** The request of the HTTP library, the same object for everything that Nest runs for one request. */
  readonly request: LibraryRequest;
  header(name: string): string | undefined;
  /** Whether the client has presented a certificate of its own. */
  hasClientCertificate(): boolean;
  body(): MaybePromise<ReceivedBody>;
  /** The body as methods of the application get it; undefined if no parser has read it. Does not read it. */
  parsedBody(): ReceivedBody | undefined;
  /** True once the client has disconnected. */
  isAborted(): boolean;
}
