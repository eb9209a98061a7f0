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
  await expect(new pg.Client({ connectionString: server.url }).connect()).rejects.toMatchObject({ code: 'ECONNREFUSED' });
});
