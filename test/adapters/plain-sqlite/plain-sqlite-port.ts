import { createRequire } from 'node:module';
import type { IdempotencyStore } from '../../../src/core/contracts/idempotency.js';
import type { DataAdapter } from '../../../src/core/data-adapter.js';
import type { ModelDescription } from '../../../src/core/schema/entity-metadata.js';
import type { ResourceSchema } from '../../../src/core/schema/resource-schema.js';
import { ConnectionManager } from '../../../src/execution/connection/connection-manager.js';
import { runOnSqlite } from '../../../src/execution/connection/sqlite-query.js';
import type {
  Acquired,
  ConnectionPort,
  EntityRows,
  Session,
  SingleUse,
  Transaction,
} from '../../../src/execution/port.js';
import { PlanReader } from '../../../src/execution/read/plan-reader.js';
import { sqlite } from '../../../src/sql/dialects/sqlite.js';
import type { Records, Statement } from '../../../src/sql/statement.js';
import type { TableNames, TableRegistry } from '../../../src/sql/table-names.js';

/** The part of better-sqlite3 that is used here. */
export interface PlainDatabase {
  readonly inTransaction: boolean;
  prepare(sql: string): { all(): unknown[] };
  exec(sql: string): unknown;
  close(): unknown;
}

const load = createRequire(import.meta.url);
const Database = load('better-sqlite3') as new (file: string) => PlainDatabase;

export function openDatabase(): PlainDatabase {
  return new Database(':memory:');
}

class PlainSession implements Session {
  constructor(readonly database: PlainDatabase) {}

  query(sql: string): Promise<unknown> {
    return Promise.resolve(this.database.prepare(sql).all());
  }

  release(): Promise<void> {
    return Promise.resolve();
  }
}

/** The port to the connection of better-sqlite3 itself. */
class PlainConnections implements ConnectionPort<PlainSession> {
  private readonly runNow = runOnSqlite((_isReading, run) => run());
  private readonly session: PlainSession;

  constructor(readonly database: PlainDatabase) {
    this.session = new PlainSession(database);
  }

  poolSize(): number {
    return 1;
  }

  driverPool(): undefined {
    return undefined;
  }

  trySync(): SingleUse<PlainSession> {
    return { connection: this.database, session: this.session };
  }

  openSession(): PlainSession {
    return this.session;
  }

  connect({ database }: PlainSession): Promise<unknown> {
    return Promise.resolve(database);
  }

  run(connection: unknown, statement: Statement): Records {
    return this.runNow(connection, statement);
  }

  runInside({ database }: PlainSession, statement: Statement): Promise<Records> {
    return Promise.resolve(this.run(database, statement));
  }

  isWatched(): boolean {
    return false;
  }

  runWork<Result>(
    work: (acquired: Acquired<PlainSession>) => Promise<Result>,
    acquired: Acquired<PlainSession>,
  ): Promise<Result> {
    return work(acquired);
  }

  createTransaction({ database }: PlainSession): Transaction {
    const run = (sql: string): Promise<void> => Promise.resolve(void database.exec(sql));
    return {
      begin: () => run('BEGIN IMMEDIATE'),
      commit: () => run('COMMIT'),
      rollback: () => run('ROLLBACK').then(() => true),
      isNested: false,
      get isOpen() {
        return database.inTransaction;
      },
    };
  }

  openDepth({ database }: PlainSession): number {
    return database.inTransaction ? 1 : 0;
  }

  isInTransaction(): boolean {
    return this.database.inTransaction;
  }

  observeTransactions(): void {
    // Nothing is told of writes.
  }

  failedSql(error: unknown): string | undefined {
    return (error as Error).name === 'SqliteError' ? '' : undefined;
  }

  stopPreparing(): void {
    // Only servers lose prepared statements.
  }
}

function quote(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}

/** Tables that are named as the entities of the description. */
class PlainTables implements TableRegistry {
  of({ entity }: ResourceSchema): TableNames {
    return this.named(entity);
  }

  named(entity: string): TableNames {
    const column: TableNames['column'] = (alias, { id }) => `${alias}.${quote(id)}`;
    return {
      path: quote(entity),
      ownAlias: quote(entity),
      column,
      joinedColumn: column,
      name: ({ id }) => quote(id),
      holders: () => [],
      rows: () => [],
      rowsEvenDeleted: () => [],
    };
  }

  isGuaranteed(): boolean {
    return false;
  }
}

/** There are no entities: rows are what is stored. */
const STORED: EntityRows<PlainSession> = {
  cause: undefined,
  obstacle: undefined,
  loadSubscriber: () => undefined,
  attach: (rows) => Promise.resolve(rows),
};

const LIMITS = { acquireTimeout: 5000, statementTimeout: undefined, fairShare: true };

function unsupported(): never {
  throw new Error('Rows are only read over this port.');
}

/** A `DataAdapter` that reads, without an ORM. */
export class PlainSqliteAdapter extends PlanReader<PlainSession> implements DataAdapter {
  readonly responses: IdempotencyStore = {
    claim: unsupported,
    complete: unsupported,
    release: unsupported,
  };
  readonly join = unsupported;
  readonly write = unsupported;
  readonly writeAll = unsupported;
  readonly tryWriteTogether = unsupported;
  readonly checkAll = unsupported;

  constructor(
    database: PlainDatabase,
    private readonly description: ModelDescription,
  ) {
    super({
      dialect: sqlite,
      databaseType: 'better-sqlite3',
      tables: new PlainTables(),
      connections: new ConnectionManager(new PlainConnections(database), sqlite, LIMITS),
      entityRows: () => STORED,
    });
  }

  describe(): ModelDescription {
    return this.description;
  }
}
