import type { Scope } from './query-scope.js';

/** The locking clause of a SELECT. With an outer join, it names the main table, because PostgreSQL cannot lock its nullable side. */
export function lockOf({ alias, dialect: { lockRow, nullsFirst } }: Scope, from: string): string {
  return from.includes(' LEFT JOIN ') && !nullsFirst ? `${lockRow} OF ${alias}` : lockRow;
}
