import type { FilterBackend, FilterContext, FilterResult } from '../../core/contracts/filter-backend.js';
import { parameterName } from '../../core/schema/parameter-names.js';
import type { ResourceSchema } from '../../core/schema/resource-schema.js';
import { searched } from './search-filter.js';

/** `q=<text>`: the `search` of `SearchFilter` by json-server's name. */
export class JsonServerSearch implements FilterBackend {
  filter(context: FilterContext): FilterResult {
    return searched(parameterName('q', context.resource), context);
  }

  parameters(resource: ResourceSchema): readonly string[] {
    return [parameterName('q', resource)];
  }
}
