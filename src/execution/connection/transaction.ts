import type { Dialect } from '../../sql/dialects/dialect.js';
import type { Acquired, ConnectionPort, Session } from '../port.js';
import { AsyncContext } from './async-context.js';
import type { DatabaseFailures } from './database-failures.js';
import { prepareJoinedSession, prepareSession } from './session.js';

/** The result of one attempt at a transaction, which may be retried after the database has rolled it back. */
export type Attempt<Result> =
  | { readonly kind: 'done'; readonly result: Result }
  | { readonly kind: 'undone'; readonly error: unknown; readonly hasBegun: boolean };

export interface TransactionParts<S extends Session> {
  readonly port: ConnectionPort<S>;
  readonly dialect: Dialect;
  readonly failures: DatabaseFailures;
  readonly reportError?: (error: unknown) => void;
  /** Whether it is a savepoint in a transaction of the application, or in one whose session is prepared. */
  readonly isJoined?: boolean;
  readonly isPrepared?: boolean;
}

/**
 * Runs `work` in a transaction of an acquired session: commits, or rolls back and returns the error. An error of the
 * application after the COMMIT is reported: everything is written then.
 */
export async function attemptTransaction<S extends Session, Result>(
  acquired: Acquired<S>,
  work: (session: S) => Promise<Result>,
  { port, dialect, failures, reportError, isJoined = false, isPrepared = false }: TransactionParts<S>,
): Promise<Attempt<Result>> {
  const { session } = acquired;
  const transaction = port.createTransaction(session, isJoined);
  let restoring: readonly string[] = [];
  let hasBegun = false;
  let done: Attempt<Result> | undefined;
  try {
    await transaction.begin();
    hasBegun = true;
    if (!isPrepared)
      restoring = await (isJoined
        ? prepareJoinedSession(session, dialect)
        : prepareSession(session, port.database, dialect));
    done = { kind: 'done', result: await work(session) };
    await transaction.commit();
    return done;
  } catch (error) {
    if (!transaction.isOpen) {
      // The application rolls its own transaction back, because of the error.
      if (!done || transaction.isNested) throw error;
      reportError?.(error);
      return done;
    }
    acquired.broken ||= !(await transaction.rollback());
    acquired.broken ||= failures.isConnectionLost(error);
    return { kind: 'undone', error, hasBegun };
  } finally {
    await restoreSession(acquired, restoring);
  }
}

/** Restores the session. If that fails, the connection is discarded. */
async function restoreSession(acquired: Acquired<Session>, statements: readonly string[]): Promise<void> {
  try {
    if (!acquired.broken) for (const statement of statements) await acquired.session.query(statement);
  } catch {
    acquired.broken = true;
  }
}

/** A transaction of the application, and the number of writes around the current code that are open in it. */
interface Joined<S extends Session> {
  readonly session: S;
  readonly depth: number;
  /** Whether the session is prepared for writes. */
  readonly isPrepared: boolean;
}

/**
 * Operations inside a transaction that the application has begun: all of their statements run on its connection, and each
 * write has a savepoint. Nothing is retried, because the transaction has more statements than those of the operation.
 */
export class JoinedTransactions<S extends Session> {
  private readonly context = new AsyncContext<Joined<S>>();
  /** The number of open writes. */
  private readonly open = new WeakMap<S, number>();

  constructor(private readonly parts: TransactionParts<S>) {}

  /** The transaction that the current asynchronous context has joined. */
  get current(): Joined<S> | undefined {
    return this.context.value;
  }

  /** Runs work in none of these transactions. */
  runOutside(work: () => void): void {
    this.context.exit(work);
  }

  /** Runs operations in the open transaction of a session, which is prepared if it is one of a write. */
  run<Result>(session: S, work: () => Promise<Result>, isPrepared = false): Promise<Result> {
    const depth = this.current?.session === session ? this.current.depth : 0;
    return this.context.run({ session, depth, isPrepared }, work);
  }

  /** Runs reading statements on the connection of the transaction. */
  async read<Result>(
    { session }: Pick<Joined<S>, 'session'>,
    use: (acquired: Acquired<S>) => Promise<Result>,
  ): Promise<Result> {
    const { port } = this.parts;
    return port.runWork(use, { session, connection: await port.connect(session), broken: false });
  }

  /** Runs a part of a write in a savepoint of its transaction, which is rolled back if it throws. */
  async nest<Result>(session: S, work: (session: S) => Promise<Result>): Promise<Result> {
    const attempted = await this.read({ session }, (acquired) =>
      attemptTransaction(acquired, work, { ...this.parts, isJoined: true, isPrepared: true }),
    );
    if (attempted.kind === 'undone') throw attempted.error;
    return attempted.result;
  }

  /** Runs `work` in a savepoint, which is rolled back if it throws. */
  async transact<Result>(
    { session, depth, isPrepared }: Joined<S>,
    work: (session: S) => Promise<Result>,
  ): Promise<Result> {
    if ((this.open.get(session) ?? 0) !== depth)
      throw new Error(
        'Two writes run in one transaction at the same time: await each operation before the next one.',
      );
    const inner = { session, depth: depth + 1, isPrepared: true };
    this.open.set(session, inner.depth);
    const attempted = await this.context
      .run(inner, () =>
        this.read(inner, (acquired) =>
          attemptTransaction(acquired, work, { ...this.parts, isJoined: true, isPrepared }),
        ),
      )
      .finally(() => this.open.set(session, depth));
    if (attempted.kind === 'undone') throw this.parts.failures.report(attempted.error);
    return attempted.result;
  }
}
