// @tags core
import { expect, test } from '@jest/globals';
import pg from 'pg';
import { probeReusable } from './pg.js';

test('a client of the installed pg has the state whether its pool reuses it', async () => {
  const client = new pg.Client({ host: '127.0.0.1', port: 1 });
  expect(probeReusable(client)).toBe(true);
  await client.end();
  expect(probeReusable(client)).toBe(false);
});

test.each([
  ['without marks', {}],
  ['with one of them', { _queryable: true }],
  ['with marks of another kind', { _queryable: 'yes', _ending: 0 }],
])('a client %s does not have that state', (_, client) => {
  expect(probeReusable(client)).toBeUndefined();
});
