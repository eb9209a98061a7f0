import type { Field } from '../core/schema/field.js';
import type { StandIn } from '../core/schema/resource.js';

/** All of a model, those in embedded objects included. */
export function standInsOf(fields: readonly Field[], within: readonly string[] = []): readonly StandIn[] {
  return fields.flatMap((field): readonly StandIn[] => {
    if (field.kind === 'embedded') return standInsOf(field.fields, [...within, field.name]);
    return field.kind === 'to-one' && field.standIn !== undefined
      ? [{ within, relation: field.relation, names: [field.name, field.standIn] }]
      : [];
  });
}
