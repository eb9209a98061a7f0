import type { PageConfig } from '../../../src/http/browsable/page-config.js';
import type { SentRequest } from './sent-request.js';
import type { Session } from './session.js';

/** A response whose body has not been read yet. */
export interface Exchange {
  readonly request: SentRequest;
  readonly response: Response;
  /** From the request to the headers of the response, in milliseconds. */
  readonly milliseconds: number;
}

export interface RequestOptions {
  readonly accept: string;
  readonly signal?: AbortSignal | undefined;
}

export const JSON_TYPE = 'application/json';
export const DESCRIPTION_TYPE = 'application/vnd.restify.description+json';

/** Sends the requests of the page as the caller, and never from a cache. */
export class Client {
  constructor(
    private readonly config: PageConfig,
    private readonly session: Session,
  ) {}

  /** @param url a path with its query, below the origin of the page. Rejects if the server cannot be reached, or the request is aborted. */
  async get(url: string, { accept, signal }: RequestOptions): Promise<Exchange> {
    const headers = this.headersFor(accept);
    const begin = performance.now();
    const response = await fetch(url, {
      headers,
      cache: 'no-store',
      // With cookies, the browser would open its own dialog at each 401 with a challenge.
      credentials: this.config.login.cookie === true ? 'same-origin' : 'omit',
      redirect: 'follow',
      ...(signal && { signal }),
    });
    return { request: { url, headers }, response, milliseconds: performance.now() - begin };
  }

  private headersFor(accept: string): Record<string, string> {
    const { headers, acceptParameter, login } = this.config;
    const authorization = this.session.credentials?.header;
    return {
      Accept: acceptParameter === undefined ? accept : `${accept};${acceptParameter}`,
      ...headers,
      ...(login.cookie === true ? { 'X-Requested-With': 'XMLHttpRequest' } : {}),
      ...(authorization === undefined ? {} : { Authorization: authorization }),
    };
  }
}
