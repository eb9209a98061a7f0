import type { RestifyOptions } from '../decorators/model-options.js';
import { BULK_OPERATIONS } from '../core/contracts/bulk.js';
import type { Bulk, BulkOptions } from '../core/contracts/bulk.js';
import { BULK_OBJECTS } from '../core/schema/limits.js';
import type { Operation } from '../core/schema/operation.js';

/** Compiles the option `bulk`; undefined if bulk writes are disabled. */
export function compileBulk({ bulk }: RestifyOptions, has: ReadonlySet<Operation>): Bulk | undefined {
  if (bulk === undefined || bulk === false) return undefined;
  const {
    operations = BULK_OPERATIONS,
    upsert = [],
    max = BULK_OBJECTS,
  }: BulkOptions = isBulkOptions(bulk) ? bulk : {};
  const named: readonly unknown[] = Array.isArray(operations) ? operations : [];
  return {
    operations: new Set(
      BULK_OPERATIONS.filter((operation) => named.includes(operation) && has.has(operation)),
    ),
    upsert: Array.isArray(upsert) ? upsert : [],
    max,
  };
}

/** Ignores invalid values, which verification reports. */
function isBulkOptions(bulk: RestifyOptions['bulk'] | null): bulk is BulkOptions {
  return typeof bulk === 'object' && bulk !== null;
}
