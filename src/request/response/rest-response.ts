import { writeJson } from '../../core/values/exact-numbers.js';

/**
 * The response to one request, independent of the HTTP library. The headers of contract 7.1 are added when it is sent.
 */
export interface RestResponse {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: ResponseBody;
}

/** A complete text, or chunks generated while they are sent. */
export type ResponseBody =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'stream'; readonly pieces: AsyncIterable<string | Uint8Array> };

/** The response for the value of an operation or of a method of the application: undefined is 204. */
export function valueResponse(
  status: number,
  value: unknown,
  headers: Readonly<Record<string, string>> = {},
): RestResponse {
  return value === undefined ? { status: 204, headers } : jsonResponse(status, value, headers);
}

/** A value that JSON cannot represent, such as a function, becomes null. */
export function jsonResponse(
  status: number,
  value: unknown,
  headers?: Readonly<Record<string, string>>,
): RestResponse {
  const text = writeJson(value) as string | undefined;
  const body = { kind: 'text', text: text ?? 'null' } as const;
  return headers ? { status, body, headers } : { status, body };
}
