import type { Column } from './column.js';
import type { Resource } from './resource.js';

/** A pair of columns that are equal where two rows belong together. */
export interface ColumnPair {
  readonly near: Column;
  readonly far: Column;
}

interface RelationBase {
  /** The property's path; also the segment of its nested URL. */
  readonly name: string;
  readonly target: Resource;
}

/** This row holds the foreign key: many-to-one, or the owning side of a one-to-one. */
export interface ToOneRelation extends RelationBase {
  readonly kind: 'to-one';
  readonly on: readonly ColumnPair[];
  /** Whether `on` refers to the target's key itself, so that no look at the target is needed to tell it. */
  readonly byKey: boolean;
  /** It leads to soft-deleted rows too: what a row refers to is told all the same. */
  readonly evenDeleted?: boolean;
}

/** The other row holds the foreign key, and there is at most one such row. */
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
 * Rows that belong together through a junction. `through` is the junction as seen from this side: its rows are what
 * the nested endpoint lists and creates.
 */
export interface ManyToManyRelation extends RelationBase {
  readonly kind: 'many-to-many';
  readonly through: Through;
}

export interface Through {
  readonly resource: Resource;
  /** near: column of the parent; far: column of the junction. */
  readonly parent: readonly ColumnPair[];
  /** near: column of the junction; far: column of the target. */
  readonly other: readonly ColumnPair[];
}

export type Relation = ToOneRelation | ReverseOneRelation | OneToManyRelation | ManyToManyRelation;

/** Relations that have a nested URL. */
export type ToManyRelation = OneToManyRelation | ManyToManyRelation;
