// @tags nest
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { Controller, Get, Param } from '@nestjs/common';
import { restify, RestifyModule } from 'nestjs-restify';
import { EntitySchema } from 'typeorm';
import { startApp } from '../support/start-app.js';
import type { StartedApp } from '../support/start-app.js';

const MODELS = Array.from({ length: 12 }, (_, index) => `Many${index}`);

const ENTITIES = MODELS.map((name, index) => {
  const schema = new EntitySchema<{ id: number; name: string }>({
    name,
    tableName: name.toLowerCase(),
    columns: { id: { type: Number, primary: true, generated: true }, name: { type: String, length: 75 } },
  });
  restify(schema, { app: index % 2 ? 'odd' : 'even' });
  return schema;
});

/** Its path below the prefix `rest` is that of the app `odd` below the prefix `rest/v1`. */
const ABOVE = new EntitySchema<{ id: number }>({
  name: 'ManyAbove',
  tableName: 'manyabove',
  columns: { id: { type: Number, primary: true, generated: true } },
});
restify(ABOVE, { app: 'v1', name: 'odd' });

@Controller()
class OwnController {
  @Get('rest/v1/even/many0/own')
  own(): object {
    return { own: true };
  }

  @Get('elsewhere/:id')
  elsewhere(@Param('id') id: string): object {
    return { id };
  }
}

/** How many steps Express has at its first level: what every request may have to walk. */
function steps(started: StartedApp): number {
  return (started.app.getHttpAdapter().getInstance() as { router: { stack: unknown[] } }).router.stack.length;
}

describe.each(['', 'api', 'api/:tenant'])('many models below the global prefix "%s"', (prefix) => {
  const base = prefix === '' ? '' : `/${prefix.replace(':tenant', 'acme')}`;
  let started: StartedApp;
  beforeAll(async () => {
    started = await startApp({
      entities: ENTITIES,
      controllers: [OwnController],
      configure: (app) => {
        if (prefix !== '') app.setGlobalPrefix(prefix);
      },
    });
  });
  afterAll(() => started.close());

  test('are each found, with every method, by every form of their path', async () => {
    for (const [index, name] of MODELS.entries()) {
      const path = `${base}/rest/v1/${index % 2 ? 'odd' : 'even'}/${name.toLowerCase()}`;
      expect((await started.client.post(`${path}/`, { name })).json).toEqual({ id: 1, name });
      expect((await started.client.get(path)).json).toEqual([{ id: 1, name }]);
      expect((await started.client.get(`${path}/?name=x`)).json).toEqual([]);
      expect((await started.client.patch(`${path}/1/`, { name: 'new' })).json).toEqual({
        id: 1,
        name: 'new',
      });
      expect((await started.client.get(`${path}/1`)).json).toEqual({ id: 1, name: 'new' });
      expect((await started.client.put(`${path}/`, {})).status).toBe(405);
      expect((await started.client.send('OPTIONS', `${path}/1/`)).headers.allow).toBe(
        'GET, PUT, PATCH, DELETE, HEAD, OPTIONS',
      );
      expect((await started.client.send('HEAD', `${path}/`)).status).toBe(200);
      expect((await started.client.delete(`${path}/1/`)).status).toBe(204);
    }
  });

  test('are not found by what is no path of theirs', async () => {
    for (const path of [
      'rest/v1/odd/many0/',
      'rest/v1/even/MANY0/',
      'rest/v1/even/many0/1/x/',
      'rest/v1/even/',
      'rest/v1/even/many%30/',
      'rest/v1//even/many0/',
      'rest/v1/even/many00/',
    ]) {
      const answer = await started.client.get(`${base}/${path}`);
      expect([path, answer.status, answer.json]).toEqual([path, 404, { detail: 'Not found.' }]);
    }
    expect((await started.client.get(`${base}/rest/v1/even/many0/%zz/`)).status).toBe(404);
  });

  test("leave the application's own routes where they are", async () => {
    expect((await started.client.get(`${base}/elsewhere/7`)).json).toEqual({ id: '7' });
    // Nest registered it before ours, or behind: its place has not changed.
    expect((await started.client.get(`${base}/rest/v1/even/many0/own`)).json).toEqual({ own: true });
  });

  test('are one step on the way of a request, not one each', () => {
    const walked = steps(started);
    if (prefix.includes(':')) expect(walked).toBeGreaterThan(MODELS.length);
    else expect(walked).toBeLessThan(30);
  });
});

test('a model whose path begins with that of another one is found, and so is the other', async () => {
  const started = await startApp({
    entities: [ABOVE, ...ENTITIES],
    restifyModules: [RestifyModule.forRoot('rest'), RestifyModule.forRoot('rest/v1', { index: false })],
  });
  try {
    const { client } = started;
    expect((await client.post('/rest/odd/many1/', { name: 'a' })).json).toEqual({ id: 1, name: 'a' });
    expect((await client.post('/rest/v1/odd/')).json).toEqual({ id: 1 });
    expect((await client.get('/rest/v1/odd/1/')).json).toEqual({ id: 1 });
    expect((await client.get('/rest/v1/odd/many1/1/')).json).toEqual({ id: 1, name: 'a' });
    expect((await client.get('/rest/v1/odd/many1/1/x/')).status).toBe(404);
  } finally {
    await started.close();
  }
});
