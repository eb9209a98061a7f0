// @tags core
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { Restify } from 'nestjs-restify';
import { Column, Entity, PrimaryGeneratedColumn } from 'typeorm';
import { startApp } from '../support/start-app.js';
import type { StartedApp } from '../support/start-app.js';

@Restify({ app: 'malformed', conditional: true })
@Entity('malformed_note')
class MalformedNote {
  @PrimaryGeneratedColumn() id: number;
  @Column() text: string;
}

let started: StartedApp;
beforeAll(async () => {
  started = await startApp({ entities: [MalformedNote] });
  await started.client.post('/rest/v1/malformed/malformednote/', { text: 'a' });
});
afterAll(() => started.close());

// Found by trial:fuzz: a read with such a header was answered with 200.
test.each(['bare', 'W/bare', '"open', '"a" "b"', ''])(
  'a GET with the If-Match %j, which is no list of tags, matches nothing: 412 (contract 13.4)',
  async (tags) => {
    const url = '/rest/v1/malformed/malformednote/1/';
    const answer = await started.client.get(url, { headers: { 'If-Match': tags } });
    expect([answer.status, answer.json]).toEqual([
      412,
      { detail: 'Precondition failed: the object is not as the request says.' },
    ]);
  },
);

test('a GET with an If-None-Match that is no list of tags is answered', async () => {
  const url = '/rest/v1/malformed/malformednote/1/';
  expect((await started.client.get(url, { headers: { 'If-None-Match': 'bare' } })).status).toBe(200);
});
