import type { Json } from '../../../core/errors/rest-exception.js';
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
