import { isRestException } from '../../../core/errors/rest-exception.js';
import type { ResourceSchema } from '../../../core/schema/resource-schema.js';
import type { DatabaseError } from '../../../sql/dialects/dialect.js';
import type { WriterTools } from './row-writer.js';

/** What a statement reads fails for another reason than the values of the body. */
const ERRORS_OF_READS: ReadonlySet<DatabaseError['kind']> = new Set(['data', 'pattern', 'raised', 'check']);

/**
 * The constraint of the model's table that a write violates. Undefined if the database has not reported the error, or if it is
 * not that of the request: if the row could not be read, or a trigger or a subscriber has written another table.
 */
export async function violatedConstraint(
  error: unknown,
  resource: ResourceSchema,
  { dialect, tables, constraints }: WriterTools,
): Promise<DatabaseError | undefined> {
  const reported = isRestException(error) ? undefined : dialect.errorFor(error);
  if (!reported) return undefined;
  const { query } = error as { readonly query?: unknown };
  if (ERRORS_OF_READS.has(reported.kind) && typeof query === 'string' && /^\s*SELECT\b/i.test(query))
    return undefined;
  return constraints.resolve(reported, tables.of(resource).metadata);
}
