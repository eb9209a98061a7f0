// @tags nest
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { Action, ParentPk, Restify, RestifyController } from 'nestjs-restify';
import { Column, Entity, PrimaryColumn } from 'typeorm';
import { startApp } from '../support/start-app.js';
import type { StartedApp } from '../support/start-app.js';

@Restify('path')
@Entity('path_code')
class PathCode {
  @PrimaryColumn({ length: 20 }) code: string;
  @Column({ length: 20, default: '' }) note: string;
}

@RestifyController(PathCode)
class PathCodeController {
  @Action({ detail: false, methods: ['GET'] })
  recent(): object {
    return { action: 'recent' };
  }

  @Action({ detail: true, methods: ['GET'] })
  about(@ParentPk() pk: string): object {
    return { action: 'about', pk };
  }
}

let started: StartedApp;
beforeAll(async () => {
  started = await startApp({ entities: [PathCode], controllers: [PathCodeController] });
  for (const code of ['recent', 'recent/about', 'a/b', 'Recent'])
    await started.client.post('/rest/v1/path/pathcode/', { code });
});
afterAll(() => started.close());

test('the path of an action wins over an object whose key has that text', async () => {
  const { client } = started;
  for (const path of ['/rest/v1/path/pathcode/recent/', '/rest/v1/path/pathcode/recent']) {
    expect((await client.get(path)).json).toEqual({ action: 'recent' });
    const refused = await client.patch(path, { note: 'x' });
    expect([refused.status, refused.headers.allow]).toEqual([405, 'GET, HEAD, OPTIONS']);
  }
  expect((await client.get('/rest/v1/path/pathcode/Recent/')).json).toMatchObject({ code: 'Recent' });
  expect((await client.get('/rest/v1/path/pathcode/recent/about/')).json).toEqual({
    action: 'about',
    pk: 'recent',
  });
});

test('an encoded slash is part of the key, for actions as for objects', async () => {
  const { client } = started;
  expect((await client.get('/rest/v1/path/pathcode/recent%2Fabout/')).json).toMatchObject({
    code: 'recent/about',
  });
  expect((await client.get('/rest/v1/path/pathcode/a%2Fb/about/')).json).toEqual({
    action: 'about',
    pk: 'a/b',
  });
  expect((await client.get('/rest/v1/path/pathcode/a/b/about/')).status).toBe(404);
});
