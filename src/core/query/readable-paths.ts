import type { Field } from '../schema/field.js';
import type { FieldSet } from '../contracts/permission.js';
import type { Relation } from '../schema/relation.js';
import type { FilterTerm, QueriedPath, Resource } from '../schema/resource.js';

/** The field that a relation belongs to: the embedded object, where it stands in one. */
export function topOf({ name }: Relation): string {
  return name.split('.')[0] ?? name;
}

export function has(fields: FieldSet, name: string): boolean {
  return fields === 'all' || fields.has(name);
}

export function columnsOf(field: Field): readonly string[] {
  switch (field.kind) {
    case 'column':
      return [field.column.id];
    case 'embedded':
      return field.fields.flatMap((inner) => columnsOf(inner));
    case 'to-one':
      return field.relation.on.map((pair) => pair.near.id);
    default:
      return [];
  }
}

/** The fields that say which row it is. */
export function keyNames({ key, identity, fields }: Resource): readonly string[] {
  // A pair is named by its other side, and that is its `id`.
  if (identity.length > key.columns.length || key.via) return ['id'];
  const ids = new Set(key.columns.map(({ id }) => id));
  return fields.filter((field) => columnsOf(field).some((id) => ids.has(id))).map(({ name }) => name);
}

/** Whether a grant on a model opens one of its columns: a key is told wherever the row is. */
export function isReadable(columnId: string, target: Resource, readable: FieldSet): boolean {
  if (readable === 'all') return true;
  return (
    target.fields.some((field) => readable.has(field.name) && columnsOf(field).includes(columnId)) ||
    target.key.columns.some((column) => column.id === columnId)
  );
}

/** What a filter tells of. */
export function pathsOf(term: FilterTerm): readonly QueriedPath[] {
  return term.kind === 'own' ? term.reads : [term];
}
