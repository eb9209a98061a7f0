// @tags http nest
import './on-fastify.js';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { Body, Controller, Get, Module, Param, Post, Res, Version, VersioningType } from '@nestjs/common';
import type { INestApplication, MiddlewareConsumer, NestModule, Type } from '@nestjs/common';
import type { FastifyInstance } from 'fastify';
import {
  Action,
  basic,
  ChildPk,
  IsAuthenticated,
  MANY_TO_MANY_DETAIL_ACTION,
  NestedAction,
  Restify,
  RestifyController,
} from 'nestjs-restify';
import { Entity, JoinTable, ManyToMany, PrimaryColumn, Column } from 'typeorm';
import type { Relation } from 'typeorm';
import { createServer } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { chunked, sendRaw } from '../features/raw-request.js';
import { Client } from '../support/client.js';
import type { Answer } from '../support/client.js';
import { startApp } from '../support/start-app.js';
import type { StartedApp } from '../support/start-app.js';

@Entity()
@Restify('fa')
class FaTag {
  @PrimaryColumn({ type: 'varchar', length: 250 }) code!: string;
  @ManyToMany(() => FaNote, (note) => note.tags) notes!: Relation<FaNote>[];
}

@Entity()
@Restify('fa')
class FaNote {
  @PrimaryColumn({ type: 'varchar', length: 250 }) code!: string;
  @Column({ type: 'varchar', default: '' }) text!: string;
  @ManyToMany(() => FaTag, (tag) => tag.notes)
  @JoinTable()
  tags!: Relation<FaTag>[];
}

@Entity()
@Restify({
  app: 'fa',
  permissions: [IsAuthenticated],
  authentication: [basic((name) => (name === 'ann' ? { name } : null))],
})
class FaSecret {
  @PrimaryColumn({ type: 'varchar' }) code!: string;
}

const ENTITIES = [FaTag, FaNote, FaSecret];
const NOTES = '/rest/v1/fa/fanote/';
const NOT_FOUND = { detail: 'Not found.' };
const LONG = 'k'.repeat(240);

@RestifyController(FaNote)
class FaNotes {
  @Action({ detail: true })
  told(@Param('pk') pk: string, @Param() parameters: object): object {
    return { pk, parameters };
  }

  @Action({ detail: false, methods: ['POST'] })
  form(@Body() body: unknown): object {
    return { body: body ?? null };
  }

  @Action({ detail: false })
  own(@Res() reply: { code(status: number): { send(body: object): void } }): void {
    reply.code(203).send({ own: true });
  }

  @Version('3')
  @Action({ detail: false })
  third(): object {
    return { version: 3 };
  }

  @NestedAction()
  [MANY_TO_MANY_DETAIL_ACTION + 'tags'](
    @Param('childId') segments: unknown,
    @ChildPk() child: string,
  ): object {
    return { segments, child };
  }
}

@RestifyController(FaSecret)
class FaSecrets {
  @Action({ detail: false, methods: ['POST'] })
  form(@Body() body: unknown): object {
    return { body: body ?? null };
  }
}

const CONTROLLERS = [FaNotes, FaSecrets];

@Controller()
class OwnController {
  @Get('rest/v1/fa/fanote/own/place')
  place(): object {
    return { own: true };
  }

  @Get('*')
  everything(): object {
    return { everything: true };
  }

  @Post('own')
  post(@Body() body: unknown): object {
    return { body };
  }
}

function instanceOf(app: INestApplication): FastifyInstance {
  return app.getHttpAdapter().getInstance() as FastifyInstance;
}

describe('an application on Fastify', () => {
  let started: StartedApp;
  /** What sends the answers of requests that ask for it. */
  const sends: unknown[] = [];
  beforeAll(async () => {
    started = await startApp({
      entities: ENTITIES,
      controllers: [...CONTROLLERS, OwnController],
      // What a hook of the application answers.
      undescribed: [451],
      configure: (app) => {
        const instance = instanceOf(app);
        instance.addHook('preHandler', (request, reply, done) => {
          if (request.headers['x-stop'] === undefined) done();
          else void reply.code(451).send({ stopped: true });
        });
        instance.addHook('preHandler', (request, _reply, done) => {
          done(request.headers['x-fail'] === 'request' ? new Error('secret') : undefined);
        });
        instance.addHook('onSend', (request, reply, payload, done) => {
          reply.header('set-cookie', 'seen=1');
          if (request.headers['x-sends'] !== undefined)
            sends.push(Object.getOwnPropertyDescriptor(reply, 'send')?.value);
          const fails = request.headers['x-fail'] === 'send' && reply.statusCode === 200;
          setImmediate(() => {
            if (fails) done(new Error('secret'));
            else done(null, payload);
          });
        });
        // For what the application's own routes send.
        instance.addHook('onRequest', (request, reply, done) => {
          if (request.headers['x-serializer'] !== undefined)
            reply.serializer((payload: unknown) => JSON.stringify({ payload }));
          if (request.headers['x-early'] === undefined) done();
          else void reply.code(451).header('x-frame-options', 'SAMEORIGIN').send({ early: true });
        });
        app.enableCors({ origin: ['http://a.example', 'http://b.example'] });
      },
    });
    for (const code of ['one', LONG, 'a/b c']) await started.client.post(NOTES, { code });
    await started.client.post('/rest/v1/fa/fatag/', { code: 'x' });
  });
  afterAll(() => started.close());

  test('finds rows by keys that are longer than its router takes parameters for', async () => {
    const { client } = started;
    expect((await client.get(`${NOTES}${LONG}/`)).json).toMatchObject({ code: LONG });
    expect((await client.get(`${NOTES}${LONG}/tags/`)).json).toEqual([]);
    expect((await client.get(`${NOTES}${'k'.repeat(3000)}/`)).json).toEqual(NOT_FOUND);
    const told = await client.get(`${NOTES}${LONG}/told/`);
    expect(told.json).toEqual({ pk: LONG, parameters: { pk: LONG } });
  });

  test("gives the keys of a URL to @Param, decoded, the child's as segments", async () => {
    const { client } = started;
    expect((await client.get(`${NOTES}a%2Fb%20c/told`)).json).toEqual({
      pk: 'a/b c',
      parameters: { pk: 'a/b c' },
    });
    expect((await client.get(`${NOTES}one/tags/p/q%20r/`)).json).toEqual({
      segments: ['p', 'q r'],
      child: 'p/q r',
    });
  });

  test("hears the application's hooks around generated answers, those that take their time included", async () => {
    for (const [method, path, status] of [
      ['GET', NOTES, 200],
      ['HEAD', NOTES, 200],
      ['GET', `${NOTES}one/`, 200],
      ['GET', `${NOTES}none/`, 404],
      ['PURGE', NOTES, 405],
      ['TRACE', NOTES, 405],
      ['GET', '/rest/v1/none/', 404],
    ] as const) {
      const answer = await started.client.send(method, path);
      expect([
        method,
        path,
        answer.status,
        answer.headers['set-cookie'],
        answer.headers['x-frame-options'],
      ]).toEqual([method, path, status, ['seen=1'], 'DENY']);
      if (method !== 'HEAD') expect(answer.headers['content-type']).toBe('application/json');
    }
  });

  test('gives its texts to no serializer that the application has set on a reply', async () => {
    const plain = await started.client.get(`${NOTES}one/`);
    const answer = await started.client.get(`${NOTES}one/`, { headers: { 'x-serializer': '1' } });
    expect([answer.status, answer.text, answer.headers['content-type']]).toEqual([
      200,
      plain.text,
      'application/json',
    ]);
  });

  test.each([
    ['broken JSON', 'application/json', '{'],
    ['no JSON', 'text/plain', 'x'],
    ['an invalid type', 'nonsense', 'x'],
    ['too much', 'application/json', `"${'x'.repeat(200_000)}"`],
    ['a form', 'application/x-www-form-urlencoded', 'a=1'],
    ['nothing of the announced coding', 'application/json', 'x'],
  ])("runs the application's preHandler hooks whatever the body is: %s", async (what, type, raw) => {
    const { client } = started;
    await client.post(NOTES, { code: 'kept' });
    const headers = {
      'content-type': type,
      'x-stop': '1',
      ...(what.startsWith('nothing') ? { 'content-encoding': 'gzip' } : {}),
    };
    for (const [method, path] of [
      ['POST', NOTES],
      ['PATCH', `${NOTES}kept/`],
      ['DELETE', `${NOTES}kept/`],
    ] as const) {
      const answer = await client.send(method, path, { raw, headers });
      expect([method, answer.status]).toEqual([method, 451]);
    }
    expect((await client.get(`${NOTES}kept/`)).status).toBe(200);
    expect(
      (await client.send('DELETE', `${NOTES}kept/`, { raw, headers: { ...headers, 'x-stop': '' } })).status,
    ).toBe(451);
  });

  test('deletes whatever the body is, where no hook rejects it', async () => {
    for (const [type, raw] of [
      ['application/json', '{'],
      ['nonsense', 'x'],
      ['text/plain', 'x'.repeat(200_000)],
    ] as const) {
      await started.client.post(NOTES, { code: 'gone' });
      const answer = await started.client.send('DELETE', `${NOTES}gone/`, {
        raw,
        headers: { 'content-type': type },
      });
      expect([type, answer.status, answer.text]).toEqual([type, 204, '']);
    }
  });

  test("gives an action the body as the application's own parsers read it", async () => {
    const { client } = started;
    const form = await client.post(`${NOTES}form/`, undefined, {
      raw: 'a=1&b=x',
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
    });
    expect([form.status, form.json]).toEqual([200, { body: { a: '1', b: 'x' } }]);
    expect((await client.post(`${NOTES}form/`, { a: [1] })).json).toEqual({ body: { a: [1] } });
    expect((await client.post(`${NOTES}form/`)).json).toEqual({ body: null });
    const unknown = await client.post(`${NOTES}form/`, undefined, {
      raw: 'x',
      headers: { 'content-type': 'image/x' },
    });
    expect([unknown.status, unknown.json, unknown.headers['content-type']]).toEqual([
      415,
      { detail: 'Unsupported media type "image/x" in request.' },
      'application/json',
    ]);
  });

  test("reports an error of an action's body only to a caller who may send one", async () => {
    const { client } = started;
    const large = {
      raw: `a=${'x'.repeat(200_000)}`,
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
    };
    expect((await client.post(`${NOTES}form/`, undefined, large)).status).toBe(413);
    expect((await client.post('/rest/v1/fa/fasecret/form/', undefined, large)).status).toBe(401);
    const ann = { authorization: `Basic ${Buffer.from('ann:x').toString('base64')}` };
    expect(
      (
        await client.post('/rest/v1/fa/fasecret/form/', undefined, {
          ...large,
          headers: { ...large.headers, ...ann },
        })
      ).status,
    ).toBe(413);
  });

  test('adds to the Vary of CORS, in what the application answers itself too', async () => {
    const headers = { origin: 'http://a.example' };
    const own = await started.client.get(NOTES, { headers });
    expect([own.headers.vary, own.headers['access-control-allow-origin']]).toEqual([
      'Origin, Accept, Cookie',
      'http://a.example',
    ]);
    const answered = await started.client.get(NOTES, { headers: { ...headers, 'x-stop': '1' } });
    expect([answered.status, answered.headers.vary, answered.headers.allow]).toEqual([
      451,
      'Origin, Accept, Cookie',
      'GET, POST, HEAD, OPTIONS',
    ]);
  });

  test('gives its headers to what a hook in front of all others answers, and none to answers elsewhere', async () => {
    const headers = { 'x-early': '1' };
    const early = await started.client.get(NOTES, { headers });
    expect([early.status, early.json]).toEqual([451, { early: true }]);
    expect(early.headers).toMatchObject({
      allow: 'GET, POST, HEAD, OPTIONS',
      vary: 'Origin, Accept, Cookie',
      'x-content-type-options': 'nosniff',
      'x-frame-options': 'SAMEORIGIN',
    });
    const elsewhere = await started.client.get('/elsewhere', { headers });
    expect([elsewhere.status, elsewhere.headers.allow]).toEqual([451, undefined]);
  });

  test("leaves the application's own routes alone, a catch-all too, and answers unknown paths below the prefix itself", async () => {
    const { client } = started;
    expect((await client.get('/rest/v1/fa/fanote/own/place')).json).toEqual({ own: true });
    const elsewhere = await client.get('/elsewhere');
    expect([elsewhere.json, elsewhere.headers.allow]).toEqual([{ everything: true }, undefined]);
    for (const path of ['/rest/v1/none/', '/rest/v1/fa/fanote/one/none/', '/rest/v1//']) {
      const answer = await client.get(path);
      expect([path, answer.status, answer.json, answer.headers.allow]).toEqual([path, 404, NOT_FOUND, '']);
    }
    for (const path of ['/rest/v1', '/rest/v1/'])
      expect(await client.get(path)).toMatchObject({
        status: 200,
        json: { 'rest/v1/fa/fanote': expect.any(String) },
        headers: { allow: 'GET, HEAD, OPTIONS' },
      });
    const own = await client.post('/own', undefined, {
      raw: '{',
      headers: { 'content-type': 'application/json' },
    });
    expect([own.status, own.json]).toMatchObject([400, { statusCode: 400 }]);
  });

  test('answers what comes past its own server, as what is injected does', async () => {
    const instance = instanceOf(started.app);
    const server = createServer((request, response) => {
      instance.routing(request, response);
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    try {
      const client = new Client((server.address() as AddressInfo).port);
      expect((await client.get(`${NOTES}one`)).json).toMatchObject({ code: 'one' });
      for (const broken of ['%', '%ZZ', '%FF', 'a%E0%A4b', 'one/tags/%ZZ']) {
        const answer = await client.get(`${NOTES}${broken}/`);
        expect([broken, answer.status, answer.json]).toEqual([broken, 404, NOT_FOUND]);
      }
    } finally {
      server.closeAllConnections();
      server.close();
    }
  });

  test('has nothing of its own on a reply that would hold it in memory behind its answer', async () => {
    const headers = { 'x-sends': '1' };
    for (const path of [NOTES, NOTES, `${NOTES}own/`]) await started.client.get(path, { headers });
    expect(sends).toHaveLength(3);
    expect(new Set(sends).size).toBe(1);
  });

  test('lets an action answer by itself, while hooks still hold its answer', async () => {
    const own = await started.client.get(`${NOTES}own/`);
    expect([own.status, own.json]).toEqual([203, { own: true }]);
    expect((await started.client.get(`${NOTES}own/`)).status).toBe(203);
  });

  test('responds with 500 without the cause if a hook of the application fails', async () => {
    for (const hook of ['request', 'send']) {
      const answer = await started.client.get(NOTES, { headers: { 'x-fail': hook } });
      expect([hook, answer.status, answer.json, answer.headers['content-type']]).toEqual([
        hook,
        500,
        { detail: 'A server error occurred.' },
        'application/json',
      ]);
    }
  });

  test('takes a body in chunks, and none, and refuses one that never was announced whole', async () => {
    const head = ['Content-Type: application/json', 'Transfer-Encoding: chunked'];
    const created = await sendRaw(
      started.port,
      [`POST ${NOTES} HTTP/1.1`, ...head],
      chunked('{"code": ', '"chunks"}'),
    );
    expect([created.status, created.json]).toMatchObject([201, { code: 'chunks' }]);
    const empty = await sendRaw(started.port, [`PATCH ${NOTES}chunks/ HTTP/1.1`, ...head], chunked());
    expect([empty.status, empty.json]).toMatchObject([200, { code: 'chunks' }]);
  });
});

describe('a version that stands in a header', () => {
  test('is required on generated routes as on routes of the application', async () => {
    const started = await startApp({
      entities: ENTITIES,
      controllers: CONTROLLERS,
      // Without its header a URL is none.
      undescribed: [404],
      configure: (app) =>
        app.enableVersioning({ type: VersioningType.HEADER, header: 'x-version', defaultVersion: '2' }),
    });
    try {
      const { client } = started;
      const asked = { headers: { 'x-version': '2' } };
      expect((await client.post(NOTES, { code: 'v' }, asked)).status).toBe(201);
      expect((await client.get(`${NOTES}v`, asked)).json).toMatchObject({ code: 'v' });
      expect((await client.get(`${NOTES}v/told/`, asked)).json).toEqual({ pk: 'v', parameters: { pk: 'v' } });
      expect([
        (await client.patch(`${NOTES}v/`, {}, asked)).status,
        (await client.post(`${NOTES}v/`, {}, asked)).status,
        (await client.send('OPTIONS', NOTES, asked)).status,
      ]).toEqual([200, 405, 200]);
      for (const headers of [{}, { 'x-version': '1' }] as readonly Record<string, string>[]) {
        const ofObjects = ['GET', 'HEAD', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'];
        const routes: readonly (readonly [string, string])[] = [
          ...['GET', 'HEAD', 'POST', 'OPTIONS'].map((method) => [method, NOTES] as const),
          ...ofObjects.map((method) => [method, `${NOTES}v/`] as const),
        ];
        for (const [method, path] of routes) {
          const other = await client.send(method, path, {
            headers,
            ...(method === 'POST' ? { body: { code: 'w' } } : {}),
          });
          expect([method, path, other.status, other.json]).toEqual([
            method,
            path,
            404,
            method === 'HEAD' ? undefined : NOT_FOUND,
          ]);
        }
      }
      expect((await client.get(NOTES, asked)).json).toMatchObject([{ code: 'v' }]);
    } finally {
      await started.close();
    }
  });
});

test('an action of one version leaves the other routes to all versions', async () => {
  const configure = (app: INestApplication): void =>
    void app.enableVersioning({ type: VersioningType.HEADER, header: 'x-version' });
  const started = await startApp({ entities: ENTITIES, controllers: CONTROLLERS, configure });
  try {
    const { client } = started;
    for (const headers of [{}, { 'x-version': '1' }, { 'x-version': '3' }] as readonly Record<
      string,
      string
    >[]) {
      expect((await client.get(NOTES, { headers })).json).toEqual([]);
      expect((await client.get(`${NOTES}own/`, { headers })).json).toEqual({ own: true });
      const third = await client.get(`${NOTES}third/`, { headers });
      expect([third.status, third.json]).toEqual(
        headers['x-version'] === '3' ? [200, { version: 3 }] : [404, NOT_FOUND],
      );
    }
  } finally {
    await started.close();
  }
});

describe('options of Fastify', () => {
  test.each([
    ['routes of HEAD that are not exposed', { exposeHeadRoutes: false }],
    [
      'a router that ignores slashes and case',
      { routerOptions: { ignoreTrailingSlash: true, ignoreDuplicateSlashes: true, caseSensitive: false } },
    ],
    ['short parameters', { routerOptions: { maxParamLength: 5 } }],
  ])('change nothing of generated routes: %s', async (_what, fastify) => {
    const started = await startApp({ entities: ENTITIES, controllers: CONTROLLERS, fastify });
    try {
      const { client } = started;
      expect((await client.post(NOTES, { code: 'long enough' })).status).toBe(201);
      for (const last of ['', '/']) {
        expect((await client.get(`${NOTES}long%20enough${last}`)).json).toMatchObject({
          code: 'long enough',
        });
        expect([
          (await client.send('HEAD', `${NOTES}long%20enough${last}`)).status,
          (await client.send('HEAD', `${NOTES}long%20enough/told${last}`)).status,
        ]).toEqual([200, 200]);
      }
      for (const path of [
        '/rest/v1/fa/FaNote/',
        '/REST/v1/fa/fanote/',
        '/rest/v1/fa//fanote/',
        '/rest/v1/fa/fanote//',
      ])
        expect([path, (await client.get(path)).status]).toEqual([path, 404]);
      expect((await client.get(`${NOTES}LONG%20enough/`)).status).toBe(404);
    } finally {
      await started.close();
    }
  });

  test('limit a body', async () => {
    const started = await startApp({
      entities: ENTITIES,
      controllers: CONTROLLERS,
      fastify: { bodyLimit: 1000 },
    });
    try {
      const answer = await started.client.post(NOTES, { code: 'x', text: 'x'.repeat(1000) });
      expect([answer.status, answer.json]).toEqual([413, { detail: expect.any(String) }]);
      expect((await started.client.post(NOTES, { code: 'x', text: 'x'.repeat(900) })).status).toBe(201);
    } finally {
      await started.close();
    }
  });
});

/** Whose middleware answers all there is. */
@Module({})
class Stopping implements NestModule {
  configure(consumer: MiddlewareConsumer): void {
    consumer
      .apply((_request: IncomingMessage, response: ServerResponse) => {
        response.statusCode = 451;
        response.setHeader('X-Frame-Options', 'SAMEORIGIN');
        response.end('{}');
      })
      .forRoutes('{*path}');
  }
}

describe('middleware on Fastify', () => {
  /** A list, as it is answered, and whether it went through middleware on its way. */
  async function listed(
    imports: readonly Type[],
  ): Promise<{ readonly answer: Answer; readonly passed: boolean }> {
    let passed = false;
    const started = await startApp({
      entities: ENTITIES,
      controllers: CONTROLLERS,
      imports,
      undescribed: [451],
      configure: (app) => {
        instanceOf(app).addHook('onResponse', (request, _reply, done) => {
          passed = 'originalUrl' in request.raw;
          done();
        });
      },
    });
    try {
      return { answer: await started.client.get(NOTES), passed };
    } finally {
      await started.close();
    }
  }

  test('answers behind the headers of every response, which it may change', async () => {
    const { answer, passed } = await listed([Stopping]);
    expect([answer.status, passed]).toEqual([451, true]);
    expect(answer.headers).toMatchObject({
      allow: 'GET, POST, HEAD, OPTIONS',
      vary: 'Accept, Cookie',
      'x-content-type-options': 'nosniff',
      'x-frame-options': 'SAMEORIGIN',
    });
  });

  test('is skipped if an application has none', async () => {
    const { answer, passed } = await listed([]);
    expect([answer.status, answer.json, passed]).toEqual([200, [], false]);
    expect(answer.headers).toMatchObject({
      allow: 'GET, POST, HEAD, OPTIONS',
      vary: 'Accept, Cookie',
      'x-content-type-options': 'nosniff',
      'x-frame-options': 'DENY',
    });
  });
});
