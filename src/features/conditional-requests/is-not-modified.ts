import { PreconditionFailed } from '../../core/errors/http-exceptions.js';
import type { CacheControl } from '../../core/contracts/conditional.js';
import { parseEntityTags } from './etag.js';
import { parseHttpDate } from './http-date.js';
import { etagIn } from './validators.js';

/** Reads a header of the request. */
export type HeaderOf = (name: string) => string | undefined;

/**
 * True if the client has the current representation, by the preconditions of a GET or HEAD in the order of RFC 9110,
 * 13.2.2. Throws 412. An invalid list of tags matches nothing (contract 13.4), and an invalid date is ignored.
 */
export function isNotModified(
  header: HeaderOf,
  { tag, modified }: { readonly tag: string; readonly modified: string | undefined },
  now: number,
): boolean {
  const instant = modified === undefined ? undefined : Date.parse(modified);
  const ifMatch = header('if-match');
  if (ifMatch !== undefined) {
    if (!matchesStrongly(ifMatch, tag)) throw new PreconditionFailed();
  } else if (instant !== undefined && instant > (dateIn(header('if-unmodified-since'), now) ?? Infinity))
    throw new PreconditionFailed();
  const ifNoneMatch = header('if-none-match');
  if (ifNoneMatch !== undefined) return matchesWeakly(ifNoneMatch, tag);
  return instant !== undefined && instant <= (dateIn(header('if-modified-since'), now) ?? -Infinity);
}

function matchesStrongly(list: string, tag: string): boolean {
  const tags = parseEntityTags(list);
  return tags === 'any' || tags?.some(({ weak, opaque }) => !weak && etagIn(opaque) === etagIn(tag)) === true;
}

function matchesWeakly(list: string, tag: string): boolean {
  const tags = parseEntityTags(list);
  return tags === 'any' || tags?.some(({ opaque }) => opaque === tag) === true;
}

function dateIn(text: string | undefined, now: number): number | undefined {
  return text === undefined ? undefined : parseHttpDate(text, now);
}

/** Anonymous responses may be cached by shared caches; those to an actor have a setting of their own. */
export function cacheControlFor({ anonymous, actors }: CacheControl, actor: unknown): string {
  return actor === null || actor === undefined ? anonymous : actors;
}
