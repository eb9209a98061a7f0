// @tags nest
import { expect, test } from '@jest/globals';
import { createConnection } from 'mysql2/promise';
import type { RowDataPacket } from 'mysql2/promise';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import { launchMariadb } from '../support/launch-mariadb.cjs';
import { launchPostgres } from '../support/launch-postgres.cjs';

const LAUNCHER = fileURLToPath(new URL('../support/launch-mariadb.cjs', import.meta.url));

test('a PostgreSQL server of the tests’ own starts from installed binaries, and leaves nothing behind', async () => {
  const server = await launchPostgres();
  if (!server) {
    // Without binaries there is nothing to start: the reason is told where PostgreSQL is missed.
    expect(process.env.CI).toBeUndefined();
    return;
  }
  const client = new pg.Client({ connectionString: server.url });
  await client.connect();
  const { rows } = await client.query<{ one: number }>('SELECT 1 AS one');
  expect(rows).toEqual([{ one: 1 }]);
  await client.end();
  await server.stop();
  await expect(new pg.Client({ connectionString: server.url }).connect()).rejects.toMatchObject({
    code: 'ECONNREFUSED',
  });
});

test('a replica of it has what it has, takes nothing itself, and follows', async () => {
  const server = await launchPostgres();
  const replica = await server?.replica();
  if (!server || !replica) {
    expect(process.env.CI).toBeUndefined();
    await server?.stop();
    return;
  }
  try {
    await asked(server.url, 'CREATE TABLE copied AS SELECT 1 AS one');
    const deadline = Date.now() + 60_000;
    const follows = (): Promise<boolean> =>
      asked(replica.url, 'SELECT one FROM copied').then(
        () => true,
        () => false,
      );
    while (!(await follows()) && Date.now() < deadline)
      await new Promise((resolve) => setTimeout(resolve, 20));
    expect(await asked(replica.url, 'SELECT one FROM copied')).toEqual([{ one: 1 }]);
    await expect(asked(replica.url, 'INSERT INTO copied VALUES (2)')).rejects.toMatchObject({
      code: '25006',
    });
  } finally {
    await replica.stop();
    await server.stop();
  }
});

test('a MariaDB server of the tests’ own has the settings that tests rely on, and leaves nothing behind', async () => {
  const server = await launchMariadb();
  if (!server) {
    expect(process.env.CI).toBeUndefined();
    return;
  }
  const [settings] = await selectFromMariadb(
    server.url,
    `SELECT @@innodb_flush_log_at_trx_commit AS durable, @@max_connections AS connections,
            @@collation_server AS collation, @@tx_isolation AS isolation, @@GLOBAL.sql_mode AS mode, @@datadir AS folder`,
  );
  expect(settings).toEqual({
    durable: 0,
    connections: 200,
    collation: 'utf8mb4_general_ci',
    isolation: 'REPEATABLE-READ',
    mode: 'STRICT_TRANS_TABLES,ERROR_FOR_DIVISION_BY_ZERO,NO_AUTO_CREATE_USER,NO_ENGINE_SUBSTITUTION',
    folder: expect.stringContaining('restify-mariadb-'),
  });
  await server.stop();
  expect(existsSync(String(settings?.folder))).toBe(false);
  await expect(selectFromMariadb(server.url, 'SELECT 1')).rejects.toMatchObject({ code: 'ECONNREFUSED' });
});

test('a server that the tests have started ends with their process, however that ends', async () => {
  const script = `
    const { launchMariadb } = require(${JSON.stringify(LAUNCHER)});
    launchMariadb().then((server) => {
      console.log(server ? server.url : 'none');
      setInterval(() => undefined, 1000);
    });`;
  const child = spawn(process.execPath, ['-e', script], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...process.env, NODE_OPTIONS: '' },
  });
  const [url = ''] = (await once(createInterface(child.stdout), 'line')) as [string?];
  if (url === 'none') {
    child.kill('SIGKILL');
    expect(process.env.CI).toBeUndefined();
    return;
  }
  const [settings] = await selectFromMariadb(url, 'SELECT @@datadir AS folder');
  const folder = String(settings?.folder);
  expect(existsSync(folder)).toBe(true);
  child.kill('SIGKILL');
  const deadline = Date.now() + 60_000;
  while (existsSync(folder) && Date.now() < deadline) await new Promise((resolve) => setTimeout(resolve, 20));
  expect(existsSync(folder)).toBe(false);
  await expect(selectFromMariadb(url, 'SELECT 1')).rejects.toMatchObject({ code: 'ECONNREFUSED' });
});

async function selectFromMariadb(url: string, sql: string): Promise<readonly RowDataPacket[]> {
  const connection = await createConnection({ uri: url.replace(/^mariadb:/, 'mysql:') });
  return connection
    .query<RowDataPacket[]>(sql)
    .then(([rows]) => rows)
    .finally(() => connection.end());
}

async function asked(connectionString: string, sql: string): Promise<readonly object[]> {
  const client = new pg.Client({ connectionString });
  await client.connect();
  return client
    .query<object>(sql)
    .then(({ rows }) => rows)
    .finally(() => client.end());
}
