import type { Operand } from '../../model/condition.js';
import type { FilterBackend, FilterQuestion, Filtering } from '../../model/filter-backend.js';
import type { OrderTerm } from '../../model/resource.js';

/**
 * `ordering=name,-other` (contract 4). Names that may not be ordered by are dropped; of a name that comes twice the
 * first one counts. Where nothing is left, the model's own order holds.
 */
export class OrderingFilter implements FilterBackend {
  filter({ resource, parameters }: FilterQuestion): Filtering {
    const order = parseOrdering(parameters.get('ordering') ?? '', resource.orderingFields);
    return order.length > 0 ? { order } : {};
  }

  parameters(): readonly string[] {
    return ['ordering'];
  }
}

export function parseOrdering(text: string, fields: ReadonlyMap<string, readonly Operand[]>): readonly OrderTerm[] {
  const seen = new Set<string>();
  return text.split(',').flatMap((part): readonly OrderTerm[] => {
    const given = part.trim();
    const descending = given.startsWith('-');
    const name = descending ? given.slice(1) : given;
    const operands = fields.get(name);
    if (!operands || seen.has(name)) return [];
    seen.add(name);
    return operands.map((operand) => ({ operand, descending }));
  });
}
