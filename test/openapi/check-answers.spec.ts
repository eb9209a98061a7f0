// @tags core
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { Restify } from 'nestjs-restify';
import { Column, Entity, PrimaryGeneratedColumn } from 'typeorm';
import { AnswerCheck } from '../support/check-answers.js';
import { startApp } from '../support/start-app.js';
import type { StartedApp } from '../support/start-app.js';

@Restify({ app: 'held', operations: ['list', 'retrieve'] })
@Entity()
class Held {
  @PrimaryGeneratedColumn()
  id: number;

  @Column({ type: 'datetime' })
  at: Date;
}

let started: StartedApp;
let planted: AnswerCheck;
beforeAll(async () => {
  started = await startApp({ entities: [Held] });
  planted = new AnswerCheck(started.app);
});
afterAll(() => started.close());

const HELD = { id: 1, at: '2022-10-02T09:23:28.297Z' };

function check(
  method: string,
  path: string,
  status: number,
  json?: unknown,
  type = 'application/json',
): () => void {
  return () => {
    planted.check(
      { method, path },
      {
        status,
        headers: { 'content-type': type },
        text: json === undefined ? '' : JSON.stringify(json),
        json,
      },
    );
  };
}

test('an answer is taken as the document describes it', () => {
  expect(check('GET', '/rest/v1/held/held/', 200, [HELD])).not.toThrow();
  expect(check('GET', '/rest/v1/held/held/1?x', 200, HELD)).not.toThrow();
  expect(check('GET', '/rest/v1/held/held/9/', 404, { detail: 'Not found.' })).not.toThrow();
  expect(check('POST', '/rest/v1/held/held/', 405, { detail: 'Method "POST" not allowed.' })).not.toThrow();
});

test.each<readonly [string, () => void, RegExp]>([
  [
    'a field that is not described',
    check('GET', '/rest/v1/held/held/1/', 200, { ...HELD, more: 1 }),
    /must NOT have additional properties/,
  ],
  [
    'a field that is left out',
    check('GET', '/rest/v1/held/held/1/', 200, { id: 1 }),
    /must have required property 'at'/,
  ],
  ['another type', check('GET', '/rest/v1/held/held/', 200, [{ ...HELD, id: '1' }]), /must be integer/],
  [
    'another format',
    check('GET', '/rest/v1/held/held/', 200, [{ ...HELD, at: 'yesterday' }]),
    /must match format/,
  ],
  ['another status', check('GET', '/rest/v1/held/held/', 202, []), /does not have this status/],
  [
    'another media type',
    check('GET', '/rest/v1/held/held/', 200, [], 'text/json'),
    /in the document application\/json/,
  ],
  [
    'a description with a member that its schema lacks',
    check(
      'GET',
      '/rest/v1/held/held/',
      200,
      { name: 'Held List', more: 1 },
      'application/vnd.restify.description+json',
    ),
    /must have required property|must NOT have additional properties/,
  ],
  ['a method that is not described', check('POST', '/rest/v1/held/held/', 201, HELD), /has no POST/],
  [
    'an error of another form',
    check('GET', '/rest/v1/held/held/9/', 404, { error: 'Not found.' }),
    /does not match the schema/,
  ],
])('%s is refused', (_, answer, message) => {
  expect(answer).toThrow(message);
});

test('every answer to a client is looked at', async () => {
  const { described, refused } = started.checked;
  await started.client.get('/rest/v1/held/held/');
  await started.client.post('/rest/v1/held/held/', {});
  expect(started.checked).toEqual({ described: described + 1, refused: refused + 1 });
});
