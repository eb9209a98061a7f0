import type { RelationDescription, RouteDescription } from '../../../src/core/contracts/route-description.js';
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

/** A field of an object, with its description. */
export interface DescribedField {
  readonly value: unknown;
  readonly name: string;
  readonly description: RouteDescription | undefined;
}

/** The URL that a field refers to: of a related object, or of a nested list that the caller may read. */
export function targetUrl({ value, name, description }: DescribedField, links: Links): string | undefined {
  if (description?.fields[name]?.kind !== 'link')
    return referenceUrl(value, description?.relations[name], links);
  if (typeof value !== 'string') return undefined;
  const segment = value.split('/').filter(Boolean).at(-1);
  return description.nested.some((nested) => nested.name === segment) ? links.toLocal(value) : undefined;
}
