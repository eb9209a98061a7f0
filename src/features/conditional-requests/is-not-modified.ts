import { PreconditionFailed } from '../../core/errors/http-exceptions.js';
import type { CacheControl } from '../../core/contracts/conditional.js';
import { parseEntityTags } from './etag.js';
import { parseHttpDate } from './http-date.js';
import { etagIn } from './validators.js';

/** What a header of the request says. */
export type HeaderOf = (name: string) => string | undefined;

/**
 * Whether the caller has what a GET or HEAD would answer, by the conditions of the request in the order of RFC 9110,
 * 13.2.2. Throws 412. What is no list of tags matches nothing (contract 13.4), and what is no date asks nothing.
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

/** What others share is answered to nobody in particular. */
export function cacheControlFor({ anonymous, actors }: CacheControl, actor: unknown): string {
  return actor === null || actor === undefined ? anonymous : actors;
}
