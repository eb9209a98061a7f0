import type { BulkDescription, RouteDescription } from '../../../src/core/contracts/route-description.js';
import { parametersOf, pathOf, withParameters, withSlash } from '../api/urls.js';

/** The URL of a list with its filters and search alone; undefined without any, because then all objects would match. */
export function filteredUrl(
  url: string,
  { filters, groups, search }: Pick<RouteDescription, 'filters' | 'groups' | 'search'>,
): string | undefined {
  const names = new Set([...filters.map(({ name }) => name), groups, search?.parameter]);
  const kept = [...parametersOf(url)].filter(([name, value]) => names.has(name) && value !== '');
  if (kept.length === 0) return undefined;
  return withParameters(withSlash(pathOf(url)), Object.fromEntries(kept));
}

/** The URL of the chosen rows. Composite keys contain commas, so they are separated by semicolons. */
export function selectedUrl(
  path: string,
  keys: readonly string[],
  { bulk, description }: { readonly bulk: BulkDescription; readonly description: RouteDescription },
): string {
  const isComposite = isCompositeKey(description);
  const text = keys.map((key) => encodeURIComponent(isComposite ? key : decodeURIComponent(key)));
  return `${path}?${bulk.keys}=${isComposite ? keys.join(';') : text.join(',')}`;
}

/** Whether an object can be chosen by its key: the parameter separates keys by commas, which a key may contain. */
export function isSelectable(
  key: string,
  description: Pick<RouteDescription, 'key' | 'key_is_text'>,
): boolean {
  return isCompositeKey(description) || !decodeURIComponent(key).includes(',');
}

function isCompositeKey({
  key,
  key_is_text: isText,
}: Pick<RouteDescription, 'key' | 'key_is_text'>): boolean {
  return isText === true || (key?.length ?? 1) > 1;
}
