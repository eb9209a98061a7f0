import { describeMissingIndex, mergeMissingIndexes } from '../core/contracts/missing-index.js';
import type { RestServer } from '../http/rest-server.js';

/**
 * Logs once which indexes large tables lack, without delaying the start. Nothing is logged if the catalogue of the database cannot
 * be read, or the application closes in the meantime.
 */
export async function warnOfMissingIndexes(server: RestServer): Promise<void> {
  const found = await Promise.all(
    server.prefixes.map(({ missingIndexRows, findMissingIndexes }) =>
      missingIndexRows === undefined
        ? Promise.resolve([])
        : findMissingIndexes(missingIndexRows).catch(() => []),
    ),
  );
  for (const index of mergeMissingIndexes(found.flat())) server.log.warn(describeMissingIndex(index));
}
