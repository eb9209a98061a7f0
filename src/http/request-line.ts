import type { IncomingMessage } from 'node:http';

/** The part of an absolute-form request line after the authority (RFC 9112, 3.2.2). */
export function withoutOrigin(url: string): string {
  return url.startsWith('/') ? url : url.replace(/^https?:\/\/[^/?]*/i, '');
}

export function headerOf({ headers }: IncomingMessage, name: string): string | undefined {
  const value = headers[name];
  return Array.isArray(value) ? value.join(', ') : value;
}
