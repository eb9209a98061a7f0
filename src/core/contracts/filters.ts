import type { Json } from '../errors/rest-exception.js';
import type { Condition } from '../query/condition.js';
import type { Lookup } from '../query/lookups.js';
import type { RowFilter } from '../query/row-filter.js';
import type { Actor } from '../schema/caller.js';
import type { DataType } from '../schema/data-type.js';
import type { JsonType } from '../schema/json-value.js';
import type { OrderTerm, ResourceSchema } from '../schema/resource-schema.js';

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
  /** How many values an `in` may have; undefined for `queryLimits.values`. A QUERY may have more than a URL. */
  readonly maxValues?: number | undefined;
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

/** The types of a custom parameter, with the JavaScript type of the value that its function receives. */
interface ParameterValues {
  /** A safe integer. */
  readonly integer: number;
  readonly number: number;
  /** As a string, to preserve all digits. */
  readonly decimal: string;
  readonly text: string;
  readonly boolean: boolean;
  /** `2022-10-02` */
  readonly date: string;
  /** In UTC, in the format of bodies: `2022-10-02T09:23:28.297Z` */
  readonly datetime: string;
  readonly uuid: string;
}

/** The types of a parameter, besides `choice`. */
export type ParameterKind = keyof ParameterValues;

interface ParameterOf<Kind, Value, Answer> {
  readonly type: Kind;
  /** Takes several comma-separated values. */
  readonly list?: false;
  readonly rows: (value: Value, context: FilterContext) => Answer;
}

interface ListParameterOf<Kind, Value, Answer> {
  readonly type: Kind;
  readonly list: true;
  readonly rows: (values: readonly Value[], context: FilterContext) => Answer;
}

type EitherOf<Kind, Value, Answer> = ParameterOf<Kind, Value, Answer> | ListParameterOf<Kind, Value, Answer>;

/** A typed parameter and the function that returns its row filter. A `choice` lists the allowed values. */
export type TypedParameter<Answer> =
  | { [Kind in ParameterKind]: EitherOf<Kind, ParameterValues[Kind], Answer> }[ParameterKind]
  | (EitherOf<'choice', string, Answer> & { readonly choices: readonly string[] });

/**
 * A custom lookup or filter of a model, by the name of its parameter. `reads` names the fields that its result discloses: for
 * a caller who may not read all of them, in the related rows too, the parameter does not exist.
 *
 * ```ts
 * filters: { votes__near: { type: 'integer', reads: ['votes'], rows: (votes) => where('votes', 'range', [votes - 5, votes + 5]) } }
 * ```
 */
export type CustomFilter<Path extends string = string> = TypedParameter<RowFilter> & {
  readonly reads: readonly Path[];
};

/**
 * The filters of a path into a column of JSON: `{ type: 'number', lookups: ['gte'] }`. `column`: the property of a generated column that
 * has the value, for an index.
 */
export interface JsonPathFilter {
  /** Default: `string`. */
  readonly type?: JsonType;
  /** None for a path that only orders. */
  readonly lookups: readonly Lookup[];
  readonly column?: string;
}

/** The function of a custom filter, called with the parsed value. */
export type CustomFilterRows = (value: Json, context: FilterContext) => RowFilter;

const PARAMETER_TYPES: Readonly<Record<ParameterKind, DataType>> = {
  integer: { kind: 'integer', min: Number.MIN_SAFE_INTEGER, max: Number.MAX_SAFE_INTEGER },
  number: { kind: 'float' },
  decimal: { kind: 'decimal' },
  text: { kind: 'string', trim: false },
  boolean: { kind: 'boolean' },
  date: { kind: 'date' },
  datetime: { kind: 'datetime', digits: 3, zoned: true },
  uuid: { kind: 'uuid' },
};

export const PARAMETER_KINDS: readonly string[] = [...Object.keys(PARAMETER_TYPES), 'choice'];

/** The data type of a custom parameter. */
export function parameterType(
  parameter:
    { readonly type: ParameterKind } | { readonly type: 'choice'; readonly choices: readonly string[] },
): DataType {
  return parameter.type === 'choice'
    ? { kind: 'enum', values: parameter.choices }
    : PARAMETER_TYPES[parameter.type];
}
