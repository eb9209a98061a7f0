import type {
  FilterBackend,
  FilterContext,
  FilterResult,
  ListKind,
} from '../../core/contracts/filter-backend.js';
import { parameterName } from '../../core/schema/parameter-names.js';
import type { ResourceSchema } from '../../core/schema/resource-schema.js';
import { parseOrdering } from './ordering-filter.js';

/**
 * `_sort=votes,text&_order=desc,asc`, as in json-server: replaces `OrderingFilter`, with the same names and rules. A name
 * without a direction is ascending.
 */
export class JsonServerOrdering implements FilterBackend {
  filter({ resource, parameters }: FilterContext): FilterResult {
    const directions = (parameters.get(parameterName('_order', resource)) ?? '').split(',');
    const names = (parameters.get(parameterName('_sort', resource)) ?? '').split(',');
    const text = names
      .map((name, index) => (isDescending(directions[index]) ? `-${name.trim()}` : name))
      .join(',');
    const order = parseOrdering(text, resource);
    return order.length > 0 ? { order } : {};
  }

  parameters(resource: ResourceSchema): readonly string[] {
    return ['_sort', '_order'].map((name) => parameterName(name, resource));
  }

  lists(resource: ResourceSchema): ReadonlyMap<string, ListKind> {
    return new Map(this.parameters(resource).map((name) => [name, 'names']));
  }
}

function isDescending(direction: string | undefined): boolean {
  return direction?.trim().toLowerCase() === 'desc';
}
