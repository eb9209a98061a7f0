import type { DeclarationProblem } from '../core/errors/declaration-error.js';
import { describePackage } from './installed-version.js';

/** A prepared statement of better-sqlite3. */
export interface DriverStatement {
  readonly reader: boolean;
  readonly readonly: boolean;
  all(...parameters: readonly unknown[]): unknown;
  run(...parameters: readonly unknown[]): unknown;
  safeIntegers(on: boolean): unknown;
}

export type GetStatement = (sql: string) => Promise<DriverStatement>;
export type RunQuery = (sql: string, ...more: readonly unknown[]) => Promise<unknown>;

/** The text of TypeORM's statements for transactions on SQLite. */
export const BEGIN = 'BEGIN TRANSACTION';
export const COMMIT = 'COMMIT';
export const ROLLBACK = 'ROLLBACK';

/** TypeORM's name of the savepoint that is begun at this depth. */
export function savepointAt(depth: number): string {
  return `typeorm_${depth}`;
}

/** What a query runner knows about transactions. */
export interface TransactionState {
  readonly isActive: boolean;
  /** The number of transactions and savepoints that are open. */
  readonly depth: number;
}

/** The undocumented part of TypeORM's query runners for SQLite. */
interface RunnerInternals {
  isTransactionActive: boolean;
  transactionDepth: number;
  /** Of better-sqlite3 only. */
  getStmt?: GetStatement;
  query: RunQuery;
}

/** The query runner of SQLite's single connection: its transaction state, and the function that runs its statements. */
export class SqliteRunner {
  private constructor(private readonly runner: RunnerInternals) {}

  /** Undefined if the query runner of this type of data source has another form. */
  static probe(queryRunner: object, type: string): SqliteRunner | undefined {
    const runner = queryRunner as Partial<RunnerInternals>;
    const runsStatements = type === 'better-sqlite3' ? runner.getStmt : runner.query;
    return probeDepth(runner) !== undefined &&
      typeof runner.isTransactionActive === 'boolean' &&
      typeof runsStatements === 'function'
      ? new SqliteRunner(runner as RunnerInternals)
      : undefined;
  }

  /** The number of transactions and savepoints that are open. */
  get depth(): number {
    return this.runner.transactionDepth;
  }

  get state(): TransactionState {
    const { isTransactionActive, transactionDepth } = this.runner;
    return { isActive: isTransactionActive, depth: transactionDepth };
  }

  restore({ isActive, depth }: TransactionState): void {
    Object.assign(this.runner, { isTransactionActive: isActive, transactionDepth: depth });
  }

  /** Replaces the function that prepares each statement of better-sqlite3. False if the driver is another one. */
  replaceStatements(replace: (getStatement: GetStatement) => GetStatement): boolean {
    const { runner } = this;
    if (!runner.getStmt) return false;
    runner.getStmt = replace(runner.getStmt.bind(runner));
    return true;
  }

  /** Replaces the function that runs each statement. */
  replaceQueries(replace: (query: RunQuery) => RunQuery): void {
    this.runner.query = replace(this.runner.query.bind(this.runner));
  }
}

/** The number of transactions and savepoints that are open on the connection of a query runner of any database; undefined if it does not count them. */
export function probeDepth(queryRunner: object): number | undefined {
  const { transactionDepth: depth } = queryRunner as Partial<RunnerInternals>;
  return typeof depth === 'number' ? depth : undefined;
}

/** What is told of the transactions of one query runner. Depths count the transactions and savepoints that are open. */
export interface TransactionObserver {
  /** Before one begins, inside of so many others. */
  begins(depth: number): void;
  /** Before the COMMIT of the outermost one. Must not throw. */
  beforeCommit(): Promise<void>;
  /** After a method that ends the one at `depth`. `isOpen`: it has not ended it. Must not throw. */
  ended(how: 'commit' | 'rollback', depth: number, isOpen: boolean): void;
}

type TransactionMethods = Readonly<
  Record<
    'startTransaction' | 'commitTransaction' | 'rollbackTransaction',
    (...parameters: readonly unknown[]) => Promise<void>
  >
>;

/**
 * Replaces the documented methods of one query runner, of which the start has made sure that it counts its transactions. An error of
 * COMMIT leaves `isTransactionActive` true, one of a subscriber after it false.
 */
export function observeTransactions(queryRunner: object, observer: TransactionObserver): void {
  const runner = queryRunner as TransactionMethods & RunnerInternals;
  const { startTransaction, commitTransaction, rollbackTransaction } = runner;
  const end = async (how: 'commit' | 'rollback', run: () => Promise<void>): Promise<void> => {
    const depth = runner.transactionDepth;
    if (how === 'commit' && depth === 1) await observer.beforeCommit();
    try {
      await run();
    } finally {
      observer.ended(how, depth, depth > 1 ? runner.transactionDepth >= depth : runner.isTransactionActive);
    }
  };
  const replaced: TransactionMethods = {
    startTransaction: (...parameters) => {
      observer.begins(runner.transactionDepth);
      return startTransaction.apply(runner, [...parameters]);
    },
    commitTransaction: () => end('commit', () => commitTransaction.apply(runner)),
    rollbackTransaction: () => end('rollback', () => rollbackTransaction.apply(runner)),
  };
  Object.assign(runner, replaced);
}

/** TypeORM's documented methods for transactions, in the order of `TRANSACTIONS`. */
const STEPS = [
  'startTransaction',
  'startTransaction',
  'rollbackTransaction',
  'startTransaction',
  'commitTransaction',
  'commitTransaction',
  'startTransaction',
  'rollbackTransaction',
] as const;

const TRANSACTIONS: readonly string[] = [
  BEGIN,
  `SAVEPOINT ${savepointAt(1)}`,
  `ROLLBACK TO SAVEPOINT ${savepointAt(1)}`,
  `SAVEPOINT ${savepointAt(1)}`,
  `RELEASE SAVEPOINT ${savepointAt(1)}`,
  COMMIT,
  BEGIN,
  ROLLBACK,
];

/** Whether TypeORM's transactions on SQLite have the known statements and depths: a copy of the query runner runs some, without a database. */
export async function hasKnownTransactions(queryRunner: object): Promise<boolean> {
  const statements: string[] = [];
  const copy = copyWithoutDatabase(queryRunner, (sql) => {
    if (!/^PRAGMA /i.test(sql)) statements.push(sql);
    return Promise.resolve([]);
  });
  const depths: unknown[] = [];
  try {
    for (const step of STEPS) {
      await copy[step]();
      depths.push(probeDepth(copy));
    }
  } catch {
    return false;
  }
  return (
    TRANSACTIONS.every((sql, index) => statements[index] === sql) &&
    statements.length === TRANSACTIONS.length &&
    depths.join() === '1,2,1,2,1,0,1,0'
  );
}

type Copy = Readonly<Record<(typeof STEPS)[number], () => Promise<void>>>;

/** Without the functions that others have put on this one query runner, which may be bound to it, and without its subscribers. */
function copyWithoutDatabase(queryRunner: object, query: RunQuery): Copy {
  const fields = Object.entries(queryRunner).filter(([, value]) => typeof value !== 'function');
  return Object.assign(Object.create(Object.getPrototypeOf(queryRunner) as object) as Copy, {
    ...Object.fromEntries(fields),
    isTransactionActive: false,
    transactionDepth: 0,
    query,
    broadcaster: new Proxy({}, { get: () => () => Promise.resolve() }),
    // Of sql.js: saves the file.
    flush: () => Promise.resolve(),
  });
}

/** The problem at start of a TypeORM whose query runners have another form: writes would not be atomic. */
export function unknownRunner(type: string): DeclarationProblem {
  return {
    where: `the data source of type "${type}"`,
    what: `${describePackage('typeorm')} runs transactions in another way than this package knows`,
    repair: 'Install the version of typeorm that the application had before, and report it.',
  };
}
