import type { Scope } from './query-scope.js';

/** The locking clause of a SELECT from these tables. */
export function lockOf({ alias, dialect: { lockRow, lockNamesTable } }: Scope, from: string): string {
  return lockNamesTable && from.includes(' LEFT JOIN ') ? `${lockRow} OF ${alias}` : lockRow;
}
