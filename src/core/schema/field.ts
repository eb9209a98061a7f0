import type { Column } from './column.js';
import type { ManyToManyRelation, OneToManyRelation, ReverseOneRelation, ToOneRelation } from './relation.js';
import type { ValueRules } from './value-rules.js';
import type { DataType } from './data-type.js';

interface FieldBase {
  /** The key in a body. */
  readonly name: string;
  /** For people: `Question text`. */
  readonly label: string;
  /** Appears in answers, and may be filtered, searched and ordered by where the model says so. */
  readonly readable: boolean;
  /** Is taken from the body of a POST. */
  readonly insertable: boolean;
  /** Is taken from the body of a PUT or PATCH. */
  readonly updatable: boolean;
  /** A POST, or a PUT of an updatable one, without it is an error. */
  readonly required: boolean;
  readonly nullable: boolean;
}

export interface ColumnField extends FieldBase {
  readonly kind: 'column';
  readonly column: Column;
  readonly type: DataType;
  /** What validators of the application say of each value that is written. */
  readonly rules?: ValueRules;
  /** Whether `""` is a value (contract 5.7). */
  readonly blank: boolean;
  /** The relation that the column is the key of, where the column itself is what bodies write: the row must be one that the caller may name. */
  readonly refers?: ToOneRelation;
  /** Left out where bodies name no related row by it, or nothing but it does. */
  readonly standsFor?: StandsFor;
}

/**
 * The plain column of a foreign key beside its relation. It is read-only as it is described, and bodies may say it in the
 * place of the relation (contract 5.13).
 */
export interface StandsFor {
  /** The field of the relation, in the same object. */
  readonly relation: string;
  /** As of the relation: who may not write that may not write it by its column. */
  readonly insertable: boolean;
  readonly updatable: boolean;
}

/** An embedded object: a nested object in bodies. */
export interface EmbeddedField extends FieldBase {
  readonly kind: 'embedded';
  readonly fields: readonly InnerField[];
}

/** What an embedded object may hold. */
export type InnerField = ColumnField | EmbeddedField | ToOneField | ReverseOneField | LinkField;

/** A forward relation: the related key, or null. */
export interface ToOneField extends FieldBase {
  readonly kind: 'to-one';
  readonly relation: ToOneRelation;
  /** The field of the plain column that bodies may say in its place. */
  readonly standIn?: string;
}

/** The other side of a one-to-one: the related key, or null; read-only. */
export interface ReverseOneField extends FieldBase {
  readonly kind: 'reverse-one';
  readonly relation: ReverseOneRelation;
}

/** A to-many relation: the path of its nested list; read-only. */
export interface LinkField extends FieldBase {
  readonly kind: 'link';
  readonly relation: OneToManyRelation | ManyToManyRelation;
}

/** A value made from the entity at each reading; read-only. */
export interface ComputedField extends FieldBase {
  readonly kind: 'computed';
  readonly compute: (entity: object) => unknown;
}

/** Whether a body may say it at all. */
export function isWritable(field: Pick<FieldBase, 'insertable' | 'updatable'>): boolean {
  return field.insertable || field.updatable;
}

/** Whether a body of this operation says it, for itself or in the place of its relation. */
export function isTaken(field: Field, operation: 'create' | 'update' | 'partialUpdate'): boolean {
  const { insertable, updatable } = (field.kind === 'column' && field.standsFor) || field;
  return operation === 'create' ? insertable : updatable;
}

/** Whether bodies of any operation say it. */
export function isEverTaken(field: Field): boolean {
  return isTaken(field, 'create') || isTaken(field, 'update');
}

/** All links of these fields, those in embedded objects included. */
export function linksOf(fields: readonly Field[]): readonly LinkField[] {
  return fields.flatMap((field) =>
    field.kind === 'link' ? [field] : field.kind === 'embedded' ? linksOf(field.fields) : [],
  );
}

export type Field = ColumnField | EmbeddedField | ToOneField | ReverseOneField | LinkField | ComputedField;
