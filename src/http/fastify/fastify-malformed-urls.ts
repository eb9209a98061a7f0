import type { IncomingMessage } from 'node:http';

const UNESCAPED_URLS = new WeakMap<IncomingMessage, string>();

/**
 * Replaces a path with malformed escapes by one that Fastify's router can decode, and stores the original. The router
 * would otherwise respond before any hook, and such a path below a prefix has to be a 404.
 */
export function escapeMalformedUrls(request: IncomingMessage): void {
  const url = request.url ?? '/';
  if (!url.includes('%')) return;
  const end = url.search(/[?#]/);
  const path = end < 0 ? url : url.slice(0, end);
  if (isDecodable(path)) return;
  UNESCAPED_URLS.set(request, url);
  request.url = path.replaceAll('%', '%25') + url.slice(path.length);
}

/** The original URL, if it was replaced. */
export function getUnescapedUrl(request: IncomingMessage): string | undefined {
  return UNESCAPED_URLS.get(request);
}

function isDecodable(path: string): boolean {
  try {
    decodeURI(path.replaceAll('%25', '%2525'));
    return true;
  } catch {
    return false;
  }
}
