import { bulkParameters } from '../core/contracts/bulk.js';
import { GROUPS_PARAMETER } from '../core/contracts/filter-backend.js';
import { parameterName } from '../core/schema/parameter-names.js';
import { FORMAT_PARAMETER } from '../core/contracts/renderer.js';
import type { FilterTerm } from '../core/schema/resource-schema.js';
import type { Resource } from '../core/schema/resource.js';
import { fieldSelectionParameters } from '../core/contracts/field-selection.js';

/**
 * Removes filters with the name of another parameter of the model: `search` is the search, and a field of that name is
 * filtered with `search__exact` (contract 4.13).
 */
export function reserveParameters(resource: Resource): ReadonlyMap<string, FilterTerm> {
  // A new name that is also a filter is reported after compilation.
  const chosen = new Set(resource.renamed.values());
  const taken = new Set([...takenByBackends(resource), ...ofFeatures(resource)]);
  return new Map(
    [...resource.filterTerms].filter(
      ([name, term]) => term.kind === 'custom' || chosen.has(name) || !taken.has(name),
    ),
  );
}

/** The parameters of a model other than filters, repeated for each feature that reads them. */
export function featureParameters(resource: Resource): readonly string[] {
  const unfiltered: Resource = { ...resource, filterTerms: new Map() };
  return [
    ...resource.backends.flatMap((backend) => [...new Set(backend.parameters?.(unfiltered))]),
    ...ofFeatures(resource),
  ];
}

function ofFeatures(resource: Resource): readonly string[] {
  const { pagination, shape, renderers, labelsParameter } = resource;
  return [
    // An invalid one is reported after compilation.
    ...(typeof pagination?.parameters === 'function' ? pagination.parameters() : []),
    ...fieldSelectionParameters(shape),
    ...(labelsParameter === undefined ? [] : [labelsParameter]),
    ...(renderers.length > 0 ? [parameterName(FORMAT_PARAMETER, resource)] : []),
    ...bulkParameters(resource),
  ];
}

/** Names that a backend reads other than as a field filter, or that two backends read. */
export function takenByBackends(resource: Resource): ReadonlySet<string> {
  const readers = resource.backends.flatMap((backend) => [...new Set(backend.parameters?.(resource))]);
  const meant = new Set(resource.filterTerms.keys());
  // The first backend that reads a name as a field filter owns it.
  const taken = new Set(readers.filter((name) => !meant.delete(name)));
  return resource.filterGroups ? taken.add(parameterName(GROUPS_PARAMETER, resource)) : taken;
}
