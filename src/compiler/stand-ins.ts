import type { ColumnDescription, EntityDescription } from '../core/schema/entity-metadata.js';
import type { ColumnField, InnerField, ToOneField } from '../core/schema/field.js';
import type { ForeignKeys } from './foreign-keys.js';

interface PlaceholderSource {
  readonly entity: EntityDescription;
  readonly foreignKeys: ForeignKeys;
  /** Whether bodies may say a column at all. */
  readonly isOpen: (column: ColumnDescription) => boolean;
}

interface Pair {
  readonly field: ColumnField;
  readonly column: ColumnDescription;
  readonly relation: ToOneField;
}

/**
 * Has plain columns stand for the relations whose foreign keys they are (contract 5.13). `fields` are those of one object: a
 * column in another object is named at another place of a body. A column of a composite key, and one that several
 * relations share, stands for none: it does not name a row by itself.
 */
export function withPlaceholders(
  fields: readonly InnerField[],
  source: PlaceholderSource,
): readonly InnerField[] {
  const found = fields.flatMap((field) => pairOf(field, fields, source));
  if (found.length === 0) return fields;
  return fields.map((field) => {
    const pair = found.find((each) => each.field === field || each.relation === field);
    if (!pair) return field;
    return field.kind === 'to-one' ? { ...field, standIn: pair.field.name } : placeholderFor(pair);
  });
}

function pairOf(
  field: InnerField,
  fields: readonly InnerField[],
  { entity, foreignKeys, isOpen }: PlaceholderSource,
): readonly Pair[] {
  if (field.kind !== 'column') return [];
  const refers = foreignKeys.get(field.column.id);
  const relation = fields.find(
    // One property may be the column and the relation.
    (each): each is ToOneField =>
      each.kind === 'to-one' && each.relation === refers && each.name !== field.name,
  );
  const column = entity.columns.find(({ id }) => id === field.column.id);
  // What a transformer makes of a value is no key.
  const isSaid = column && !column.generated && !column.transformer && isOpen(column);
  return isSaid && relation ? [{ field, column, relation }] : [];
}

function placeholderFor({ field, column, relation }: Pair): ColumnField {
  return {
    ...field,
    nullable: relation.nullable,
    refers: relation.relation,
    standsFor: {
      relation: relation.name,
      insertable: relation.insertable && column.insertable,
      updatable: relation.updatable && column.updatable,
    },
  };
}
