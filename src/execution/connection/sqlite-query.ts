import { evictOldest } from '../../core/evict-oldest.js';
import type { Records, Statement } from '../../sql/statement.js';

/** The part of better-sqlite3's database that is used. */
interface SqliteDatabase {
  prepare(sql: string): SqliteStatement;
}
interface SqliteStatement {
  readonly readonly: boolean;
  raw(): SqliteStatement;
  safeIntegers(on: boolean): SqliteStatement;
  all(...parameters: readonly unknown[]): Records;
}

/**
 * The maximum number of prepared statements of one connection, for reusable ones and for all others separately. The
 * oldest is evicted first.
 */
const MAX_PREPARED = 200;

/**
 * Runs statements on better-sqlite3's own connection, prepared.
 * @param runNow runs a part of a statement on a connection that the application uses, too.
 */
export function runOnSqlite(
  runNow: <Result>(isReading: boolean, run: () => Result) => Result,
): (connection: unknown, statement: Statement) => Records {
  const [reusableStatements, oneTimeStatements] = [
    new WeakMap<object, Map<string, SqliteStatement>>(),
    new WeakMap<object, Map<string, SqliteStatement>>(),
  ];
  return (connection, { sql, parameters, reusable, isClientSelected }) => {
    const database = connection as SqliteDatabase;
    const statements =
      reusable === true && isClientSelected !== true ? reusableStatements : oneTimeStatements;
    const known = statements.get(database) ?? new Map<string, SqliteStatement>();
    statements.set(database, known);
    let statement = known.get(sql);
    if (!statement) {
      statement = runNow(true, () => database.prepare(sql).raw().safeIntegers(false));
      known.set(sql, statement);
      evictOldest(known, MAX_PREPARED);
    }
    const prepared = statement;
    return runNow(prepared.readonly, () => prepared.all(...parameters));
  };
}
