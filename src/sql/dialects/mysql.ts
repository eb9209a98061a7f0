import { mysqlIndexes, numberIn } from './index-catalogue.js';
import type { Json } from '../../core/errors/rest-exception.js';
import type { Lookup } from '../../core/query/lookups.js';
import type { DataType } from '../../core/schema/data-type.js';
import { mysqlJsonPaths } from './json-paths.js';
import { mysqlAggregates } from './mysql-aggregates.js';
import { mysqlCanceller } from './mysql-canceller.js';
import type { MysqlModule } from './mysql-canceller.js';
import { driverErrorProperty, isServerLost, testNull } from './dialect.js';
import type { DatabaseError, Dialect, InsertSyntax } from './dialect.js';
import { listTexts } from './mysql-lists.js';
import { mysqlFault } from './mysql-error-codes.js';
import { mysqlSettings } from './mysql-settings.js';
import {
  compareDates,
  isZero,
  mayHoldZero,
  nullable,
  testZeroOrNull,
  compareTexts,
  mysqlTexts,
} from './mysql-comparisons.js';
import type { Bind, Comparison } from './text-syntax.js';
import { shortestSingle } from '../../core/values/numbers.js';
import { writeJson } from '../../core/values/exact-numbers.js';
import { decodeFloat, decodeStored } from './decode-stored.js';
import { instantOf, wallClockOf } from './local-time.js';
import type { WallZone } from './local-time.js';
import type { Statement } from '../statement.js';
import type { NamedTable } from '../table-names.js';

/**
 * MariaDB and MySQL through mysql2. `zone` is that of the driver, in which it reads and writes DATETIME columns.
 * Statements can be cancelled only if the driver is given. `inserting`: for a server that returns inserted rows.
 */
export function mysql(
  zone: WallZone,
  {
    driver,
    inserting,
  }: { readonly driver?: MysqlModule; readonly inserting?: InsertSyntax | undefined } = {},
): Dialect {
  return {
    ...mysqlTexts,
    oneConnection: false,
    json: undefined,
    estimate: { explain: (select) => `EXPLAIN FORMAT=JSON ${select}`, rows: expectedRows },
    inserting,
    returning: undefined,
    changesAlike,
    limitsChanges: true,
    isReusable: ({ kind }) => kind === 'integer' || kind === 'bigint',
    nullsFirst: true,
    nullsClause: false,
    keyset: 'alternatives',
    evaluatesBeforeSort: false,
    lockRow: ' FOR UPDATE',
    lockNamesTable: false,
    concat: (first, second) => `CONCAT(${first}, ${second})`,
    lockTree: ({ table, key }) => `SELECT ${key} FROM ${table} ORDER BY ${key} LIMIT 1 FOR UPDATE`,
    session: { query: 'SELECT @@SESSION.sql_mode AS c0', statements: strictMode },
    // Of MariaDB only.
    openTransaction: inserting && 'SELECT @@in_transaction AS c0',
    settings: mysqlSettings,
    otherServers: [],
    // The driver loads a DATE as a Date in its time zone, and a FLOAT with six digits.
    loadsExactly: (type) => type.kind !== 'date' && !(type.kind === 'float' && type.single === true),
    placeholder: () => '?',
    read,
    decode: (raw, type) => (mayHoldZero(type) && isZero(String(raw)) ? null : decode(raw, type, zone)),
    encode: (value, type) =>
      type.kind === 'datetime' ? wallClockOf(String(value), zone) : encode(value, type),
    listOf: (rows) => listTexts(rows, { isMariadb: inserting !== undefined }),
    jsonPaths: mysqlJsonPaths(inserting ? 'utf8mb4_nopad_bin' : 'utf8mb4_bin'),
    aggregates: mysqlAggregates(zone, { read, nullable }),
    parameter,
    stored,
    // Without digits, it has whole seconds.
    now: ({ digits, kept }) => `CURRENT_TIMESTAMP(${kept ?? digits})`,
    compare: (comparison, bind) => compare(comparison, { bind, zone }),
    testNull: (column, type, isNull) =>
      mayHoldZero(type) ? testZeroOrNull(column, isNull) : testNull(column, isNull),
    nullable,
    guaranteedKeys: undefined,
    indexes: mysqlIndexes,
    startsAtExists: true,
    selective: (comparison) => comparison,
    cursor,
    errorFor,
    definitions: undefined,
    restrictingTables: undefined,
    foreignKeyAt: undefined,
    exhaustedKey: undefined,
    columnOf: ({ name, database }, column) => ({
      sql: "SELECT 1 AS c0 FROM information_schema.columns c JOIN information_schema.tables t ON t.table_schema = c.table_schema AND t.table_name = c.table_name WHERE c.table_schema = COALESCE(?, DATABASE()) AND c.table_name = ? AND (c.column_name = ? OR t.table_type = 'VIEW')",
      parameters: [database ?? null, name, column],
    }),
    indexColumns: ({ name, database }, index) => ({
      // Of a view, the index is one of its tables.
      sql: `SELECT column_name AS c0 FROM (SELECT column_name, seq_in_index FROM information_schema.statistics WHERE table_schema = COALESCE(?, DATABASE()) AND table_name = ? AND index_name = ? UNION ALL SELECT NULL, 1 FROM information_schema.views WHERE table_schema = COALESCE(?, DATABASE()) AND table_name = ?) i ORDER BY seq_in_index`,
      parameters: [database ?? null, name, index, database ?? null, name],
    }),
    partOf: ({ name, database }, { table }) =>
      name.toLowerCase() === table.toLowerCase()
        ? undefined
        : {
            sql: 'SELECT 1 AS c0 FROM information_schema.views WHERE table_schema = COALESCE(?, DATABASE()) AND table_name = ?',
            parameters: [database ?? null, name],
          },
    canceller: driver && mysqlCanceller(driver),
    discard: (connection) => {
      (connection as MysqlConnection).destroy();
    },
  };
}

/** MySQL estimates the rows after filtering, MariaDB the rows read and the percentage that remains. */
function expectedRows(result: unknown): number | undefined {
  const left = numberIn(result, 'rows_produced_per_join');
  const read = numberIn(result, 'rows');
  return left ?? (read && Math.round((read * (numberIn(result, 'filtered') ?? 100)) / 100));
}

/** Enables the strict SQL mode, without which the server truncates values silently. */
function strictMode(mode: string): { begin: readonly string[]; end: readonly string[] } {
  if (/STRICT_(TRANS|ALL)_TABLES/.test(mode) || !/^[A-Z0-9_,]*$/.test(mode)) return { begin: [], end: [] };
  return {
    begin: [
      `SET SESSION sql_mode = '${[...mode.split(',').filter(Boolean), 'STRICT_ALL_TABLES'].join(',')}'`,
    ],
    end: [`SET SESSION sql_mode = '${mode}'`],
  };
}

const SIGNS: Readonly<Partial<Record<Lookup, string>>> = { gt: '>', gte: '>=', lt: '<', lte: '<=' };

interface ComparedIn {
  readonly bind: Bind;
  readonly zone: WallZone;
}

function compare(comparison: Comparison, { bind, zone }: ComparedIn): string | undefined {
  const { type } = comparison;
  if (type.kind === 'string') return compareTexts({ ...comparison, type }, bind);
  return mayHoldZero(type) ? compareDates(comparison, { bind, zone }) : compareEnum(comparison, bind);
}

/** Compares an ENUM by its position in the declaration, as ORDER BY does; a comparison as text would differ. */
function compareEnum({ column, lookup, value, type }: Comparison, bind: Bind): string | undefined {
  const sign = SIGNS[lookup];
  if (sign === undefined || type.kind !== 'enum') return undefined;
  const position = type.values.findIndex((each) => String(each) === String(value)) + 1;
  return `${column}+0 ${sign} ${bind(position, { kind: 'integer', min: 0, max: type.values.length })}`;
}

/** A connection of the mysql2 pool. */
interface MysqlConnection {
  destroy(): void;
}

function read(column: string, type: DataType): string {
  switch (type.kind) {
    case 'datetime':
      return `DATE_FORMAT(${column}, '%Y-%m-%d %H:%i:%s.%f')`;
    case 'date':
    case 'time':
    case 'bigint':
    // The driver parses long numbers inexactly; the server's text is exact.
    case 'decimal':
    // Read as text and parsed once here: the driver would parse a json column, but not a text one.
    case 'json':
      return `CAST(${column} AS CHAR)`;
    case 'float':
      // The server's text of a 32-bit FLOAT has only six digits. Texts, which have another collation, would become 0.
      return type.single === true
        ? `IF(COLLATION(${column}) = 'binary', CAST(CAST(${column} AS DOUBLE) AS CHAR), ${column})`
        : `CAST(${column} AS CHAR)`;
    default:
      return column;
  }
}

function decode(raw: unknown, type: DataType, zone: WallZone): Json {
  switch (type.kind) {
    case 'datetime':
      return instantOf(String(raw), zone, type.digits);
    case 'float':
      return decodeFloat(raw, type.single === true ? shortestSingle : undefined);
    default:
      return decodeStored(raw, type);
  }
}

function encode(value: Json, type: DataType): unknown {
  switch (type.kind) {
    case 'boolean':
      return value === true ? 1 : 0;
    case 'binary':
      return Buffer.from(String(value), 'base64');
    case 'json':
      return writeJson(value);
    case 'enum':
      // A number would be interpreted as the position in the declaration.
      return String(value);
    case 'list':
    case 'set':
      return (value as readonly Json[]).join(',');
    default:
      return value;
  }
}

/** Casts numeric placeholders, because a number bound as text is compared as a double. */
function parameter(placeholder: string, type: DataType): string {
  if (type.kind === 'bigint')
    return type.min === 0n ? `CAST(${placeholder} AS UNSIGNED)` : `CAST(${placeholder} AS SIGNED)`;
  if (type.kind === 'decimal')
    return `CAST(${placeholder} AS DECIMAL(${type.precision ?? 65},${type.scale ?? (type.precision === undefined ? 30 : 0)}))`;
  if (type.kind === 'float' && type.single === true) return `CAST(${placeholder} AS FLOAT)`;
  return placeholder;
}

function stored(value: string, type: DataType): string {
  switch (type.kind) {
    case 'datetime':
      return `CAST(${value} AS DATETIME(${type.kept ?? type.digits}))`;
    case 'date':
      return `CAST(${value} AS DATE)`;
    case 'time':
      return `CAST(${value} AS TIME(${type.digits}))`;
    default:
      return parameter(value, type);
  }
}

const SORTED_LETTERS = 255;

function cursor(column: string, type: DataType): ReturnType<Dialect['cursor']> {
  switch (type.kind) {
    case 'float':
      return {
        read: `CAST(CAST(${column} AS DOUBLE) AS CHAR)`,
        compared: `CAST(${column} AS DOUBLE)`,
        parameter: (placeholder) => `CAST(${placeholder} AS DOUBLE)`,
      };
    case 'string': {
      // ORDER BY uses only the first `max_sort_length` bytes (1024 by default); after them, the key decides.
      const sorted =
        (type.maxLength ?? Infinity) > SORTED_LETTERS ? `LEFT(${column}, ${SORTED_LETTERS})` : column;
      return { read: sorted, compared: sorted, parameter: (placeholder) => placeholder };
    }
    case 'enum':
      // Ordered and compared by the position in the declaration.
      return { read: `${column}+0`, compared: `${column}+0`, parameter: (placeholder) => placeholder };
    case 'datetime':
    case 'date':
    case 'time':
    case 'bigint':
    case 'decimal':
      return {
        read: `CAST(${column} AS CHAR)`,
        compared: column,
        parameter: (placeholder) => parameter(placeholder, type),
      };
    default:
      return { read: column, compared: column, parameter: (placeholder) => placeholder };
  }
}

const DATA_ERRORS: ReadonlySet<string> = new Set([
  'ER_DATA_TOO_LONG',
  'ER_WARN_DATA_OUT_OF_RANGE',
  'ER_TRUNCATED_WRONG_VALUE',
  'ER_TRUNCATED_WRONG_VALUE_FOR_FIELD',
  'ER_DATA_OUT_OF_RANGE',
  'WARN_DATA_TRUNCATED',
  'ER_INVALID_JSON_TEXT',
]);

/** SQLSTATE of SIGNAL for conditions of the application, which may have a number of its own. */
const SIGNALED = '45000';

function errorFor(error: unknown): DatabaseError | undefined {
  const code = driverErrorProperty(error, 'code');
  const message = String(driverErrorProperty(error, 'sqlMessage') ?? '');
  const kind = isServerLost(error) ? 'away' : mysqlFault(driverErrorProperty(error, 'errno'), code, message);
  if (kind) return { kind };
  if (code === 'ER_SIGNAL_EXCEPTION' || driverErrorProperty(error, 'sqlState') === SIGNALED)
    return { kind: 'raised', message };
  return typeof code === 'string' ? constraintViolation(code, message) : undefined;
}

function constraintViolation(code: string, message: string): DatabaseError | undefined {
  switch (code) {
    case 'ER_DUP_ENTRY': {
      // The message is localized.
      const constraint = /'([^']*)'[^']*$/.exec(message)?.[1];
      return { kind: 'unique', ...(constraint === undefined ? {} : { constraint }) };
    }
    case 'ER_BAD_NULL_ERROR':
    case 'ER_NO_DEFAULT_FOR_FIELD':
      return { kind: 'not-null', ...columnIn(message, /(?:Column|Field) '([^']*)'/) };
    case 'ER_CONSTRAINT_FAILED':
    case 'ER_CHECK_CONSTRAINT_VIOLATED':
      return { kind: 'check', table: tableIn(message, /`\.`((?:[^`]|``)+)`$/) };
    case 'ER_VIEW_CHECK_FAILED':
      return { kind: 'check' };
    case 'ER_TABLEACCESS_DENIED_ERROR':
    case 'ER_COLUMNACCESS_DENIED_ERROR':
      return { kind: 'denied' };
    default:
      if (/^ER_(NO_REFERENCED_ROW|ROW_IS_REFERENCED)/.test(code))
        return {
          kind: 'foreign-key',
          isDangling: code.startsWith('ER_NO'),
          table: tableIn(message, /`\.`((?:[^`]|``)+)`, CONSTRAINT /),
        };
      if (code.startsWith('ER_REGEXP')) return { kind: 'pattern' };
      if (!DATA_ERRORS.has(code)) return undefined;
      return {
        kind: 'data',
        ...columnIn(message, /column (?:'([^']*)'|(?:`.*`\.)?`((?:[^`]|``)*)`) at row/),
        table: tableIn(message, /`\.`((?:[^`]|``)+)`\.`(?:[^`]|``)*` at row/),
      };
  }
}

/** The messages are localized, but for "(`database`.`table`, CONSTRAINT …" and "CONSTRAINT `name` failed for `database`.`table`". */
function tableIn(message: string, pattern: RegExp): string | undefined {
  return pattern.exec(message)?.[1]?.replaceAll('``', '`');
}

function columnIn(message: string, pattern: RegExp): { readonly column?: string } {
  const [, quoted, ticked] = pattern.exec(message) ?? [];
  const column = quoted ?? ticked?.replaceAll('``', '`');
  return column === undefined ? {} : { column };
}

/**
 * As `Dialect.changesAlike`, with the foreign keys of the table's own database. A user without the right to see triggers sees
 * none: they run for each row in any case.
 */
function changesAlike({ name, database }: NamedTable, change: 'delete' | 'update'): Statement {
  const place = database ?? null;
  return { sql: CHANGES_ALIKE, parameters: [place, name, place, change, name] };
}

const CHANGES_ALIKE = `WITH RECURSIVE foreign_keys AS (SELECT table_name AS child, referenced_table_name AS parent, delete_rule FROM information_schema.referential_constraints WHERE constraint_schema = COALESCE(?, DATABASE())), deleted AS (SELECT table_schema, table_name, table_type FROM information_schema.tables WHERE table_name = ? AND table_schema = COALESCE(?, DATABASE()) UNION SELECT table_schema, child, table_type FROM deleted JOIN foreign_keys ON parent = table_name WHERE delete_rule = 'CASCADE') SELECT table_type = 'BASE TABLE' AND NOT EXISTS (SELECT 1 FROM information_schema.triggers WHERE event_object_schema = t.table_schema AND event_object_table = t.table_name AND event_manipulation = ?) AND NOT EXISTS (SELECT 1 FROM foreign_keys k JOIN deleted c ON c.table_name = child JOIN deleted p ON p.table_name = parent WHERE delete_rule <> 'CASCADE' OR child = t.table_name) AS c0 FROM deleted t WHERE t.table_name = ?`;
