import type { IncomingMessage } from 'node:http';

const WRITTEN = new WeakMap<IncomingMessage, string>();

/**
 * Fastify's router answers a path with broken escapes itself, before any hook. So that ours answer theirs as 404, it is
 * given one that it can decode, with the text as a client wrote it kept here.
 */
export function escapeMalformedUrls(request: IncomingMessage): void {
  const url = request.url ?? '/';
  if (!url.includes('%')) return;
  const end = url.search(/[?#]/);
  const path = end < 0 ? url : url.slice(0, end);
  if (isLegible(path)) return;
  WRITTEN.set(request, url);
  request.url = path.replaceAll('%', '%25') + url.slice(path.length);
}

/** The URL as it was sent, where the router was given another one. */
export function writtenUrl(request: IncomingMessage): string | undefined {
  return WRITTEN.get(request);
}

function isLegible(path: string): boolean {
  try {
    decodeURI(path.replaceAll('%25', '%2525'));
    return true;
  } catch {
    return false;
  }
}
