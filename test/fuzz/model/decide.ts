import type { EntitySpec, Json, JsonObject, ToOneSpec } from '../schema.js';
import { columnNamed, toOnesOf } from '../schema.js';
import { invalid } from './expected.js';
import type { ErrorFields } from './expected.js';
import { keyTextOf } from './state.js';
import type { Row, State } from './state.js';

type Values = Readonly<Record<string, Json>>;

/** A forward relation with its columns. */
interface Joined extends ToOneSpec {
  readonly on: NonNullable<ToOneSpec['on']>;
}

/** The keys of a body by relation: undefined is a key of no object, which has its error already. */
export type SentKeys = ReadonlyMap<string, string | null | undefined>;

export interface Decision {
  /** The values of the columns, and of the relations with them. */
  readonly values: Values;
  readonly errors: ErrorFields;
}

interface Decided {
  readonly value: Json;
  /** The relation of the body that has decided; undefined for the server. */
  readonly by?: Joined;
}

interface Sources {
  readonly state: State;
  readonly entity: EntitySpec;
  readonly sent: SentKeys;
  /** The row under change; undefined for a new one. */
  readonly stored: Row | undefined;
}

const OVERRULED = 'This key has another value of a column that is set by the server.';
const NULL = 'This field may not be null.';

function joinedOf(entity: EntitySpec): readonly Joined[] {
  return toOnesOf(entity).filter((relation): relation is Joined => relation.on !== undefined);
}

/** The columns of the relations of a model, each once. */
function columnsOf(relations: readonly Joined[]): readonly string[] {
  return [...new Set(relations.flatMap(({ on }) => on.map(({ near }) => near)))];
}

/** Whether a relation has all columns of another one. */
function contains(one: Joined, other: Joined): boolean {
  return other.on.every(({ near }) => hasColumn(one, near));
}

function hasColumn({ on }: Joined, name: string): boolean {
  return on.some(({ near }) => near === name);
}

/** The columns of a key, which is that of a row. */
function valuesOf(state: State, { target, on }: Joined, key: string): Values {
  const row = state.row(target, key);
  return Object.fromEntries(on.map(({ near, far }) => [near, row?.values[far] ?? null]));
}

/** A relation refers to no row if one of its columns is null. */
function keyOf(state: State, { target, on }: Joined, columns: Values): string | null {
  const key = Object.fromEntries(on.map(({ near, far }): [string, Json] => [far, columns[near] ?? null]));
  return Object.values(key).includes(null) ? null : keyTextOf(state.entity(target), key);
}

/** The values with those of the relations that have the same columns. */
function withKeys(state: State, relations: readonly Joined[], values: Values): Values {
  const keys = relations.map((relation): [string, Json] => [relation.name, keyOf(state, relation, values)]);
  return { ...values, ...Object.fromEntries(keys) };
}

/** Decides each column that several relations of a model have (contract 5.17). */
export function decideColumns(sources: Sources): Decision {
  const { state, entity, sent, stored } = sources;
  const relations = joinedOf(entity).filter(({ unbound }) => !unbound);
  const errors: ErrorFields = {};
  const server = stored ? {} : (entity.options.valuesOnCreate ?? {});
  const decided = new Map<string, Decided>(
    Object.entries(server).map(([name, value]): [string, Decided] => [name, { value }]),
  );
  for (const by of relations) {
    const key = sent.get(by.name);
    if (typeof key === 'string') addKey(decided, { by, values: valuesOf(state, by, key) }, errors);
  }
  const nulls = relations.filter(({ name }) => sent.get(name) === null);
  for (const [name, by] of emptiedColumns(sources, { relations, nulls, decided })) {
    decided.set(name, { value: null, by });
    if (columnNamed(entity, name)?.nullable === false) addError(errors, by.name, NULL);
  }
  const values = Object.fromEntries(
    columnsOf(relations).map((name): [string, Json] => [
      name,
      decided.has(name) ? (decided.get(name)?.value ?? null) : (stored?.values[name] ?? null),
    ]),
  );
  for (const relation of nulls)
    if (keyOf(state, relation, values) !== null)
      refuseNull(relation, { decided, relations, isNew: !stored }, errors);
  if (stored) refuseOthers({ ...sources, stored }, { decided, relations, values }, errors);
  return { values: withKeys(state, relations, values), errors };
}

/** A field has one of these errors only. */
function addError(errors: ErrorFields, name: string, message: string): void {
  errors[name] ??= [message];
}

function addKey(
  decided: Map<string, Decided>,
  { by, values }: { readonly by: Joined; readonly values: Values },
  errors: ErrorFields,
): void {
  for (const [name, value] of Object.entries(values)) {
    const other = decided.get(name);
    if (!other) decided.set(name, { value, by });
    else if (other.value !== value && other.by) disagree(by, other.by, errors);
    else if (other.value !== value) addError(errors, by.name, OVERRULED);
  }
}

function disagree(one: Joined, other: Joined, errors: ErrorFields): void {
  const message = (name: string): string =>
    `This field and "${name}" have different values of a column that both contain.`;
  addError(errors, one.name, message(other.name));
  addError(errors, other.name, message(one.name));
}

interface Nulls {
  readonly relations: readonly Joined[];
  readonly nulls: readonly Joined[];
  readonly decided: ReadonlyMap<string, Decided>;
}

/** The columns that no relation has but those which the body empties; in a new row, all that nothing else decides. */
function emptiedColumns(
  { entity, stored }: Sources,
  { relations, nulls, decided }: Nulls,
): ReadonlyMap<string, Joined> {
  const isEmptied = (relation: Joined): boolean =>
    nulls.some((each) => contains(each, relation) && contains(relation, each));
  const emptied = new Map<string, Joined>();
  for (const relation of nulls)
    for (const { near } of relation.on) {
      if (decided.has(near)) continue;
      const isOwn = relations.every((each) => !hasColumn(each, near) || isEmptied(each));
      if (isOwn || (!stored && columnNamed(entity, near)?.nullable !== false)) emptied.set(near, relation);
    }
  return emptied;
}

/** A null that leaves the relation with a key. */
function refuseNull(
  relation: Joined,
  {
    decided,
    relations,
    isNew,
  }: {
    readonly decided: ReadonlyMap<string, Decided>;
    readonly relations: readonly Joined[];
    readonly isNew: boolean;
  },
  errors: ErrorFields,
): void {
  const found = relation.on.flatMap(({ near }) => decided.get(near) ?? []);
  const other = found.find(({ by }) => by)?.by;
  const sharing = relations.find(
    (each) => each !== relation && relation.on.some(({ near }) => hasColumn(each, near)),
  );
  if (other) disagree(relation, other, errors);
  else if (isNew && found.length > 0) addError(errors, relation.name, OVERRULED);
  else if (sharing)
    addError(errors, relation.name, `${NULL} "${sharing.name}" has its columns, too: send null for both.`);
  else addError(errors, relation.name, NULL);
}

/** The keys that would change a relation which the body does not name. */
function refuseOthers(
  { state, sent, stored }: Sources & { readonly stored: Row },
  {
    decided,
    relations,
    values,
  }: {
    readonly decided: ReadonlyMap<string, Decided>;
    readonly relations: readonly Joined[];
    readonly values: Values;
  },
  errors: ErrorFields,
): void {
  const isImplied = (relation: Joined): boolean =>
    relations.some((each) => {
      const key = sent.get(each.name);
      if (!sent.has(each.name) || !contains(each, relation)) return false;
      return key !== null || contains(relation, each);
    });
  for (const relation of relations) {
    if (sent.has(relation.name) || isImplied(relation)) continue;
    const [before, after] = [stored.values, values].map((each) => keyOf(state, relation, each));
    if (before === after) continue;
    for (const { near } of relation.on) {
      const by = decided.get(near)?.by;
      if (by && (values[near] ?? null) !== (stored.values[near] ?? null))
        addError(errors, by.name, `This key would change "${relation.name}": send both.`);
    }
  }
}

/** Whether each relation that another one sets refers to a row (contract 5.17). */
export function refersToRows(state: State, entity: EntitySpec, values: Values): boolean {
  return joinedOf(entity).every(({ name, target, unbound }) => {
    const key = values[name] ?? null;
    return unbound === true || key === null || state.row(target, String(key)) !== undefined;
  });
}

/** The field that errors name for a column: the first relation with it. */
export function fieldOfColumn(entity: EntitySpec, name: string): string {
  return joinedOf(entity).find((relation) => !relation.unbound && hasColumn(relation, name))?.name ?? name;
}

/** The relations that need not be named: the server, or a key of the body, has all of their columns. */
export function isSupplied(entity: EntitySpec, name: string, { body, isNew }: GivenBody): boolean {
  const relations = joinedOf(entity);
  const relation = relations.find((each) => each.name === name);
  if (!relation) return false;
  const server = Object.keys(isNew ? (entity.options.valuesOnCreate ?? {}) : {});
  return (
    relation.on.every(({ near }) => server.includes(near)) ||
    relations.some((each) => !isNone(body[each.name]) && contains(each, relation))
  );
}

interface GivenBody {
  readonly body: JsonObject;
  readonly isNew: boolean;
}

function isNone(value: Json | undefined): boolean {
  return value === undefined || value === null || value === '';
}

/**
 * The values of a row after `beforeWrite`, including those of relations.
 * @throws Refusal if a key of the body disagrees (contract 22.4).
 */
export function applyHook(
  state: State,
  entity: EntitySpec,
  { values, given }: { readonly values: Values; readonly given: Values },
): Values {
  const set = entity.options.beforeWrite ?? {};
  const relations = joinedOf(entity);
  const errors: ErrorFields = {};
  for (const relation of relations) {
    const key = given[relation.name];
    const columns = typeof key === 'string' ? valuesOf(state, relation, key) : {};
    for (const [name, value] of Object.entries(set))
      if (Object.hasOwn(columns, name) && columns[name] !== value) addError(errors, relation.name, OVERRULED);
  }
  if (Object.keys(errors).length > 0) throw invalid(errors);
  return withKeys(state, relations, { ...values, ...set });
}
