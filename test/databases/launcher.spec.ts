import { expect, test } from '@jest/globals';
import pg from 'pg';
import { launchPostgres } from '../support/launch-postgres.cjs';

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
    const deadline = Date.now() + 10_000;
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

async function asked(connectionString: string, sql: string): Promise<readonly object[]> {
  const client = new pg.Client({ connectionString });
  await client.connect();
  return client
    .query<object>(sql)
    .then(({ rows }) => rows)
    .finally(() => client.end());
}
