import type { Scope } from './query-scope.js';

/** The locking clause of a SELECT from these tables, of which it locks the main one. */
export function lockOf({ alias, dialect: { lockRow, lockNamesTable } }: Scope, from: string): string {
  return lockNamesTable && from.includes(' JOIN ') ? `${lockRow} OF ${alias}` : lockRow;
}
