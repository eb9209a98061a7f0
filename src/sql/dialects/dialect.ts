import type { DeclarationProblem } from '../../core/errors/declaration-error.js';
import type { Json } from '../../core/errors/rest-exception.js';
import type { DataType, TypeOf } from '../../core/schema/data-type.js';
import type { Statement } from '../statement.js';
import type { NamedTable } from '../table-names.js';
import type { AggregateSyntax } from './aggregate-syntax.js';
import { isConnectionLost, isSystemCode } from './error-codes.js';
import type { IndexCatalogue } from './index-catalogue.js';
import type { JsonPathSyntax } from './json-paths.js';
import type { JsonWriter } from './json-writer.js';
import type { Bind, Comparison, TextSyntax } from './text-syntax.js';

/** The table whose constraint is violated, as far as the database names it. */
export interface ConstrainedTable {
  readonly table?: string | undefined;
  readonly schema?: string | undefined;
}

/** A database error, classified independently of the dialect. Columns are database names. */
export type DatabaseError =
  /** `constraint`: the name of the index; MySQL puts its table and a dot in front of it. */
  | ({
      readonly kind: 'unique';
      readonly columns?: readonly string[];
      readonly constraint?: string;
    } & ConstrainedTable)
  /**
   * The table is the one that refers to the row, or the one whose row refers to none: the latter if `isDangling`, which is
   * undefined if the database does not say so.
   */
  | ({ readonly kind: 'foreign-key'; readonly isDangling?: boolean } & ConstrainedTable)
  | ({ readonly kind: 'not-null'; readonly column?: string | undefined } & ConstrainedTable)
  | ({ readonly kind: 'check' } & ConstrainedTable)
  /** The value is out of range or malformed for the column. */
  | ({ readonly kind: 'data'; readonly column?: string } & ConstrainedTable)
  /** A regular expression is invalid. */
  | { readonly kind: 'pattern' }
  /** A trigger or a function of the database has raised an error with its own message. */
  | { readonly kind: 'raised'; readonly message: string }
  /** The user of the database has not the right to do so, or row security forbids the row. */
  | { readonly kind: 'denied' }
  /** A serialization failure or deadlock: the transaction may succeed when retried. */
  | { readonly kind: 'conflict' }
  /** Another process has locked the database file: the statement may succeed when retried. */
  | { readonly kind: 'locked' }
  /** Out of disk space or memory. */
  | { readonly kind: 'full' }
  /** A prepared statement no longer exists or no longer matches the tables. */
  | { readonly kind: 'unprepared' }
  /** The database aborted the statement after a statement or lock timeout. */
  | { readonly kind: 'timeout' }
  /** No connection is available, or the current one is broken. */
  | { readonly kind: 'away' };

/** Session settings that a write transaction requires. */
export interface SessionSetup {
  /** A query for the current setting, as `c0`. Executed once per data source. */
  readonly query: string;
  /** Statements after BEGIN, and before the connection is released. Empty if the setting is already right. */
  statements(result: string): {
    readonly begin: readonly string[];
    readonly end: readonly string[];
    /** In place of `end`, where a transaction of the application goes on. */
    readonly endJoined?: readonly string[];
  };
}

/** A setting of sessions that changes the meaning of SQL, or of what the driver sends and reads. */
export interface SettingRule {
  /** The expression that reads it. */
  readonly read: string;
  /** Why this package cannot work with the value, and what repairs it. */
  problems(value: string): readonly Pick<DeclarationProblem, 'what' | 'repair'>[];
}

/**
 * The differences between databases, one file each. All strings that are put into SQL here are quoted identifiers of the
 * compiled model or placeholders.
 */
export interface Dialect extends TextSyntax {
  /** Whether all statements share one connection, so that a transaction needs exclusive access. */
  readonly oneConnection: boolean;
  /** Whether NULL sorts first in ascending order. */
  readonly nullsFirst: boolean;
  /** Whether ORDER BY supports `NULLS FIRST` and `NULLS LAST`. */
  readonly nullsClause: boolean;
  /** The form of the condition for rows after a position at which an index can start. */
  readonly keyset: KeysetForm;
  /** Whether the select list of rows that are sorted for a LIMIT is evaluated for all of them, and not for those that remain. */
  readonly evaluatesBeforeSort: boolean;
  /** The locking clause of a SELECT before a write. */
  readonly lockRow: string;
  /** Whether that clause has to name the main table of a join: the others are not locked, and the nullable side of an outer join cannot be. */
  readonly lockNamesTable: boolean;
  readonly session: SessionSetup | undefined;
  /**
   * A query that returns 1 in a transaction that has written, and 0 or an error in one that the database has rolled back. Undefined if
   * the database does not say, or its connection is checked before each statement.
   */
  readonly openTransaction: string | undefined;
  /** What is inspected at start. */
  readonly settings: readonly SettingRule[];
  /** What tells servers that have the protocol of this database and another SQL; inspected before everything else. */
  readonly otherServers: readonly SettingRule[];
  /** Whether distinct values of this type stay distinct when TypeORM loads them. */
  loadsExactly(type: DataType): boolean;
  placeholder(position: number): string;
  /** The expression that reads a column's value without loss. */
  read(column: string, type: DataType): string;
  /** Converts the driver's value of `read`, never null, to the canonical one. */
  decode(raw: unknown, type: DataType): Json;
  /** Converts a canonical value, never null, to the driver's. */
  encode(value: Json, type: DataType): unknown;
  /** Casts a placeholder to this type where necessary. */
  parameter(placeholder: string, type: DataType): string;
  /** Casts a value as a column of this type stores it, including rounding. */
  stored(value: string, type: DataType): string;
  /** The current time, as a column of this type stores it. */
  now(type: TypeOf<'datetime'>): string;
  /** The SQL of a comparison in which this dialect deviates from the standard, otherwise undefined. */
  compare(comparison: Comparison, bind: Bind): string | undefined;
  /** Whether the value of a column is null to clients, or is not. */
  testNull(column: string, type: DataType, isNull: boolean): string;
  /** The column, with NULL in place of stored values that are null to clients; undefined if there are none. */
  nullable(column: string, type: DataType): string | undefined;
  /** Whether the planner may start at the subquery of an EXISTS, and not only at the row that contains it. */
  readonly startsAtExists: boolean;
  /** Marks a comparison as selective, so that the planner uses its index whatever the statistics. */
  selective(comparison: string): string;
  /** How the cursor value of an ordered column is read and compared. */
  cursor(column: string, type: DataType): CursorColumn;
  /** Undefined if rows are not inserted by statements that return them. */
  readonly inserting: InsertSyntax | undefined;
  /** Undefined if rows are not updated by statements that return them. */
  readonly returning: ReturningSyntax | undefined;
  /** A query for the columns of a table, as `c0`, and the types to which values for them are cast, as `c1`: NULL where a cast may cut a value off. Undefined if values need none. */
  readonly columnTypes?: (path: string) => Statement;
  /** Whether a comparison with this type compiles to the same SQL for every value, bound once in its encoded form. */
  isReusable(type: DataType): boolean;
  /**
   * A query that returns 1 if a DELETE or UPDATE of many rows of a table does the same as one of each row in any order: for an
   * ordinary table without triggers and rules, if no foreign key lets a row, or one that is deleted with it by CASCADE, restrict
   * what is deleted with another row.
   */
  changesAlike(table: NamedTable, change: 'delete' | 'update'): Statement;
  /**
   * Whether a DELETE or UPDATE of rows by their keys is ordered and limited. MySQL locks each row that it reads, and without an
   * order that the index has, it would read the whole of a small table.
   */
  readonly limitsChanges: boolean;
  /** Undefined if this dialect does not serialize rows as JSON. */
  readonly json: JsonWriter | undefined;
  /** The query planner's row estimate; undefined if it is not available. */
  readonly estimate: RowEstimate | undefined;
  errorFor(error: unknown): DatabaseError | undefined;
  /** A query for the columns of an index in order, as `c0`, NULL for an expression; undefined if error messages name all columns. */
  readonly indexColumns: ((table: NamedTable, index: string) => Statement) | undefined;
  /** A query with a row if the second table is the first one, a part of it, or a table of the view that it is. Undefined if it is the first one by its name. */
  partOf(table: NamedTable, part: ConstrainedTable & { readonly table: string }): Statement | undefined;
  /** A query with a row if the table has no further generated key; undefined if the error says so. */
  readonly exhaustedKey: ((table: NamedTable) => Statement) | undefined;
  /** A query with a row if the table has the column, or is a view; undefined if errors of a column name the table. */
  readonly columnOf: ((table: NamedTable, column: string) => Statement) | undefined;
  /**
   * A query with a row if a foreign key from or to the table, or to one behind the view that it is, may be violated; undefined if
   * errors name the table.
   */
  readonly foreignKeyAt: ((table: NamedTable) => Statement) | undefined;
  /** A query for the `name`, `type` and `sql` of views, and of tables whose constraints may delete other rows; undefined without such. */
  readonly definitions: string | undefined;
  /**
   * A query for the tables whose foreign keys restrict deletions or updates of a table, as `c0`, and the columns to which they
   * refer, as `c1` (null: its key); undefined if errors name them.
   */
  readonly restrictingTables:
    | ((
        table: string,
        change: 'delete' | 'update',
      ) => { readonly sql: string; readonly parameters: readonly unknown[] })
    | undefined;
  /**
   * A query for the foreign keys between tables, given by their quoted paths, whose rows always refer to one: the paths of the
   * referring and the referenced table as `c0` and `c1`, the pairs of column names as `c2`. Undefined where a database also keeps
   * keys that it has not checked.
   */
  readonly guaranteedKeys: ((paths: readonly string[]) => Statement) | undefined;
  /** The indexes of tables. */
  readonly indexes: IndexCatalogue;
  /** Closes a driver's connection, so that its pool opens another one. */
  discard(connection: unknown): void;
  /** Undefined if statements are executed synchronously and so cannot be cancelled. */
  readonly canceller: StatementCanceller | undefined;
  /** A scalar subquery with the texts of a value of rows as a JSON array, in this order; it may be NULL without rows, and is `CUT_LIST` if the server cuts it. */
  listOf(rows: ListedRows): string;
  /** The SQL of values in documents. */
  readonly jsonPaths: JsonPathSyntax;
  /** The SQL of aggregates. */
  readonly aggregates: AggregateSyntax;
  /** Concatenates two strings. */
  concat(first: string, second: string): string;
  /** A statement that serializes concurrent changes to the structure of a tree; undefined if writes are serialized anyway. */
  lockTree(
    tree: { readonly table: string; readonly key: string },
    bindText: (text: string) => string,
  ): string | undefined;
}

/** In the place of a list that is longer than the server's settings permit. */
export const CUT_LIST = 'cut';

/** The parts of a subquery: the value of each row, the order, the tables, the condition, and the maximum number of rows. */
export interface ListedRows {
  readonly value: string;
  readonly order: string;
  readonly from: string;
  readonly where: string;
  readonly limit: number;
}

/** An EXPLAIN statement, and how its result is read. */
export interface RowEstimate {
  explain(select: string): string;
  rows(result: unknown): number | undefined;
}

/**
 * `rows`: comparisons of rows, `(a, b) >= (x, y) AND (a, b) <> (x, y)`. `segments`: a SELECT for `a = x AND b > y` and one for `a > x`, or
 * `(a, b) > (x, y)`, without integer keys, which no index has as a column. `alternatives`: `a > x OR (a = x AND b > y)`.
 */
export type KeysetForm = 'rows' | 'segments' | 'alternatives';

export interface CursorColumn {
  /** The select expression. */
  readonly read: string;
  /** The operand of comparisons. */
  readonly compared: string;
  parameter(placeholder: string): string;
}

/** Databases without stored values that are null to clients. */
export const PLAIN_NULLS: Pick<Dialect, 'testNull' | 'nullable'> = {
  testNull: (column, _type, isNull) => testNull(column, isNull),
  nullable: () => undefined,
};

export function testNull(column: string, isNull: boolean): string {
  return `${column} IS${isNull ? '' : ' NOT'} NULL`;
}

/** A property of a driver error, whether or not TypeORM has wrapped it. */
export function driverErrorProperty(error: unknown, name: string): unknown {
  const own = (error as { driverError?: unknown } | undefined)?.driverError;
  return (
    (own as Record<string, unknown> | undefined)?.[name] ??
    (error as Record<string, unknown> | undefined)?.[name]
  );
}

/** Errors that are independent of the request, which may succeed when retried. */
const TEMPORARY_KINDS = ['away', 'full', 'timeout', 'conflict', 'locked', 'unprepared'] as const;
type TemporaryError = Extract<DatabaseError, { kind: (typeof TEMPORARY_KINDS)[number] }>;
const TEMPORARY: ReadonlySet<string | undefined> = new Set(TEMPORARY_KINDS);

export function isTemporary(error: DatabaseError | undefined): error is TemporaryError {
  return TEMPORARY.has(error?.kind);
}

/**
 * Whether the connection to the server was lost. System codes count only inside of TypeORM's wrapper: elsewhere, the same
 * code may come from any file or server that application code uses.
 */
export function isServerLost(error: unknown): boolean {
  return (
    isSystemCode((error as { driverError?: { code?: unknown } } | undefined)?.driverError?.code) ||
    isConnectionLost(error)
  );
}

/** Cancels the running statement of a connection from outside of it. */
export interface StatementCanceller {
  /**
   * Sends a cancel request for the running statement. Resolves once the server has processed it, so that it cannot affect
   * statements after an empty one; rejects if that is not known. `signal` aborts when the result is no longer needed.
   */
  cancel(connection: unknown, signal: AbortSignal): Promise<void>;
  /** Runs an empty statement on this connection, which absorbs a late cancel request without an error. */
  runEmpty(connection: unknown): Promise<void>;
  /** Closes the socket of this connection, so that its running statement fails. */
  closeSocket(connection: unknown): void;
}

/**
 * How a stored value is compared with a new one: the `value` itself, its `text`, the `instant` in milliseconds, `json` or
 * `jsonb` in any order of keys and with the texts of numbers, or `json-text` without insignificant blanks.
 */
export type ValueComparison = 'value' | 'text' | 'instant' | 'json' | 'jsonb' | 'json-text';

/** The operands of a comparison, as SQL. */
export interface ComparedValue {
  readonly column: string;
  readonly placeholder: string;
  readonly type: DataType;
}

/** The syntax of statements that insert rows and return them (`INSERT … RETURNING`). */
export interface InsertSyntax {
  /** A query that returns 1 for an ordinary table without triggers, rules, generated columns and child tables. */
  plainTable(table: NamedTable): { readonly sql: string; readonly parameters: readonly unknown[] };
  /** Whether every user sees the triggers of a table. */
  readonly showsTriggers: boolean;
  /** Whether the database generates the UUIDs of new rows. */
  readonly generatesUuids: boolean;
  /** What follows the name of the table if no column is written. */
  readonly noColumns: string;
  /** Whether an INSERT may select its row, under the condition that other rows exist. */
  readonly selectsRows: boolean;
  /** Casts a written value where necessary. */
  value(placeholder: string, type: DataType): string;
  /** How values of a column's default are generated before rows are inserted; undefined if the database cannot do so. */
  readonly generating:
    | {
        /** A query for the expression of the default; its value is NULL if there is none. */
        defaultOf(path: string, column: string): Statement;
        /** A table with this number of rows, which the expression is evaluated for. */
        rows(count: number): string;
      }
    | undefined;
  /** An expression that fails for an integer that the driver rounds; undefined if it rounds none. */
  readonly failIfRounded: ((column: string) => string) | undefined;
  /** Whether 0 in a generated column stands for the next value. */
  readonly generatesForZero: boolean;
}

/** The syntax of statements that write a row and return it (`INSERT … RETURNING`, `UPDATE … RETURNING`). */
export interface ReturningSyntax extends InsertSyntax {
  /** A query that returns 1 for a view. */
  view(name: string, path: string): { readonly sql: string; readonly parameters: readonly unknown[] };
  /** Whether a stored value differs from a parameter. NULL differs from every other value. */
  differs(comparison: ValueComparison, operands: ComparedValue): string;
  /**
   * A system column that changes with each update of a row, its comparison with a parameter, and whether this transaction has
   * written the row; undefined if the database has none.
   */
  readonly rowVersion:
    | {
        read(alias: string): string;
        equals(alias: string, placeholder: string): string;
        isOwn(alias: string): string;
      }
    | undefined;
}
