import type { Actor } from '../schema/actor.js';
import type { Condition } from '../query/condition.js';
import type { OrderTerm, Resource } from '../schema/resource.js';
import type { RowFilter } from '../query/row-filter.js';

/** The parameter that holds groups of filters, in models that have them. */
export const GROUPS_PARAMETER = 'filter';

/** What a filter backend is asked for each list. */
export interface FilterContext {
  readonly resource: Resource;
  /** Query parameters, decoded; of a repeated one, the last value. */
  readonly parameters: ReadonlyMap<string, string>;
  /** All values of a parameter, in the order in which they came; `[]` where it did not come. Behind a pipe, which sees the last value or the whole list, that one alone. */
  readonly values: (name: string) => readonly string[];
  readonly actor: Actor;
}

/**
 * How a parameter takes several values. `names` and `values` are lists with commas between them, in `values` with quotes around
 * what has commas of its own: where such a parameter comes more than once, its lists are put one behind the other. Of `each`
 * the backend reads all by `FilterContext.values`. Of all three, `name[]` is `name`.
 */
export type ListKind = 'names' | 'values' | 'each';

/** What a backend answers. It can only narrow: the conditions of all backends are AND-ed with the grants. */
export interface FilterResult {
  /** By names of the model, or already resolved. Left out: all rows. */
  readonly rows?: RowFilter | Condition;
  /** The order of the list. Of several backends that give one, the first in the model's list wins. */
  readonly order?: readonly OrderTerm[];
  /** The caller has put the rows together in a way of his own: nobody may ask so again, and no statement of them is kept. */
  readonly oneOff?: boolean;
}

/**
 * Narrows or orders the lists of a model. The classes are given as `filterBackends` and resolved by Nest's injector
 * once, at boot.
 *
 * ```ts
 * @Injectable()
 * export class PublishedOnly implements FilterBackend {
 *   filter({ parameters }: FilterContext): Filtering {
 *     return parameters.get('drafts') === 'true' ? {} : { rows: where('draft', false) };
 *   }
 *   parameters(): string[] { return ['drafts']; }
 * }
 * ```
 */
export interface FilterBackend {
  /** Throws `InvalidInput` where a parameter does not fit. */
  filter(question: FilterContext): FilterResult | Promise<FilterResult>;
  /** The parameters that it reads of this model. In a `strict` model others are refused; a field of such a name is filtered by `<name>__exact`. */
  parameters?(resource: Resource): readonly string[];
  /** Those of them that take several values; of all others the last one counts. */
  lists?(resource: Resource): ReadonlyMap<string, ListKind>;
}
