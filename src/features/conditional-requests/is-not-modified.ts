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
  const [match, none] = [tagsIn(header('if-match')), tagsIn(header('if-none-match'))];
  const changed = modified === undefined ? undefined : Date.parse(modified);
  if (header('if-match') !== undefined) {
    if (
      match !== 'any' &&
      match?.some(({ weak, opaque }) => !weak && etagIn(opaque) === etagIn(tag)) !== true
    )
      throw new PreconditionFailed();
  } else if (changed !== undefined && changed > (dateIn(header('if-unmodified-since'), now) ?? Infinity))
    throw new PreconditionFailed();
  if (header('if-none-match') !== undefined)
    return none === 'any' || none?.some(({ opaque }) => opaque === tag) === true;
  return changed !== undefined && changed <= (dateIn(header('if-modified-since'), now) ?? -Infinity);
}

function tagsIn(text: string | undefined): ReturnType<typeof parseEntityTags> {
  return text === undefined ? undefined : parseEntityTags(text);
}

function dateIn(text: string | undefined, now: number): number | undefined {
  return text === undefined ? undefined : parseHttpDate(text, now);
}

/** Anonymous responses may be cached by shared caches; those to an actor have a setting of their own. */
export function cacheControlFor({ anonymous, actors }: CacheControl, actor: unknown): string {
  return actor === null || actor === undefined ? anonymous : actors;
}
