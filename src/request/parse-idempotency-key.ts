import { MalformedRequest } from '../core/errors/http-exceptions.js';
import { MAX_IDEMPOTENCY_KEY } from '../core/schema/limits.js';

/** A string of RFC 9651, as in the Internet-Draft. Quotes and backslashes are escaped. */
const QUOTED = /^"((?:[\x21\x23-\x5b\x5d-\x7e]|\\["\\])*)"$/;
/** A key without quotes, as most clients send it; it must not contain a quote, which would be ambiguous. */
const BARE = /^[\x21\x23-\x7e]+$/;

/** The key of a request: `"abc"` and `abc` are equal. Undefined without the header. Throws 400. */
export function parseIdempotencyKey(header: string | undefined, required: boolean): string | undefined {
  if (header === undefined) {
    if (required) throw new MalformedRequest('Send an Idempotency-Key, a new one for each new object.');
    return undefined;
  }
  const quoted = QUOTED.exec(header)?.[1]?.replace(/\\(.)/g, '$1');
  const key = quoted ?? (BARE.test(header) ? header : '');
  if (key === '' || key.length > MAX_IDEMPOTENCY_KEY)
    throw new MalformedRequest(
      `Idempotency-Key must be 1 to ${MAX_IDEMPOTENCY_KEY} visible ASCII characters, in quotes or without.`,
    );
  return key;
}
