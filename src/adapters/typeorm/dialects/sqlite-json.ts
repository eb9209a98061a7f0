import type { ValueType } from '../../../model/value-type.js';
import type { JsonMember, JsonSql, JsonWriter } from './json-writer.js';

/** By SQLite's own JSON functions. A column can hold values of any kind, so each is guarded by its kind. */
export const sqliteJson: JsonWriter = {
  columnOf,
  keyTextOf: ({ kind }) => (kind === 'integer' || kind === 'bigint' || kind === 'uuid' ? (column) => column : undefined),
  link: (begin, key, end) => `${begin} || ${key} || '${end}'`,
  textBegin: (text) => text,
  object,
  joined: (column) => `group_concat(${column}, ',')`,
};

function columnOf(type: ValueType): ((column: string) => JsonSql) | undefined {
  switch (type.kind) {
    case 'integer':
      return (column) => ({ sql: column, guard: isKind(column, 'integer'), exact: column });
    case 'bigint':
      return (column) => ({ sql: `CAST(${column} AS TEXT)`, guard: isKind(column, 'integer') });
    case 'boolean':
      return (column) => ({ sql: `CASE WHEN ${column} IS NULL THEN NULL WHEN ${column} = 0 THEN json('false') ELSE json('true') END`, guard: isKind(column, 'integer') });
    case 'string':
    case 'uuid':
    case 'date':
      return asText;
    case 'enum':
      return type.values.every((each) => typeof each === 'string') ? asText : undefined;
    case 'datetime':
      return type.digits === 3 ? (column) => ({ sql: instant(column), guard: `(${isInstant(column)})` }) : undefined;
    default:
      return undefined;
  }
}

function asText(column: string): JsonSql {
  return { sql: column, guard: isKind(column, 'text') };
}

function isKind(column: string, kind: 'integer' | 'text'): string {
  return `typeof(${column}) IN ('${kind}', 'null')`;
}

/** Whether the process reads each of these as the number that it is. Bits tell it of most rows at once; of one with a negative number they do not. */
function areExact(columns: readonly string[]): string {
  const each = columns.map((column) => `(${column} BETWEEN ${Number.MIN_SAFE_INTEGER} AND ${Number.MAX_SAFE_INTEGER}) IS NOT 0`).join(' AND ');
  return `((${columns.map((column) => `ifnull(${column}, 0)`).join(' | ')}) BETWEEN 0 AND ${Number.MAX_SAFE_INTEGER} OR ${each})`;
}

function instant(column: string): string {
  return `replace(${column}, ' ', 'T') || CASE length(${column}) WHEN 23 THEN 'Z' ELSE '.000Z' END`;
}

/**
 * None, or `2022-10-02 09:23:28.297`, or without the fraction, and an instant that there is: SQLite would write it so itself.
 * Before SQLite 3.46 it writes no fractions, and the process does.
 */
function isInstant(column: string): string {
  return `datetime(${column}, 'floor', 'subsec') IS ${column} AND (+${column} > '0001') IS NOT 0 OR length(${column}) = 19 AND datetime(${column}, '+0 days') = ${column} AND +${column} > '0001'`;
}

function object(members: readonly JsonMember[]): JsonSql {
  const exact = [...new Set(members.flatMap(({ exact: column }) => column ?? []))];
  const guards = [...new Set(members.flatMap(({ guard }) => guard ?? [])), ...(exact.length === 0 ? [] : [areExact(exact)])];
  const sql = `json_object(${members.map(({ name, sql: value }) => `'${name}', ${value}`).join(', ')})`;
  return guards.length === 0 ? { sql } : { sql, guard: guards.join(' AND ') };
}
