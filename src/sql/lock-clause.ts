import type { Scope } from './query-scope.js';

/** A row on the empty side of an outer join cannot be locked, so the lock names this table alone where there is one. */
export function lockOf({ alias, dialect: { lockRow, nullsFirst } }: Scope, from: string): string {
  return from.includes(' LEFT JOIN ') && !nullsFirst ? `${lockRow} OF ${alias}` : lockRow;
}
