import { bulkParameters } from '../core/contracts/bulk.js';
import { GROUPS_PARAMETER } from '../core/contracts/filter-backend.js';
import { parameterName } from '../core/schema/parameter-names.js';
import { FORMAT_PARAMETER } from '../core/contracts/renderer.js';
import type { FilterTerm, Resource } from '../core/schema/resource.js';
import { fieldSelectionParameters } from '../core/contracts/field-selection.js';

/**
 * The filters of a model without those that have the name of another parameter in use: `search` means the search, and a field
 * of that name is filtered by `search__exact` (contract 4.13).
 */
export function reserveParameters(resource: Resource): ReadonlyMap<string, FilterTerm> {
  // A new name that is a filter too is refused when all is compiled.
  const chosen = new Set(resource.renamed.values());
  const taken = new Set([...takenByBackends(resource), ...ofFeatures(resource)]);
  return new Map(
    [...resource.filterTerms].filter(
      ([name, term]) => term.kind === 'own' || chosen.has(name) || !taken.has(name),
    ),
  );
}

/** The parameters of a model that are no filters, one that several features read as often. */
export function featureParameters(resource: Resource): readonly string[] {
  const unfiltered: Resource = { ...resource, filterTerms: new Map() };
  return [
    ...resource.backends.flatMap((backend) => [...new Set(backend.parameters?.(unfiltered))]),
    ...ofFeatures(resource),
  ];
}

function ofFeatures(resource: Resource): readonly string[] {
  const { pagination, shape, renderers } = resource;
  return [
    // One that is none is refused when all is compiled.
    ...(typeof pagination?.parameters === 'function' ? pagination.parameters() : []),
    ...fieldSelectionParameters(shape),
    ...(renderers.length > 0 ? [parameterName(FORMAT_PARAMETER, resource)] : []),
    ...bulkParameters(resource),
  ];
}

/** Names that a backend reads which does not mean a field by them, or that two of them read. */
export function takenByBackends(resource: Resource): ReadonlySet<string> {
  const readers = resource.backends.flatMap((backend) => [...new Set(backend.parameters?.(resource))]);
  const meant = new Set(resource.filterTerms.keys());
  // Of those that filter a field the first reader is the one that means it.
  const taken = new Set(readers.filter((name) => !meant.delete(name)));
  return resource.filterGroups ? taken.add(parameterName(GROUPS_PARAMETER, resource)) : taken;
}
