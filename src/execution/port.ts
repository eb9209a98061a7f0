import type { Row } from '../core/contracts/serializer.js';
import type { Json } from '../core/errors/rest-exception.js';
import type { MaybePromise } from '../core/maybe-promise.js';
import type { ResourceSchema } from '../core/schema/resource-schema.js';
import type { Dialect } from '../sql/dialects/dialect.js';
import type { JsonObstacle } from '../sql/json-object-sql.js';
import type { Records, Statement } from '../sql/statement.js';
import type { TableRegistry } from '../sql/table-names.js';
import type { ReadFacts } from './choose-read.js';

/** The server to read from. The primary has every write; a replica, if there is one, may lag behind it. */
export type ReadFrom = 'primary' | 'replica';

/** A session of the database, as an ORM hands it out for a transaction or for several statements. */
export interface Session {
  /** Runs a statement about the settings of the session; its rows are objects by the names of columns. */
  query(sql: string): Promise<unknown>;
  /** Returns the connection. */
  release(): Promise<void>;
}

/** A session with its connection, and whether the connection has to be discarded. */
export interface Acquired<S extends Session> {
  readonly session: S;
  readonly connection: unknown;
  broken: boolean;
}

/** A connection for one statement, and the session that holds it, if any. */
export interface SingleUse<S extends Session> {
  readonly connection: unknown;
  readonly session?: S;
}

/** One transaction of a session, from BEGIN to COMMIT or ROLLBACK. */
export interface Transaction {
  begin(): Promise<void>;
  commit(): Promise<void>;
  /** Whether a rollback is possible. False after COMMIT, even if a later step fails. */
  readonly isOpen: boolean;
  /** Whether it is a savepoint in a transaction of the application. */
  readonly isNested: boolean;
  /** Rolls back. False if the connection may still be inside the transaction, and so cannot be reused. */
  rollback(): Promise<boolean>;
}

/** What is told of the transactions of one session. Depths count the transactions and savepoints that are open. */
export interface TransactionObserver {
  /** Before one begins, inside of so many others. */
  begins(depth: number): void;
  /** Before the COMMIT of the outermost one. Must not throw. */
  beforeCommit(): Promise<void>;
  /** After a method that ends the one at `depth`. `isOpen`: it has not ended it. Must not throw. */
  ended(how: 'commit' | 'rollback', depth: number, isOpen: boolean): void;
}

/** The pool of a driver, as that of pg. A replacement of it, such as a database in memory, may have less. */
export interface DriverPool {
  connect(
    callback: (
      error: Error | undefined,
      client: object | undefined,
      release: (broken?: boolean) => void,
    ) => void,
  ): void;
}

/** How connections are opened, and statements run on them. */
export interface ConnectionPort<S extends Session> {
  /** Identifies the database: what has the same one shares a queue and a lock for its connections. */
  readonly database: object;
  /** The number of connections to a server; 0 if there are no replicas. */
  poolSize(server: ReadFrom): number;
  /** The driver's own pool; undefined without one, and while only sessions may run statements. */
  driverPool(from: ReadFrom): DriverPool | undefined;
  /** The single connection of a synchronous driver; undefined without one, and while only sessions may run statements. */
  trySync(): SingleUse<S> | undefined;
  openSession(from: ReadFrom): S;
  /** The connection of a session, which is acquired once. */
  connect(session: S): Promise<unknown>;
  /** Runs a statement on a connection; synchronous if the driver is. */
  run(connection: unknown, statement: Statement, session?: S): MaybePromise<Records>;
  /** Runs a statement in the transaction of a session. */
  runInside(session: S, statement: Statement): Promise<Records>;
  /** Whether code of the application sees each statement. Evaluated for each, because it may change while the application runs. */
  isWatched(): boolean;
  /** Runs work of this package on a connection that the application may share. */
  runWork<Result>(work: (acquired: Acquired<S>) => Promise<Result>, acquired: Acquired<S>): Promise<Result>;
  /** @param isJoined whether it is a savepoint in a transaction of the application. */
  createTransaction(session: S, isJoined: boolean): Transaction;
  /** The number of transactions and savepoints that are open in a session. */
  openDepth(session: S): number;
  /** Whether the single connection is in a transaction, which sessions do not see if the application has begun it by a statement. */
  isInTransaction(): boolean;
  observeTransactions(session: S, observer: TransactionObserver): void;
  /** The statement that the driver has rejected with this error; undefined if it is none of a statement. */
  failedSql(error: unknown): string | undefined;
  /** Keeps no statements prepared from now on: behind a connection pooler, sessions are shared with other processes. */
  stopPreparing(): void;
}

/** What an ORM knows of the rows of one view. */
export interface EntityRows<S extends Session> {
  /** Code of the application that takes part in the values of each row. */
  readonly cause: ReadFacts['entities'];
  /** What keeps the database from writing JSON of the table, whatever its fields are. */
  readonly obstacle: JsonObstacle | undefined;
  /** The name of a subscriber that may change the values of loaded entities. Evaluated for each read. */
  loadSubscriber(): string | undefined;
  /** Loads the entities of rows, and replaces the values that they determine. Omits rows that were deleted meanwhile. */
  attach(rows: readonly Row[], identities: readonly (readonly Json[])[], session: S): Promise<readonly Row[]>;
}

/** What the readers need of an ORM beside its connections: the names of tables and columns, and the entities of rows. */
export interface EntityPort<S extends Session> {
  readonly dialect: Dialect;
  /** The name of the database in the settings of the application. */
  readonly databaseType: string;
  readonly tables: TableRegistry;
  entityRows(resource: ResourceSchema): EntityRows<S>;
}
