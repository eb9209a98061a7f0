import type { FilterDescription, RouteDescription } from '../../../src/core/contracts/route-description.js';
import { isHaving } from '../api/summary.js';
import { parametersOf, withParameters } from '../api/urls.js';
import { findText } from '../messages/messages.js';

/** A filter of the current URL. */
export interface ActiveFilter {
  readonly name: string;
  /** For people: `Votes is at least 3`. */
  readonly label: string;
}

/** The filters in the query of a URL. */
export function activeFilters(description: RouteDescription, url: string): readonly ActiveFilter[] {
  const byName = new Map(description.filters.map((filter) => [filter.name, filter]));
  return [...parametersOf(url)].flatMap(([name, value]) => {
    if (value === '') return [];
    const filter = byName.get(name);
    if (filter) return [{ name, label: `${describeFilter(filter, description)} ${value}` }];
    if (name === description.groups) return [{ name, label: value }];
    const { aggregates } = description;
    return aggregates && isHaving(name, aggregates)
      ? [{ name, label: `${name.slice(aggregates.having.length + 1)}=${value}` }]
      : [];
  });
}

/** The field and the comparison of a filter, for people. */
export function describeFilter(filter: FilterDescription, description: RouteDescription): string {
  return `${labelOfField(filter.field, description)} ${labelOfLookup(filter)}`;
}

export function labelOfLookup({ lookup }: FilterDescription): string {
  return findText(`lookup_${lookup}`) ?? lookup;
}

/** The label of a field; of one behind relations, each step: `Question → Votes`. */
export function labelOfField(field: string, { fields }: RouteDescription): string {
  const [first = field, ...steps] = field.split('__');
  return [fields[first]?.label ?? first, ...steps].join(' → ');
}

/** The filters by the field that they compare, in their order. */
export function filtersByField(
  description: RouteDescription,
): ReadonlyMap<string, readonly FilterDescription[]> {
  const found = new Map<string, readonly FilterDescription[]>();
  for (const filter of description.filters)
    found.set(filter.field, [...(found.get(filter.field) ?? []), filter]);
  return found;
}

/** Whether the list is ordered by rank. */
export function isRanked(url: string, { ordering }: RouteDescription): boolean {
  const { parameter, rank } = ordering ?? {};
  if (parameter === undefined || rank === undefined) return false;
  return (parametersOf(url).get(parameter) ?? '').split(',').some((name) => name.replace('-', '') === rank);
}

/** The URL with another search, at its first page; without one, no order by rank remains. */
export function withSearch(url: string, search: string | undefined, description: RouteDescription): string {
  const { search: searching, ordering } = description;
  const dropped =
    !search && ordering && isRanked(url, description) ? { [ordering.parameter]: undefined } : {};
  return withFilters(url, { ...dropped, [searching?.parameter ?? 'search']: search }, description);
}

/** The URL with changed filters, at its first page. */
export function withFilters(
  url: string,
  changes: Readonly<Record<string, string | undefined>>,
  { pagination }: RouteDescription,
): string {
  const position = pagination?.position;
  return withParameters(url, { ...changes, ...(position === undefined ? {} : { [position]: undefined }) });
}
