import { createHash } from 'node:crypto';
import { QueryFailedError } from 'typeorm';
import type { DataSource, QueryRunner } from 'typeorm';
import { isPromise } from '../../../core/maybe-promise.js';
import type { MaybePromise } from '../../../core/maybe-promise.js';
import type { Records, Statement } from '../../../sql/statement.js';
import { isLocked } from './sqlite-connection.js';
import type { SqliteConnection } from './sqlite-connection.js';

/** Runs one statement on a driver's own connection. */
type Run = (connection: unknown, statement: Statement) => MaybePromise<Records>;

const DRIVERS: Readonly<Record<string, (options: DriverQueryOptions) => Run>> = {
  'better-sqlite3': runOnSqlite,
  postgres: runOnPostgres,
};

export interface DriverQueryOptions {
  /** Whether statements that come again may be kept prepared, under names, by the server's session. */
  readonly named: () => boolean;
  /** Where there is one connection, which the application shares. */
  readonly sqlite?: SqliteConnection | undefined;
}

/**
 * Runs statements of ours on the driver itself, which TypeORM's query runner has connected: prepared where they come
 * again, and without objects that nobody wants. Logged as TypeORM logs its own; where a subscriber listens to queries,
 * and on every other driver, they go through TypeORM.
 */
export class DriverQueries {
  private readonly run: Run | undefined;

  constructor(
    private readonly dataSource: DataSource,
    private readonly options: DriverQueryOptions,
  ) {
    this.run = DRIVERS[dataSource.options.type]?.(options);
  }

  async records(runner: QueryRunner, statement: Statement): Promise<Records> {
    this.options.sqlite?.expectTransaction(runner);
    return this.recordsOf(await runner.connect(), statement, runner);
  }

  /** As `records`, over the connection that the runner has, or that the driver's pool has lent; at once, where the driver answers at once. */
  recordsOf(connection: unknown, statement: Statement, runner?: QueryRunner): MaybePromise<Records> {
    if (!this.run || (runner && this.isWatched())) return this.throughRunner(statement, runner);
    const { logger, options } = this.dataSource;
    const { sql } = statement;
    void logger.logQuery(sql, statement.parameters as unknown[], runner);
    const begun = options.maxQueryExecutionTime ? performance.now() : 0;
    try {
      const given = this.run(connection, statement);
      if (isPromise(given))
        return given.then(
          (records) => this.ended(records, { begun, statement, runner }),
          (error: unknown) => this.failed(error, statement, runner),
        );
      return this.ended(given, { begun, statement, runner });
    } catch (error) {
      return this.failed(error, statement, runner);
    }
  }

  /** The one connection of a data source whose driver answers at once; undefined where it has none, or somebody listens to its queries. */
  trySync(): { readonly runner: QueryRunner; readonly connection: unknown } | undefined {
    const { driver, options } = this.dataSource;
    if (options.type !== 'better-sqlite3' || this.isWatched()) return undefined;
    const { databaseConnection: connection } = driver as {
      readonly databaseConnection?: { readonly open?: boolean };
    };
    return connection?.open === true
      ? { runner: this.dataSource.createQueryRunner('master'), connection }
      : undefined;
  }

  private ended(
    records: Records,
    {
      begun,
      statement,
      runner,
    }: { readonly begun: number; readonly statement: Statement; readonly runner: QueryRunner | undefined },
  ): Records {
    const { logger, options } = this.dataSource;
    if (!options.maxQueryExecutionTime) return records;
    const taken = Math.round(performance.now() - begun);
    if (taken > options.maxQueryExecutionTime)
      void logger.logQuerySlow(taken, statement.sql, statement.parameters as unknown[], runner);
    return records;
  }

  private failed(error: unknown, { sql, parameters }: Statement, runner: QueryRunner | undefined): never {
    // It is tried again, many times a second; in the end it is the cause of a 503.
    if (!isLocked(error))
      void this.dataSource.logger.logQueryError(error as Error, sql, parameters as unknown[], runner);
    throw new QueryFailedError(sql, parameters as unknown[], error as Error);
  }

  private async throughRunner(
    { sql, parameters }: Statement,
    runner: QueryRunner | undefined,
  ): Promise<Records> {
    if (!runner) throw new Error('This driver has no statements but those of its query runners.');
    return ((await runner.query(sql, [...parameters])) as readonly object[]).map(
      (record) => Object.values(record) as readonly unknown[],
    );
  }

  /** Asked each time: applications add subscribers while they run. */
  isWatched(): boolean {
    return this.dataSource.subscribers.some(
      (each) => each.beforeQuery !== undefined || each.afterQuery !== undefined,
    );
  }
}

/** Of better-sqlite3. */
interface SqliteDatabase {
  prepare(sql: string): SqliteStatement;
}
interface SqliteStatement {
  readonly readonly: boolean;
  raw(): SqliteStatement;
  all(...parameters: readonly unknown[]): Records;
}

/** Prepared statements of one connection that come again, and as many of all others; those that were made first go first. */
const MAX_PREPARED = 200;

function runOnSqlite({ sqlite }: DriverQueryOptions): Run {
  const [steadily, otherwise] = [
    new WeakMap<object, Map<string, SqliteStatement>>(),
    new WeakMap<object, Map<string, SqliteStatement>>(),
  ];
  const atOnce = <Result>(isReading: boolean, run: () => Result): Result =>
    sqlite ? sqlite.atOnce(isReading, run) : run();
  return (connection, { sql, parameters, steady, chosen }) => {
    const database = connection as SqliteDatabase;
    const prepared = steady === true && chosen !== true ? steadily : otherwise;
    const known = prepared.get(database) ?? new Map<string, SqliteStatement>();
    prepared.set(database, known);
    let statement = known.get(sql);
    if (!statement) {
      statement = atOnce(true, () => database.prepare(sql).raw());
      known.set(sql, statement);
      const [oldest] = known.keys();
      if (known.size > MAX_PREPARED && oldest !== undefined) known.delete(oldest);
    }
    const found = statement;
    return atOnce(found.readonly, () => found.all(...parameters));
  };
}

interface Question {
  readonly name?: string;
  readonly text: string;
  readonly values: readonly unknown[];
  readonly rowMode: 'array';
}

/** Of pg's client. */
interface PostgresConnection {
  query(
    question: Question,
    answered: (error: Error | null | undefined, result: { readonly rows: (readonly unknown[])[] }) => void,
  ): unknown;
}

/** Each session keeps a plan for each of them, in its own memory. */
const MAX_NAMED = 200;
/** The same of what clients choose: whoever makes up many leaves the others theirs. */
const MAX_CHOSEN = 50;

function runOnPostgres({ named }: DriverQueryOptions): Run {
  const [names, chosenNames] = [new Map<string, string>(), new Map<string, string>()];
  return (connection, { sql, parameters, steady, chosen }) => {
    const name =
      steady !== true || !named()
        ? undefined
        : chosen === true
          ? nameOf(sql, chosenNames, MAX_CHOSEN)
          : nameOf(sql, names, MAX_NAMED);
    const question: Question =
      name === undefined
        ? { text: sql, values: parameters, rowMode: 'array' }
        : { name, text: sql, values: parameters, rowMode: 'array' };
    return new Promise((resolve, reject) => {
      (connection as PostgresConnection).query(question, (error, result) => {
        if (error) reject(error);
        // What the driver still holds of a result outlives many collections of young garbage, and would keep the pages of a long list.
        else resolve(result.rows.splice(0));
      });
    });
  };
}

/** By what it says: behind a pooler, sessions are shared with processes that may know other statements. */
function nameOf(sql: string, names: Map<string, string>, most: number): string | undefined {
  const known = names.get(sql);
  if (known !== undefined || names.size >= most) return known;
  const name = `restify_${createHash('sha256').update(sql).digest('hex').slice(0, 40)}`;
  names.set(sql, name);
  return name;
}
