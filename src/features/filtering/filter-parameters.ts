import { GROUPS_PARAMETER, parameterType } from '../../core/contracts/filters.js';
import type { FilterBackend } from '../../core/contracts/filters.js';
import type { DataType } from '../../core/schema/data-type.js';
import { parameterName } from '../../core/schema/resource-schema.js';
import type { FieldTerm, FilterTerm, ResourceSchema } from '../../core/schema/resource-schema.js';
import type { Resource } from '../../core/schema/resource.js';
import { FilterSet } from './filter-set.js';
import { JsonServerFilter, jsonServerTerm } from './json-server-filters.js';

/** A query parameter of a model's filter backends, by what is known of its value. */
export type FilterParameter =
  /** Compares a field by a lookup. `field` is its path in names of parameters: `question__votes`. */
  | { readonly kind: 'field'; readonly name: string; readonly field: string; readonly term: FieldTerm }
  /** A filter of the application with a typed value. */
  | { readonly kind: 'typed'; readonly name: string; readonly type: DataType; readonly list: boolean }
  | { readonly kind: 'groups' | 'search' | 'ordering' | 'other'; readonly name: string };

/** The parameters of a model's filter backends, each once and without aliases. */
export function findFilterParameters(resource: Resource): readonly FilterParameter[] {
  const found = new Map<string, FilterParameter>();
  for (const backend of resource.backends) {
    for (const name of backend.parameters?.(resource) ?? []) {
      const parameter = found.has(name) ? undefined : findParameter(name, backend, resource);
      if (parameter) found.set(name, parameter);
    }
  }
  return [...found.values()];
}

function findParameter(
  name: string,
  backend: FilterBackend,
  resource: Resource,
): FilterParameter | undefined {
  const typed = backend instanceof FilterSet ? backend.filters[name] : undefined;
  if (typed) return { kind: 'typed', name, type: parameterType(typed), list: typed.list === true };
  const jsonServer = backend instanceof JsonServerFilter ? jsonServerTerm(name, resource) : undefined;
  if (jsonServer)
    return termParameter(name, jsonServer, (lookup) => (lookup === 'icontains' ? '_like' : `_${lookup}`));
  const term = resource.filterTerms.get(name);
  if (term)
    return isAlias(name, term, resource) ? undefined : termParameter(name, term, (lookup) => `__${lookup}`);
  return namedParameter(name, resource);
}

/** Undefined for groups, search and ordering of a model without such fields. */
function namedParameter(name: string, resource: Resource): FilterParameter | undefined {
  const { filterGroups, searchFields, orderingFields } = resource;
  switch (name) {
    case parameterName(GROUPS_PARAMETER, resource):
      return { kind: filterGroups ? 'groups' : 'other', name };
    case parameterName('search', resource):
      return searchFields.length > 0 ? { kind: 'search', name } : undefined;
    case parameterName('ordering', resource):
      return orderingFields.size > 0 ? { kind: 'ordering', name } : undefined;
    default:
      return { kind: 'other', name };
  }
}

/** `votes__exact` is an alias of `votes`, and `votes!` of `votes__ne`. */
function isAlias(name: string, term: FilterTerm, { filterTerms }: ResourceSchema): boolean {
  if (name.endsWith('__exact')) return filterTerms.get(name.slice(0, -'__exact'.length)) === term;
  return name.endsWith('!') && filterTerms.get(`${name.slice(0, -1)}__ne`) === term;
}

function termParameter(
  name: string,
  term: FilterTerm,
  suffixOf: (lookup: string) => string,
): FilterParameter {
  if (term.kind === 'custom') return { kind: 'typed', name, type: term.type, list: term.isList };
  const suffix = term.lookup === 'exact' && !name.endsWith('__exact') ? '' : suffixOf(term.lookup);
  const field = name.endsWith(suffix) ? name.slice(0, name.length - suffix.length) : name;
  return { kind: 'field', name, field, term };
}
