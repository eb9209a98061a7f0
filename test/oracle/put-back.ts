import type { Schema } from './api-document.js';
import type { Making } from './make-value.js';
import { isObject } from './same-value.js';

export interface PutBack extends Making {
  /** An object as an answer has shown it. */
  readonly read: unknown;
  /** A body that fits the schema. */
  readonly fitting: unknown;
}

/**
 * What a client sends that loads an object, changes one field of it or none, and puts it back whole, with its read-only fields.
 * Undefined where that does not fit the schema: what a caller may not read is required, for one.
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
