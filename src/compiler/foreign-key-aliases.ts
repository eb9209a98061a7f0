import type { ColumnDescription, EntityDescription } from '../core/schema/entity-metadata.js';
import type { ColumnField, InnerField, ToOneField } from '../core/schema/field.js';
import type { ForeignKeys } from './foreign-keys.js';

interface AliasSource {
  readonly entity: EntityDescription;
  readonly foreignKeys: ForeignKeys;
  /** Whether bodies may contain a column. */
  readonly isOpen: (column: ColumnDescription) => boolean;
}

interface Pair {
  readonly field: ColumnField;
  readonly column: ColumnDescription;
  readonly relation: ToOneField;
}

/**
 * Lets bodies write relations by the plain columns of their foreign keys (contract 5.13). `fields` are those of one object,
 * because a column in another object has another path in a body. Excludes columns of a composite key and of several
 * relations, which do not identify a row alone.
 */
export function withForeignKeyAliases(
  fields: readonly InnerField[],
  source: AliasSource,
): readonly InnerField[] {
  const found = fields.flatMap((field) => pairOf(field, fields, source));
  if (found.length === 0) return fields;
  return fields.map((field) => {
    const pair = found.find((each) => each.field === field || each.relation === field);
    if (!pair) return field;
    return field.kind === 'to-one' ? { ...field, foreignKeyAlias: pair.field.name } : aliasField(pair);
  });
}

function pairOf(
  field: InnerField,
  fields: readonly InnerField[],
  { entity, foreignKeys, isOpen }: AliasSource,
): readonly Pair[] {
  if (field.kind !== 'column') return [];
  const refers = foreignKeys.get(field.column.id);
  const relation = fields.find(
    // A property may be both the column and the relation.
    (each): each is ToOneField =>
      each.kind === 'to-one' && each.relation === refers && each.name !== field.name,
  );
  const column = entity.columns.find(({ id }) => id === field.column.id);
  // A transformed value is not a key.
  const isWritable = column && !column.generated && !column.transformer && isOpen(column);
  return isWritable && relation ? [{ field, column, relation }] : [];
}

function aliasField({ field, column, relation }: Pair): ColumnField {
  return {
    ...field,
    nullable: relation.nullable,
    refers: relation.relation,
    aliasOf: {
      relation: relation.name,
      insertable: relation.insertable && column.insertable,
      updatable: relation.updatable && column.updatable,
    },
  };
}
