import { MAX_ENTITY_TAGS, MAX_PRECONDITION } from '../../core/schema/limits.js';

/** An entity tag (RFC 9110, 8.8.3), without its quotes. */
export interface EntityTag {
  readonly weak: boolean;
  readonly opaque: string;
}

const TAG = /(W\/)?"([\x21\x23-\x7e\x80-\xff]*)"/y;
const BETWEEN = /[\t ]*(?:,[\t ]*)*/y;
const COMMA = /[\t ]*,[\t ,]*/y;

/** The entity tags of `If-Match` and `If-None-Match`, or `any`. Undefined for what is not a list of tags, or too long. */
export function parseEntityTags(header: string): 'any' | readonly EntityTag[] | undefined {
  const text = header.trim();
  if (text === '*') return 'any';
  if (text.length > MAX_PRECONDITION) return undefined;
  const tags: EntityTag[] = [];
  let at = endOf(BETWEEN, text, 0) ?? 0;
  while (at < text.length) {
    TAG.lastIndex = at;
    const found = TAG.exec(text);
    if (!found || tags.length === MAX_ENTITY_TAGS) return undefined;
    tags.push({ weak: found[1] !== undefined, opaque: found[2] ?? '' });
    at = TAG.lastIndex;
    if (at === text.length) break;
    const next = endOf(COMMA, text, at);
    if (next === undefined) return undefined;
    at = next;
  }
  return tags.length === 0 ? undefined : tags;
}

/** The end of a match at this position. */
function endOf(pattern: RegExp, text: string, at: number): number | undefined {
  pattern.lastIndex = at;
  return pattern.test(text) ? pattern.lastIndex : undefined;
}
