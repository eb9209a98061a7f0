import { randomBytes } from 'node:crypto';
import { createConnection } from 'mysql2/promise';
import pg from 'pg';
import type { DataSourceOptions } from 'typeorm';

/** A place of its own for one test application, and the way to leave nothing behind. */
export interface OpenedDatabase {
  readonly options: DataSourceOptions;
  drop(): Promise<void>;
}

export interface TestDatabase {
  readonly name: 'sqlite' | 'postgres' | 'mariadb';
  /** Undefined where it answers; else why it does not. */
  readonly missing: string | undefined;
  open(): Promise<OpenedDatabase>;
}

const POSTGRES_URL = process.env.RESTIFY_TEST_POSTGRES ?? 'postgres://postgres@127.0.0.1:5432/postgres';
const MARIADB_URL = process.env.RESTIFY_TEST_MARIADB ?? 'mariadb://root@127.0.0.1:3306/test';

/** SQLite always; the servers where they answer. Each run has names of its own, so that two at once do no harm. */
export const DATABASES: readonly TestDatabase[] = [
  { name: 'sqlite', missing: undefined, open: openSqlite },
  { name: 'postgres', missing: await reasonMissing(openPostgres), open: openPostgres },
  { name: 'mariadb', missing: await reasonMissing(openMariadb), open: openMariadb },
];

function freshName(): string {
  return `restify_${process.pid}_${randomBytes(6).toString('hex')}`;
}

function openSqlite(): Promise<OpenedDatabase> {
  return Promise.resolve({ options: { type: 'better-sqlite3', database: ':memory:' }, drop: () => Promise.resolve() });
}

async function openPostgres(): Promise<OpenedDatabase> {
  const schema = freshName();
  const run = async (sql: string): Promise<void> => {
    const client = new pg.Client({ connectionString: POSTGRES_URL, connectionTimeoutMillis: 3000 });
    await client.connect();
    await client.query(sql).finally(() => client.end());
  };
  await run(`CREATE SCHEMA "${schema}"`);
  return {
    options: { type: 'postgres', url: POSTGRES_URL, schema, extra: { options: `-c search_path=${schema},public`, max: 4 }, installExtensions: false, uuidExtension: 'pgcrypto' },
    drop: () => run(`DROP SCHEMA "${schema}" CASCADE`),
  };
}

async function openMariadb(): Promise<OpenedDatabase> {
  const database = freshName();
  const uri = MARIADB_URL.replace(/^mariadb:/, 'mysql:');
  const run = async (sql: string): Promise<void> => {
    const connection = await createConnection({ uri, connectTimeout: 3000 });
    await connection.query(sql).finally(() => connection.end());
  };
  await run(`CREATE DATABASE \`${database}\` CHARACTER SET utf8mb4`);
  const url = new URL(uri);
  url.pathname = `/${database}`;
  return {
    options: { type: 'mariadb', url: url.href, charset: 'utf8mb4', timezone: 'Z', poolSize: 4 },
    drop: () => run(`DROP DATABASE \`${database}\``),
  };
}

async function reasonMissing(open: () => Promise<OpenedDatabase>): Promise<string | undefined> {
  try {
    await (await open()).drop();
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.message || error.name : String(error);
  }
}
