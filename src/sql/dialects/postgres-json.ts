import type { TypeOf, DataType } from '../../core/schema/data-type.js';
import { STORED_JSON } from '../stored-json.js';
import type { JsonColumn, JsonMember, JsonSql, JsonWriter } from './json-writer.js';

/** Serialization by string concatenation: PostgreSQL's JSON functions are slower, and insert blanks. */
export const postgresJson: JsonWriter = {
  columnOf: (type) => {
    if (type.kind === 'json') return STORED_TEXT;
    const text = jsonTextOf(type);
    return text && { of: (column) => nullableJson(text(column)) };
  },
  keyTextOf: ({ kind }) =>
    kind === 'integer' || kind === 'bigint' || kind === 'uuid'
      ? { of: (column) => ({ sql: `${column}::text` }) }
      : undefined,
  link: (begin, key, end) => `${begin}::text || ${key} || '${end}"'`,
  linkPrefix: (text) => JSON.stringify(text).slice(0, -1),
  object,
  joinRows: (column) => `string_agg(${column}, ',')`,
  valuesAt: (column, _type, rows) => ({
    sql: rows.map((row) => `(array_agg(${column}))[${row}]`),
    read: (raw) => raw,
  }),
};

const STORED_TEXT: JsonColumn = {
  of: () => ({ sql: `'${STORED_JSON}'` }),
  stored: (column) => `coalesce(${column}::text, 'null')`,
};

function nullableJson({ sql, guard }: JsonSql): JsonSql {
  return { sql: `coalesce(${sql}, 'null')`, ...(guard === undefined ? {} : { guard }) };
}

/** The JSON text of a value; NULL for NULL. */
function jsonTextOf(type: DataType): ((column: string) => JsonSql) | undefined {
  switch (type.kind) {
    case 'integer':
    case 'boolean':
      return (column) => ({ sql: `${column}::text` });
    case 'bigint':
    case 'decimal':
    case 'uuid':
      return (column) => ({ sql: `'"' || ${column}::text || '"'` });
    case 'string':
      return escaped;
    case 'enum':
      return type.values.every((each) => typeof each === 'string') ? escaped : undefined;
    case 'date':
      return (column) => ({
        sql: `'"' || to_char(${column}, 'YYYY-MM-DD') || '"'`,
        guard: isIsoYear(column),
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
function isIsoYear(column: string): string {
  return `(${column} IS NULL OR (${column} >= '0001-01-02' AND ${column} < '9999-12-31'))`;
}

/** A column without a time zone holds local time of this process, which SQL can format only if it is UTC. */
function datetimeJson({ zoned, digits }: TypeOf<'datetime'>): ((column: string) => JsonSql) | undefined {
  if ((!zoned && !runsInUtc()) || (digits !== 6 && digits !== 3)) return undefined;
  return (column) => {
    const clock = `to_char(${zoned ? `${column} AT TIME ZONE 'UTC'` : column}, 'YYYY-MM-DD"T"HH24:MI:SS.US')`;
    return { sql: `'"' || ${digits === 6 ? clock : `left(${clock}, 23)`} || 'Z"'`, guard: isIsoYear(column) };
  };
}

function runsInUtc(): boolean {
  return ['UTC', 'Etc/UTC', 'Etc/UCT', 'UCT', 'Zulu', 'Etc/Zulu', 'Universal', 'Etc/Universal'].includes(
    Intl.DateTimeFormat().resolvedOptions().timeZone,
  );
}

function object(members: readonly JsonMember[]): JsonSql {
  const guards = [...new Set(members.flatMap(({ guard }) => guard ?? []))];
  const parts = members.map(({ name, sql }, index) => `'${index === 0 ? '{' : ','}"${name}":' || ${sql}`);
  const whole = parts.length === 0 ? `'{}'` : `${parts.join(' || ')} || '}'`;
  // The guards are passed on instead of applied here, because the object may be nested in another one.
  return guards.length === 0 ? { sql: whole } : { sql: whole, guard: guards.join(' AND ') };
}
