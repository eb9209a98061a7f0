import { addErrors, emptyFieldErrors, errorAt } from '../../../core/errors/rest-exception.js';
import type { FieldErrors, Json } from '../../../core/errors/rest-exception.js';
import type { Column } from '../../../core/schema/column.js';
import { containsColumns } from '../../../core/schema/relation.js';
import type { ToOneRelation } from '../../../core/schema/relation.js';

/**
 * A key of a body, and the value of each column of its relation; null empties the relation, and undefined is a key of no
 * object, which has its error. Without a relation, a column of the object's own key.
 */
export interface KeySource {
  readonly path: readonly string[];
  readonly relation: ToOneRelation | undefined;
  readonly values: ColumnValues | null | undefined;
}

/** Values by the ids of columns. */
export type ColumnValues = ReadonlyMap<string, Json>;

/** What decides about columns beside the keys of a body (contract 5.17). */
export interface OtherSources {
  /** Takes precedence over the body: the URL and the application; in a change, the object's own key. */
  readonly higher: ColumnValues;
  /** The row under change; undefined for a new one. */
  readonly stored: ColumnValues | undefined;
  /** The columns of the object's key, which are never null. */
  readonly key: ReadonlySet<string>;
  /** All forward relations of the model, exposed or not. */
  readonly relations: readonly ToOneRelation[];
  /** The name under which the caller knows a relation. */
  readonly nameOf: (relation: ToOneRelation) => string | undefined;
  /** Whether the caller may change a relation. */
  readonly isOpen: (relation: ToOneRelation) => boolean;
}

/** The values of the columns that are decided, and the errors of keys that disagree. */
export interface Decision {
  readonly columns: ColumnValues;
  readonly errors: FieldErrors;
}

const OVERRULED = 'This key has another value of a column that is set by the server.';
const OWN_KEY = 'This key has another value of a column of the key of this object, which does not change.';
const NULL = 'This field may not be null.';

/** Decides the value of each column of the keys in a body. */
export function decideColumns(sources: readonly KeySource[], others: OtherSources): Decision {
  const columns = new Map(others.higher);
  const errors = emptyFieldErrors();
  const setBy = new Map<string, KeySource>();
  const overruled = others.stored ? OWN_KEY : OVERRULED;
  for (const source of sources) {
    for (const [id, value] of source.values ?? []) {
      const other = setBy.get(id);
      if (!columns.has(id)) setBy.set(id, source);
      else if (!isSameValue(columns.get(id), value))
        addErrors(errors, other ? disagreement(source, other) : errorAt(source.path, overruled));
      if (!columns.has(id)) columns.set(id, value);
    }
  }
  for (const [column, source] of emptiedColumns(sources, columns, others)) {
    columns.set(column.id, null);
    setBy.set(column.id, source);
    // A foreign key of one column is checked when it is parsed.
    if (!column.nullable && source.relation.on.length > 1) addErrors(errors, errorAt(source.path, NULL));
  }
  for (const source of sources)
    if (isEmptying(source)) addErrors(errors, nullErrors(source, { columns, setBy }, others));
  addErrors(errors, unnamedErrors(sources, { columns, setBy }, others));
  return { columns, errors };
}

/** A relation that a body empties. */
interface EmptyingKey extends KeySource {
  readonly relation: ToOneRelation;
}

function isEmptying(source: KeySource): source is EmptyingKey {
  return source.values === null && source.relation !== undefined;
}

function disagreement(source: KeySource, other: KeySource): FieldErrors {
  const errors = errorAt(source.path, disagreeing(other));
  addErrors(errors, errorAt(other.path, disagreeing(source)));
  return errors;
}

function disagreeing({ path }: KeySource): string {
  return `This field and "${path.join('.')}" have different values of a column that both contain.`;
}

/**
 * The columns that become null: those that no other relation has. In a new row, also those that others have, and which
 * nothing else sets.
 */
function emptiedColumns(
  sources: readonly KeySource[],
  decided: ColumnValues,
  { stored, relations, key }: OtherSources,
): ReadonlyMap<Column, EmptyingKey> {
  const nulls = sources.filter(isEmptying);
  const isEmptied = (relation: ToOneRelation): boolean =>
    nulls.some((source) => hasSameColumns(source.relation, relation));
  const emptied = new Map<Column, EmptyingKey>();
  for (const source of nulls)
    for (const { localColumn } of source.relation.on) {
      if (decided.has(localColumn.id) || key.has(localColumn.id)) continue;
      const isOwn = relations.every(
        (relation) => !hasColumn(relation, localColumn.id) || isEmptied(relation),
      );
      if (isOwn || (!stored && localColumn.nullable)) emptied.set(localColumn, source);
    }
  return emptied;
}

interface Decided {
  readonly columns: ColumnValues;
  readonly setBy: ReadonlyMap<string, KeySource>;
}

/** The errors of a null that leaves the relation with a key. */
function nullErrors(
  { path, relation }: EmptyingKey,
  { columns, setBy }: Decided,
  { stored, relations, nameOf }: OtherSources,
): FieldErrors {
  const ids = relation.on.map(({ localColumn }) => localColumn.id);
  if (ids.some((id) => (columns.has(id) ? columns.get(id) : stored?.get(id)) === null))
    return emptyFieldErrors();
  const other = ids.flatMap((id) => setBy.get(id) ?? [])[0];
  if (other) return disagreement({ path, relation, values: null }, other);
  if (!stored && ids.some((id) => columns.has(id))) return errorAt(path, OVERRULED);
  const sharing = relations.find((each) => each !== relation && ids.some((id) => hasColumn(each, id)));
  return errorAt(path, sharing ? `${NULL} ${emptying(nameOf(sharing))}` : NULL);
}

function emptying(name: string | undefined): string {
  return name === undefined
    ? 'Another relation has its columns, too.'
    : `"${name}" has its columns, too: send null for both.`;
}

/** The errors of keys that change a relation which the body does not name, and which none of its keys contains. */
function unnamedErrors(
  sources: readonly KeySource[],
  { columns, setBy }: Decided,
  { stored, relations, nameOf, isOpen }: OtherSources,
): FieldErrors {
  const errors = emptyFieldErrors();
  if (!stored) return errors;
  for (const relation of relations) {
    const isSent = sources.some((source) => source.relation === relation);
    if (isSent || (isOpen(relation) && sources.some((source) => implies(source, relation)))) continue;
    const changed = changedColumns(relation, columns, stored);
    for (const { path } of changed.flatMap((id) => setBy.get(id) ?? []))
      addErrors(errors, errorAt(path, changing(nameOf(relation), isOpen(relation))));
  }
  return errors;
}

function changing(name: string | undefined, isOpen: boolean): string {
  if (name === undefined) return 'This key would change another relation of this object.';
  return isOpen
    ? `This key would change "${name}": send both.`
    : `This key would change "${name}", which is read-only.`;
}

/** Whether a key decides about all columns of another relation. */
function implies({ relation: sent, values }: KeySource, relation: ToOneRelation): boolean {
  if (!sent) return false;
  return values === null ? hasSameColumns(sent, relation) : containsColumns(sent, relation);
}

/** The columns by which a relation refers to another row than before. A relation with a null refers to none. */
function changedColumns(
  { on }: ToOneRelation,
  columns: ColumnValues,
  stored: ColumnValues,
): readonly string[] {
  const ids = on.map(({ localColumn }) => localColumn.id);
  const after = (id: string): Json => (columns.has(id) ? columns.get(id) : stored.get(id)) ?? null;
  const wasNull = ids.some((id) => (stored.get(id) ?? null) === null);
  const isNull = ids.some((id) => after(id) === null);
  return wasNull && isNull ? [] : ids.filter((id) => !isSameValue(after(id), stored.get(id)));
}

export function hasColumn({ on }: ToOneRelation, id: string): boolean {
  return on.some(({ localColumn }) => localColumn.id === id);
}

function hasSameColumns(one: ToOneRelation, other: ToOneRelation): boolean {
  return containsColumns(one, other) && containsColumns(other, one);
}

/** The referenced column may have another type: `5` and `"5"` are the same key. */
export function isSameValue(one: Json | undefined, other: Json | undefined): boolean {
  if (one === null || other === null || one === undefined || other === undefined)
    return (one ?? null) === (other ?? null);
  return String(one) === String(other);
}
