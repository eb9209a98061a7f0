import type { NullsPlace } from '../../core/query/condition.js';
import type { FilterBackend, FilterContext, FilterResult, ListKind } from '../../core/contracts/filters.js';
import { parameterName } from '../../core/schema/resource-schema.js';
import type { OrderTerm, ResourceSchema } from '../../core/schema/resource-schema.js';

/**
 * `ordering=name,-other` (contract 4.10). Names that are not orderable are dropped; of duplicate names the first one
 * counts. If none is left, the model's default order applies. If enabled in the model, a name may end with `.nullsfirst`
 * or `.nullslast`.
 */
export class OrderingFilter implements FilterBackend {
  filter({ resource, parameters }: FilterContext): FilterResult {
    const order = parseOrdering(parameters.get(parameterName('ordering', resource)) ?? '', resource);
    return order.length > 0 ? { order } : {};
  }

  parameters(resource: ResourceSchema): readonly string[] {
    return [parameterName('ordering', resource)];
  }

  lists(resource: ResourceSchema): ReadonlyMap<string, ListKind> {
    return new Map([[parameterName('ordering', resource), 'names']]);
  }
}

const PLACES: Readonly<Record<NullsPlace, string>> = { first: '.nullsfirst', last: '.nullslast' };

export function parseOrdering(
  text: string,
  { orderingFields, orderingNulls }: Pick<ResourceSchema, 'orderingFields' | 'orderingNulls'>,
): readonly OrderTerm[] {
  const seen = new Set<string>();
  return text.split(',').flatMap((part): readonly OrderTerm[] => {
    const given = part.trim();
    const descending = given.startsWith('-');
    const nullsPlace = orderingNulls ? parseNullsPlace(given) : undefined;
    const name = given.slice(descending ? 1 : 0, nullsPlace ? -PLACES[nullsPlace].length : undefined);
    const field = orderingFields.get(name);
    if (!field || seen.has(name)) return [];
    seen.add(name);
    const nulls = nullsPlace ?? field.nulls;
    return field.operands.map((operand) => ({ operand, descending, ...(nulls ? { nulls } : {}) }));
  });
}

function parseNullsPlace(text: string): NullsPlace | undefined {
  if (text.endsWith(PLACES.first)) return 'first';
  return text.endsWith(PLACES.last) ? 'last' : undefined;
}
