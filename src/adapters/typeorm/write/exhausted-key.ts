import type { EntityMetadata } from 'typeorm';
import { DatabaseUnavailable, ServerError } from '../../../core/errors/http-exceptions.js';
import type { WriterTools } from './row-writer.js';

/**
 * The same error, or that of the server where SQLite reports a full disk because the table has no further generated key. Queries
 * outside of a transaction.
 */
export async function exhaustedKeyError(
  error: unknown,
  { tableName: name, database }: EntityMetadata,
  { dialect, connections }: Pick<WriterTools, 'dialect' | 'connections'>,
): Promise<unknown> {
  if (!dialect.exhaustedKey || !(error instanceof DatabaseUnavailable)) return error;
  if (dialect.errorFor(error.cause)?.kind !== 'full') return error;
  try {
    const found = await connections.read(dialect.exhaustedKey({ path: '', name, database }), 'primary');
    return found.length > 0 ? new ServerError({ cause: error.cause }) : error;
  } catch {
    // No table has generated keys that are counted, or the disk is full.
    return error;
  }
}
