import { createConnection } from 'mysql2/promise';
import { randomBytes } from 'node:crypto';
import pg from 'pg';
import type { DataSourceOptions } from 'typeorm';

export type DatabaseName = 'sqlite' | 'postgres' | 'mariadb';

export interface OpenedDatabase {
  readonly options: DataSourceOptions;
  drop(): Promise<void>;
}

/** An exclusive database (SQLite: in memory; MariaDB) or schema (PostgreSQL). */
export function openDatabase(name: DatabaseName): Promise<OpenedDatabase> {
  switch (name) {
    case 'sqlite':
      return Promise.resolve({
        options: { type: 'better-sqlite3', database: ':memory:' },
        drop: () => Promise.resolve(),
      });
    case 'postgres':
      return openPostgres();
    case 'mariadb':
      return openMariadb();
    default:
      return name satisfies never;
  }
}

function freshName(): string {
  return `restify_fuzz_${process.pid}_${randomBytes(6).toString('hex')}`;
}

async function openPostgres(): Promise<OpenedDatabase> {
  const url = process.env.RESTIFY_TEST_POSTGRES ?? 'postgres://postgres@127.0.0.1:5432/postgres';
  const schema = freshName();
  const run = async (sql: string): Promise<void> => {
    const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 3000 });
    await client.connect();
    await client.query(sql).finally(() => client.end());
  };
  await run(`CREATE SCHEMA "${schema}"`);
  return {
    options: {
      type: 'postgres',
      url,
      schema,
      extra: { options: `-c search_path=${schema},public`, max: 6 },
      installExtensions: false,
      uuidExtension: 'pgcrypto',
    },
    drop: () => run(`DROP SCHEMA "${schema}" CASCADE`),
  };
}

async function openMariadb(): Promise<OpenedDatabase> {
  const database = freshName();
  const given = process.env.RESTIFY_TEST_MARIADB ?? 'mariadb://root@127.0.0.1:3306/test';
  const uri = given.replace(/^mariadb:/, 'mysql:');
  const run = async (sql: string): Promise<void> => {
    const connection = await createConnection({ uri, connectTimeout: 3000 });
    await connection.query(sql).finally(() => connection.end());
  };
  await run(`CREATE DATABASE \`${database}\` CHARACTER SET utf8mb4`);
  const url = new URL(uri);
  url.pathname = `/${database}`;
  return {
    options: { type: 'mariadb', url: url.href, charset: 'utf8mb4', timezone: 'Z', poolSize: 6 },
    drop: () => run(`DROP DATABASE \`${database}\``),
  };
}
