import type { Json } from '../../../errors/rest-error.js';
import type { TermMatch } from '../../../model/condition.js';
import type { Lookup } from '../../../model/row-filter.js';
import type { ValueType } from '../../../model/value-type.js';
import type { JsonWriter } from './json-writer.js';

/** Adds a value to the statement and gives the SQL that stands for it. */
export type Bind = (value: Json, type: ValueType) => string;

/** A comparison that a dialect writes in its own way. */
export interface Comparison {
  /** SQL of the column. */
  readonly column: string;
  readonly lookup: Lookup;
  readonly value: Json;
  readonly type: ValueType;
}

/** Why the database said no, in words that every dialect shares. Columns are names in the database. */
export type DatabaseRefusal =
  | { readonly kind: 'unique'; readonly columns?: readonly string[]; readonly constraint?: string }
  | { readonly kind: 'foreign-key' }
  | { readonly kind: 'not-null'; readonly column?: string }
  | { readonly kind: 'check' }
  /** A value that the column cannot hold. */
  | { readonly kind: 'data'; readonly column?: string }
  /** Another transaction stood in the way: the same one may pass when it is tried again. */
  | { readonly kind: 'conflict' }
  /** A statement that was kept prepared is not there any more, or no longer fits the tables. */
  | { readonly kind: 'unprepared' }
  /** The database has given a statement up: it ran too long, or waited too long for a lock. */
  | { readonly kind: 'timeout' }
  /** There is no connection, or the one that was used is of no more use. */
  | { readonly kind: 'away' };

/** What a transaction that writes needs of its session, where the session may be another. */
export interface SessionNeed {
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
  readonly session: SessionNeed | undefined;
  /** Whether different values of this type are still different when TypeORM has loaded them. */
  loadsExactly(type: ValueType): boolean;
  placeholder(position: number): string;
  /** The expression that brings a column's value out without loss. */
  read(column: string, type: ValueType): string;
  /** From the driver's value of `read`, never null, to the canonical one. */
  decode(raw: unknown, type: ValueType): Json;
  /** From a canonical value, never null, to the driver's. */
  encode(value: Json, type: ValueType): unknown;
  /** The placeholder as a value of this type. */
  parameter(placeholder: string, type: ValueType): string;
  /** SQL of a comparison that this dialect writes otherwise than the standard; undefined where it does not. */
  compare(comparison: Comparison, bind: Bind): string | undefined;
  /** A text that is matched without regard to case (`insensitive`) or exactly. `part` says which part must fit. */
  matchText(column: string, part: TextPart, bindText: (text: string) => string): string;
  /** A search term by regular expression or full text; boot has made sure that this dialect has it. */
  matchSpecial(column: string, match: Extract<TermMatch, 'regex' | 'fulltext'>, placeholder: string): string;
  /** How an ordered column is read and compared to go on behind a row. */
  cursor(column: string, type: ValueType): CursorColumn;
  /**
   * A question whose answer is 1 where a table has no trigger, no rule, no column that is made of others and no table below it,
   * and is a table; undefined where the database does not bring a written row out. `path` is quoted, and `name` is not.
   */
  readonly plainTable: ((name: string, path: string) => { readonly sql: string; readonly parameters: readonly unknown[] }) | undefined;
  /** Whether a comparison with a value of this type is the same SQL whatever the value, bound once and as it is encoded. */
  isSteady(type: ValueType): boolean;
  /** Undefined where the database cannot write rows as JSON. */
  readonly json: JsonWriter | undefined;
  /** How many rows the planner expects of a SELECT; undefined where it does not say. */
  readonly estimate: RowEstimate | undefined;
  refusal(error: unknown): DatabaseRefusal | undefined;
  /** Breaks a driver's connection off, so that its pool makes another one. */
  discard(connection: unknown): void;
  /** Behind BEGIN: waits for others who write, where BEGIN alone does not see to it that this transaction can. */
  readonly lockForWriting: ((query: (sql: string) => Promise<unknown>) => Promise<void>) | undefined;
  /** Two texts as one. */
  concat(first: string, second: string): string;
  /** A statement behind which those who would change the shape of this tree at the same time wait; undefined where they do anyway. */
  lockTree(tree: { readonly table: string; readonly key: string }, bindText: (text: string) => string): string | undefined;
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
  return (own as Record<string, unknown> | undefined)?.[name] ?? (error as Record<string, unknown> | undefined)?.[name];
}

/** Codes of Node's sockets for a server that is not there. */
const SOCKET_CODES = new Set(['ECONNREFUSED', 'ECONNRESET', 'EPIPE', 'ETIMEDOUT', 'ENOTFOUND', 'EHOSTUNREACH', 'EAI_AGAIN', 'ENOENT']);

export function isSocketCode(code: unknown): boolean {
  return typeof code === 'string' && SOCKET_CODES.has(code);
}

const LOST =
  /connection terminated|timeout exceeded when trying to connect|pool is closed|cannot use a pool after|not established|connection is not open|not queryable|in closed state|read timeout|no connections available|queue limit reached|driver not connected/i;
/** The last one: TypeORM gives a connection of PostgreSQL back by itself when it breaks, also in the middle of a transaction. */
const LOST_NAMES = new Set<unknown>(['ConnectionIsNotSetError', 'CannotConnectAlreadyConnectedError', 'QueryRunnerAlreadyReleasedError']);

/** Whether the ORM or the driver itself says, without a code, that there is no connection. */
export function isConnectionLost(error: unknown): boolean {
  const { name, message } = (error ?? {}) as { name?: unknown; message?: unknown };
  return LOST_NAMES.has(name) || LOST.test(String(message ?? ''));
}
