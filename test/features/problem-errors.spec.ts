// @tags db http
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { IsAuthenticated, Restify } from 'nestjs-restify';
import { Column, Entity, PrimaryGeneratedColumn } from 'typeorm';
import { onEachDatabase } from '../support/each-database.js';
import { startApp } from '../support/start-app.js';
import type { StartedApp } from '../support/start-app.js';

@Restify('problems')
@Entity('problems_item')
class Item {
  @PrimaryGeneratedColumn()
  id: number;

  @Column({ length: 5, unique: true })
  detail: string;

  @Column({ default: 0 })
  size: number;
}

@Restify({ app: 'problems', permissions: [IsAuthenticated] })
@Entity('problems_secret')
class Secret {
  @PrimaryGeneratedColumn()
  id: number;
}

const ITEMS = '/rest/v1/problems/item/';

onEachDatabase('errors as problems of RFC 9457', (database) => {
  let started: StartedApp;
  beforeAll(async () => {
    started = await startApp({ database, entities: [Item, Secret], restify: { errorFormat: 'problem' } });
    await started.client.post(ITEMS, { detail: 'one' });
  });
  afterAll(() => started.close());

  test.each([
    ['GET', `${ITEMS}9/`, undefined, { title: 'Not Found', status: 404, detail: 'Not found.' }],
    ['GET', '/rest/v1/problems/none/', undefined, { title: 'Not Found', status: 404, detail: 'Not found.' }],
    [
      'POST',
      '/rest/v1',
      undefined,
      { title: 'Method Not Allowed', status: 405, detail: 'Method "POST" not allowed.' },
    ],
    ['GET', '/rest/v1/none', undefined, { title: 'Not Found', status: 404, detail: 'Not found.' }],
    ['PUT', ITEMS, '{}', { title: 'Method Not Allowed', status: 405, detail: 'Method "PUT" not allowed.' }],
    [
      'PURGE',
      ITEMS,
      undefined,
      { title: 'Method Not Allowed', status: 405, detail: 'Method "PURGE" not allowed.' },
    ],
    [
      'GET',
      '/rest/v1/problems/secret/',
      undefined,
      { title: 'Forbidden', status: 403, detail: 'You do not have permission to perform this action.' },
    ],
    [
      'POST',
      ITEMS,
      '{"detail": 1, "size": "x"',
      { title: 'Bad Request', status: 400, detail: expect.stringMatching(/^JSON parse error - /) as unknown },
    ],
    [
      'POST',
      ITEMS,
      '{"size": "x"}',
      {
        title: 'Bad Request',
        status: 400,
        detail: 'The request has invalid fields.',
        errors: { detail: ['This field is required.'], size: ['A valid integer is required.'] },
      },
    ],
    [
      'POST',
      ITEMS,
      '{"detail": "one"}',
      {
        title: 'Bad Request',
        status: 400,
        detail: 'The request has invalid fields.',
        errors: { detail: ['This field must be unique.'] },
      },
    ],
    [
      'POST',
      ITEMS,
      '[]',
      {
        title: 'Bad Request',
        status: 400,
        detail: 'The request has invalid fields.',
        errors: { non_field_errors: ['Invalid data. Expected a dictionary, but got list.'] },
      },
    ],
    [
      'GET',
      `${ITEMS}?size=x`,
      undefined,
      {
        title: 'Bad Request',
        status: 400,
        detail: 'The request has invalid fields.',
        errors: { size: ['Enter a number.'] },
      },
    ],
    [
      'POST',
      '/',
      undefined,
      { title: 'Method Not Allowed', status: 405, detail: 'Method "POST" not allowed.' },
    ],
  ])('%s %s', async (method, path, raw, problem) => {
    const { status, headers, json } = await started.client.send(
      method,
      path,
      raw === undefined ? {} : { raw, headers: { 'content-type': 'application/json' } },
    );
    expect([status, headers['content-type'], headers['x-frame-options']]).toEqual([
      problem.status,
      'application/problem+json',
      'DENY',
    ]);
    expect(json).toEqual({ type: 'about:blank', ...problem });
  });

  test('a media type, an Accept and a body that is too large', async () => {
    const refused = [
      await started.client.send('POST', ITEMS, { raw: 'x', headers: { 'content-type': 'text/plain' } }),
      await started.client.get(ITEMS, { headers: { accept: 'text/html' } }),
      await started.client.send('POST', ITEMS, {
        raw: `"${'x'.repeat(200_000)}"`,
        headers: { 'content-type': 'application/json' },
      }),
    ];
    expect(
      refused.map(({ status, headers, json }) => [
        status,
        headers['content-type'],
        (json as { status: number }).status,
      ]),
    ).toEqual([415, 406, 413].map((status) => [status, 'application/problem+json', status]));
  });

  test('what succeeds is as it is', async () => {
    const { status, headers, json } = await started.client.get(`${ITEMS}1/`);
    expect([status, headers['content-type'], json]).toEqual([
      200,
      'application/json',
      { id: 1, detail: 'one', size: 0 },
    ]);
  });
});
