import type { DataType } from '../../core/schema/data-type.js';
import type { JsonColumn, JsonMember, JsonSql, JsonWriter, PickedValues } from './json-writer.js';

/**
 * By SQLite's own JSON functions. A column can hold values of any kind, and each kind looks different as JSON: that each value
 * is of the column's kind is read off the text. Bytes alone do not show there, where they are such as SQLite keeps JSON in.
 */
export const sqliteJson: JsonWriter = {
  columnOf,
  keyTextOf,
  link: (begin, key, end) => `${begin} || ${key} || '${end}'`,
  linkPrefix: (text) => text,
  object,
  joinRows: (column) => `group_concat(${column}, ',')`,
  valuesAt,
  subtypeTables: `SELECT DISTINCT t.name AS name FROM (SELECT name, type FROM sqlite_master UNION ALL SELECT name, type FROM sqlite_temp_master) t, pragma_table_xinfo(t.name) c WHERE t.type = 'table' AND c.hidden = 2`,
};

/** Up to 9e15, which the process reads exactly. What is above goes through it. */
const INTEGER_PATTERN = '-?(?:0|[1-9]\\d{0,14}|[1-8]\\d{15})';
const TEXT_PATTERN = '(?:null|"[^"\\\\]*(?:\\\\.[^"\\\\]*)*")';

function columnOf(type: DataType): JsonColumn | undefined {
  switch (type.kind) {
    case 'integer':
      return { of: unchanged, pattern: `(?:null|${INTEGER_PATTERN})` };
    case 'bigint':
      return {
        of: (column) => ({ sql: `CAST(${column} AS TEXT)`, guard: isKind(column, 'integer') }),
        pattern: '(?:null|"-?\\d+")',
      };
    case 'boolean':
      // Without its affinity: a text is no truth.
      return {
        of: (column) => ({
          sql: `CASE WHEN +${column} = 1 THEN json('true') WHEN +${column} = 0 THEN json('false') ELSE ${column} END`,
          bytes: column,
        }),
        pattern: '(?:null|true|false)',
      };
    case 'string':
    case 'uuid':
    case 'date':
      return { of: unchanged, pattern: TEXT_PATTERN };
    case 'enum':
      return type.values.every((each) => typeof each === 'string')
        ? { of: unchanged, pattern: TEXT_PATTERN }
        : undefined;
    case 'datetime':
      return type.digits === 3
        ? {
            of: (column) => ({ sql: isoInstant(column), bytes: column }),
            pattern: `(?:null|"${INSTANT_PATTERN}")`,
          }
        : undefined;
    default:
      return undefined;
  }
}

function unchanged(column: string): JsonSql {
  return { sql: column, bytes: column };
}

function keyTextOf({ kind }: DataType, shown: boolean): JsonColumn | undefined {
  switch (kind) {
    case 'integer':
      // Where it is shown, its own form tells it from a text such as `x/5`, of which a path shows the end.
      return {
        of: shown ? unchanged : (column) => ({ sql: column, guard: isKind(column, 'integer') }),
        pattern: INTEGER_PATTERN,
      };
    case 'bigint':
      return { of: (column) => ({ sql: column, guard: isKind(column, 'integer') }), pattern: '-?\\d+' };
    case 'uuid':
      return {
        of: (column) => ({
          sql: column,
          guard: `${isKind(column, 'text')} AND ${column} NOT GLOB '*[^A-Za-z0-9_.~-]*'`,
        }),
        pattern: '[\\w.~-]+',
      };
    default:
      return undefined;
  }
}

function isKind(column: string, kind: 'integer' | 'text'): string {
  return `typeof(${column}) IN ('${kind}', 'null')`;
}

/** `2022-10-02 09:23:28.297`, or without the fraction. */
function isoInstant(column: string): string {
  return `replace(${column}, ' ', 'T') || CASE length(${column}) WHEN 23 THEN 'Z' ELSE '.000Z' END`;
}

/** The days of each month, the 29th of February those of leap years, and no year 0, which the process has other words for. */
const DAY_OF_YEAR =
  '(?:0[1-9]|1[0-2])-(?:0[1-9]|1\\d|2[0-8])|(?:0[469]|11)-(?:29|30)|(?:0[13578]|1[02])-(?:29|30|31)';
const LEAP_YEAR = '(?:\\d\\d(?:0[48]|[2468][048]|[13579][26])|(?:0[48]|[2468][048]|[13579][26])00)';
const INSTANT_PATTERN = `(?:(?!0000)\\d{4}-(?:${DAY_OF_YEAR})|${LEAP_YEAR}-02-29)T(?:[01]\\d|2[0-3]):[0-5]\\d:[0-5]\\d\\.\\d{3}Z`;

function object(members: readonly JsonMember[]): JsonSql {
  const bytes = [...new Set(members.flatMap(({ bytes: column }) => column ?? []))];
  const guards = [
    ...new Set(members.flatMap(({ guard }) => guard ?? [])),
    ...(bytes.length === 0 ? [] : [containNoBytes(bytes)]),
  ];
  const sql = `json_object(${members.map(({ name, sql: value }) => `'${name}', ${value}`).join(', ')})`;
  return guards.length === 0 ? { sql } : { sql, guard: guards.join(' AND ') };
}

/** Bytes are greater than all else. */
function containNoBytes(columns: readonly string[]): string {
  return `(${columns.map((column) => `${column} >= x''`).join(' OR ')}) IS NOT TRUE`;
}

/** All values of the column as one array. JSON has no bytes, and not every build of SQLite writes all digits of a number there. */
function valuesAt(column: string, { kind }: DataType, rows: readonly number[]): PickedValues | undefined {
  if (kind === 'float' || kind === 'decimal') return undefined;
  return {
    sql: [
      `json_group_array(CASE WHEN typeof(${column}) IN ('real', 'blob') THEN json('[]') ELSE ${column} END)`,
    ],
    read: ([raw]) => {
      const values = JSON.parse(String(raw)) as readonly unknown[];
      const picked = rows.map((row) => values[row - 1] ?? null);
      return picked.every((value) => value === null || typeof value !== 'object') ? picked : undefined;
    },
  };
}
