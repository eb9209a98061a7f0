import type { FilterBackend, FilterQuestion, Filtering } from '../../model/filter-backend.js';
import { searched } from './search-filter.js';

/** `q=<text>`: what `SearchFilter` does with `search`, for clients that speak json-server's dialect. */
export class JsonServerSearch implements FilterBackend {
  filter(question: FilterQuestion): Filtering {
    return searched('q', question);
  }

  parameters(): readonly string[] {
    return ['q'];
  }
}
