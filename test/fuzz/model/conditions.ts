import type { ColumnKind, EntitySpec, Json, LookupName, RowsSpec } from '../schema.js';
import { columnNamed, relationNamed } from '../schema.js';
import { keyJson, relatedRows } from './state.js';
import type { Placed, Row, State } from './state.js';
import { compareValues } from './values.js';

/** A comparison with canonical values: a list for `in` and `range`. */
export interface Comparison {
  readonly lookup: LookupName;
  readonly value: Json;
}

/** Whether a value, which may be null, matches (docs/reference/filters.md, lookups). */
export function fitsValue(actual: Json, { lookup, value }: Comparison, kind: ColumnKind): boolean {
  switch (lookup) {
    case 'isnull':
      return (actual === null) === value;
    case 'ne':
      return actual === null || compareValues(actual, value, kind) !== 0;
    default:
      return actual !== null && fitsPresent(actual, { lookup, value }, kind);
  }
}

function fitsPresent(actual: Json, comparison: Comparison, kind: ColumnKind): boolean {
  const { lookup, value } = comparison;
  const order = (other: Json): number => compareValues(actual, other, kind);
  switch (lookup) {
    case 'exact':
      return order(value) === 0;
    case 'gt':
      return order(value) > 0;
    case 'gte':
      return order(value) >= 0;
    case 'lt':
      return order(value) < 0;
    case 'lte':
      return order(value) <= 0;
    case 'in':
      return (value as readonly Json[]).some((each) => order(each) === 0);
    case 'range': {
      const [low = null, high = null] = value as readonly Json[];
      return order(low) >= 0 && order(high) <= 0;
    }
    default:
      return fitsText(String(actual), comparison);
  }
}

function fitsText(actual: string, { lookup, value }: Comparison): boolean {
  const isLax = lookup.startsWith('i');
  const [text, part] = isLax ? [lower(actual), lower(String(value))] : [actual, String(value)];
  switch (isLax ? lookup.slice(1) : lookup) {
    case 'exact':
      return text === part;
    case 'contains':
      return text.includes(part);
    case 'startswith':
      return text.startsWith(part);
    default:
      return text.endsWith(part);
  }
}

/** Converts ASCII letters only: the generator uses no other letters with a case. */
export function lower(text: string): string {
  return text.replaceAll(/[A-Z]/g, (letter) => letter.toLowerCase());
}

/** Whether a row matches the condition of a grant. Conditions over a to-many relation may match different related rows. */
export function fitsRows(state: State, { entity, row }: Placed, rows: RowsSpec): boolean {
  switch (rows.kind) {
    case 'and':
      return rows.filters.every((filter) => fitsRows(state, { entity, row }, filter));
    case 'or':
      return rows.filters.some((filter) => fitsRows(state, { entity, row }, filter));
    case 'not':
      return !fitsRows(state, { entity, row }, rows.filter);
    case 'where':
      return fitsWhere(state, { entity, row }, rows);
    default:
      return rows satisfies never;
  }
}

type WhereSpec = Extract<RowsSpec, { kind: 'where' }>;

/** A row of an entity, or the empty end of a forward relation. */
export interface EntityRow {
  readonly entity: EntitySpec;
  /** Undefined if a forward relation is null. */
  readonly row: Row | undefined;
}

function fitsWhere(state: State, { entity, row }: EntityRow, where: WhereSpec): boolean {
  const [name = '', ...rest] = where.path.split('.');
  const relation = relationNamed(entity, name);
  if (!relation) {
    const kind = columnNamed(entity, name)?.kind ?? 'varchar';
    return fitsValue(valueOf(row, name), nullSafe(where), kind);
  }
  const related = row ? relatedRows(state, { entity, row }, name) : [];
  const target = state.entity(relation.target);
  if (rest.length > 0) {
    const further = { ...where, path: rest.join('.') };
    const standing = relation.kind === 'to-one' ? [related[0]] : related;
    return standing.some((each) => fitsWhere(state, { entity: target, row: each }, further));
  }
  return relation.kind === 'to-one'
    ? fitsKey(target, valueOf(row, name) as string | null, nullSafe(where))
    : fitsKeys(target, related, where);
}

function valueOf(row: Row | undefined, name: string): Json {
  return row?.values[name] ?? null;
}

function fitsKey(target: EntitySpec, key: string | null, comparison: Comparison): boolean {
  const [column, ...others] = target.key.columns;
  return fitsValue(keyJson(target, key), comparison, column && others.length === 0 ? column.kind : 'varchar');
}

/** For a to-many relation: whether a related row exists. */
function fitsKeys(target: EntitySpec, related: readonly Row[], where: WhereSpec): boolean {
  return where.lookup === 'isnull'
    ? (related.length === 0) === where.value
    : related.some((each) => fitsKey(target, each.key, where));
}

/** `exact` and `ne` with null test for the existence of a value. */
function nullSafe(comparison: Comparison): Comparison {
  if (comparison.value !== null) return comparison;
  return { lookup: 'isnull', value: comparison.lookup === 'exact' };
}
