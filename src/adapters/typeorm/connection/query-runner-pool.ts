import type { DataSource, QueryRunner } from 'typeorm';
import type { Dialect } from '../../../sql/dialects/dialect.js';
import type { CancellableReads, Reading } from './cancellable-reads.js';
import type { ConnectionErrors } from './connection-errors.js';
import type { Turn } from './pool-queue.js';
import type { PoolQueues } from './pool-queues.js';
import { throwUnreachable } from './pool.js';
import type { RunningRead } from './running-reads.js';
import type { SqliteConnection } from './sqlite-connection.js';
import type { AcquireDeadlines } from './acquire-timeout.js';

/** A connection for one statement, with the runner that has it, where there is one. */
export type SingleUseRunner = Pick<PooledRunner, 'connection'> & { readonly runner?: QueryRunner };

/** A runner with its connection, and whether that may go back to the pool. */
export interface PooledRunner {
  readonly runner: QueryRunner;
  readonly connection: unknown;
  broken: boolean;
}

export interface QueryRunnerPoolParts {
  readonly dataSource: DataSource;
  readonly dialect: Dialect;
  readonly errors: ConnectionErrors;
  readonly queues: PoolQueues;
  readonly reads: CancellableReads;
  readonly sqlite: SqliteConnection | undefined;
  readonly waiting: AcquireDeadlines;
}

/** Lends query runners with their connections, each in its turn. */
export class QueryRunnerPool {
  constructor(private readonly parts: QueryRunnerPoolParts) {}

  inTurn<Result>(
    { from, requester }: Reading,
    use: (turn: Turn | undefined) => Promise<Result>,
  ): Promise<Result> {
    return this.parts.dialect.oneConnection ? use(undefined) : this.parts.queues.inTurn(from, requester, use);
  }

  acquire<Result>(
    asked: Reading,
    use: (lent: PooledRunner) => Promise<Result>,
    cancellable = false,
  ): Promise<Result> {
    return this.inTurn(asked, async (turn) => {
      this.parts.errors.hear();
      const runner = this.parts.dataSource.createQueryRunner(asked.from === 'replica' ? 'slave' : 'master');
      const connecting: Promise<unknown> = runner.connect();
      const connection = this.parts.dialect.oneConnection
        ? await connecting
        : await this.connected(runner, connecting.catch(throwUnreachable), turn);
      const read = cancellable ? this.parts.reads.watch(connection, asked) : undefined;
      const lent: PooledRunner = { runner, connection, broken: false };
      const { sqlite } = this.parts;
      const useOurs = (): Promise<Result> => (sqlite ? sqlite.asOurs(() => use(lent)) : use(lent));
      return this.withRunner(lent, { turn, read, use: () => (turn ? turn.run(useOurs) : useOurs()) });
    });
  }

  private async withRunner<Result>(
    lent: PooledRunner,
    {
      turn,
      read,
      use,
    }: {
      readonly turn: Turn | undefined;
      readonly read: RunningRead | undefined;
      readonly use: () => Promise<Result>;
    },
  ): Promise<Result> {
    const { runner, connection } = lent;
    try {
      return await use();
    } catch (error) {
      lent.broken ||= this.parts.dialect.errorFor(error)?.kind === 'away';
      throw error;
    } finally {
      const cancelled = read?.end();
      const release = (): Promise<void> => runner.release().finally(() => turn?.leave());
      if (cancelled) void cancelled.then(release);
      else {
        if (lent.broken) this.parts.dialect.discard(connection);
        await release();
      }
    }
  }

  /** One that comes too late goes back at once: nobody waits for it any more. */
  private async connected(
    runner: QueryRunner,
    connecting: Promise<unknown>,
    turn: Turn | undefined,
  ): Promise<unknown> {
    try {
      return await this.parts.waiting.withinDeadline(
        connecting,
        turn?.until ?? this.parts.waiting.deadline(),
      );
    } catch (error) {
      turn?.leave();
      void connecting.then(() => runner.release()).catch(() => undefined);
      throw error;
    }
  }
}
