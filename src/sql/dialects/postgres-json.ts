import type { TypeOf, DataType } from '../../core/schema/data-type.js';
import { TEXT_SEPARATOR } from '../../core/values/json-scanner.js';
import { STORED_JSON } from '../stored-json.js';
import { driverErrorProperty } from './dialect.js';
import { runsInUtc } from './local-time.js';
import type { JsonColumn, JsonMember, JsonSql, JsonWriter } from './json-writer.js';

/**
 * Serialization by string concatenation: PostgreSQL's JSON functions are slower, and insert blanks. What is not escaped
 * requires a type whose text needs no escapes: the column of the table may have another one than the entity declares.
 */
export const postgresJson: JsonWriter = {
  columnOf: (type) => {
    if (type.kind === 'json') return STORED_TEXT;
    const text = jsonTextOf(type);
    return text && { of: (column) => nullableJson(text(column)) };
  },
  keyTextOf: ({ kind }) =>
    kind === 'integer' || kind === 'bigint' || kind === 'uuid'
      ? { of: (column) => ({ sql: `${column}::text`, guard: TYPE_CHECKS[kind](column) }) }
      : undefined,
  isTypeError: (error) => TYPE_ERRORS.has(driverErrorProperty(error, 'code')),
  link: (begin, key, end) => `${begin}::text || ${key} || '${end}"'`,
  linkPrefix: (text) => JSON.stringify(text).slice(0, -1),
  object,
  joinRows: (column) => `string_agg(${column}, ',')`,
  joinTexts: (column) => `string_agg(${column}, chr(${TEXT_SEPARATOR}))`,
  valuesAt: (column, _type, rows) => ({
    sql: rows.map((row) => `(array_agg(${column}))[${row}]`),
    read: (raw) => raw,
  }),
};

const STORED_TEXT: JsonColumn = {
  of: () => ({ sql: `'${STORED_JSON}'` }),
  stored: (column) => `coalesce(${column}::text, 'null')`,
};

/** SQLSTATEs of operators and functions that the type of a column does not have. */
const TYPE_ERRORS: ReadonlySet<unknown> = new Set(['42883', '42725', '42804', '42846']);

/**
 * Conditions that PostgreSQL accepts only for columns of certain types. It replaces them by TRUE when it plans the statement, so
 * that they take no time.
 */
const TYPE_CHECKS = {
  integer: isWhole,
  bigint: isWhole,
  decimal: (column: string) => `(TRUE OR scale(${column}) IS NULL)`,
  boolean: (column: string) => `(TRUE OR (${column} AND TRUE))`,
  uuid: (column: string) => `(TRUE OR ${column} = '00000000-0000-0000-0000-000000000000'::uuid)`,
} as const;

/** Of the types with this operator, only the integer types take a number on its other side. */
function isWhole(column: string): string {
  return `(TRUE OR (${column} & -1) IS NULL)`;
}

function nullableJson({ sql, guard }: JsonSql): JsonSql {
  return { sql: `coalesce(${sql}, 'null')`, ...(guard === undefined ? {} : { guard }) };
}

/** The JSON text of a value; NULL for NULL. */
function jsonTextOf(type: DataType): ((column: string) => JsonSql) | undefined {
  switch (type.kind) {
    case 'integer':
    case 'boolean':
      return (column) => ({ sql: `${column}::text`, guard: TYPE_CHECKS[type.kind](column) });
    case 'bigint':
    case 'decimal':
    case 'uuid':
      return (column) => ({ sql: `'"' || ${column}::text || '"'`, guard: TYPE_CHECKS[type.kind](column) });
    case 'string':
      return escaped;
    case 'enum':
      return type.values.every((each) => typeof each === 'string') ? escaped : undefined;
    case 'date':
      return (column) => ({
        sql: `'"' || to_char(${column}::timestamp, 'YYYY-MM-DD') || '"'`,
        guard: isIsoYear(column, 'DATE'),
      });
    case 'datetime':
      return datetimeJson(type);
    default:
      return undefined;
  }
}

function escaped(column: string): JsonSql {
  return { sql: `to_json(${column}::text)::text` };
}

/** Excludes values without an ISO 8601 form: infinity, and years before 1 or after 9999. */
function isIsoYear(column: string, type: 'DATE' | 'TIMESTAMP' | 'TIMESTAMPTZ'): string {
  return `(${column} IS NULL OR (${column} >= ${type} '0001-01-02' AND ${column} < ${type} '9999-12-31'))`;
}

/** A column without a time zone holds local time of this process, which SQL can format only if it is UTC. */
function datetimeJson({ zoned, digits }: TypeOf<'datetime'>): ((column: string) => JsonSql) | undefined {
  if ((!zoned && !runsInUtc()) || (digits !== 6 && digits !== 3)) return undefined;
  return (column) => {
    const clock = `to_char(${zoned ? `${column} AT TIME ZONE 'UTC'` : column}, 'YYYY-MM-DD"T"HH24:MI:SS.US')`;
    return {
      sql: `'"' || ${digits === 6 ? clock : `left(${clock}, 23)`} || 'Z"'`,
      guard: isIsoYear(column, zoned ? 'TIMESTAMPTZ' : 'TIMESTAMP'),
    };
  };
}

function object(members: readonly JsonMember[]): JsonSql {
  const guards = [...new Set(members.flatMap(({ guard }) => guard ?? []))];
  const parts = members.map(({ name, sql }, index) => `'${index === 0 ? '{' : ','}"${name}":' || ${sql}`);
  const whole = parts.length === 0 ? `'{}'` : `${parts.join(' || ')} || '}'`;
  // The guards are passed on instead of applied here, because the object may be nested in another one.
  return guards.length === 0 ? { sql: whole } : { sql: whole, guard: guards.join(' AND ') };
}
