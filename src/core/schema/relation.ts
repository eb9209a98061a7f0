import type { Operand } from '../query/condition.js';
import type { Column } from './column.js';
import type { ResourceSchema } from './resource-schema.js';

/** A pair of join columns, which are equal in related rows. */
export interface ColumnPair {
  readonly localColumn: Column;
  readonly referencedColumn: Column;
}

interface RelationBase {
  /** The property's path; also the segment of its nested URL. */
  readonly name: string;
  readonly target: ResourceSchema;
}

/** This row holds the foreign key: many-to-one, or the owning side of a one-to-one. */
export interface ToOneRelation extends RelationBase {
  readonly kind: 'to-one';
  readonly on: readonly ColumnPair[];
  /** Whether `on` refers to the target's key itself, so that the key is known without reading the target. */
  readonly byKey: boolean;
  /** True if it includes soft-deleted rows, so that a reference to one is still serialized. */
  readonly evenDeleted?: boolean;
}

/** The other row holds the foreign key, and there is at most one such row: the inverse side of a one-to-one. */
export interface ReverseOneRelation extends RelationBase {
  readonly kind: 'reverse-one';
  readonly on: readonly ColumnPair[];
}

/** The children hold the foreign key. */
export interface OneToManyRelation extends RelationBase {
  readonly kind: 'one-to-many';
  readonly on: readonly ColumnPair[];
}

/**
 * Rows that are related through a junction. `through` is the junction as seen from this side: the nested endpoint lists and
 * creates its rows.
 */
export interface ManyToManyRelation extends RelationBase {
  readonly kind: 'many-to-many';
  readonly through: Through;
}

export interface Through {
  readonly resource: ResourceSchema;
  /** localColumn: column of the parent; referencedColumn: column of the junction. */
  readonly parent: readonly ColumnPair[];
  /** localColumn: column of the junction; referencedColumn: column of the target. */
  readonly other: readonly ColumnPair[];
}

export type Relation = ToOneRelation | ReverseOneRelation | OneToManyRelation | ManyToManyRelation;

/** Relations that have a nested URL. */
export type ToManyRelation = OneToManyRelation | ManyToManyRelation;

/** Whether a relation has all columns of another one, so that its key decides about both (contract 5.17). */
export function containsColumns(
  { on }: Pick<ToOneRelation, 'on'>,
  other: Pick<ToOneRelation, 'on'>,
): boolean {
  return other.on.every(({ localColumn }) => on.some((pair) => pair.localColumn.id === localColumn.id));
}

/** The columns of this row that hold the key of the related one, which `on` refers to. */
export function localKeyColumns({ on, target }: ToOneRelation): readonly Column[] {
  return target.key.columns.map(
    (key) => on.find((pair) => pair.referencedColumn.id === key.id)?.localColumn ?? key,
  );
}

/** The key of the related row: columns of this row where it has them. */
export function relatedKeyOperands(relation: ToOneRelation): readonly Operand[] {
  return relation.byKey
    ? localKeyColumns(relation).map((column) => ({ joinPath: [], column }))
    : relation.target.key.columns.map((column) => ({ joinPath: [relation], column }));
}
