import type { Json } from '../../core/errors/rest-exception.js';
import type { TermMatch } from '../../core/query/condition.js';
import type { Lookup } from '../../core/query/lookups.js';
import type { DataType, TypeOf } from '../../core/schema/data-type.js';
import type { Statement } from '../statement.js';
import type { FullTextSyntax } from './full-text-syntax.js';

/** Adds a parameter to the statement and returns its placeholder. */
export type Bind = (value: Json, type: DataType) => string;

/** A comparison of a column with a value. */
export interface Comparison {
  /** SQL of the column. */
  readonly column: string;
  readonly lookup: Lookup;
  readonly value: Json;
  readonly type: DataType;
  /** As in `Condition`. */
  readonly asKey: boolean;
}

export interface TextPart {
  readonly text: string;
  readonly where: 'whole' | 'start' | 'end' | 'anywhere';
  readonly insensitive: boolean;
}

/** A column whose text is searched. */
export interface SearchedColumn {
  /** SQL of the column. */
  readonly column: string;
  readonly type: DataType;
}

/** A column of texts: `path` is the table, both are quoted. */
export interface TextColumn {
  readonly path: string;
  readonly name: string;
  readonly type: TypeOf<'string'>;
}

/** How a database compares texts. */
export interface TextSyntax {
  /** A text match at the position of `part`, case-insensitive or exact. */
  matchText(searched: SearchedColumn, part: TextPart, bindText: (text: string) => string): string;
  /** A search by regular expression or full text; validated at boot for this dialect. */
  matchSpecial(
    searched: SearchedColumn,
    match: Extract<TermMatch, 'regex' | 'fulltext'>,
    placeholder: string,
  ): string;
  /** The SQL of ranked searches. */
  readonly fullText: FullTextSyntax;
  /** The operator of searches by regular expression; undefined without such. */
  readonly regexOperator: string | undefined;
  /** A column as it is compared with one of type `other`, to which it refers, or which refers to it. */
  joined(column: string, type: DataType, other: DataType): string;
  /**
   * A statement for those of different texts that the column takes for equal to an earlier one: their positions, and that of
   * the first equal one. Undefined if there are none.
   */
  equalTexts(column: TextColumn, texts: readonly string[]): Statement | undefined;
  /**
   * A statement for the columns that compare otherwise than TypeORM's metadata say: schema, table, column, quoted collation,
   * character set. `schemas`: those of the entities' tables.
   */
  textColumns(schemas: readonly string[]): Statement;
}

const LIKE_ESCAPE = '!';

/** A LIKE pattern with `%` and `_` of the text escaped, for `ESCAPE '!'`. */
export function likePattern({ text, where }: TextPart): string {
  const literal = text.replace(/[!%_]/g, (each) => LIKE_ESCAPE + each);
  switch (where) {
    case 'whole':
      return literal;
    case 'start':
      return `${literal}%`;
    case 'end':
      return `%${literal}`;
    case 'anywhere':
      return `%${literal}%`;
    default:
      return where satisfies never;
  }
}
