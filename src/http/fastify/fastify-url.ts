import type { IncomingMessage } from 'node:http';
import { getUnescapedUrl } from './fastify-malformed-urls.js';
import { removeOrigin } from '../server-exchange.js';

/** Node's request, as Fastify passes it to middleware. */
export interface MiddlewareRequest extends IncomingMessage {
  readonly originalUrl?: string;
  readonly protocol?: string;
  readonly ip?: string;
  readonly user?: unknown;
}

/** The parts of a request's URL. */
export interface ParsedUrl {
  readonly url: string;
  readonly path: string;
  readonly query: string;
}

const PARSED_URL = Symbol('restify.url');

/** Parses the URL, and caches the result until the URL changes. */
export function parseUrl(raw: MiddlewareRequest & { [PARSED_URL]?: ParsedUrl }): ParsedUrl {
  const url = getClientUrl(raw);
  const known = raw[PARSED_URL];
  if (known?.url === url) return known;
  const own = removeOrigin(url);
  const at = own.indexOf('?');
  return (raw[PARSED_URL] = {
    url,
    path: at < 0 ? own : own.slice(0, at),
    query: at < 0 ? '' : own.slice(at + 1),
  });
}

/** The URL as the client sent it. */
export function getClientUrl(raw: MiddlewareRequest): string {
  return getUnescapedUrl(raw) ?? raw.originalUrl ?? raw.url ?? '/';
}
