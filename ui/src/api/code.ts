import type { SentRequest } from './sent-request.js';

const MASK = '…';

/** The request as a command for a POSIX shell. */
export function toCurl(
  { method, url, headers, body }: SentRequest,
  origin: string,
  showSecrets: boolean,
): string {
  const lines = visibleHeaders(headers, showSecrets).map(
    ([name, value]) => `-H ${quote(`${name}: ${value}`)}`,
  );
  const verb = method === undefined || method === 'GET' ? 'curl' : `curl -X ${method}`;
  const data = body === undefined ? [] : [`--data-raw ${quote(body)}`];
  return [verb, ...lines, ...data, quote(origin + url)].join(' \\\n  ');
}

/** The request as a call of `fetch`. */
export function toFetch(
  { method, url, headers, body }: SentRequest,
  origin: string,
  showSecrets: boolean,
): string {
  const shown = Object.fromEntries(visibleHeaders(headers, showSecrets));
  const verb = method === undefined ? '' : `\n  method: ${JSON.stringify(method)},`;
  const data = body === undefined ? '' : `\n  body: ${JSON.stringify(body)},`;
  return `await fetch(${JSON.stringify(origin + url)}, {${verb}\n  headers: ${JSON.stringify(shown, undefined, 2).replaceAll('\n', '\n  ')},${data}\n});`;
}

function visibleHeaders(
  headers: SentRequest['headers'],
  showSecrets: boolean,
): readonly (readonly [string, string])[] {
  return Object.entries(headers).map(([name, value]) =>
    name === 'Authorization' && !showSecrets ? [name, `${value.split(' ')[0] ?? ''} ${MASK}`] : [name, value],
  );
}

/** In single quotes, between which a shell expands nothing. */
export function quote(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
