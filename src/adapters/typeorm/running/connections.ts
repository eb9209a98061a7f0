import type { DataSource, QueryRunner } from 'typeorm';
import { DatabaseAway, InvalidInput } from '../../../errors/request-errors.js';
import { isRestError } from '../../../errors/rest-error.js';
import type { Dialect } from '../dialects/dialect.js';
import { ConnectionGate } from './connection-gate.js';
import { prepareSession } from './sessions.js';
import { WaitingRoom } from './waiting-room.js';

/** Attempts at one piece of work before the client is told to try again later. */
const MAX_ATTEMPTS = 5;

const GATES = new WeakMap<DataSource, ConnectionGate>();

/** The primary has every write; a replica, where there is one, may lag behind it. */
export type ReadFrom = 'primary' | 'replica';

/** What became of a transaction that may be begun anew where the database has given it up. */
type Attempt<Result> = { readonly kind: 'done'; readonly result: Result } | { readonly kind: 'undone'; readonly error: unknown };

/** A runner with its connection, and whether that may go back to the pool. */
interface Lent {
  readonly runner: QueryRunner;
  readonly connection: unknown;
  broken: boolean;
}

/**
 * Takes connections from a data source and gives them back: one for what belongs together outside of transactions, one
 * a transaction. Goes through TypeORM's query runner, so that its logging, its subscribers and its replicas stay.
 *
 * Nobody waits for a connection longer than `acquireTimeout` milliseconds, and what fails leaves none behind.
 */
export class Connections {
  private readonly gate: ConnectionGate;
  private readonly waiting: WaitingRoom;

  constructor(
    private readonly dataSource: DataSource,
    private readonly dialect: Dialect,
    acquireTimeout: number,
  ) {
    this.waiting = new WaitingRoom(acquireTimeout);
    // One gate a data source: two prefixes share its connection.
    const gate = GATES.get(dataSource) ?? new ConnectionGate(dialect.oneConnection);
    GATES.set(dataSource, gate);
    this.gate = gate;
  }

  /** Records of a SELECT, in the order of the select list, whose expressions must be aliased `c0`, `c1`, … */
  async read(sql: string, parameters: readonly unknown[], from: ReadFrom): Promise<readonly Record<string, unknown>[]> {
    return this.reading(from, async (runner) => (await runner.query(sql, [...parameters])) as readonly Record<string, unknown>[]);
  }

  /** Several statements that read, of one server, and so of one state of its rows as far as a replica has come. */
  async reading<Result>(from: ReadFrom, work: (runner: QueryRunner) => Promise<Result>): Promise<Result> {
    const once = (): Promise<Attempt<Result>> => attempt(() => this.lending(from === 'replica' ? 'slave' : 'master', ({ runner }) => work(runner)));
    return this.reporting(() => this.gate.pass(() => this.judging(() => this.retrying(once)), this.waiting));
  }

  /** All or nothing: what `work` throws rolls back everything that it did. */
  async transact<Result>(work: (runner: QueryRunner) => Promise<Result>): Promise<Result> {
    const once = (): Promise<Attempt<Result>> => this.lending('master', (lent) => this.transactOnce(lent, work));
    return this.reporting(() => this.gate.hold(() => this.retrying(once), this.waiting));
  }

  /** One that comes too late goes back at once: nobody waits for it any more. */
  private async lending<Result>(mode: 'master' | 'slave', use: (lent: Lent) => Promise<Result>): Promise<Result> {
    const runner = this.dataSource.createQueryRunner(mode);
    const connecting: Promise<unknown> = runner.connect();
    const connection = await this.waiting.inTime(connecting, this.waiting.deadline()).catch((error: unknown) => {
      void connecting.then(() => runner.release()).catch(() => undefined);
      throw error;
    });
    const lent: Lent = { runner, connection, broken: false };
    try {
      return await use(lent);
    } catch (error) {
      lent.broken ||= this.dialect.refusal(error)?.kind === 'away';
      throw error;
    } finally {
      if (lent.broken) this.dialect.discard(connection);
      await runner.release();
    }
  }

  /** What the database has given up for another's sake is begun anew: nothing has been answered yet. */
  private async retrying<Result>(once: () => Promise<Attempt<Result>>): Promise<Result> {
    for (let attempts = 1; ; attempts++) {
      const attempted = await once();
      if (attempted.kind === 'done') return attempted.result;
      if (attempts >= MAX_ATTEMPTS || this.dialect.refusal(attempted.error)?.kind !== 'conflict') throw attempted.error;
      await new Promise((resolve) => setTimeout(resolve, Math.random() * 20 * attempts));
    }
  }

  private async transactOnce<Result>(lent: Lent, work: (runner: QueryRunner) => Promise<Result>): Promise<Attempt<Result>> {
    const { runner } = lent;
    let restoring: readonly string[] = [];
    try {
      await runner.startTransaction();
      await this.dialect.lockForWriting?.((sql) => runner.query(sql));
      restoring = await prepareSession(runner, this.dataSource, this.dialect);
      const result = await work(runner);
      await runner.commitTransaction();
      return { kind: 'done', result };
    } catch (error) {
      // Behind a COMMIT everything is written, and a second attempt would write it twice.
      if (!runner.isTransactionActive) throw error;
      await this.rollBack(lent);
      lent.broken ||= this.dialect.refusal(error)?.kind === 'away';
      return { kind: 'undone', error };
    } finally {
      await this.restore(lent, restoring);
    }
  }

  /** A connection that may still be inside the transaction is of no use to the next one. */
  private async rollBack(lent: Lent): Promise<void> {
    await lent.runner.rollbackTransaction().catch(() => {
      lent.broken = true;
    });
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

  /** A session that cannot be taken back to what it was goes to nobody else. */
  private async restore(lent: Lent, statements: readonly string[]): Promise<void> {
    try {
      if (!lent.broken) for (const statement of statements) await lent.runner.query(statement);
    } catch {
      lent.broken = true;
    }
  }

  /** A database that is away is an error of the contract wherever it shows; all other errors go on as they are. */
  private async reporting<Result>(work: () => Promise<Result>): Promise<Result> {
    try {
      return await work();
    } catch (error) {
      const kind = isRestError(error) ? undefined : this.dialect.refusal(error)?.kind;
      if (kind !== 'away' && kind !== 'conflict' && kind !== 'timeout') throw error;
      throw new DatabaseAway({ cause: error });
    }
  }
}

async function attempt<Result>(work: () => Promise<Result>): Promise<Attempt<Result>> {
  try {
    return { kind: 'done', result: await work() };
  } catch (error) {
    return { kind: 'undone', error };
  }
}
