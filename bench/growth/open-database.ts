import { createConnection } from 'mysql2/promise';
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import type { DataSourceOptions } from 'typeorm';
import { findMariadb } from '../databases/find-mariadb.js';
import type { GrowthDatabase } from './fill-tables.js';

/** An empty database for one run. `drop` removes it. */
export interface GrowthPlace {
  readonly options: DataSourceOptions;
  drop(): Promise<void>;
}

export function openGrowthDatabase(name: GrowthDatabase): Promise<GrowthPlace> {
  switch (name) {
    case 'sqlite':
      return Promise.resolve(openSqlite());
    case 'postgres':
      return openPostgres();
    case 'mariadb':
      return openMariadb();
    default:
      return name satisfies never;
  }
}

function freshName(): string {
  return `restify_growth_${process.pid}_${randomBytes(4).toString('hex')}`;
}

function openSqlite(): GrowthPlace {
  const folder = mkdtempSync(join(tmpdir(), 'restify-growth-'));
  return {
    options: { type: 'better-sqlite3', database: join(folder, 'growth.sqlite') },
    drop: () => {
      rmSync(folder, { recursive: true });
      return Promise.resolve();
    },
  };
}

/** A schema of the server of the tests. */
async function openPostgres(): Promise<GrowthPlace> {
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
      installExtensions: false,
      extra: { options: `-c search_path=${schema}` },
    },
    drop: () => run(`DROP SCHEMA "${schema}" CASCADE`),
  };
}

/** A database of the server of the tests, or of one that is started from installed binaries. */
async function openMariadb(): Promise<GrowthPlace> {
  const server = await findMariadb();
  const { url } = server;
  const database = freshName();
  const run = async (sql: string): Promise<void> => {
    const connection = await createConnection({ uri: url.href, connectTimeout: 3000 });
    await connection.query(sql).finally(() => connection.end());
  };
  await run(`CREATE DATABASE \`${database}\` CHARACTER SET utf8mb4`);
  const own = new URL(url);
  own.pathname = `/${database}`;
  return {
    options: { type: 'mariadb', url: own.href, charset: 'utf8mb4' },
    drop: async () => {
      await run(`DROP DATABASE \`${database}\``);
      await server.stop();
    },
  };
}
