import type { Field } from '../core/schema/field.js';
import type { ForeignKeyAlias } from '../core/schema/resource-schema.js';

/** All foreign key aliases of a model, including those in embedded objects. */
export function listForeignKeyAliases(
  fields: readonly Field[],
  within: readonly string[] = [],
): readonly ForeignKeyAlias[] {
  return fields.flatMap((field): readonly ForeignKeyAlias[] => {
    if (field.kind === 'embedded') return listForeignKeyAliases(field.fields, [...within, field.name]);
    return field.kind === 'to-one' && field.foreignKeyAlias !== undefined
      ? [{ within, relation: field.relation, names: [field.name, field.foreignKeyAlias] }]
      : [];
  });
}
