import { postgresIndexes, numberIn } from './index-catalogue.js';
import type { Statement } from '../statement.js';
import type { Json } from '../../core/errors/rest-exception.js';
import type { DataKind, DataType } from '../../core/schema/data-type.js';
import { postgresAggregates } from './postgres-aggregates.js';
import { postgresCanceller } from './postgres-canceller.js';
import { driverErrorProperty, isServerLost, PLAIN_NULLS } from './dialect.js';
import type { DatabaseError, Dialect, SessionSetup } from './dialect.js';
import { formatInterval } from '../../core/values/intervals.js';
import { postgresJsonPaths } from './json-paths.js';
import { postgresFault } from './postgres-error-codes.js';
import { postgresJson } from './postgres-json.js';
import { postgresReturning } from './postgres-returning.js';
import { postgresServers, postgresSettings } from './postgres-settings.js';
import { compareTexts, postgresTexts } from './postgres-texts.js';
import { exactMember, listOf, writeJson } from '../../core/values/exact-numbers.js';
import { decodeStored } from './decode-stored.js';
import { instantOf, UTC, wallClockOf } from './local-time.js';

/** PostgreSQL through pg. */
export const postgres: Dialect = {
  ...postgresTexts,
  ...PLAIN_NULLS,
  oneConnection: false,
  nullsFirst: false,
  nullsClause: true,
  keyset: 'rows',
  evaluatesBeforeSort: true,
  lockRow: ' FOR UPDATE',
  lockNamesTable: true,
  concat: (first, second) => `${first} || ${second}`,
  lockTree: ({ table }, bindText) => `SELECT pg_advisory_xact_lock(hashtext(${bindText(table)}))`,
  session: { query: `SELECT current_setting('TimeZone') AS c0`, statements: processTimeZone },
  openTransaction: 'SELECT CASE WHEN txid_current_if_assigned() IS NULL THEN 0 ELSE 1 END AS c0',
  settings: postgresSettings,
  otherServers: postgresServers,
  loadsExactly: () => true,
  placeholder: (position) => `$${position}`,
  read,
  decode,
  encode,
  listOf: ({ value, order, from, where, limit }) =>
    `array_to_json(ARRAY(SELECT (${value})::text FROM ${from} WHERE ${where} ORDER BY ${order} LIMIT ${limit}))::text`,
  jsonPaths: postgresJsonPaths,
  aggregates: postgresAggregates(read),
  parameter: (placeholder) => placeholder,
  stored,
  now: (type) => stored('CURRENT_TIMESTAMP', type),
  compare: (comparison, bind) =>
    comparison.type.kind === 'string'
      ? compareTexts({ ...comparison, type: comparison.type }, bind)
      : undefined,
  guaranteedKeys,
  indexes: postgresIndexes,
  startsAtExists: true,
  selective: (comparison) => comparison,
  // The text of a value converts back exactly, and a parameter takes the type of the compared column.
  cursor: (column) => ({
    read: `${column}::text`,
    compared: column,
    parameter: (placeholder) => placeholder,
  }),
  columnTypes: (path) => ({
    sql: `SELECT attname::text AS c0, CASE WHEN format_type(atttypid, NULL) NOT IN ('character', 'character[]', 'bit', 'bit[]') THEN format_type(atttypid, NULL) END AS c1 FROM pg_attribute WHERE attrelid = to_regclass($1) AND attnum > 0 AND NOT attisdropped`,
    parameters: [path],
  }),
  inserting: postgresReturning,
  returning: postgresReturning,
  changesAlike: ({ path }, change) => ({ sql: CHANGES_ALIKE, parameters: [path, TRIGGER_BITS[change]] }),
  limitsChanges: false,
  isReusable: (type) => REUSABLE_KINDS.has(type.kind) && !(type.kind === 'string' && type.loose === true),
  json: postgresJson,
  estimate: {
    explain: (select) => `EXPLAIN (FORMAT JSON) ${select}`,
    rows: (result) => numberIn(result, 'Plan Rows'),
  },
  errorFor,
  definitions: undefined,
  restrictingTables: undefined,
  columnOf: undefined,
  exhaustedKey: undefined,
  foreignKeyAt: undefined,
  indexColumns: ({ path }, index) => ({ sql: INDEX_COLUMNS, parameters: [path, index] }),
  partOf: ({ path }, { schema = null, table }) => ({ sql: PART_OF, parameters: [path, schema, table] }),
  discard: (connection) => void (connection as PgClient).end().catch(() => undefined),
  canceller: postgresCanceller,
};

/** In `tgtype`. */
const TRIGGER_BITS = { delete: 8, update: 16 } as const;
const CHANGES_ALIKE = `WITH RECURSIVE own(id) AS (SELECT to_regclass($1)::oid UNION SELECT relid::oid FROM pg_partition_tree(to_regclass($1))), deleted(id) AS (SELECT id FROM own UNION SELECT conrelid FROM pg_constraint JOIN deleted ON confrelid = id WHERE contype = 'f' AND confdeltype = 'c') SELECT (c.relkind IN ('r', 'p') AND NOT c.relhasrules AND (c.relkind = 'p' OR NOT c.relhassubclass) AND NOT EXISTS (SELECT 1 FROM pg_trigger JOIN own ON tgrelid = id WHERE NOT tgisinternal AND tgtype & $2 <> 0) AND NOT EXISTS (SELECT 1 FROM pg_constraint JOIN deleted child ON conrelid = child.id JOIN deleted parent ON confrelid = parent.id WHERE contype = 'f' AND (confdeltype <> 'c' OR child.id IN (SELECT id FROM own))))::int AS c0 FROM pg_class c WHERE c.oid = to_regclass($1)`;

const REUSABLE_KINDS: ReadonlySet<DataKind> = new Set([
  'integer',
  'bigint',
  'boolean',
  'uuid',
  'string',
  'enum',
  'date',
  'datetime',
]);

/** Sets the session time zone to that of this process, so that `now()` in columns without a time zone agrees with written values. */
function processTimeZone(sessionZone: string): ReturnType<SessionSetup['statements']> {
  const own = Intl.DateTimeFormat().resolvedOptions().timeZone;
  const differs = /^[\w+/-]+$/.test(own) && own !== canonicalZone(sessionZone);
  if (!differs) return { begin: [], end: [] };
  const local = (zone: string): string => `SET LOCAL TIME ZONE '${zone.replaceAll("'", "''")}'`;
  return { begin: [local(own)], end: [], endJoined: [local(sessionZone)] };
}

function canonicalZone(name: string): string | undefined {
  try {
    return Intl.DateTimeFormat('en', { timeZone: name }).resolvedOptions().timeZone;
  } catch {
    return undefined;
  }
}

/** pg's client; `end()` closes it, also with a running statement. */
interface PgClient {
  end(): Promise<void>;
}

function read(column: string, type: DataType): string {
  switch (type.kind) {
    case 'datetime':
      // In some time zones, the last hours of the year 9999 in UTC belong to the next year.
      return readDate(type.zoned ? `(${column} AT TIME ZONE 'UTC')` : column, {
        format: 'YYYY-MM-DD HH24:MI:SS.US',
        from: `TIMESTAMP '0001-01-01'`,
        end: `TIMESTAMP '10000-01-02'`,
      });
    case 'date':
      return readDate(column, {
        format: 'YYYY-MM-DD',
        from: `DATE '0001-01-01'`,
        end: `DATE '10000-01-01'`,
      });
    case 'interval':
      return INTERVAL_PARTS.map((part) => `extract(${part} FROM ${column})::bigint`).join(` || ' ' || `);
    case 'list':
      return type.storage === 'text' ? column : readArray(column, type.of);
    default:
      return KINDS_READ_AS_TEXT.has(type.kind) ? `${column}::text` : column;
  }
}

const KINDS_READ_AS_TEXT: ReadonlySet<DataKind> = new Set([
  'string',
  'uuid',
  'time',
  'bigint',
  'decimal',
  'enum',
  'json',
]);

/** Formats a date independently of DateStyle and of the session's time zone; values without such a format (infinity, before the year 1) are cast to text. */
function readDate(
  column: string,
  { format, from, end }: Readonly<Record<'format' | 'from' | 'end', string>>,
): string {
  return `CASE WHEN ${column} >= ${from} AND ${column} < ${end} THEN to_char(${column}::timestamp, '${format}') ELSE ${column}::text END`;
}

/** Parts read as integers, which are independent of IntervalStyle. */
const INTERVAL_PARTS = ['year', 'month', 'day', 'hour', 'minute', 'microseconds'] as const;

function decodeInterval(raw: unknown): string {
  const [years = 0n, months = 0n, days = 0n, hours = 0n, minutes = 0n, micros = 0n] = String(raw)
    .split(' ')
    .map(BigInt);
  return formatInterval({
    months: years * 12n + months,
    days,
    micros: (hours * 60n + minutes) * 60_000_000n + micros,
  });
}

function decode(raw: unknown, type: DataType): Json {
  switch (type.kind) {
    case 'datetime':
      return instantOf(
        String(raw).replace(/^0001(.*) BC$/, '0000$1'),
        type.zoned ? UTC : 'local',
        type.digits,
      );
    case 'interval':
      return decodeInterval(raw);
    case 'list':
      return type.storage === 'text' ? decodeStored(raw, type) : decodeArray(raw, type.of);
    default:
      return decodeStored(raw, type);
  }
}

/** Reads items as text, so that the driver does not parse them. */
function readArray(column: string, of: DataType): string {
  if (of.kind === 'binary') return column;
  if (of.kind !== 'datetime' && of.kind !== 'date' && of.kind !== 'interval') return `${column}::text[]`;
  return `CASE WHEN ${column} IS NULL THEN NULL ELSE ARRAY(SELECT ${read('item', of)} FROM unnest(${column}) WITH ORDINALITY AS items(item, place) ORDER BY place) END`;
}

function decodeArray(raw: unknown, of: DataType): Json {
  return listOf((raw as readonly unknown[]).map((item) => decodeItem(item, of)));
}

function decodeItem(item: unknown, of: DataType): Json {
  if (item === null) return null;
  // PostgreSQL does not enforce the number of dimensions: an array may hold arrays.
  return Array.isArray(item) ? decodeArray(item, of) : decode(item, of);
}

function encode(value: Json, type: DataType): unknown {
  switch (type.kind) {
    case 'datetime':
      // West of UTC, the year 1 begins in the year before it.
      return type.zoned ? value : wallClockOf(String(value), 'local').replace(/^0000(.*)/, '0001$1 BC');
    case 'binary':
      return Buffer.from(String(value), 'base64');
    case 'json':
      return writeJson(value);
    case 'list':
      return type.storage === 'text'
        ? (value as readonly Json[]).join(',')
        : (value as readonly Json[]).map((_, index) =>
            encode(exactMember(value as object, index) as Json, type.of),
          );
    case 'boolean':
    case 'integer':
    case 'float':
      return value;
    default:
      return typeof value === 'object' ? value : String(value);
  }
}

function stored(value: string, type: DataType): string {
  switch (type.kind) {
    case 'decimal':
      return `CAST(${value} AS numeric${type.precision === undefined ? '' : `(${type.precision}, ${type.scale ?? 0})`})`;
    case 'float':
      return `CAST(${value} AS ${type.single === true ? 'real' : 'double precision'})`;
    case 'datetime':
      return `CAST(${value} AS ${type.zoned ? 'timestamptz' : 'timestamp'}(${type.kept ?? type.digits}))`;
    default:
      return value;
  }
}

function errorFor(error: unknown): DatabaseError | undefined {
  const code = driverErrorProperty(error, 'code');
  if (isServerLost(error)) return { kind: 'away' };
  if (typeof code !== 'string') return undefined;
  const text = (name: string): string | undefined => driverErrorProperty(error, name) as string | undefined;
  const table = { table: text('table'), schema: text('schema') };
  switch (code) {
    case '23505':
      return { kind: 'unique', ...uniqueParts(text('constraint'), text('detail')), ...table };
    case '23001':
    case '23503':
      return { kind: 'foreign-key', isDangling: !namesReferrer(text('message') ?? ''), ...table };
    case '23502':
      return { kind: 'not-null', column: text('column'), ...table };
    case '23514':
    case '23P01':
    // WITH CHECK OPTION of a view.
    case '44000':
      return { kind: 'check', ...table };
    // postgres_fdw does not move a row of another partition into a foreign table. The message is localized, its source is not.
    case '0A000':
      if (text('routine') === 'postgresBeginForeignInsert') return { kind: 'check', ...table };
      return otherError(code, text('message') ?? '');
    default:
      return otherError(code, text('message') ?? '');
  }
}

function otherError(code: string, message: string): DatabaseError | undefined {
  switch (code) {
    case 'P0001':
      return { kind: 'raised', message };
    case '42501':
      return { kind: 'denied' };
    case '2201B':
      return { kind: 'pattern' };
    // A sequence has no further value.
    case '2200H':
      return undefined;
    default: {
      if (code.startsWith('22')) return { kind: 'data' };
      const kind = isUnprepared(code, message) ? 'unprepared' : postgresFault(code);
      return kind && { kind };
    }
  }
}

/**
 * Whether a message is that of a row to which others refer: in every language it names both tables and the constraint, that of a
 * row that refers to none its own table and the constraint.
 */
function namesReferrer(message: string): boolean {
  return (message.match(/["\u00ab\u00bb\u201e\u201c\u201d]/g)?.length ?? 0) > 4;
}

function isUnprepared(code: string, message: string): boolean {
  return code === '26000' || code === '42P05' || (code === '0A000' && /cached plan/.test(message));
}

/** Reads the columns of an index if the error message does not name them: it is localized, and omits them without the right to read the table. */
const INDEX_COLUMNS =
  'SELECT a.attname AS c0 FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid CROSS JOIN unnest(i.indkey::int2[]) WITH ORDINALITY k (number, place) LEFT JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = k.number AND k.number > 0 WHERE i.indrelid = to_regclass($1) AND c.relname = $2 AND k.place <= i.indnkeyatts ORDER BY k.place';

/** Partitions, tables that inherit, and what a view reads, however deep. */
const PART_OF = `WITH RECURSIVE parts(oid) AS (SELECT to_regclass($1)::oid UNION SELECT e.part FROM parts JOIN (
SELECT inhparent AS whole, inhrelid AS part FROM pg_inherits
UNION ALL SELECT r.ev_class, d.refobjid FROM pg_rewrite r JOIN pg_depend d ON d.classid = 'pg_rewrite'::regclass AND d.objid = r.oid AND d.refclassid = 'pg_class'::regclass WHERE r.ev_type = '1'
) e ON e.whole = parts.oid) SELECT 1 AS c0 FROM parts JOIN pg_class c ON c.oid = parts.oid JOIN pg_namespace n ON n.oid = c.relnamespace WHERE c.relname = $3 AND n.nspname = coalesce($2, n.nspname)`;

function uniqueParts(
  constraint: string | undefined,
  detail: string | undefined,
): { columns?: readonly string[]; constraint?: string } {
  const columns = /^Key \(([^()]*)\)=/
    .exec(detail ?? '')?.[1]
    ?.split(', ')
    .map((each) => each.replace(/^"|"$/g, ''));
  return { ...(columns ? { columns } : {}), ...(constraint === undefined ? {} : { constraint }) };
}

/**
 * Constraints that are checked at once, over columns that are not null. Row security may hide the referenced row, and the tables
 * that inherit from another one have none of its constraints. Below a constraint to a partitioned table there is one to each
 * partition, of which one alone has the row.
 */
function guaranteedKeys(paths: readonly string[]): Statement {
  return {
    sql: `WITH t AS (SELECT path, to_regclass(path) AS id FROM unnest($1::text[]) path)
SELECT near.path AS c0, far.path AS c1, (SELECT json_agg(json_build_array(a.attname, b.attname)) FROM unnest(k.conkey, k.confkey) pair (near, far)
  JOIN pg_attribute a ON a.attrelid = k.conrelid AND a.attnum = pair.near
  JOIN pg_attribute b ON b.attrelid = k.confrelid AND b.attnum = pair.far) AS c2
FROM t near JOIN pg_constraint k ON k.conrelid = near.id JOIN t far ON far.id = k.confrelid
JOIN pg_class c ON c.oid = k.conrelid JOIN pg_class f ON f.oid = k.confrelid
WHERE k.contype = 'f' AND k.conparentid = 0 AND k.convalidated AND NOT k.condeferrable AND NOT f.relrowsecurity AND (c.relkind = 'p' OR NOT c.relhassubclass)
AND NOT EXISTS (SELECT 1 FROM pg_attribute a WHERE a.attrelid = k.conrelid AND a.attnum = ANY (k.conkey) AND NOT a.attnotnull)`,
    parameters: [paths],
  };
}
