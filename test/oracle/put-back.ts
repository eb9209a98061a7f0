import type { Schema } from './api-document.js';
import type { Making } from './make-value.js';
import { isObject } from './same-value.js';

export interface PutBack extends Making {
  /** An object from a response. */
  readonly read: unknown;
  /** A valid body. */
  readonly fitting: unknown;
}

/**
 * The body of a client that reads an object, changes at most one field, and sends the whole object back, with its read-only fields.
 * Undefined if that is not valid, for example because a required field is not readable.
 */
export function bodyToPutBack(schema: Schema, given: PutBack): Readonly<Record<string, unknown>> | undefined {
  const { read, fitting, random, document } = given;
  if (!isObject(read) || !isObject(fitting)) return undefined;
  const writable = Object.keys(document.resolve(schema).properties ?? {});
  const both = writable.filter((name) => name in read && name in fitting);
  const changed = both.length > 0 && random.chance(0.5) ? random.pick(both) : undefined;
  const body = changed === undefined ? read : { ...read, [changed]: fitting[changed] };
  const written = Object.fromEntries(
    writable.filter((name) => name in body).map((name) => [name, body[name]]),
  );
  return document.fits(schema, given.resolve(written)) ? body : undefined;
}
