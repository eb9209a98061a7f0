import { randomBytes } from 'node:crypto';
import { createConnection } from 'mysql2/promise';
import pg from 'pg';
import type { DataSourceOptions } from 'typeorm';
import { PLATFORM } from './platform.js';

/** An isolated schema or database for one test application, and its removal. */
export interface OpenedDatabase {
  readonly options: DataSourceOptions;
  drop(): Promise<void>;
}

export interface TestDatabase {
  readonly name: 'sqlite' | 'postgres' | 'mariadb';
  /** The reason why the server is not available; undefined if it is. */
  readonly missing: string | undefined;
  open(): Promise<OpenedDatabase>;
}

const SQLITE: TestDatabase = { name: 'sqlite', missing: undefined, open: openSqlite };

/**
 * The databases of the tests: SQLite always, and the servers that `find-servers.mjs` could connect to. Each run uses unique
 * names, so that runs can be concurrent. The HTTP library is independent of the database: on Fastify only SQLite is used.
 */
export const DATABASES: readonly TestDatabase[] =
  PLATFORM === 'fastify'
    ? [SQLITE]
    : [
        SQLITE,
        { name: 'postgres', missing: process.env.RESTIFY_MISSING_POSTGRES, open: openPostgres },
        { name: 'mariadb', missing: process.env.RESTIFY_MISSING_MARIADB, open: openMariadb },
      ];

/** `find-servers.mjs` has filled in the default. */
function urlOf(variable: 'RESTIFY_TEST_POSTGRES' | 'RESTIFY_TEST_MARIADB'): string {
  const url = process.env[variable];
  if (url === undefined)
    throw new Error(`${variable} is not set: Jest has not run test/support/global-setup.mjs`);
  return url;
}

function freshName(): string {
  return `restify_${process.pid}_${randomBytes(6).toString('hex')}`;
}

function openSqlite(): Promise<OpenedDatabase> {
  return Promise.resolve({
    options: { type: 'better-sqlite3', database: ':memory:' },
    drop: () => Promise.resolve(),
  });
}

/** Disables synchronous commits, because test data need not survive a crash of the server. */
const NOT_DURABLE = '-c synchronous_commit=off';

async function openPostgres(): Promise<OpenedDatabase> {
  const url = urlOf('RESTIFY_TEST_POSTGRES');
  const schema = freshName();
  const run = async (sql: string): Promise<void> => {
    const client = new pg.Client({
      connectionString: url,
      connectionTimeoutMillis: 3000,
      options: NOT_DURABLE,
    });
    await client.connect();
    await client.query(sql).finally(() => client.end());
  };
  // The server may still carry out a statement of a process that a test killed: a deadlock with it ends this side alone.
  const drop = async (attempts = 5): Promise<void> => {
    try {
      await run(`DROP SCHEMA "${schema}" CASCADE`);
    } catch (error) {
      if (attempts === 1 || (error as pg.DatabaseError).code !== '40P01') throw error;
      await drop(attempts - 1);
    }
  };
  await run(`CREATE SCHEMA "${schema}"`);
  return {
    options: {
      type: 'postgres',
      url,
      schema,
      extra: { options: `-c search_path=${schema},public ${NOT_DURABLE}`, max: 4 },
      installExtensions: false,
      uuidExtension: 'pgcrypto',
    },
    drop: () => drop(),
  };
}

async function openMariadb(): Promise<OpenedDatabase> {
  const database = freshName();
  const uri = urlOf('RESTIFY_TEST_MARIADB').replace(/^mariadb:/, 'mysql:');
  const run = async (sql: string): Promise<void> => {
    const connection = await createConnection({ uri, connectTimeout: 3000 });
    await connection.query(sql).finally(() => connection.end());
  };
  await run(`CREATE DATABASE \`${database}\` CHARACTER SET utf8mb4`);
  const url = new URL(uri);
  url.pathname = `/${database}`;
  return {
    options: {
      type: process.env.RESTIFY_TEST_MYSQL ? 'mysql' : 'mariadb',
      url: url.href,
      charset: 'utf8mb4',
      timezone: 'Z',
      poolSize: 4,
    },
    drop: () => run(`DROP DATABASE \`${database}\``),
  };
}
