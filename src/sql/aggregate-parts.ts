import type { Json } from '../core/errors/rest-exception.js';
import type { GroupKey, Measure } from '../core/query/aggregate.js';
import type { DataType } from '../core/schema/data-type.js';
import { keyRepresentation } from '../core/values/keys.js';
import { compileCondition } from './compile-where.js';
import type { Dialect } from './dialects/dialect.js';
import { decodeColumn } from './query-scope.js';
import type { Scope } from './query-scope.js';

/** One column of the derived table of groups, or two of a key. */
export interface Part {
  /** The expressions over the rows, in the inner SELECT. */
  readonly inner: readonly string[];
  /** The names of their columns. */
  readonly names: readonly string[];
  /** The expressions that read them. */
  readonly outer: readonly string[];
  /** What orders them, the first one first. */
  readonly order: readonly { readonly sql: string; readonly isInverse: boolean }[];
  /** Its value in a record, which it has from this place on. */
  read(record: readonly unknown[], at: number): Json;
  /** Of a key and of the values of a column. */
  readonly type?: DataType;
  readonly isSum?: true;
  /** Whether the first one may be `INEXACT`. */
  readonly mayBeInexact?: true;
}

export function keyPart(group: GroupKey, index: number, scope: Scope): Part {
  const { within, operands, bucket, relation } = group;
  const { dialect } = scope;
  const { aggregates } = dialect;
  const visible = within.kind === 'always' ? undefined : within;
  /** The parameters of the grants are bound once for each expression. */
  const granted = (sql: string): string =>
    visible ? `CASE WHEN ${compileCondition(visible, scope)} THEN ${sql} END` : sql;
  const name = (place: number): string => `k${index}_${place}`;
  const [first] = operands;
  if (bucket && first) {
    // The condition stands before the column.
    const inner = aggregates.bucket(scope.operand(first), first.column.type, bucket).map(granted);
    const names = inner.map((_, place) => name(place));
    const [begin = '', ...offset] = names;
    return {
      inner,
      names,
      outer: [aggregates.readBucket(begin, bucket.unit), ...offset],
      order: [{ sql: begin, isInverse: false }, ...offset.map((sql) => ({ sql, isInverse: true }))],
      read: (record, at) => readBegin(record[at], names.length > 1 ? record[at + 1] : undefined),
      mayBeInexact: true,
    };
  }
  const names = operands.map((_, place) => name(place));
  const types = operands.map(({ column }) => column.type);
  return {
    inner: operands.map((operand, place) =>
      granted(aggregates.key(scope.operand(operand), types[place] ?? operand.column.type)),
    ),
    names,
    outer: operands.map(({ column }, place) => aggregates.readKey(name(place), column.type)),
    order: operands.map(({ column }, place) => ({
      sql: aggregates.orderKey(name(place), column.type),
      isInverse: false,
    })),
    read: (record, at) => {
      const values = operands.map(({ column }, place) => decodeColumn(record[at + place], column, dialect));
      if (!relation) return values[0] ?? null;
      return values.some((value) => value === null) ? null : keyRepresentation(values);
    },
  };
}

/** `2026-10-25`, or for an hour `2026-10-25T02:00:00+01:00`. */
function readBegin(raw: unknown, seconds: unknown): Json {
  if (raw === null || raw === undefined) return null;
  const text = String(raw);
  if (seconds === undefined) return text;
  return `${text.replace(' ', 'T')}:00:00${offsetText(Number(seconds))}`;
}

function offsetText(seconds: number): string {
  if (seconds === 0) return 'Z';
  const all = Math.abs(seconds);
  const parts = [Math.floor(all / 3600), Math.floor(all / 60) % 60, all % 60];
  const shown = parts[2] === 0 ? parts.slice(0, 2) : parts;
  return (seconds < 0 ? '-' : '+') + shown.map((part) => String(part).padStart(2, '0')).join(':');
}

export function measurePart(measure: Measure, index: number, scope: Scope): Part {
  const { dialect } = scope;
  const { aggregates } = dialect;
  if (measure.kind === 'rows') return numberPart(`r${index}`, 'count(*)');
  const { operand } = measure;
  const { type } = operand.column;
  const column = scope.operand(operand);
  switch (measure.kind) {
    case 'values':
      return numberPart(`v${index}`, `count(${dialect.nullable(column, type) ?? column})`);
    case 'sum': {
      const name = `s${index}`;
      return {
        ...onePart(name, aggregates.sum(column, type), aggregates.readSum(name, type)),
        read: (record, at) => readSum(record[at], type, dialect),
        type,
        isSum: true,
        mayBeInexact: true,
      };
    }
    case 'min':
    case 'max': {
      const name = `m${index}`;
      const order = [{ sql: aggregates.orderKey(name, type), isInverse: false }];
      return {
        ...onePart(name, aggregates.extreme(measure.kind, column, type), aggregates.readKey(name, type)),
        order,
        read: (record, at) => decodeColumn(record[at], operand.column, dialect),
        type,
      };
    }
    default:
      return measure satisfies never;
  }
}

function onePart(
  name: string,
  inner: string,
  outer: string,
): Pick<Part, 'inner' | 'names' | 'outer' | 'order'> {
  return { inner: [inner], names: [name], outer: [outer], order: [{ sql: name, isInverse: false }] };
}

function numberPart(name: string, sql: string): Part {
  return { ...onePart(name, sql, name), read: (record, at) => Number(record[at]) };
}

/** All digits of a sum; a number of floats. */
function readSum(raw: unknown, type: DataType, dialect: Dialect): Json {
  if (raw === null || raw === undefined) return null;
  if (type.kind === 'float') return dialect.decode(raw, { kind: 'float' });
  const places = dialect.aggregates.scaleOf(type);
  const text = withPoint(String(raw), places);
  return type.kind === 'decimal' && type.scale === undefined
    ? text.replace(/(\.\d*?)0+$/, '$1').replace(/\.$/, '')
    : text;
}

/** The text of an integer in units of a decimal place. */
function withPoint(text: string, places: number): string {
  if (places === 0) return text;
  const sign = text.startsWith('-') ? '-' : '';
  const digits = text.slice(sign.length).padStart(places + 1, '0');
  return `${sign}${digits.slice(0, -places)}.${digits.slice(-places)}`;
}
