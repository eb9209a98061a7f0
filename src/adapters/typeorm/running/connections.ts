import type { DataSource, QueryRunner } from 'typeorm';
import { DatabaseAway, InvalidInput } from '../../../errors/request-errors.js';
import { isRestError } from '../../../errors/rest-error.js';
import type { Dialect } from '../dialects/dialect.js';
import { ConnectionGate } from './connection-gate.js';

/** Attempts at one transaction before the client is told to try again later. */
const MAX_ATTEMPTS = 5;

const GATES = new WeakMap<DataSource, ConnectionGate>();

/**
 * Takes connections from a data source and gives them back: one a statement outside of transactions, one a
 * transaction. Goes through TypeORM's query runner, so that its logging, its subscribers and its replicas stay.
 */
export class Connections {
  private readonly gate: ConnectionGate;

  constructor(
    private readonly dataSource: DataSource,
    private readonly dialect: Dialect,
  ) {
    // One gate a data source: two prefixes share its connection.
    const gate = GATES.get(dataSource) ?? new ConnectionGate(dialect.oneConnection);
    GATES.set(dataSource, gate);
    this.gate = gate;
  }

  /** Records of a SELECT, in the order of the select list, whose expressions must be aliased `c0`, `c1`, … From a replica where there is one. */
  async read(sql: string, parameters: readonly unknown[]): Promise<readonly Record<string, unknown>[]> {
    return this.gate.pass(() => this.reporting(() => this.judging(() => this.readOnce(sql, parameters))));
  }

  private async readOnce(sql: string, parameters: readonly unknown[]): Promise<readonly Record<string, unknown>[]> {
    const runner = this.dataSource.createQueryRunner('slave');
    try {
      return (await runner.query(sql, [...parameters])) as readonly Record<string, unknown>[];
    } finally {
      await runner.release();
    }
  }

  /** All or nothing: what `work` throws rolls back everything that it did. */
  async transact<Result>(work: (runner: QueryRunner) => Promise<Result>): Promise<Result> {
    return this.gate.hold(() => this.reporting(() => this.retrying(() => this.transactOnce(work))));
  }

  /** A transaction that the database has rolled back for another's sake is begun anew: nothing has been answered yet. */
  private async retrying<Result>(transaction: () => Promise<Result>): Promise<Result> {
    for (let attempt = 1; ; attempt++) {
      try {
        return await transaction();
      } catch (error) {
        if (attempt >= MAX_ATTEMPTS || this.dialect.refusal(error)?.kind !== 'conflict') throw error;
        await new Promise((resolve) => setTimeout(resolve, Math.random() * 20 * attempt));
      }
    }
  }

  private async transactOnce<Result>(work: (runner: QueryRunner) => Promise<Result>): Promise<Result> {
    const runner = this.dataSource.createQueryRunner('master');
    try {
      await runner.startTransaction();
      const result = await work(runner);
      await runner.commitTransaction();
      return result;
    } catch (error) {
      if (runner.isTransactionActive) await runner.rollbackTransaction().catch(() => undefined);
      throw error;
    } finally {
      await runner.release();
    }
  }

  /** Of everything in a query, only a search term can be one that the database does not take: a pattern that is none. */
  private async judging<Result>(read: () => Promise<Result>): Promise<Result> {
    try {
      return await read();
    } catch (error) {
      if (this.dialect.refusal(error)?.kind !== 'data') throw error;
      throw InvalidInput.of('search', 'Enter a valid search pattern.');
    }
  }

  /** A database that is away is an error of the contract wherever it shows; all other errors go on as they are. */
  private async reporting<Result>(work: () => Promise<Result>): Promise<Result> {
    try {
      return await work();
    } catch (error) {
      const kind = isRestError(error) ? undefined : this.dialect.refusal(error)?.kind;
      if (kind !== 'away' && kind !== 'conflict') throw error;
      throw new DatabaseAway({ cause: error });
    }
  }
}
