import type { IncomingMessage } from 'node:http';

/** The part of an absolute-form request line after the authority (RFC 9112, 3.2.2). */
export function removeOrigin(url: string): string {
  return url.startsWith('/') ? url : url.replace(/^https?:\/\/[^/?]*/i, '');
}

export function getHeader({ headers }: IncomingMessage, name: string): string | undefined {
  const value = headers[name];
  return Array.isArray(value) ? value.join(', ') : value;
}
