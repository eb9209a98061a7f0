import type { Field } from '../schema/field.js';
import type { FieldSet } from '../contracts/permission.js';
import type { Relation } from '../schema/relation.js';
import type { FilterTerm, QueriedPath, ResourceSchema } from '../schema/resource-schema.js';

/** The top-level field of a relation: the embedded object, if it is in one. */
export function topOf({ name }: Relation): string {
  return name.split('.')[0] ?? name;
}

export function has(fields: FieldSet, name: string): boolean {
  return fields === 'all' || fields.has(name);
}

export function fieldColumns(field: Field): readonly string[] {
  switch (field.kind) {
    case 'column':
      return [field.column.id];
    case 'embedded':
      return field.fields.flatMap((inner) => fieldColumns(inner));
    case 'to-one':
      return field.relation.on.map((pair) => pair.localColumn.id);
    default:
      return [];
  }
}

/** The fields that make up the key. */
export function keyNames({ key, identity, fields }: ResourceSchema): readonly string[] {
  // The key of a junction row in a nested URL is its other side, with the name `id`.
  if (identity.length > key.columns.length || key.via) return ['id'];
  const ids = new Set(key.columns.map(({ id }) => id));
  const isOfKey = (field: Field): boolean =>
    field.kind === 'to-one'
      ? fieldColumns(field).every((id) => ids.has(id))
      : fieldColumns(field).some((id) => ids.has(id));
  return fields.filter(isOfKey).map(({ name }) => name);
}

/** Whether a grant on a model makes one of its columns readable. A key is readable wherever the row is. */
export function isReadable(columnId: string, target: ResourceSchema, readable: FieldSet): boolean {
  if (readable === 'all') return true;
  return (
    target.fields.some((field) => readable.has(field.name) && fieldColumns(field).includes(columnId)) ||
    target.key.columns.some((column) => column.id === columnId)
  );
}

/** The paths whose values a filter discloses. */
export function disclosedPaths(term: FilterTerm): readonly QueriedPath[] {
  return term.kind === 'custom' ? term.reads : [term];
}
