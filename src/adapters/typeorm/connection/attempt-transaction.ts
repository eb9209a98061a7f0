import type { DataSource, QueryRunner } from 'typeorm';
import type { Dialect } from '../../../sql/dialects/dialect.js';
import type { DatabaseFailures } from './database-failures.js';
import type { PooledRunner } from './query-runner-pool.js';
import { prepareSession } from './session.js';
import type { SqliteConnection } from './sqlite-connection.js';
import { SqliteTransaction } from './sqlite-transaction.js';
import { PooledTransaction } from './transaction.js';

/** The result of one attempt at a transaction, which may be retried after the database has rolled it back. */
export type Attempt<Result> =
  | { readonly kind: 'done'; readonly result: Result }
  | { readonly kind: 'undone'; readonly error: unknown; readonly hasBegun: boolean };

interface TransactionParts {
  readonly dataSource: DataSource;
  readonly dialect: Dialect;
  readonly sqlite: SqliteConnection | undefined;
  readonly failures: DatabaseFailures;
  /** How long a transaction on SQLite waits for those of the application, and for readers, in milliseconds. */
  readonly patience: number;
}

/**
 * Runs `work` in a transaction on an acquired query runner: commits, or rolls back and returns the error. Throws if the
 * error came after the COMMIT.
 */
export async function attemptTransaction<Result>(
  acquired: PooledRunner,
  work: (runner: QueryRunner) => Promise<Result>,
  { dataSource, dialect, sqlite, failures, patience }: TransactionParts,
): Promise<Attempt<Result>> {
  const { runner } = acquired;
  const transaction = sqlite
    ? new SqliteTransaction(sqlite, runner, patience)
    : new PooledTransaction(runner);
  let restoring: readonly string[] = [];
  let hasBegun = false;
  try {
    await transaction.begin();
    hasBegun = true;
    restoring = await prepareSession(runner, dataSource, dialect);
    const result = await work(runner);
    await transaction.commit();
    return { kind: 'done', result };
  } catch (error) {
    // After a COMMIT everything is written, and a second attempt would write it twice.
    if (!transaction.isOpen) throw error;
    acquired.broken ||= !(await transaction.rollback());
    acquired.broken ||= failures.isConnectionLost(error);
    return { kind: 'undone', error, hasBegun };
  } finally {
    await restoreSession(acquired, restoring);
  }
}

/** Restores the session. If that fails, the connection is discarded. */
async function restoreSession(acquired: PooledRunner, statements: readonly string[]): Promise<void> {
  try {
    if (!acquired.broken) for (const statement of statements) await acquired.runner.query(statement);
  } catch {
    acquired.broken = true;
  }
}
