import type { Json } from '../../../core/errors/rest-exception.js';
import type { FieldValues } from '../../../core/query/plan.js';
import type { ResourceSchema } from '../../../core/schema/resource-schema.js';

/**
 * Called inside the transaction of a new row.
 * @throws Error for a generated key that the driver has rounded: it would be that of another row, or of none.
 */
export function assertExactKey(key: readonly (Json | undefined)[], { id }: ResourceSchema): void {
  for (const value of key)
    if (typeof value === 'number' && Number.isInteger(value) && !Number.isSafeInteger(value))
      throw new Error(
        `The database has generated a key beyond ${Number.MAX_SAFE_INTEGER} for ${id}, which JSON does not hold exactly. The row is not stored. Lower the sequence of the table, or its largest key.`,
      );
}

/** The key of the body, unrounded, or the key that the database has generated. */
export function exactIdentity(
  made: readonly Json[],
  values: FieldValues,
  { identity, fields }: ResourceSchema,
): readonly Json[] {
  return identity.map((column, index) => {
    const field = fields.find((each) => each.kind === 'column' && each.column.id === column.id);
    const given = field && values.get(field.name);
    const isRounded = column.type.kind === 'bigint' && !column.transform;
    return given === undefined || !isRounded ? (made[index] ?? null) : (given as Json);
  });
}
