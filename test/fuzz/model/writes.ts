import type { EntitySpec, Json } from '../schema.js';
import { toOnesOf } from '../schema.js';
import type { Names } from './access.js';
import type { WriteContext } from './bodies.js';
import { fitsRows } from './conditions.js';
import { applyHook, fieldOfColumn, refersToRows } from './decide.js';
import { forbidden, refuse } from './expected.js';
import type { ErrorFields } from './expected.js';
import { fieldsOf } from './fields.js';
import { keyTextOf } from './state.js';
import type { Row, State } from './state.js';

const UNIQUE = 'This field must be unique.';
const UNNAMED: ErrorFields = { non_field_errors: ['An object with these values exists already.'] };

/** The values of a new row: those of the body, and the defaults of the other columns. */
export function newValues(
  state: State,
  entity: EntitySpec,
  given: Readonly<Record<string, Json>>,
): Readonly<Record<string, Json>> {
  const values: Record<string, Json> = { ...given };
  for (const column of [...entity.key.columns, ...entity.columns])
    values[column.name] =
      given[column.name] ?? (Object.hasOwn(given, column.name) ? null : defaultOf(column));
  for (const relation of toOnesOf(entity)) values[relation.name] = given[relation.name] ?? null;
  return applyHook(state, entity, { values, given });
}

function defaultOf(column: { readonly kind: string; readonly default?: Json }): Json {
  return column.kind === 'version' ? 1 : (column.default ?? null);
}

/**
 * The values of an updated row. It is not specified whether an update without changes increments the version, so `told` has the
 * version in the response.
 */
export function changedValues(
  { state, resource: { entity } }: Pick<WriteContext, 'state' | 'resource'>,
  {
    row,
    told,
    isTouched = false,
  }: {
    readonly row: Row;
    readonly told: number | undefined;
    /** Whether pairs or objects of the body are written, so that the row has another version. */
    readonly isTouched?: boolean;
  },
  given: Readonly<Record<string, Json>>,
): Readonly<Record<string, Json>> {
  const values = applyHook(state, entity, { values: { ...row.values, ...given }, given });
  const isChanged =
    isTouched || Object.keys(values).some((name) => !sameValue(row.values[name], values[name]));
  const column = entity.columns.find(({ kind }) => kind === 'version');
  if (!column) return values;
  const next = Number(row.values[column.name]) + 1;
  return { ...values, [column.name]: isChanged || told === next ? next : next - 1 };
}

/** Stores a row; throws the response if it violates the caller's row condition or a unique index. */
export function store(
  context: WriteContext,
  values: Readonly<Record<string, Json>>,
  replaced: Row | undefined,
): Row {
  const { state, resource, access } = context;
  const { entity } = resource;
  const row: Row = { key: keyTextOf(entity, values), values };
  if (!refersToRows(state, entity, values)) throw forbidden();
  const conflicts = conflictsOf(context, { row, replaced });
  const restore = state.snapshot();
  state.put(entity.name, row);
  if (access.rows && !fitsRows(state, { entity: entity, row: row }, access.rows)) {
    restore();
    throw forbidden();
  }
  if (conflicts.length > 0) {
    restore();
    throw refuse(400, ...conflicts);
  }
  return row;
}

/**
 * The errors of each violated unique index; the database determines which one is reported. A field that the caller may
 * neither read nor write is not contained (contract 5.11).
 */
function conflictsOf(
  { state, resource, access }: WriteContext,
  { row, replaced }: { readonly row: Row; readonly replaced: Row | undefined },
): ErrorFields[] {
  const { entity } = resource;
  const known = fieldsOf(state, resource).filter(
    ({ name, isReadable, isWritable }) =>
      (isReadable && holds(access.readable, name)) || (isWritable && holds(access.writable, name)),
  );
  const isKnown = (name: string): boolean => known.some((field) => field.name === name);
  const others = state.allRows(entity.name).filter((each) => each.key !== replaced?.key);
  const keyNames = entity.key.columns.map(({ name }) => name);
  return [...(entity.key.generated ? [] : [keyNames]), ...uniqueSets(entity)]
    .filter(
      (names) =>
        names.every((name) => (row.values[name] ?? null) !== null) &&
        others.some((other) => names.every((name) => sameValue(other.values[name], row.values[name]))),
    )
    .map((names) => names.map((name) => fieldOfColumn(entity, name)))
    .map((names) => (names.every(isKnown) ? conflict(names) : UNNAMED));
}

function holds(names: Names, name: string): boolean {
  return names === 'all' || names.has(name);
}

export function uniqueSets(entity: EntitySpec): string[][] {
  return [
    ...entity.columns.filter((column) => column.unique).map(({ name }) => [name]),
    ...toOnesOf(entity)
      .filter((relation) => relation.unique)
      .map(({ name }) => [name]),
    ...entity.uniques.map((names) => [...names]),
  ];
}

export function conflict(names: readonly string[]): ErrorFields {
  const [name = ''] = names;
  return names.length === 1
    ? { [name]: [UNIQUE] }
    : { non_field_errors: [`The fields ${names.join(', ')} must make a unique set.`] };
}

function sameValue(one: Json | undefined, other: Json | undefined): boolean {
  return JSON.stringify(one ?? null) === JSON.stringify(other ?? null);
}
