import { createHash } from 'node:crypto';
import { MalformedRequest } from '../core/errors/http-exceptions.js';
import { namesOf } from '../core/schema/caller.js';
import type { Caller } from '../core/schema/caller.js';
import type { Idempotency } from '../core/contracts/idempotency.js';

/** What a key belongs to: nobody else finds it, and nothing of it can be read in the database. */
export interface KeyScope {
  /** The path of the list in which something is made. */
  readonly list: string;
  readonly caller: readonly unknown[];
  readonly key: string;
  /** Which creation of its request it is, where a method of the application's makes several. */
  readonly position: number;
}

export function digestOfScope({ list, caller, key, position }: KeyScope): string {
  return digest([list, caller, key, position]);
}

/** Tells one request from another under the same key. The order of members says nothing. */
export function digestOfRequest(
  scope: string,
  request: { readonly query: string; readonly body: unknown },
): string {
  return digest([scope, request.query, sorted(request.body)]);
}

/** Callers whom nobody can tell from others would see each other's answers. Throws 400 for them. */
export function callerOf({ actor, address }: Caller, { key }: Idempotency): readonly unknown[] {
  if (actor === null) return ['address', address];
  const named = key ? [key(actor)] : namesOf(actor);
  if (named.every((each) => each === undefined))
    throw new MalformedRequest('Idempotency-Key cannot be used: nothing tells this caller from others.');
  return ['actor', ...named];
}

function digest(value: unknown): string {
  return createHash('sha256').update(JSON.stringify(value)).digest('hex');
}

/** No body is too deep: those have been refused. */
function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== 'object' || value === null) return value;
  const members = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return { members: members.map(([name, member]) => [name, sorted(member)]) };
}
