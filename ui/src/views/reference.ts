import type { RelationDescription } from '../../../src/core/contracts/route-description.js';
import type { Links } from '../api/links.js';

/** The URL of the object that a key refers to; undefined if the caller may not read its model. */
export function referenceUrl(
  key: unknown,
  relation: RelationDescription | undefined,
  links: Links,
): string | undefined {
  if (relation?.url === undefined || relation.url === null) return undefined;
  if (typeof key !== 'string' && typeof key !== 'number') return undefined;
  const list = links.toLocal(relation.url);
  // The text of a composite key is already encoded.
  const encoded = relation.composite === true ? String(key) : encodeURIComponent(String(key));
  return list === undefined ? undefined : `${list}${encoded}/`;
}
