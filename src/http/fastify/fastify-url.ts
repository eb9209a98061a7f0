import type { IncomingMessage } from 'node:http';
import { writtenUrl } from './fastify-malformed-urls.js';
import { removeOrigin } from '../request-line.js';

/** Node's request, as Fastify passes it to middleware. */
export interface MiddlewareRequest extends IncomingMessage {
  readonly originalUrl?: string;
  readonly protocol?: string;
  readonly ip?: string;
  readonly user?: unknown;
}

/** The parts of a request's URL. */
export interface ReadUrl {
  readonly url: string;
  readonly path: string;
  readonly query: string;
}

const READ = Symbol('restify.url');

/** Parses the URL, and caches the result until the URL changes. */
export function readUrl(raw: MiddlewareRequest & { [READ]?: ReadUrl }): ReadUrl {
  const url = urlOf(raw);
  const known = raw[READ];
  if (known?.url === url) return known;
  const own = removeOrigin(url);
  const at = own.indexOf('?');
  return (raw[READ] = { url, path: at < 0 ? own : own.slice(0, at), query: at < 0 ? '' : own.slice(at + 1) });
}

/** The URL as the client sent it. */
export function urlOf(raw: MiddlewareRequest): string {
  return writtenUrl(raw) ?? raw.originalUrl ?? raw.url ?? '/';
}
