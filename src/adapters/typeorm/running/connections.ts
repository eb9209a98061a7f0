import { QueryFailedError } from 'typeorm';
import type { DataSource, QueryRunner } from 'typeorm';
import { DatabaseAway, InvalidInput } from '../../../errors/request-errors.js';
import { isRestError } from '../../../errors/rest-error.js';
import type { Dialect } from '../dialects/dialect.js';
import type { Soon } from '../../../values/soon.js';
import type { Records, Statement } from '../sql/statement.js';
import { ConnectionGate } from './connection-gate.js';
import { DirectQueries } from './direct-queries.js';
import { lendOf, poolOf } from './pooled.js';
import type { LendingRules } from './pooled.js';
import { prepareSession, sessionIsFit } from './sessions.js';
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
  private readonly direct: DirectQueries;
  /** Whether the server's sessions are this process's alone, so that they keep what was prepared. */
  private named = true;

  constructor(
    private readonly dataSource: DataSource,
    private readonly dialect: Dialect,
    acquireTimeout: number,
  ) {
    this.waiting = new WaitingRoom(acquireTimeout);
    this.direct = new DirectQueries(dataSource, { named: () => this.named });
    // One gate a data source: two prefixes share its connection.
    const gate = GATES.get(dataSource) ?? new ConnectionGate(dialect.oneConnection);
    GATES.set(dataSource, gate);
    this.gate = gate;
  }

  /** Who subscribes to queries hears of those of query runners alone. */
  private poolFor(from: ReadFrom): ReturnType<typeof poolOf> {
    return this.direct.isWatched() ? undefined : poolOf(this.dataSource, from);
  }

  private get lendingRules(): LendingRules {
    return { waiting: this.waiting, isBroken: this.isBroken };
  }

  private readonly isBroken = (error: unknown): boolean => this.dialect.refusal(error)?.kind === 'away';

  /** On a runner that was lent. */
  async records(runner: QueryRunner, statement: Statement): Promise<Records> {
    return this.direct.records(runner, statement);
  }

  /** One statement that reads: at once, where the database has one connection, which answers at once and which nobody holds. */
  read(statement: Statement, from: ReadFrom): Soon<Records> {
    return this.readAtOnce(statement) ?? this.readAlone(from, ({ runner, connection }) => this.direct.recordsOf(connection, statement, runner));
  }

  /** As `read`, unless nobody wants it any more when there is a connection: who has waited for one may have gone meanwhile. */
  readWanted(statement: Statement, { from, gone }: { readonly from: ReadFrom; readonly gone: (() => boolean) | undefined }): Soon<Records | undefined> {
    if (this.gate.isFree && gone?.() === true) return undefined;
    return this.readAtOnce(statement) ?? this.readAlone(from, ({ runner, connection }) => (gone?.() === true ? undefined : this.direct.recordsOf(connection, statement, runner)));
  }

  /** Over a connection of the driver's pool, where it has one; what the database has given up, or knows no more, is tried again in the general way. */
  private readAlone<Result>(from: ReadFrom, work: (lent: Pick<Lent, 'connection'> & { readonly runner?: QueryRunner }) => Soon<Result>): Promise<Result> {
    const general = (): Promise<Result> => this.readingOver(from, async (lent) => work(lent));
    const pool = this.poolFor(from);
    if (!pool) return general();
    return lendOf(pool, async (connection) => work({ connection }), this.lendingRules).catch((error: unknown) => {
      if (this.isWorthAnother(error)) return general();
      throw this.reported(judged(error, this.dialect));
    });
  }

  /** Undefined where it has to be waited for, and where it may come about by another attempt. */
  private readAtOnce(statement: Statement): Records | undefined {
    const lent = this.gate.isFree ? this.direct.atHand() : undefined;
    if (!lent) return undefined;
    try {
      return this.direct.recordsOf(lent.connection, statement, lent.runner) as Records;
    } catch (error) {
      if (this.isWorthAnother(error)) return undefined;
      throw this.reported(judged(error, this.dialect));
    }
  }

  /** Several statements that read, of one server, and so of one state of its rows as far as a replica has come. */
  reading<Result>(from: ReadFrom, work: (runner: QueryRunner) => Promise<Result>): Promise<Result> {
    return this.readingOver(from, ({ runner }) => work(runner));
  }

  private async readingOver<Result>(from: ReadFrom, work: (lent: Lent) => Promise<Result>): Promise<Result> {
    const mode = from === 'replica' ? 'slave' : 'master';
    for (let attempts = 1; ; attempts++) {
      try {
        return await this.gate.pass(() => this.lending(mode, work), this.waiting);
      } catch (error) {
        if (attempts >= MAX_ATTEMPTS || !this.isWorthAnother(error)) throw this.reported(judged(error, this.dialect));
        await pause(attempts);
      }
    }
  }

  /**
   * One statement that writes, and is all or nothing by itself. Undefined where the database does not take it: nothing has
   * been written then.
   */
  write(statement: Statement): Soon<Records | undefined> {
    const lent = this.gate.isFree ? this.direct.atHand() : undefined;
    if (!lent) return this.writeLater(statement);
    try {
      return this.direct.recordsOf(lent.connection, statement, lent.runner);
    } catch (error) {
      this.refuseUnknown(error);
      return undefined;
    }
  }

  private async writeLater(statement: Statement): Promise<Records | undefined> {
    try {
      const pool = this.poolFor('primary');
      if (pool) return await lendOf(pool, async (connection) => this.direct.recordsOf(connection, statement), this.lendingRules);
      return await this.gate.alone(() => this.lending('master', async ({ runner, connection }) => this.direct.recordsOf(connection, statement, runner)), this.waiting);
    } catch (error) {
      this.refuseUnknown(error);
      return undefined;
    }
  }

  /** What the database has refused, it has not written. Throws what leaves that open. */
  private refuseUnknown(error: unknown): void {
    const kind = this.dialect.refusal(error)?.kind;
    // Nobody can say what became of it.
    if (kind === 'away' || kind === 'timeout' || isRestError(error)) throw this.reported(error);
    if (!(error instanceof QueryFailedError)) throw error;
    if (kind === 'unprepared') this.named = false;
  }

  /** Whether sessions are as a write needs them. */
  needsNoSession(): Promise<boolean> {
    return this.reading('primary', (runner) => sessionIsFit(runner, this.dataSource, this.dialect));
  }

  /** All or nothing: what `work` throws rolls back everything that it did. */
  async transact<Result>(work: (runner: QueryRunner) => Promise<Result>): Promise<Result> {
    const once = (): Promise<Attempt<Result>> => this.lending('master', (lent) => this.transactOnce(lent, work));
    try {
      return await this.gate.hold(() => this.retrying(once), this.waiting);
    } catch (error) {
      throw this.reported(error);
    }
  }

  /** One that comes too late goes back at once: nobody waits for it any more. */
  private async lending<Result>(mode: 'master' | 'slave', use: (lent: Lent) => Promise<Result>): Promise<Result> {
    const runner = this.dataSource.createQueryRunner(mode);
    const connecting: Promise<unknown> = runner.connect();
    const connection = this.dialect.oneConnection ? await connecting : await this.connected(runner, connecting);
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

  private async connected(runner: QueryRunner, connecting: Promise<unknown>): Promise<unknown> {
    try {
      return await this.waiting.inTime(connecting, this.waiting.deadline());
    } catch (error) {
      void connecting.then(() => runner.release()).catch(() => undefined);
      throw error;
    }
  }

  /** What the database has given up for another's sake is begun anew: nothing has been answered yet. */
  private async retrying<Result>(once: () => Promise<Attempt<Result>>): Promise<Result> {
    for (let attempts = 1; ; attempts++) {
      const attempted = await once();
      if (attempted.kind === 'done') return attempted.result;
      if (attempts >= MAX_ATTEMPTS || !this.isWorthAnother(attempted.error)) throw attempted.error;
      await pause(attempts);
    }
  }

  /** Of a statement that the server's session no longer knows, the next attempt is not prepared. */
  private isWorthAnother(error: unknown): boolean {
    const kind = this.dialect.refusal(error)?.kind;
    if (kind === 'unprepared') this.named = false;
    return kind === 'conflict' || kind === 'unprepared';
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

  /** A session that cannot be taken back to what it was goes to nobody else. */
  private async restore(lent: Lent, statements: readonly string[]): Promise<void> {
    try {
      if (!lent.broken) for (const statement of statements) await lent.runner.query(statement);
    } catch {
      lent.broken = true;
    }
  }

  /** A database that is away is an error of the contract wherever it shows; all other errors go on as they are. */
  private reported(error: unknown): unknown {
    const kind = isRestError(error) ? undefined : this.dialect.refusal(error)?.kind;
    return kind === 'away' || kind === 'conflict' || kind === 'timeout' || kind === 'unprepared' ? new DatabaseAway({ cause: error }) : error;
  }
}

/** Of everything in a query, only a search term can be one that the database does not take: a pattern that is none. */
function judged(error: unknown, dialect: Dialect): unknown {
  return !isRestError(error) && dialect.refusal(error)?.kind === 'data' ? InvalidInput.of('search', 'Enter a valid search pattern.') : error;
}

/** Twice as long each time: on a busy machine, those that got in each other's way would meet again. */
function pause(attempts: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, Math.random() * 20 * 2 ** attempts));
}
