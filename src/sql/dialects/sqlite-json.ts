import type { DataType } from '../../core/schema/data-type.js';
import { TEXT_SEPARATOR } from '../../core/values/json-scanner.js';
import { STORED_JSON } from '../stored-json.js';
import type { JsonColumn, JsonMember, JsonSql, JsonWriter, PickedValues } from './json-writer.js';

/**
 * Serialization by SQLite's JSON functions. A column can hold values of any storage class, and each class has a distinct JSON
 * form, so the types are checked in the resulting text. The exception is a BLOB in SQLite's JSONB format, which needs a guard.
 */
export const sqliteJson: JsonWriter = {
  columnOf: (type) => (type.kind === 'json' && type.packed !== true ? STORED_TEXT : columnOf(type)),
  keyTextOf,
  link: (begin, key, end) => `${begin} || ${key} || '${end}'`,
  linkPrefix: (text) => text,
  object,
  joinRows: (column) => `group_concat(${column}, ',')`,
  joinTexts: (column) => `group_concat(${column}, char(${TEXT_SEPARATOR}))`,
  valuesAt,
  subtypeTables: `SELECT DISTINCT t.name AS name FROM (SELECT name, type FROM sqlite_master UNION ALL SELECT name, type FROM sqlite_temp_master) t, pragma_table_xinfo(t.name) c WHERE t.type = 'table' AND c.hidden = 2`,
};

/** Integers up to 9e15, which JavaScript represents exactly. Rows with greater ones are serialized in the process. */
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
      // The unary plus removes the affinity, so that a text is not compared as a number.
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
            // `2022-10-02 09:23:28.297`, or without the fraction.
            of: (column) => ({
              sql: `replace(${column}, ' ', 'T') || CASE length(${column}) WHEN 23 THEN 'Z' ELSE '.000Z' END`,
              bytes: column,
            }),
            pattern: `(?:null|"${INSTANT_PATTERN}")`,
          }
        : undefined;
    default:
      return undefined;
  }
}

/** JSON whose text the process parses. Values of other classes are read one by one. */
const STORED_TEXT: JsonColumn = {
  of: (column) => ({
    sql: `json('${STORED_JSON}')`,
    guard: isKind(column, 'text'),
  }),
  pattern: '\\[\\]',
  stored: (column) => `coalesce(${column}, 'null')`,
};

function unchanged(column: string): JsonSql {
  return { sql: column, bytes: column };
}

function keyTextOf({ kind }: DataType, shown: boolean): JsonColumn | undefined {
  switch (kind) {
    case 'integer':
      // If the key is also a member, its own pattern excludes texts such as `x/5`, whose end would match in the path.
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

/** Valid dates: the days of each month, February 29 in leap years only, and no year 0, which `decode` returns in another form. */
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

/** A BLOB sorts after all other storage classes. */
function containNoBytes(columns: readonly string[]): string {
  return `(${columns.map((column) => `${column} >= x''`).join(' OR ')}) IS NOT TRUE`;
}

/** Reads all values of the column as one JSON array, without BLOB and REAL: not every build of SQLite writes all digits of a number. */
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
