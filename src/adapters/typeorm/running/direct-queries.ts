import { createHash } from 'node:crypto';
import { QueryFailedError } from 'typeorm';
import type { DataSource, QueryRunner } from 'typeorm';
import type { Records, Statement } from '../sql/statement.js';

/** Runs one statement on a driver's own connection. */
type Run = (connection: unknown, statement: Statement) => Records | Promise<Records>;

const DRIVERS: Readonly<Record<string, (options: DirectOptions) => Run>> = {
  'better-sqlite3': runOnSqlite,
  postgres: runOnPostgres,
};

export interface DirectOptions {
  /** Whether statements that come again may be kept prepared, under names, by the server's session. */
  readonly named: () => boolean;
}

/**
 * Runs statements of ours on the driver itself, which TypeORM's query runner has connected: prepared where they come
 * again, and without objects that nobody wants. Logged as TypeORM logs its own; where a subscriber listens to queries,
 * and on every other driver, they go through TypeORM.
 */
export class DirectQueries {
  private readonly run: Run | undefined;

  constructor(
    private readonly dataSource: DataSource,
    options: DirectOptions,
  ) {
    this.run = DRIVERS[dataSource.options.type]?.(options);
  }

  async records(runner: QueryRunner, statement: Statement): Promise<Records> {
    return this.recordsOf(await runner.connect(), statement, runner);
  }

  /** As `records`, over the connection that the runner has. */
  async recordsOf(connection: unknown, statement: Statement, runner: QueryRunner): Promise<Records> {
    const { sql } = statement;
    const parameters = statement.parameters as unknown[];
    if (!this.run || this.isWatched()) return ((await runner.query(sql, [...parameters])) as readonly object[]).map((record) => Object.values(record) as readonly unknown[]);
    const { logger, options } = this.dataSource;
    void logger.logQuery(sql, parameters, runner);
    const begun = Date.now();
    try {
      const given = this.run(connection, statement);
      const records = given instanceof Promise ? await given : given;
      const taken = Date.now() - begun;
      if (options.maxQueryExecutionTime && taken > options.maxQueryExecutionTime) void logger.logQuerySlow(taken, sql, parameters, runner);
      return records;
    } catch (error) {
      void logger.logQueryError(error as Error, sql, parameters, runner);
      throw new QueryFailedError(sql, parameters, error as Error);
    }
  }

  /** Asked each time: applications add subscribers while they run. */
  private isWatched(): boolean {
    return this.dataSource.subscribers.some((each) => each.beforeQuery !== undefined || each.afterQuery !== undefined);
  }
}

/** Of better-sqlite3. */
interface SqliteConnection {
  prepare(sql: string): SqliteStatement;
}
interface SqliteStatement {
  raw(): SqliteStatement;
  all(...parameters: readonly unknown[]): Records;
}

/** Prepared statements of one connection that come again, and as many of all others; those that were made first go first. */
const MAX_PREPARED = 200;

function runOnSqlite(): Run {
  const [steadily, otherwise] = [new WeakMap<object, Map<string, SqliteStatement>>(), new WeakMap<object, Map<string, SqliteStatement>>()];
  return (connection, { sql, parameters, steady, chosen }) => {
    const database = connection as SqliteConnection;
    const prepared = steady === true && chosen !== true ? steadily : otherwise;
    const known = prepared.get(database) ?? new Map<string, SqliteStatement>();
    prepared.set(database, known);
    let statement = known.get(sql);
    if (!statement) {
      statement = database.prepare(sql).raw();
      known.set(sql, statement);
      const [oldest] = known.keys();
      if (known.size > MAX_PREPARED && oldest !== undefined) known.delete(oldest);
    }
    return statement.all(...parameters);
  };
}

/** Of pg's client. */
interface PostgresConnection {
  query(question: { readonly name?: string; readonly text: string; readonly values: readonly unknown[]; readonly rowMode: 'array' }): Promise<{ readonly rows: (readonly unknown[])[] }>;
}

/** Each session keeps a plan for each of them, in its own memory. */
const MAX_NAMED = 200;
/** The same of what clients choose: whoever makes up many leaves the others theirs. */
const MAX_CHOSEN = 50;

function runOnPostgres({ named }: DirectOptions): Run {
  const [names, chosenNames] = [new Map<string, string>(), new Map<string, string>()];
  return async (connection, { sql, parameters, steady, chosen }) => {
    const name = steady !== true || !named() ? undefined : chosen === true ? nameOf(sql, chosenNames, MAX_CHOSEN) : nameOf(sql, names, MAX_NAMED);
    const question = { text: sql, values: parameters, rowMode: 'array' } as const;
    const { rows } = await (connection as PostgresConnection).query(name === undefined ? question : { ...question, name });
    // What the driver still holds of a result outlives many collections of young garbage, and would keep the pages of a long list.
    return rows.splice(0);
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
