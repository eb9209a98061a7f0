import { createHash } from 'node:crypto';
import { MalformedRequest } from '../core/errors/http-exceptions.js';
import { actorNames } from '../core/schema/caller.js';
import type { Caller } from '../core/schema/caller.js';
import { exactMember, ExactNumber } from '../core/values/exact-numbers.js';
import type { Idempotency } from '../core/contracts/idempotency.js';

/** The scope of an idempotency key; hashed, so that the database does not disclose it. */
export interface KeyScope {
  /** The path of the list in which the row is created. */
  readonly list: string;
  readonly caller: readonly unknown[];
  readonly key: string;
  /** The number of the creation within its request, because a method of the application may create several rows. */
  readonly position: number;
}

export function digestOfScope({ list, caller, key, position }: KeyScope): string {
  return digest([list, caller, key, position]);
}

/** Identifies the content of a request. The order of members does not matter. */
export function digestOfRequest(
  scope: string,
  request: { readonly query: string; readonly body: unknown },
): string {
  return digest([scope, request.query, sorted(request.body)]);
}

/** Identifies the caller: callers that cannot be distinguished would get each other's responses. Throws 400 for them. */
export function callerOf({ actor, address }: Caller, { key }: Idempotency): readonly unknown[] {
  if (actor === null) return ['address', address];
  const named = key ? [key(actor)] : actorNames(actor);
  if (named.every((each) => each === undefined))
    throw new MalformedRequest('Idempotency-Key cannot be used: nothing tells this caller from others.');
  return ['actor', ...named];
}

function digest(value: unknown): string {
  return createHash('sha256').update(JSON.stringify(value)).digest('hex');
}

/** Recursive: the depth of bodies is limited by the parser. */
function sorted(value: unknown): unknown {
  if (value instanceof ExactNumber) return { number: value.text };
  if (Array.isArray(value)) return value.map((_, index) => sorted(exactMember(value, index)));
  if (typeof value !== 'object' || value === null) return value;
  const names = Object.keys(value).sort();
  return { members: names.map((name) => [name, sorted(exactMember(value, name))]) };
}
