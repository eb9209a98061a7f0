import type { ColumnValue } from '../../core/query/plan.js';
import { fieldColumns } from '../../core/query/readable-paths.js';
import { isWritableIn } from '../../core/schema/field.js';
import type { Field, ToOneField } from '../../core/schema/field.js';
import type { ResourceSchema } from '../../core/schema/resource-schema.js';
import type { JsonObject } from '../request-input.js';

/**
 * The relations, and columns of the key, that a body does not name because their columns have a value already: from the URL or the
 * application, or from a relation of the body that has all of them (contract 5.17).
 */
export function suppliedFields(
  { fields, overlapping, identity }: ResourceSchema,
  body: JsonObject,
  { operation, set }: { readonly operation: 'create' | 'update'; readonly set: readonly ColumnValue[] },
): readonly string[] {
  const isOfKey = (field: Field): boolean =>
    field.kind === 'column' && identity.some(({ id }) => id === field.column.id);
  const composite = fields.some((field) => field.kind === 'to-one' && field.relation.on.length > 1);
  if (overlapping.length === 0 && set.length === 0 && !composite) return [];
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
  const isSupplied = (field: Field): boolean => {
    const columns = fieldColumns(field);
    return (
      columns.every(isSet) ||
      sent.some(({ relation: { on } }) => columns.every((id) => on.some(({ near }) => near.id === id)))
    );
  };
  return fields
    .filter((field) => (field.kind === 'to-one' || isOfKey(field)) && !isSent(field) && isSupplied(field))
    .map(({ name }) => name);
}
