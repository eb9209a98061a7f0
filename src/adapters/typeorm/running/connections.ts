import type { DataSource, QueryRunner } from 'typeorm';
import { DatabaseAway } from '../../../errors/request-errors.js';
import { isRestError } from '../../../errors/rest-error.js';
import type { Dialect } from '../dialects/dialect.js';
import { ConnectionGate } from './connection-gate.js';

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
    return this.gate.pass(() => this.reporting(() => this.readOnce(sql, parameters)));
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
    return this.gate.hold(() => this.reporting(() => this.transactOnce(work)));
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

  /** A database that is away is an error of the contract wherever it shows; all other errors go on as they are. */
  private async reporting<Result>(work: () => Promise<Result>): Promise<Result> {
    try {
      return await work();
    } catch (error) {
      if (isRestError(error) || this.dialect.refusal(error)?.kind !== 'away') throw error;
      throw new DatabaseAway({ cause: error });
    }
  }
}
