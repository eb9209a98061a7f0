import { writeJson } from './parse-json.js';
import type { PageConfig } from '../../../src/http/browsable/browsable-page.js';
import type { SentRequest } from './sent-request.js';
import type { Credentials, Session } from './session.js';

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
  /** The header `Prefer`: the most expensive count of a list that is wanted. */
  readonly prefer?: 'count=none' | 'count=estimated' | undefined;
  /** Default: those of the session. */
  readonly credentials?: Credentials | undefined;
}

/** A request that may change something. */
export interface WriteOptions {
  readonly method: string;
  /** Sent as JSON; undefined for no body. */
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
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
  get(url: string, { accept, signal, prefer, credentials }: RequestOptions): Promise<Exchange> {
    const headers = this.headersFor(accept, credentials);
    return this.fetch(
      { url, headers: prefer === undefined ? headers : { ...headers, Prefer: prefer } },
      signal,
    );
  }

  /** As `get`, with any method. */
  send(url: string, { method, body, headers, signal }: WriteOptions): Promise<Exchange> {
    const text = body === undefined ? undefined : writeJson(body);
    const request: SentRequest = {
      method,
      url,
      headers: {
        ...this.headersFor(JSON_TYPE),
        ...this.csrfHeader(),
        ...(text === undefined ? {} : { 'Content-Type': JSON_TYPE }),
        ...headers,
      },
      ...(text === undefined ? {} : { body: text }),
    };
    return this.fetch(request, signal);
  }

  private async fetch(request: SentRequest, signal: AbortSignal | undefined): Promise<Exchange> {
    const { url, method, headers, body } = request;
    const begin = performance.now();
    const response = await fetch(url, {
      method: method ?? 'GET',
      headers,
      ...(body === undefined ? {} : { body }),
      cache: 'no-store',
      // With cookies, the browser would open its own dialog at each 401 with a challenge.
      credentials: this.config.login.cookie === true ? 'same-origin' : 'omit',
      redirect: 'follow',
      ...(signal && { signal }),
    });
    return { request, response, milliseconds: performance.now() - begin };
  }

  /** The token that a session of the application requires of unsafe methods. */
  private csrfHeader(): Readonly<Record<string, string>> {
    const { csrf } = this.config.login;
    const found = csrf && document.cookie.split('; ').find((each) => each.startsWith(`${csrf.cookie}=`));
    return csrf && found !== undefined
      ? { [csrf.header]: decodeURIComponent(found.slice(csrf.cookie.length + 1)) }
      : {};
  }

  private headersFor(accept: string, credentials = this.session.credentials): Record<string, string> {
    const { headers, acceptParameter, login } = this.config;
    const authorization = credentials?.header;
    return {
      Accept: acceptParameter === undefined ? accept : `${accept};${acceptParameter}`,
      ...headers,
      ...(login.cookie === true ? { 'X-Requested-With': 'XMLHttpRequest' } : {}),
      ...(authorization === undefined ? {} : { Authorization: authorization }),
    };
  }
}
