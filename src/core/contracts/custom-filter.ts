import type { Json } from '../errors/rest-exception.js';
import type { FilterContext } from './filter-backend.js';
import type { RowFilter } from '../query/row-filter.js';

/** What a parameter of the application's own may be, and as what its function gets it. */
export interface ParameterValues {
  /** A whole number that JavaScript keeps exactly. */
  readonly integer: number;
  readonly number: number;
  /** As text, so that no digit is lost. */
  readonly decimal: string;
  readonly text: string;
  readonly boolean: boolean;
  /** `2022-10-02` */
  readonly date: string;
  /** In UTC, in the form of bodies: `2022-10-02T09:23:28.297Z` */
  readonly datetime: string;
  readonly uuid: string;
}

export type ParameterKind = keyof ParameterValues;

interface ParameterOf<Kind, Value, Answer> {
  readonly type: Kind;
  /** Several values with commas between them. */
  readonly list?: false;
  readonly rows: (value: Value, question: FilterContext) => Answer;
}

interface ListParameterOf<Kind, Value, Answer> {
  readonly type: Kind;
  readonly list: true;
  readonly rows: (values: readonly Value[], question: FilterContext) => Answer;
}

type EitherOf<Kind, Value, Answer> = ParameterOf<Kind, Value, Answer> | ListParameterOf<Kind, Value, Answer>;

/** A typed parameter, and the rows that it keeps. A `choice` names the texts that there are. */
export type TypedParameter<Answer> =
  | { [Kind in ParameterKind]: EitherOf<Kind, ParameterValues[Kind], Answer> }[ParameterKind]
  | (EitherOf<'choice', string, Answer> & { readonly choices: readonly string[] });

/**
 * A lookup or filter of a model's own, by the name of its parameter. `reads` names the fields that an answer tells of:
 * for a caller who may not read them all, and of related rows the right ones, the parameter does not exist.
 *
 * ```ts
 * filters: { votes__near: { type: 'integer', reads: ['votes'], rows: (votes) => where('votes', 'range', [votes - 5, votes + 5]) } }
 * ```
 */
export type CustomFilter<Path extends string = string> = TypedParameter<RowFilter> & {
  readonly reads: readonly Path[];
};

/** Its function, once the value has been checked against the type. */
export type CustomFilterRows = (value: Json, question: FilterContext) => RowFilter;
