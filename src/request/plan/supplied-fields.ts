import type { ColumnValue } from '../../core/query/plan.js';
import { isWritableIn } from '../../core/schema/field.js';
import type { Field, ToOneField } from '../../core/schema/field.js';
import { containsColumns } from '../../core/schema/relation.js';
import type { ResourceSchema } from '../../core/schema/resource-schema.js';
import type { JsonObject } from '../request-input.js';

/**
 * The relations that a body does not name because their columns have a value already: from the URL or the application, or
 * from another relation of the body that has all of them (contract 5.17).
 */
export function suppliedFields(
  { fields, overlapping }: ResourceSchema,
  body: JsonObject,
  { operation, set }: { readonly operation: 'create' | 'update'; readonly set: readonly ColumnValue[] },
): readonly string[] {
  if (overlapping.length === 0 && set.length === 0) return [];
  const isSent = ({ name }: Field): boolean => Object.hasOwn(body, name) && body[name] !== undefined;
  const sent = fields.filter(
    (field): field is ToOneField =>
      field.kind === 'to-one' &&
      isWritableIn(field, operation) &&
      isSent(field) &&
      body[field.name] !== null &&
      body[field.name] !== '',
  );
  const isSet = (id: string): boolean => set.some(({ column }) => column.id === id);
  return fields
    .filter(
      (field) =>
        field.kind === 'to-one' &&
        !isSent(field) &&
        (field.relation.on.every(({ near }) => isSet(near.id)) ||
          sent.some((other) => containsColumns(other.relation, field.relation))),
    )
    .map(({ name }) => name);
}
