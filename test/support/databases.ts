import { randomBytes } from 'node:crypto';
import { createConnection } from 'mysql2/promise';
import pg from 'pg';
import type { DataSourceOptions } from 'typeorm';
import { PLATFORM } from './platform.js';

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

const SQLITE: TestDatabase = { name: 'sqlite', missing: undefined, open: openSqlite };

/**
 * SQLite always; the servers where they answered `find-servers.mjs`. Each run has names of its own, so that two at once do no
 * harm. What an HTTP library does has nothing to do with the database: on Fastify there is SQLite alone.
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

/** What a test writes is to be seen, and need not survive the server: a commit does not wait for the disk. */
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
    drop: () => run(`DROP SCHEMA "${schema}" CASCADE`),
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
    options: { type: 'mariadb', url: url.href, charset: 'utf8mb4', timezone: 'Z', poolSize: 4 },
    drop: () => run(`DROP DATABASE \`${database}\``),
  };
}
