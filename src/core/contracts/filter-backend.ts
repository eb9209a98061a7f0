import type { Actor } from '../schema/actor.js';
import type { Condition } from '../query/condition.js';
import type { OrderTerm, ResourceSchema } from '../schema/resource-schema.js';
import type { RowFilter } from '../query/row-filter.js';

/** The query parameter with filter groups, in models that enable them. */
export const GROUPS_PARAMETER = 'filter';

/** The context that is passed to a filter backend for each list request. */
export interface FilterContext {
  readonly resource: ResourceSchema;
  /** Decoded query parameters; the last value of a repeated one. */
  readonly parameters: ReadonlyMap<string, string>;
  /** All values of a parameter in the order of the query string; `[]` if absent. After a pipe, which sees the last value or the whole list, only its result. */
  readonly values: (name: string) => readonly string[];
  readonly actor: Actor;
}

/**
 * The way in which a parameter takes several values. `names` and `values` are comma-separated lists, and in `values` an item
 * with commas is quoted; the lists of a repeated parameter are concatenated. For `each` the backend reads all values with
 * `FilterContext.values`. In all three, `name[]` is an alias of `name`.
 */
export type ListKind = 'names' | 'values' | 'each';

/** The result of a filter backend. It can only narrow a list: the conditions of all backends are AND-ed with the grants. */
export interface FilterResult {
  /** A row filter with the model's names, or a resolved condition. Default: all rows. */
  readonly rows?: RowFilter | Condition;
  /** The order of the list. If several backends return one, the first in the model's list wins. */
  readonly order?: readonly OrderTerm[];
  /** True if the shape of the filter comes from the caller, so that it is unlikely to repeat: its statement is not cached. */
  readonly oneOff?: boolean;
}

/**
 * Filters or orders the lists of a model. The classes are given as `filterBackends` and resolved by Nest's injector once, at
 * boot.
 *
 * ```ts
 * @Injectable()
 * export class PublishedOnly implements FilterBackend {
 *   filter({ parameters }: FilterContext): FilterResult {
 *     return parameters.get('drafts') === 'true' ? {} : { rows: where('draft', false) };
 *   }
 *   parameters(): string[] { return ['drafts']; }
 * }
 * ```
 */
export interface FilterBackend {
  /** @throws InvalidInput for an invalid parameter */
  filter(context: FilterContext): FilterResult | Promise<FilterResult>;
  /** The parameters that it reads in this model. A `strict` model rejects others; a field of such a name is filtered with `<name>__exact`. */
  parameters?(resource: ResourceSchema): readonly string[];
  /** The parameters that take several values; for all others the last value is used. */
  lists?(resource: ResourceSchema): ReadonlyMap<string, ListKind>;
}
