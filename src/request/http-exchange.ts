import type { LibraryRequest } from '../core/contracts/authentication.js';
import type { MaybePromise } from '../core/maybe-promise.js';
import type { ReceivedBody } from './parse/parse-body.js';

/** One HTTP call, as every HTTP library gives it. */
export interface HttpExchange {
  readonly method: string;
  /** As it was sent, below the path at which the application is mounted, without the query string. */
  readonly path: string;
  /** Without the `?`. */
  readonly query: string;
  /** `http` or `https`, by what the application vouches for. */
  readonly protocol: string;
  /** The Host, by what the application vouches for. */
  readonly host: string;
  /** Where the request comes from, by what the application vouches for. */
  readonly address: string;
  /** The path at which the whole application is mounted in another one; usually empty. */
  readonly mountedAt: string;
  /** The library's own request, the same object in everything that Nest runs for one call. */
  readonly request: LibraryRequest;
  header(name: string): string | undefined;
  body(): MaybePromise<ReceivedBody>;
  /** Whether nobody waits for the answer any more. */
  isAborted(): boolean;
}
