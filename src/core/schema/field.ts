import type { Condition } from '../query/condition.js';
import type { Column } from './column.js';
import type { ObjectLabel } from './object-label.js';
import type {
  ColumnPair,
  ManyToManyRelation,
  OneToManyRelation,
  ReverseOneRelation,
  ToOneRelation,
} from './relation.js';
import type { ResourceSchema } from './resource-schema.js';
import type { ValueRules } from './value-rules.js';
import type { DataType } from './data-type.js';

interface FieldBase {
  /** Its key in a body. */
  readonly name: string;
  /** A human-readable label: `Question text`. */
  readonly label: string;
  /** Whether it is serialized, and may be filtered, searched and ordered by if the model declares that. */
  readonly readable: boolean;
  /** Whether it is read from the body of a POST. */
  readonly insertable: boolean;
  /** Whether it is read from the body of a PUT or PATCH. */
  readonly updatable: boolean;
  /** Whether it is required in a POST, and in a PUT if it is updatable. */
  readonly required: boolean;
  readonly nullable: boolean;
  /** In a view of a model with `strict: 'writes'`: the operations that read it from a body, but for the caller's grant. */
  readonly withheld?: Pick<FieldBase, 'insertable' | 'updatable'>;
}

export interface ColumnField extends FieldBase {
  readonly kind: 'column';
  readonly column: Column;
  readonly type: DataType;
  /** The rules of the application's validators for each written value. */
  readonly rules?: ValueRules;
  /** The text of the column's default, if it is a literal. */
  readonly defaultText?: string;
  /** Whether `""` is a value (contract 5.7). */
  readonly blank: boolean;
  /** The relation of the column's foreign key, if bodies write the column itself: the caller must be allowed to reference the row. */
  readonly refers?: ToOneRelation;
  /** The relations of which it is the key, if it is one of several tables: each row with it must be visible to the caller. */
  readonly polymorphic?: readonly ToOneRelation[];
  /** Set if it is the alias of a relation: bodies may reference the related row by either. */
  readonly aliasOf?: AliasedRelation;
}

/**
 * The relation whose foreign key a plain column is. The column is described as read-only, and bodies may contain it instead
 * of the relation (contract 5.13).
 */
export interface AliasedRelation {
  /** The field of the relation, in the same object. */
  readonly relation: string;
  /** As for the relation: a caller who may not write the relation may not write its column. */
  readonly insertable: boolean;
  readonly updatable: boolean;
}

/** An embedded object, which is a nested object in bodies. */
export interface EmbeddedField extends FieldBase {
  readonly kind: 'embedded';
  readonly fields: readonly InnerField[];
}

/** The kinds of fields in an embedded object. */
export type InnerField = ColumnField | EmbeddedField | ToOneField | ReverseOneField | LinkField;

/** A forward relation: the related key, or null. */
export interface ToOneField extends FieldBase {
  readonly kind: 'to-one';
  readonly relation: ToOneRelation;
  /** The field of the plain column of its foreign key, which bodies may contain instead. */
  readonly foreignKeyAlias?: string;
}

/** The inverse side of a one-to-one relation: the related key, or null; read-only, unless bodies write its object. */
export interface ReverseOneField extends FieldBase {
  readonly kind: 'reverse-one';
  readonly relation: ReverseOneRelation;
  readonly nested?: NestedWrites;
}

/** A to-many relation: the URL path of its nested list; read-only, unless bodies write its objects. */
export interface LinkField extends FieldBase {
  readonly kind: 'link';
  readonly relation: OneToManyRelation | ManyToManyRelation;
  readonly nested?: NestedWrites;
}

/** The related objects of a row, its children, which bodies of the row create, change and delete. */
export interface NestedWrites {
  /** The relation as that of a nested URL. */
  readonly relation: OneToManyRelation;
  readonly verbs: ReadonlySet<NestedVerb>;
  /** Whether there is at most one child. */
  readonly isOne: boolean;
}

export const NESTED_VERBS = ['create', 'update', 'delete'] as const;

export type NestedVerb = (typeof NESTED_VERBS)[number];

/** A field with whose value bodies write children. */
export type NestedField = (LinkField | ReverseOneField) & { readonly nested: NestedWrites };

export function isNested(field: Field): field is NestedField {
  return (field.kind === 'link' || field.kind === 'reverse-one') && field.nested !== undefined;
}

/**
 * A many-to-many relation as the keys of the related objects. Each key stands for a pair, a row of the junction, which is read and
 * written as at its own URL.
 */
export interface KeysField extends FieldBase {
  readonly kind: 'keys';
  readonly relation: ManyToManyRelation;
  /** The relation of the junction to the related objects, and the field of the junction with their key. */
  readonly other: ToOneRelation;
  readonly otherName: string;
  /** The junction with the pairs of deleted objects. */
  readonly stored: ResourceSchema;
  /** Whether related objects may be soft-deleted, whose pairs are hidden. */
  readonly hidesObjects: boolean;
  /** What the caller may do with pairs; undefined in the model itself, which shows none. */
  readonly granted?: GrantedPairs;
}

/** The pairs of a relation that a caller may see, create and delete. */
export interface GrantedPairs {
  /** The pairs that the caller may view. */
  readonly viewed: Condition;
  /** Those of them whose objects the caller may refer to: their keys are shown. */
  readonly shown: Condition;
  /** The objects that the caller may refer to. */
  readonly objects: Condition;
  /** Undefined where the caller may not, or the request does not write. */
  readonly creates?: PairAccess | undefined;
  readonly deletes?: PairAccess | undefined;
  /** Whether more keys than the limit are left out of the response, and are no error of the request. */
  readonly leavesOut: boolean;
}

/** The pairs that a caller may create or delete, in the view on their fields. */
export interface PairAccess {
  readonly resource: ResourceSchema;
  readonly grantCondition: Condition;
}

/** A value computed from the entity at each read; read-only. */
export interface ComputedField extends FieldBase {
  readonly kind: 'computed';
  readonly compute: (entity: object) => unknown;
}

/** A field that refers to one object, and the label of that object. */
export interface RelatedLabel {
  readonly name: string;
  readonly relation: ToOneRelation | ReverseOneRelation;
  readonly label: ObjectLabel;
  /** The related rows that the caller may read: others have no label. */
  readonly grantCondition: Condition;
}

/** The labels of related objects by field, added to a view for one request; read-only. */
export interface LabelsField extends FieldBase {
  readonly kind: 'labels';
  readonly labels: readonly RelatedLabel[];
}

/** A list of related objects: those that the caller may read are counted. */
export interface CountedList {
  readonly name: string;
  readonly resource: ResourceSchema;
  /** localColumn: columns of the row; referencedColumn: columns of the counted rows. */
  readonly on: readonly ColumnPair[];
  readonly where: Condition;
}

/** The numbers of related objects by field, added to a view for one request; read-only. */
export interface CountsField extends FieldBase {
  readonly kind: 'counts';
  readonly lists: readonly CountedList[];
}

/** Whether any operation reads it from a body. */
export function isWritable(field: Pick<FieldBase, 'insertable' | 'updatable'>): boolean {
  return field.insertable || field.updatable;
}

/** Whether this operation reads it from a body, for itself or instead of its relation. */
export function isWritableIn(field: Field, operation: 'create' | 'update' | 'partialUpdate'): boolean {
  const { insertable, updatable } = (field.kind === 'column' && field.aliasOf) || field;
  return operation === 'create' ? insertable : updatable;
}

/** Whether this operation would read it from a body, and the caller's grant does not let it. */
export function isWithheldIn({ withheld }: Field, operation: 'create' | 'update' | 'partialUpdate'): boolean {
  return withheld !== undefined && (operation === 'create' ? withheld.insertable : withheld.updatable);
}

/** Whether any operation reads it from a body, for itself or instead of its relation. */
export function isAcceptedInBodies(field: Field): boolean {
  return isWritableIn(field, 'create') || isWritableIn(field, 'update');
}

/** Whether the value of a body becomes JSON of the column, with its own texts of numbers. */
export function isJson(field: Field): boolean {
  return field.kind === 'column' && field.type.kind === 'json' && !field.column.transform;
}

const ACCEPTS_JSON = new WeakMap<readonly Field[], boolean>();

/** Whether bodies may contain values of JSON columns. */
export function acceptsJson(fields: readonly Field[]): boolean {
  const known = ACCEPTS_JSON.get(fields);
  if (known !== undefined) return known;
  const accepts =
    hasJson(fields) ||
    fields.some((field) => isNested(field) && hasJson(field.nested.relation.target.fields));
  ACCEPTS_JSON.set(fields, accepts);
  return accepts;
}

function hasJson(fields: readonly Field[]): boolean {
  return fields.some((field) => {
    if (field.kind === 'embedded') return hasJson(field.fields);
    const isList = field.kind === 'column' && field.type.kind === 'list' && field.type.of.kind === 'json';
    return isWritable(field) && (isJson(field) || isList);
  });
}

/** All links of these fields, including those in embedded objects, and the keys that stand for a link. */
export function linksOf(fields: readonly Field[]): readonly (LinkField | KeysField)[] {
  return fields.flatMap((field) => {
    if (field.kind === 'link' || field.kind === 'keys') return [field];
    return field.kind === 'embedded' ? linksOf(field.fields) : [];
  });
}

/** A member of the objects of a model, by the `kind` of what it holds. */
export type Field =
  | ColumnField
  | EmbeddedField
  | ToOneField
  | ReverseOneField
  | LinkField
  | KeysField
  | ComputedField
  | LabelsField
  | CountsField;

/** A text that is equal for the same readable fields. */
export function readableKey(fields: readonly Field[]): string {
  return JSON.stringify(readableNames(fields));
}

function readableNames(fields: readonly Field[]): readonly unknown[] {
  return fields
    .filter(({ readable }) => readable)
    .map((field) => (field.kind === 'embedded' ? [field.name, readableNames(field.fields)] : field.name));
}

/** The ids of the columns that a field of a body writes, including those of a relation. */
export function writtenColumns(field: Field): readonly string[] {
  switch (field.kind) {
    case 'column':
      return [field.column.id];
    case 'to-one':
      return field.relation.on.map(({ localColumn }) => localColumn.id);
    case 'embedded':
      return field.fields.flatMap(writtenColumns);
    default:
      return [];
  }
}
