import type { RouteDescription } from '../../../src/core/contracts/route-description.js';
import { isHaving } from '../api/summary.js';
import { parametersOf } from '../api/urls.js';

/** The query parameters of a URL that its description does not name. */
export function unknownParameters(description: RouteDescription, url: string): readonly string[] {
  const { filters, groups, ordering, search, pagination, shape, bulk, formats, aggregates } = description;
  const known = new Set([
    ...filters.map(({ name }) => name),
    ...(pagination?.parameters ?? []),
    shape?.fields,
    shape?.omit,
    shape?.expand,
    groups,
    ordering?.parameter,
    search?.parameter,
    description.with,
    formats?.parameter,
    bulk?.keys,
    description.trash?.parameter,
    description.counts?.parameter,
    aggregates?.parameter,
    aggregates?.group,
    aggregates?.tz,
  ]);
  return [...new Set(parametersOf(url).keys())].filter(
    (name) => !known.has(name) && !(aggregates && isHaving(name, aggregates)),
  );
}
