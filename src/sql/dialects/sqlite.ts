import { sqliteIndexes } from './index-catalogue.js';
import type { Json } from '../../core/errors/rest-exception.js';
import type { DataKind, DataType } from '../../core/schema/data-type.js';
import { driverErrorProperty, isServerLost, PLAIN_NULLS } from './dialect.js';
import type {
  DatabaseError,
  Dialect,
  SettingRule,
  ComparedValue,
  ReturningSyntax,
  ValueComparison,
} from './dialect.js';
import { sqliteJsonPaths } from './json-paths.js';
import { sqliteAggregates } from './sqlite-aggregates.js';
import { sqliteFault } from './sqlite-error-codes.js';
import { sqliteJson } from './sqlite-json.js';
import { compareTexts, sqliteTexts } from './sqlite-texts.js';
import type { Bind, Comparison } from './text-syntax.js';
import { writeJson } from '../../core/values/exact-numbers.js';
import { decodeStored } from './decode-stored.js';
import { plainNumberText } from '../../core/values/numbers.js';
import { instantOf, UTC, wallClockOf } from './local-time.js';

const sqliteReturning: ReturningSyntax = {
  plainTable: ({ name }) => ({
    sql: `SELECT count(*) = 1 AND NOT EXISTS (SELECT 1 FROM (SELECT * FROM sqlite_master UNION ALL SELECT * FROM sqlite_temp_master) WHERE type = 'trigger' AND lower(tbl_name) = lower(?)) AND NOT EXISTS (SELECT 1 FROM pragma_table_xinfo(?) WHERE hidden <> 0) AS c0 FROM sqlite_master WHERE type = 'table' AND lower(name) = lower(?)`,
    parameters: [name, name, name],
  }),
  view: (name) => ({
    sql: `SELECT 1 AS c0 FROM sqlite_master WHERE type = 'view' AND lower(name) = lower(?)`,
    parameters: [name],
  }),
  differs,
  showsTriggers: true,
  generatesUuids: false,
  noColumns: ' DEFAULT VALUES',
  selectsRows: true,
  value: parameter,
  generating: undefined,
  // Only the overflow fails.
  failIfRounded: (column) =>
    `abs(CASE WHEN ${column} > ${Number.MAX_SAFE_INTEGER} THEN -9223372036854775807 - 1 ELSE 0 END)`,
  generatesForZero: false,
  rowVersion: undefined,
};

/** Exactly, whatever the collation of the column. */
function differs(comparison: ValueComparison, { column, placeholder }: ComparedValue): string {
  switch (comparison) {
    case 'value':
    case 'text':
      return `${column} IS NOT ${placeholder} COLLATE BINARY`;
    case 'instant':
      // Tables contain several text forms of an instant: TypeORM writes milliseconds, `datetime('now')` does not.
      return `strftime('%Y-%m-%d %H:%M:%f', ${column}) IS NOT ${placeholder}`;
    case 'json':
    case 'jsonb':
    case 'json-text':
      return `CASE WHEN json_valid(${column}) THEN json(${column}) ELSE ${column} END IS NOT ${placeholder} COLLATE BINARY`;
    default:
      return comparison satisfies never;
  }
}

const sqliteSettings: readonly SettingRule[] = [
  {
    // The pragma cannot be read.
    read: `'a' LIKE 'A'`,
    problems: (value) =>
      value === '1'
        ? []
        : [
            {
              what: 'LIKE is case-sensitive, so that searches would miss rows',
              repair: 'Do not set PRAGMA case_sensitive_like, and do not replace like().',
            },
          ],
  },
  {
    read: '(SELECT * FROM pragma_reverse_unordered_selects)',
    problems: (value) =>
      value === '0'
        ? []
        : [
            {
              what: 'reverse_unordered_selects is on, with which ordered rows of a subquery are reversed',
              repair: 'Set it in tests of your own statements only, on another data source.',
            },
          ],
  },
];

/** SQLite through better-sqlite3 or sql.js. */
export const sqlite: Dialect = {
  ...sqliteTexts,
  ...PLAIN_NULLS,
  oneConnection: true,
  nullsFirst: true,
  nullsClause: true,
  keyset: 'segments',
  evaluatesBeforeSort: false,
  lockRow: '',
  lockNamesTable: false,
  concat: (first, second) => `${first} || ${second}`,
  lockTree: () => undefined,
  session: undefined,
  openTransaction: undefined,
  settings: sqliteSettings,
  otherServers: [],
  loadsExactly: () => true,
  placeholder: () => '?',
  read,
  decode,
  encode,
  listOf: ({ value, order, from, where, limit }) =>
    `(SELECT json_group_array(v) FROM (SELECT CAST(${value} AS TEXT) AS v FROM ${from} WHERE ${where} ORDER BY ${order} LIMIT ${limit}))`,
  jsonPaths: sqliteJsonPaths,
  aggregates: sqliteAggregates,
  parameter,
  stored: (value, type) =>
    type.kind === 'integer' || type.kind === 'boolean' ? `CAST(${value} AS INTEGER)` : parameter(value, type),
  now: (type) => parameter('CURRENT_TIMESTAMP', type),
  compare,
  guaranteedKeys: undefined,
  indexes: sqliteIndexes,
  startsAtExists: false,
  // With an explicit probability, the planner ignores the statistics, which for a parameter would re-prepare the statement at each execution.
  selective: (comparison) => `likelihood(${comparison}, 0.001)`,
  cursor: (column, type) => ({
    read: read(column, type),
    compared: column,
    parameter: (placeholder) => cursorParameter(placeholder, type),
  }),
  inserting: sqliteReturning,
  returning: sqliteReturning,
  changesAlike: ({ name }) => ({ sql: CHANGES_ALIKE, parameters: [name, name] }),
  limitsChanges: false,
  isReusable: ({ kind }) => REUSABLE_KINDS.has(kind),
  json: sqliteJson,
  estimate: undefined,
  errorFor,
  definitions: `SELECT name, type, sql FROM sqlite_master WHERE type = 'view' OR (type = 'table' AND sql LIKE '%CONFLICT%REPLACE%')`,
  restrictingTables: (table, change) => ({
    sql: `SELECT m.name AS c0, f."to" AS c1 FROM sqlite_master m JOIN pragma_foreign_key_list(m.name) f WHERE m.type = 'table' AND f."table" = ? COLLATE NOCASE AND f.on_${change} IN ('RESTRICT', 'NO ACTION')`,
    parameters: [table],
  }),
  columnOf: undefined,
  exhaustedKey: ({ name }) => ({
    sql: 'SELECT 1 AS c0 FROM sqlite_sequence WHERE name = ? COLLATE NOCASE AND seq = 9223372036854775807',
    parameters: [name],
  }),
  // A table of an attached database is not in `sqlite_master`.
  foreignKeyAt: ({ name }) => ({
    sql: `SELECT 1 AS c0 WHERE NOT EXISTS (SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = ? COLLATE NOCASE) OR EXISTS (SELECT 1 FROM sqlite_master m JOIN pragma_foreign_key_list(m.name) f WHERE m.type = 'table' AND (m.name = ? COLLATE NOCASE OR f."table" = ? COLLATE NOCASE))`,
    parameters: [name, name, name],
  }),
  // Messages name an index only if it is over expressions.
  indexColumns: ({ name }, index) => ({
    sql: `SELECT NULL AS c0 FROM sqlite_master WHERE (type = 'index' AND tbl_name = ? COLLATE NOCASE AND name = ?) OR (type = 'view' AND name = ? COLLATE NOCASE)`,
    parameters: [name, index, name],
  }),
  // The triggers of a view write other tables.
  partOf: ({ name }, { table }) =>
    name.toLowerCase() === table.toLowerCase()
      ? undefined
      : {
          sql: `SELECT 1 AS c0 FROM sqlite_master WHERE type = 'view' AND name = ? COLLATE NOCASE`,
          parameters: [name],
        },
  // The shared connection is not closed.
  discard: () => undefined,
  canceller: undefined,
};

const CHANGES_ALIKE = `WITH RECURSIVE foreign_keys AS (SELECT lower(m.name) AS child, lower(f."table") AS parent, on_delete FROM sqlite_master m JOIN pragma_foreign_key_list(m.name) f WHERE m.type = 'table'), deleted(name) AS (SELECT lower(name) FROM sqlite_master WHERE type = 'table' AND sql NOT LIKE 'CREATE VIRTUAL%' AND lower(name) = lower(?) UNION SELECT child FROM deleted JOIN foreign_keys ON parent = name WHERE on_delete = 'CASCADE') SELECT NOT EXISTS (SELECT 1 FROM (SELECT * FROM sqlite_master UNION ALL SELECT * FROM sqlite_temp_master) WHERE type = 'trigger' AND lower(tbl_name) = t.name) AND NOT EXISTS (SELECT 1 FROM foreign_keys WHERE child IN deleted AND parent IN deleted AND (on_delete <> 'CASCADE' OR child = t.name)) AS c0 FROM deleted t WHERE name = lower(?)`;

const REUSABLE_KINDS: ReadonlySet<DataKind> = new Set([
  'integer',
  'bigint',
  'boolean',
  'uuid',
  'string',
  'enum',
  'date',
]);

/** Reads 64-bit integers as text, because JavaScript's numbers have 53 bits. */
function read(column: string, type: DataType): string {
  if (type.kind === 'bigint') return `CAST(${column} AS TEXT)`;
  // Text in the form of RFC 8259, or JSONB: `json` fails for what is neither.
  if (type.kind === 'json' && type.packed === true)
    return `CASE WHEN json_valid(${column}, 5) THEN json(${column}) ELSE ${column} END`;
  return type.kind === 'decimal'
    ? `CASE typeof(${column}) WHEN 'integer' THEN CAST(${column} AS TEXT) ELSE ${column} END`
    : column;
}

/** Formats a decimal without an exponent, with the scale of the column. */
function formatDecimal(raw: unknown, scale: number | undefined): string {
  if (typeof raw === 'number') return scale === undefined ? plainNumberText(raw) : raw.toFixed(scale);
  const text = String(raw);
  return scale && /^-?\d+$/.test(text) ? `${text}.${'0'.repeat(scale)}` : text;
}

function decode(raw: unknown, type: DataType): Json {
  switch (type.kind) {
    case 'bigint':
      return String(raw);
    case 'decimal':
      return formatDecimal(raw, type.scale);
    case 'datetime':
      return instantOf(String(raw), UTC, type.digits);
    default:
      return decodeStored(raw, type);
  }
}

function encode(value: Json, type: DataType): unknown {
  switch (type.kind) {
    case 'boolean':
      return value === true ? 1 : 0;
    case 'datetime':
      return wallClockOf(String(value), UTC);
    case 'binary':
      return Buffer.from(String(value), 'base64');
    case 'enum':
      // The driver binds numbers as REAL, whose text form differs.
      return String(value);
    case 'list':
      return type.storage === 'text' ? (value as readonly Json[]).join(',') : value;
    case 'json':
    case 'set':
      return writeJson(value);
    default:
      return value;
  }
}

function parameter(placeholder: string, type: DataType): string {
  if (type.kind === 'bigint') return `CAST(${placeholder} AS INTEGER)`;
  if (type.kind === 'decimal') return `CAST(${placeholder} AS NUMERIC)`;
  return type.kind === 'json' && type.packed === true ? `jsonb(${placeholder})` : placeholder;
}

/** Back from the text of an integer to the integer. Other texts, which are no numbers, stay as they are: as 0, they would be another position. */
function cursorParameter(placeholder: string, type: DataType): string {
  return type.kind === 'bigint' || type.kind === 'decimal'
    ? `(SELECT CASE WHEN CAST(CAST(v AS INTEGER) AS TEXT) = v THEN CAST(v AS INTEGER) ELSE v END FROM (SELECT ${placeholder} AS v))`
    : parameter(placeholder, type);
}

/**
 * Compares both text forms of a whole second: TypeORM writes `09:23:28.000`, SQLite's `datetime('now')` writes `09:23:28`. The
 * shorter one sorts first, so each comparison uses the text that includes both, and can use an index.
 */
function compare(comparison: Comparison, bind: Bind): string | undefined {
  const { column, lookup, value, type } = comparison;
  if (type.kind === 'string') return compareTexts({ ...comparison, type }, bind);
  if (type.kind !== 'datetime') return undefined;
  if (lookup === 'in') {
    // One IN list: alternatives nest, and SQLite limits the depth of an expression.
    const bound = (value as readonly Json[]).flatMap((each) => [
      bind(each, type),
      ...(isWholeSecond(each) ? [bindShort(each, bind)] : []),
    ]);
    return `${column} IN (${bound.join(', ')})`;
  }
  if (!isWholeSecond(value)) return undefined;
  const long = (): string => bind(value, type);
  const short = (): string => bindShort(value, bind);
  switch (lookup) {
    case 'exact':
      return `${column} IN (${long()}, ${short()})`;
    case 'ne':
      return `(${column} NOT IN (${long()}, ${short()}) OR ${column} IS NULL)`;
    case 'gte':
      return `${column} >= ${short()}`;
    case 'lt':
      return `${column} < ${short()}`;
    default:
      return undefined;
  }
}

function isWholeSecond(value: Json): value is string {
  return typeof value === 'string' && value.endsWith('.000Z');
}

function bindShort(value: string, bind: Bind): string {
  return bind(wallClockOf(value, UTC).slice(0, -'.000'.length), { kind: 'string', trim: false });
}

const FOREIGN_KEY = /FOREIGN KEY constraint failed$/;

function errorFor(error: unknown): DatabaseError | undefined {
  const message = String(driverErrorProperty(error, 'message') ?? '');
  // SQLite reports ON DELETE RESTRICT as the error of a trigger.
  if (driverErrorProperty(error, 'code') === 'SQLITE_CONSTRAINT_TRIGGER' && !FOREIGN_KEY.test(message))
    return { kind: 'raised', message };
  const violation = constraintViolation(message);
  if (violation) return violation;
  if (/datatype mismatch|string or blob too big|integer overflow/.test(message)) return { kind: 'data' };
  const kind = isServerLost(error) ? 'away' : sqliteFault(driverErrorProperty(error, 'code'), message);
  return kind && { kind };
}

function constraintViolation(message: string): DatabaseError | undefined {
  const unique = /UNIQUE constraint failed: (.*)$/.exec(message)?.[1];
  if (unique !== undefined) return uniqueError(unique);
  if (FOREIGN_KEY.test(message)) return { kind: 'foreign-key' };
  const missing = /NOT NULL constraint failed: (.*)$/.exec(message)?.[1];
  if (missing !== undefined) {
    const [table, column] = splitName(missing);
    return { kind: 'not-null', table, column };
  }
  return message.includes('CHECK constraint failed') ? { kind: 'check' } : undefined;
}

/** `text` is `index 'name'` or `table.column, table.column`. */
function uniqueError(text: string): DatabaseError {
  const constraint = /^index '(.*)'$/.exec(text)?.[1];
  if (constraint !== undefined) return { kind: 'unique', constraint };
  const names = text.split(', ').map(splitName);
  return { kind: 'unique', columns: names.map(([, column]) => column), table: names[0]?.[0] };
}

/** `table.column`, both unquoted. */
function splitName(text: string): readonly [table: string, column: string] {
  const at = text.lastIndexOf('.');
  return [text.slice(0, at), text.slice(at + 1)];
}
