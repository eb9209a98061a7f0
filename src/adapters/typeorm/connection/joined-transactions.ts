import type { EntityManager, QueryRunner } from 'typeorm';
import { AsyncContext } from './async-context.js';
import type { DatabaseFailures } from './database-failures.js';
import type { PooledRunner } from './query-runner-pool.js';
import { attemptTransaction } from './transaction.js';
import type { TransactionParts } from './transaction.js';

/** A transaction of the application, and the number of writes around the current code that are open in it. */
interface Joined {
  readonly runner: QueryRunner;
  readonly depth: number;
}

/** TypeORM 0.3 calls the data source `connection`. */
interface Manager extends Pick<EntityManager, 'queryRunner'> {
  readonly dataSource?: unknown;
  readonly connection?: unknown;
}

/**
 * Operations inside a transaction that the application has begun: all of their statements run on its connection, and each
 * write has a savepoint. Nothing is retried, because the transaction has more statements than those of the operation.
 */
export class JoinedTransactions {
  private readonly context = new AsyncContext<Joined>();
  /** The number of open writes. */
  private readonly open = new WeakMap<QueryRunner, number>();

  constructor(
    private readonly parts: TransactionParts,
    private readonly failures: DatabaseFailures,
  ) {}

  /** The transaction that the current asynchronous context has joined. */
  get current(): Joined | undefined {
    return this.context.value;
  }

  /** @throws Error without an active transaction of this data source. */
  async run<Result>(manager: object, work: () => Promise<Result>): Promise<Result> {
    const { queryRunner: runner, dataSource, connection } = manager as Manager;
    if ((dataSource ?? connection) !== this.parts.dataSource)
      throw new Error('The manager belongs to another data source than the model: pass one of its own.');
    if (!runner?.isTransactionActive || runner.isReleased)
      throw new Error(
        'The manager has no active transaction: pass the one that dataSource.transaction(async (manager) => …) gives, and await each operation in it.',
      );
    const depth = this.current?.runner === runner ? this.current.depth : 0;
    return this.context.run({ runner, depth }, work);
  }

  /** Runs reading statements on the connection of the transaction. */
  async read<Result>({ runner }: Joined, use: (acquired: PooledRunner) => Promise<Result>): Promise<Result> {
    const acquired: PooledRunner = { runner, connection: await runner.connect(), broken: false };
    const { sqlite } = this.parts;
    return sqlite ? sqlite.asAdapter(() => use(acquired)) : use(acquired);
  }

  /** Runs `work` in a savepoint, which is rolled back if it throws. */
  async transact<Result>(
    { runner, depth }: Joined,
    work: (runner: QueryRunner) => Promise<Result>,
  ): Promise<Result> {
    if ((this.open.get(runner) ?? 0) !== depth)
      throw new Error(
        'Two writes run in one transaction at the same time: await each operation before the next one.',
      );
    const inner = { runner, depth: depth + 1 };
    this.open.set(runner, inner.depth);
    const attempted = await this.context
      .run(inner, () =>
        this.read(inner, (acquired) => attemptTransaction(acquired, work, { ...this.parts, isJoined: true })),
      )
      .finally(() => this.open.set(runner, depth));
    if (attempted.kind === 'undone') throw this.failures.report(attempted.error);
    return attempted.result;
  }
}
