import type { DataSource, QueryRunner } from 'typeorm';
import type { Dialect } from '../../../sql/dialects/dialect.js';
import type { CancellableReads, Reading, RunningRead } from '../../../execution/connection/running-reads.js';
import { connectionFailure } from './database-failures.js';
import type { ConnectionErrors } from './database-failures.js';
import { correctQueries, exactDays, exactStamps } from './corrected-runner.js';
import type { QueryCorrections } from './corrected-runner.js';
import type { Permit, PoolQueues } from './pool-queue.js';
import type { SqliteConnection } from './sqlite-connection.js';
import type { AcquireDeadlines } from '../../../execution/connection/acquire-timeout.js';

/** A connection for one statement, and the query runner that holds it, if any. */
export type SingleUseRunner = Pick<PooledRunner, 'connection'> & { readonly runner?: QueryRunner };

/** A query runner with its connection, and whether the connection has to be discarded. */
export interface PooledRunner {
  readonly runner: QueryRunner;
  readonly connection: unknown;
  broken: boolean;
}

/** What is done with an acquired query runner. */
export interface RunnerUse<Result> {
  readonly use: (acquired: PooledRunner) => Promise<Result>;
  /** Whether the database may cancel the statements: reads only. */
  readonly isCancellable: boolean;
  /**
   * Whether code of the application may run meanwhile, which may use this package again: its statements then need no
   * permit of their own.
   */
  readonly runsApplicationCode: boolean;
}

export interface QueryRunnerPoolParts {
  readonly dataSource: DataSource;
  readonly dialect: Dialect;
  readonly errors: ConnectionErrors;
  readonly queues: PoolQueues;
  readonly reads: CancellableReads;
  readonly sqlite: SqliteConnection | undefined;
  readonly deadlines: AcquireDeadlines;
}

/** Acquires query runners with their connections, each with a permit of the pool's queue. */
export class QueryRunnerPool {
  private readonly corrections: QueryCorrections;

  constructor(private readonly parts: QueryRunnerPoolParts) {
    const { dataSource } = parts;
    this.corrections = { sql: exactStamps(dataSource), options: exactDays(dataSource) };
  }

  private withPermit<Result>(
    reading: Reading,
    use: (permit: Permit | undefined) => Promise<Result>,
  ): Promise<Result> {
    return this.parts.dialect.oneConnection ? use(undefined) : this.parts.queues.withPermit(reading, use);
  }

  acquire<Result>(
    reading: Reading,
    { use, isCancellable, runsApplicationCode }: RunnerUse<Result>,
  ): Promise<Result> {
    return this.withPermit(reading, async (permit) => {
      this.parts.errors.attach();
      const runner = this.parts.dataSource.createQueryRunner(reading.from === 'replica' ? 'slave' : 'master');
      correctQueries(runner, this.corrections);
      const connecting: Promise<unknown> = runner.connect();
      const connection = this.parts.dialect.oneConnection
        ? await connecting
        : await this.connected(runner, connecting, permit);
      this.parts.errors.attachToConnection(connection);
      const read = isCancellable ? this.parts.reads.watch(connection, reading) : undefined;
      const acquired: PooledRunner = { runner, connection, broken: false };
      const { sqlite } = this.parts;
      const useGuarded = (): Promise<Result> =>
        sqlite ? sqlite.asAdapter(() => use(acquired)) : use(acquired);
      const useTracked = (): Promise<Result> => (permit ? permit.run(useGuarded) : useGuarded());
      return this.withRunner(acquired, {
        permit,
        read,
        use: runsApplicationCode ? useTracked : () => use(acquired),
      });
    });
  }

  private async withRunner<Result>(
    acquired: PooledRunner,
    {
      permit,
      read,
      use,
    }: {
      readonly permit: Permit | undefined;
      readonly read: RunningRead | undefined;
      readonly use: () => Promise<Result>;
    },
  ): Promise<Result> {
    const { runner, connection } = acquired;
    try {
      return await use();
    } catch (error) {
      acquired.broken ||= this.parts.dialect.errorFor(error)?.kind === 'away';
      throw error;
    } finally {
      const cancelled = read?.end();
      const release = (): Promise<void> => runner.release().finally(() => permit?.leave());
      if (cancelled) void cancelled.then(release);
      else {
        if (acquired.broken) this.parts.dialect.discard(connection);
        await release();
      }
    }
  }

  /** Waits for the connection until the deadline. One that arrives later is released immediately. */
  private async connected(
    runner: QueryRunner,
    connecting: Promise<unknown>,
    permit: Permit | undefined,
  ): Promise<unknown> {
    try {
      return await this.parts.deadlines.withinDeadline(
        connecting,
        permit?.until ?? this.parts.deadlines.deadline(),
      );
    } catch (error) {
      permit?.leave();
      void connecting.then(() => runner.release()).catch(() => undefined);
      throw connectionFailure(error);
    }
  }
}
