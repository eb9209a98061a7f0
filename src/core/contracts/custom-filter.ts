import type { Json } from '../errors/rest-exception.js';
import type { FilterContext } from './filter-backend.js';
import type { RowFilter } from '../query/row-filter.js';

/** The types of a custom parameter, with the JavaScript type of the value that its function receives. */
export interface ParameterValues {
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

/** The function of a custom filter, called with the parsed value. */
export type CustomFilterRows = (value: Json, context: FilterContext) => RowFilter;
