import { DataSource } from 'typeorm';
import type { QueryRunner } from 'typeorm';
import { breakableLine } from '../support/breakable-line.js';
import type { BreakableLine } from '../support/breakable-line.js';
import type { TestDatabase } from '../support/databases.js';

/** A database behind a breakable line, and an observer that stands at the server itself. */
export interface FaultyServer extends BreakableLine {
  /** Past the line and the application. */
  query<Record>(sql: string): Promise<Record[]>;
  /** A connection of the observer's, for transactions; the caller releases it. */
  runner(): Promise<QueryRunner>;
  /** What the server says of the application's sessions: how many there are, and how many are in a statement or a transaction. */
  sessions(): Promise<{ readonly all: number; readonly busy: number }>;
  /** Ends the application's sessions, as a restart of the server does. */
  killSessions(): Promise<void>;
  /** Ends one of the application's sessions, whichever. */
  killOneSession(): Promise<void>;
  /** From now on each new connection is told, by the very bytes that say that it is open, that the server ends it; `false`: no more. */
  endAsOpened(ends: boolean): void;
  /** Tells each connection of the application's twice that the server ends it. */
  sayTheEnd(): void;
  leave(): Promise<void>;
}

/** `ReadyForQuery` of PostgreSQL. */
const READY = Buffer.from('5a0000000549', 'hex');

/** PostgreSQL's `FATAL: terminating connection due to administrator command`. */
function fatal(): Buffer {
  const fields = Buffer.from(
    'SFATAL\0VFATAL\0C57P01\0Mterminating connection due to administrator command\0\0',
  );
  const head = Buffer.alloc(5);
  head.write('E');
  head.writeInt32BE(fields.length + 4, 1);
  return Buffer.concat([head, fields]);
}

/** MariaDB's `Connection was killed`, which belongs to no statement. */
function killed(): Buffer {
  const text = Buffer.from('\xff\x87\x07#70100Connection was killed', 'latin1');
  return Buffer.concat([Buffer.from([text.length, 0, 0, 0]), text]);
}

function endOfPostgres(chunk: Buffer): Buffer | undefined {
  return chunk.includes(READY) ? Buffer.concat([chunk, fatal()]) : undefined;
}

/** Behind its OK to the credentials: a packet of number 2 or above that begins with 0. */
function endOfMariadb(chunk: Buffer): Buffer | undefined {
  return chunk.length > 4 && (chunk[3] ?? 0) >= 2 && chunk[4] === 0
    ? Buffer.concat([chunk, killed(), killed()])
    : undefined;
}

export function faultyServer(database: TestDatabase): FaultyServer {
  const line = breakableLine(database);
  let observer: DataSource | undefined;
  const observing = async (): Promise<DataSource> =>
    (observer ??= await new DataSource({ ...line.direct(), entities: [] }).initialize());
  const query = async <Record>(sql: string): Promise<Record[]> => (await observing()).query<Record[]>(sql);
  const own = (): string => {
    const { url, schema } = line.direct() as { url: string; schema?: string };
    // The search path of this test's schema stands in nobody else's start-up options, and a MariaDB session has a database.
    return schema ?? new URL(url).pathname.slice(1);
  };
  const postgres = database.name === 'postgres';
  const list = (): Promise<readonly { id: number; busy: number }[]> =>
    query(
      postgres
        ? `SELECT pid AS id, CASE WHEN state = 'idle' THEN 0 ELSE 1 END AS busy FROM pg_stat_activity WHERE application_name = '${own()}' AND pid <> pg_backend_pid()`
        : `SELECT p.id AS id, CASE WHEN p.command = 'Sleep' AND t.trx_mysql_thread_id IS NULL THEN 0 ELSE 1 END AS busy FROM information_schema.processlist p LEFT JOIN information_schema.innodb_trx t ON t.trx_mysql_thread_id = p.id WHERE p.db = '${own()}' AND p.id <> CONNECTION_ID()`,
    );
  return {
    ...line,
    database: {
      ...line.database,
      open: async () => {
        const opened = await line.database.open();
        return postgres
          ? { ...opened, options: { ...opened.options, applicationName: own() } as typeof opened.options }
          : opened;
      },
    },
    query,
    runner: async () => (await observing()).createQueryRunner(),
    sessions: async () => {
      const found = await list();
      return { all: found.length, busy: found.filter((each) => each.busy === 1).length };
    },
    killSessions: async () => {
      for (const { id } of await list())
        await query(postgres ? `SELECT pg_terminate_backend(${id})` : `KILL CONNECTION ${id}`).catch(
          () => undefined,
        );
    },
    killOneSession: async () => {
      const found = await list();
      const one = found[Math.floor(Math.random() * found.length)];
      if (one)
        await query(postgres ? `SELECT pg_terminate_backend(${one.id})` : `KILL CONNECTION ${one.id}`).catch(
          () => undefined,
        );
    },
    endAsOpened: (ends) => {
      const replacement = postgres ? endOfPostgres : endOfMariadb;
      line.replaceOf(ends ? replacement : undefined);
    },
    sayTheEnd: () => {
      const said = postgres ? fatal() : killed();
      line.say(Buffer.concat([said, said]));
    },
    leave: async () => {
      await observer?.destroy();
    },
  };
}

/** Connections that the application's pool has lent out, and who waits for one. */
export function lentOut(dataSource: DataSource): { readonly lent: number; readonly waiting: number } {
  const driver = dataSource.driver as unknown as { master?: PgPool; pool?: MysqlPool };
  if (driver.master)
    return { lent: driver.master.totalCount - driver.master.idleCount, waiting: driver.master.waitingCount };
  if (!driver.pool) return { lent: 0, waiting: 0 };
  return {
    lent: driver.pool._allConnections.length - driver.pool._freeConnections.length,
    waiting: driver.pool._connectionQueue.length,
  };
}

interface PgPool {
  readonly totalCount: number;
  readonly idleCount: number;
  readonly waitingCount: number;
}

interface MysqlPool {
  readonly _allConnections: { readonly length: number };
  readonly _freeConnections: { readonly length: number };
  readonly _connectionQueue: { readonly length: number };
}

/** Until it holds; throws what is still so after ten seconds, or after `milliseconds`. */
export async function until(
  holds: () => boolean | Promise<boolean>,
  what: () => unknown = () => 'it',
  milliseconds = 60_000,
): Promise<void> {
  const deadline = Date.now() + milliseconds;
  while (!(await holds())) {
    if (Date.now() > deadline) throw new Error(`Still not: ${JSON.stringify(what())}`);
    await pause(10);
  }
}

export function pause(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds));
}
