import { randomBytes } from 'node:crypto';
import { createConnection } from 'mysql2/promise';
import pg from 'pg';
import type { DataSourceOptions } from 'typeorm';
import type { DatabaseName } from './full-columns.js';

export interface OpenedOracleDatabase {
  readonly options: DataSourceOptions;
  /** The URL in the format of the sample application. */
  readonly url: string;
  drop(): Promise<void>;
}

/** Creates a database, which `drop` removes. The servers are those in `RESTIFY_TEST_…` (`find-servers.mjs`). */
export async function openDatabase(name: DatabaseName): Promise<OpenedOracleDatabase> {
  if (name === 'sqlite')
    return {
      options: { type: 'better-sqlite3', database: ':memory:' },
      url: 'sqlite::memory:',
      drop: () => Promise.resolve(),
    };
  const database = `restify_oracle_${process.pid}_${randomBytes(4).toString('hex')}`;
  return name === 'postgres' ? openPostgres(database) : openMariadb(database);
}

async function openPostgres(database: string): Promise<OpenedOracleDatabase> {
  const server = process.env.RESTIFY_TEST_POSTGRES ?? '';
  const run = async (sql: string): Promise<void> => {
    const client = new pg.Client({ connectionString: server, connectionTimeoutMillis: 3000 });
    await client.connect();
    await client.query(sql).finally(() => client.end());
  };
  await run(`CREATE DATABASE "${database}"`);
  const url = withPath(server, database);
  return {
    options: {
      type: 'postgres',
      url,
      extra: { max: 4 },
      installExtensions: false,
      uuidExtension: 'pgcrypto',
    },
    url,
    drop: () => run(`DROP DATABASE IF EXISTS "${database}" WITH (FORCE)`),
  };
}

async function openMariadb(database: string): Promise<OpenedOracleDatabase> {
  const server = (process.env.RESTIFY_TEST_MARIADB ?? '').replace(/^mariadb:/, 'mysql:');
  const run = async (sql: string): Promise<void> => {
    const connection = await createConnection({ uri: server, connectTimeout: 3000 });
    await connection.query(sql).finally(() => connection.end());
  };
  await run(`CREATE DATABASE \`${database}\` CHARACTER SET utf8mb4`);
  const url = withPath(server, database);
  return {
    options: { type: 'mariadb', url, charset: 'utf8mb4', timezone: 'Z', poolSize: 4 },
    url: url.replace(/^mysql:/, 'mariadb:'),
    drop: () => run(`DROP DATABASE \`${database}\``),
  };
}

function withPath(server: string, database: string): string {
  const url = new URL(server);
  url.pathname = `/${database}`;
  return url.href;
}
