import type { Json } from '../../core/errors/rest-exception.js';
import type { TermMatch } from '../../core/query/condition.js';
import type { Lookup } from '../../core/query/row-filter.js';
import type { DataType } from '../../core/schema/data-type.js';
import { isConnectionLost, isSystemCode } from './error-codes.js';
import type { JsonWriter } from './json-writer.js';
import type { StatementCanceller } from './statement-canceller.js';

/** Adds a value to the statement and gives the SQL that stands for it. */
export type Bind = (value: Json, type: DataType) => string;

/** A comparison that a dialect writes in its own way. */
export interface Comparison {
  /** SQL of the column. */
  readonly column: string;
  readonly lookup: Lookup;
  readonly value: Json;
  readonly type: DataType;
}

/** Why the database said no, in words that every dialect shares. Columns are names in the database. */
export type DatabaseError =
  | { readonly kind: 'unique'; readonly columns?: readonly string[]; readonly constraint?: string }
  | { readonly kind: 'foreign-key' }
  | { readonly kind: 'not-null'; readonly column?: string }
  | { readonly kind: 'check' }
  /** A value that the column cannot hold. */
  | { readonly kind: 'data'; readonly column?: string }
  /** Another transaction stood in the way: the same one may pass when it is tried again. */
  | { readonly kind: 'conflict' }
  /** Another process holds the file: the same statement may pass when it is tried again. */
  | { readonly kind: 'locked' }
  /** There is no room for what the statement writes or sorts. */
  | { readonly kind: 'full' }
  /** A statement that was kept prepared is not there any more, or no longer fits the tables. */
  | { readonly kind: 'unprepared' }
  /** The database has given a statement up: it ran too long, or waited too long for a lock. */
  | { readonly kind: 'timeout' }
  /** There is no connection, or the one that was used is of no more use. */
  | { readonly kind: 'away' };

/** `path` is quoted, and the names are not. */
export interface NamedTable {
  readonly path: string;
  readonly name: string;
  readonly database: string | undefined;
}

/** What a transaction that writes needs of its session, where the session may be another. */
export interface SessionSetup {
  /** One value as `c0`: how the session is. Asked once a data source. */
  readonly question: string;
  /** Statements behind BEGIN, and before the connection goes back. None where the session is as it should be. */
  statements(answer: string): { readonly begin: readonly string[]; readonly end: readonly string[] };
}

/**
 * What differs between databases, one file each. Everything that reaches SQL through here is a name of the compiled
 * model, already quoted, or a placeholder.
 */
export interface Dialect {
  /** All statements share one connection, so that a transaction must keep all others out. */
  readonly oneConnection: boolean;
  /** Where NULL stands in ascending order. */
  readonly nullsFirst: boolean;
  /** `NULLS FIRST` and `NULLS LAST` are known behind a column of an order. */
  readonly nullsClause: boolean;
  /** Behind a SELECT of a row that is about to be written. */
  readonly lockRow: string;
  readonly session: SessionSetup | undefined;
  /** Whether different values of this type are still different when TypeORM has loaded them. */
  loadsExactly(type: DataType): boolean;
  placeholder(position: number): string;
  /** The expression that brings a column's value out without loss. */
  read(column: string, type: DataType): string;
  /** From the driver's value of `read`, never null, to the canonical one. */
  decode(raw: unknown, type: DataType): Json;
  /** From a canonical value, never null, to the driver's. */
  encode(value: Json, type: DataType): unknown;
  /** The placeholder as a value of this type. */
  parameter(placeholder: string, type: DataType): string;
  /** A value as a column of this type keeps it: what the column rounds is rounded. */
  stored(value: string, type: DataType): string;
  /** SQL of a comparison that this dialect writes otherwise than the standard; undefined where it does not. */
  compare(comparison: Comparison, bind: Bind): string | undefined;
  /** A comparison that is to be served by an index, whatever the statistics tell of its value. */
  selective(comparison: string): string;
  /** A text that is matched without regard to case (`insensitive`) or exactly. `part` says which part must fit. */
  matchText(column: string, part: TextPart, bindText: (text: string) => string): string;
  /** A search term by regular expression or full text; boot has made sure that this dialect has it. */
  matchSpecial(column: string, match: Extract<TermMatch, 'regex' | 'fulltext'>, placeholder: string): string;
  /** How an ordered column is read and compared to go on behind a row. */
  cursor(column: string, type: DataType): CursorColumn;
  /**
   * A question whose answer is 1 where a table has no trigger, no rule, no column that is made of others and no table below it,
   * and is a table; undefined where the database does not bring a written row out. `path` is quoted, and `name` is not.
   */
  readonly plainTable:
    | ((name: string, path: string) => { readonly sql: string; readonly parameters: readonly unknown[] })
    | undefined;
  /** Whether a comparison with a value of this type is the same SQL whatever the value, bound once and as it is encoded. */
  isReusable(type: DataType): boolean;
  /** Undefined where the database cannot write rows as JSON. */
  readonly json: JsonWriter | undefined;
  /** How many rows the planner expects of a SELECT; undefined where it does not say. */
  readonly estimate: RowEstimate | undefined;
  errorFor(error: unknown): DatabaseError | undefined;
  /** A question for the columns of an index in their order, as `c0`, NULL for an expression; undefined where a refusal names all columns that there are. */
  readonly indexColumns:
    | ((
        table: NamedTable,
        index: string,
      ) => { readonly sql: string; readonly parameters: readonly unknown[] })
    | undefined;
  /** Breaks a driver's connection off, so that its pool makes another one. */
  discard(connection: unknown): void;
  /** Undefined where a statement that runs lets nobody else run, and so cannot be cancelled. */
  readonly canceller: StatementCanceller | undefined;
  /** Two texts as one. */
  concat(first: string, second: string): string;
  /** A statement behind which those who would change the shape of this tree at the same time wait; undefined where they do anyway. */
  lockTree(
    tree: { readonly table: string; readonly key: string },
    bindText: (text: string) => string,
  ): string | undefined;
}

/** A statement that asks the planner, and what its only value says. */
export interface RowEstimate {
  question(select: string): string;
  rows(answer: unknown): number | undefined;
}

export interface TextPart {
  readonly text: string;
  readonly where: 'whole' | 'start' | 'end' | 'anywhere';
  readonly insensitive: boolean;
}

export interface CursorColumn {
  /** SQL of what is selected. */
  readonly read: string;
  /** SQL of what is compared. */
  readonly compared: string;
  parameter(placeholder: string): string;
}

const LIKE_ESCAPE = '!';

/** A LIKE pattern in which `%` and `_` of the text are literal; goes with `ESCAPE '!'`. */
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

/** A property of an error that a driver threw, wherever TypeORM has put the driver's own. */
export function driverErrorProperty(error: unknown, name: string): unknown {
  const own = (error as { driverError?: unknown } | undefined)?.driverError;
  return (
    (own as Record<string, unknown> | undefined)?.[name] ??
    (error as Record<string, unknown> | undefined)?.[name]
  );
}

/** Refusals that say nothing of the request: the same one may pass later. */
const TEMPORARY: ReadonlySet<string | undefined> = new Set<DatabaseError['kind']>([
  'away',
  'full',
  'timeout',
  'conflict',
  'locked',
  'unprepared',
]);

export function isTemporary(refusal: DatabaseError | undefined): boolean {
  return TEMPORARY.has(refusal?.kind);
}

/**
 * Whether a statement ended because the operating system has lost the server. Told by the driver's error inside of TypeORM's alone:
 * by itself, the same code may come from any file or server that the application's own code asks.
 */
export function isServerLost(error: unknown): boolean {
  return (
    isSystemCode((error as { driverError?: { code?: unknown } } | undefined)?.driverError?.code) ||
    isConnectionLost(error)
  );
}
