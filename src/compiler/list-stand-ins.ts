import type { Field } from '../core/schema/field.js';
import type { Placeholder } from '../core/schema/resource-schema.js';

/** All placeholders of a model, including those in embedded objects. */
export function placeholderNames(
  fields: readonly Field[],
  within: readonly string[] = [],
): readonly Placeholder[] {
  return fields.flatMap((field): readonly Placeholder[] => {
    if (field.kind === 'embedded') return placeholderNames(field.fields, [...within, field.name]);
    return field.kind === 'to-one' && field.standIn !== undefined
      ? [{ within, relation: field.relation, names: [field.name, field.standIn] }]
      : [];
  });
}
