// @tags http nest
import {
  Controller,
  ForbiddenException,
  Get,
  Post,
  ServiceUnavailableException,
  UnauthorizedException,
} from '@nestjs/common';
import type { CanActivate, ExecutionContext } from '@nestjs/common';
import { APP_GUARD } from '@nestjs/core';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { Restify } from 'nestjs-restify';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { connect } from 'node:net';
import { Column, Entity, ManyToOne, OneToMany, PrimaryGeneratedColumn } from 'typeorm';
import type { Relation } from 'typeorm';
import type { Answer, RequestOptions } from '../support/client.js';
import { PLATFORM } from '../support/platform.js';
import { startApp } from '../support/start-app.js';
import type { StartedApp } from '../support/start-app.js';

@Restify({
  app: 'head',
  computed: {
    risky: (each: Crate) => {
      if (each.name === 'boom') throw new Error('secret cause');
      return 1;
    },
  },
})
@Entity()
class Crate {
  @PrimaryGeneratedColumn()
  id: number;

  @Column({ length: 20, unique: true })
  name: string;

  @OneToMany(() => Bottle, (bottle) => bottle.crate)
  bottles: Relation<Bottle[]>;
}

@Restify('head')
@Entity()
class Bottle {
  @PrimaryGeneratedColumn()
  id: number;

  @ManyToOne(() => Crate, (crate) => crate.bottles, { onDelete: 'RESTRICT' })
  crate: Relation<Crate> | null;
}

@Controller('own')
class GeneratedRoutes {
  @Get()
  own(): { own: boolean } {
    return { own: true };
  }

  @Post()
  make(): { made: boolean } {
    return { made: true };
  }
}

class HeaderGuard implements CanActivate {
  canActivate(context: ExecutionContext): boolean {
    const request = context.switchToHttp().getRequest<IncomingMessage>();
    switch (request.headers['x-refuse']) {
      case '401':
        throw new UnauthorizedException();
      case '403':
        throw new ForbiddenException();
      case '503':
        throw new ServiceUnavailableException();
      case 'false':
        return false;
      default:
        return true;
    }
  }
}

const CRATES = '/rest/v1/head/crate/';
const COLLECTION = 'GET, POST, HEAD, OPTIONS';
const OBJECT = 'GET, PUT, PATCH, DELETE, HEAD, OPTIONS';

/** The headers of contract 7.1, and no others of ours. */
function expectContractHeaders(answer: Answer, allow: string): void {
  expect(answer.headers).toMatchObject({
    allow,
    'cross-origin-opener-policy': 'same-origin',
    'referrer-policy': 'same-origin',
    vary: 'Accept, Cookie',
    'x-content-type-options': 'nosniff',
    'x-frame-options': 'DENY',
  });
  expect(answer.headers).not.toHaveProperty('x-powered-by');
  if (answer.text !== '')
    expect([answer.headers['content-type'], answer.json]).toEqual(['application/json', expect.anything()]);
}

describe('every response', () => {
  let started: StartedApp;
  beforeAll(async () => {
    started = await startApp({
      entities: [Crate, Bottle],
      controllers: [GeneratedRoutes],
      providers: [{ provide: APP_GUARD, useClass: HeaderGuard }],
      undescribed: [401, 403],
    });
    await started.client.post(CRATES, { name: 'one' });
    await started.client.post('/rest/v1/head/bottle/', { crate: 1 });
    await started.dataSource.getRepository(Crate).insert({ name: 'boom' });
  });
  afterAll(() => started.close());

  const json = (raw: string): { raw: string; headers: Record<string, string> } => ({
    raw,
    headers: { 'content-type': 'application/json' },
  });

  const CASES: readonly (readonly [
    status: number,
    what: string,
    method: string,
    path: string,
    allow: string,
    options?: RequestOptions,
  ])[] = [
    [200, 'an index', 'GET', '/', 'GET, HEAD, OPTIONS'],
    [200, 'OPTIONS of the index', 'OPTIONS', '/', 'GET, HEAD, OPTIONS'],
    [405, 'a method of the index', 'DELETE', '/', 'GET, HEAD, OPTIONS'],
    [
      406,
      'an index that cannot be given',
      'GET',
      '/',
      'GET, HEAD, OPTIONS',
      { headers: { accept: 'text/html' } },
    ],
    [200, 'an object', 'GET', `${CRATES}1/`, OBJECT],
    [200, 'an empty list', 'GET', `${CRATES}?name=none`, COLLECTION],
    [200, 'a HEAD', 'HEAD', `${CRATES}1/`, OBJECT],
    [200, 'an OPTIONS', 'OPTIONS', CRATES, COLLECTION],
    [200, 'a nested list', 'GET', `${CRATES}1/bottles/`, 'GET, HEAD, OPTIONS'],
    [201, 'a created object', 'POST', '/rest/v1/head/bottle/', COLLECTION, { body: {} }],
    [200, 'a changed object', 'PATCH', `${CRATES}1/`, OBJECT, { body: {} }],
    [200, 'a replaced object', 'PUT', `${CRATES}1/`, OBJECT, { body: { name: 'one' } }],
    [204, 'a deleted object', 'DELETE', '/rest/v1/head/bottle/2/', OBJECT],
    [400, 'invalid input', 'POST', CRATES, COLLECTION, { body: {} }],
    [400, 'a filter that does not fit', 'GET', `${CRATES}?id=x`, COLLECTION],
    [400, 'malformed JSON', 'POST', CRATES, COLLECTION, json('{')],
    [400, 'a unique value that is there', 'POST', CRATES, COLLECTION, { body: { name: 'one' } }],
    [401, 'an unauthenticated caller', 'GET', CRATES, COLLECTION, { headers: { 'x-refuse': '401' } }],
    [403, 'a refused caller', 'GET', `${CRATES}1/`, OBJECT, { headers: { 'x-refuse': '403' } }],
    [403, 'a guard that says false', 'POST', CRATES, COLLECTION, { headers: { 'x-refuse': 'false' } }],
    [404, 'an object that is not', 'GET', `${CRATES}99/`, OBJECT],
    [404, 'a key that cannot be', 'GET', `${CRATES}abc/`, OBJECT],
    [404, 'a broken escape', 'GET', `${CRATES}%ZZ/`, OBJECT],
    [404, 'a broken escape below', 'GET', `${CRATES}%/bottles/`, 'GET, HEAD, OPTIONS'],
    [404, 'a model that is not', 'GET', '/rest/v1/head/none/', ''],
    [404, 'a relation that is not', 'GET', `${CRATES}1/none/`, ''],
    [200, 'the bare prefix', 'GET', '/rest/v1', 'GET, HEAD, OPTIONS'],
    [405, 'the bare prefix with a slash', 'POST', '/rest/v1/', 'GET, HEAD, OPTIONS'],
    [405, 'a method that the URL does not serve', 'DELETE', CRATES, COLLECTION],
    [405, 'a method that nobody serves', 'PROPFIND', `${CRATES}1/`, OBJECT],
    [405, 'a method that nobody serves, without the slash', 'MKCOL', CRATES.slice(0, -1), COLLECTION],
    [405, 'a write to a nested list', 'POST', `${CRATES}1/bottles/`, 'GET, HEAD, OPTIONS'],
    [406, 'what cannot be given', 'GET', CRATES, COLLECTION, { headers: { accept: 'image/png' } }],
    [409, 'a deletion that a foreign key restricts', 'DELETE', `${CRATES}1/`, OBJECT],
    [413, 'a body that is too large', 'POST', CRATES, COLLECTION, json(`{"name": "${'x'.repeat(200_000)}"}`)],
    [
      415,
      'a body that is no JSON',
      'POST',
      CRATES,
      COLLECTION,
      { raw: 'a=b', headers: { 'content-type': 'application/x-www-form-urlencoded' } },
    ],
    [
      415,
      'another charset',
      'POST',
      CRATES,
      COLLECTION,
      { raw: '{}', headers: { 'content-type': 'application/json; charset=latin1' } },
    ],
    [
      415,
      'an encoding that nobody knows',
      'POST',
      CRATES,
      COLLECTION,
      { raw: '{}', headers: { 'content-type': 'application/json', 'content-encoding': 'zstd-x' } },
    ],
    [500, 'what nobody foresaw', 'GET', `${CRATES}2/`, OBJECT],
    [500, 'what nobody foresaw in a list', 'GET', CRATES, COLLECTION],
    [503, 'a guard that is away', 'GET', CRATES, COLLECTION, { headers: { 'x-refuse': '503' } }],
  ];

  test.each(
    CASES.map(
      ([status, what, method, path, allow, options = {}]) =>
        [status, what, method, path, allow, options] as const,
    ),
  )('%d has the headers: %s', async (status, _what, method, path, allow, options) => {
    const answer = await started.client.send(method, path, options);
    expect(answer.status).toBe(status);
    expectContractHeaders(answer, allow);
    if (status >= 500) expect(answer.text).not.toContain('secret');
  });

  test('without a body has no content type', async () => {
    const bottle = ((await started.client.post('/rest/v1/head/bottle/', {})).json as { id: number }).id;
    const deleted = await started.client.delete(`/rest/v1/head/bottle/${bottle}/`);
    expect([deleted.status, deleted.headers['content-type'], deleted.headers['content-length']]).toEqual([
      204,
      undefined,
      undefined,
    ]);
  });

  test('has each header once', async () => {
    const raw = await new Promise<string>((resolve, reject) => {
      const socket = connect(started.port, '127.0.0.1', () =>
        socket.end(`GET ${CRATES}1/ HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n`),
      );
      let text = '';
      socket.on('data', (chunk) => (text += chunk.toString()));
      socket.on('end', () => {
        resolve(text);
      });
      socket.on('error', reject);
    });
    const names = (raw.split('\r\n\r\n')[0] ?? '')
      .split('\r\n')
      .slice(1)
      .map((line) => line.split(':')[0]?.toLowerCase());
    expect(names).toContain('vary');
    expect([...names].sort()).toEqual([...new Set(names)].sort());
  });

  test('of a route that is not ours is left as it is', async () => {
    const { client } = started;
    const own = await client.get('/own');
    expect([own.status, own.json]).toEqual([200, { own: true }]);
    const elsewhere = await client.get('/elsewhere');
    expect([elsewhere.status, elsewhere.json]).toEqual([
      404,
      { statusCode: 404, message: 'Cannot GET /elsewhere', error: 'Not Found' },
    ]);
    const broken = await client.send('POST', '/own', {
      raw: '{',
      headers: { 'content-type': 'application/json' },
    });
    expect([broken.status, broken.json]).toMatchObject([400, { statusCode: 400 }]);
    const refused = await client.get('/own', { headers: { 'x-refuse': '403' } });
    expect([refused.status, refused.json]).toEqual([403, { statusCode: 403, message: 'Forbidden' }]);
    const undecodable = await client.get('/%ZZ');
    expect(undecodable.status).toBe(PLATFORM === 'fastify' ? 400 : 404);
    for (const answer of [own, elsewhere, broken, refused, undecodable]) {
      expect(answer.headers).toMatchObject(
        PLATFORM === 'fastify'
          ? { 'content-type': expect.stringMatching(/^application\/json(; charset=utf-8)?$/) }
          : { 'x-powered-by': 'Express', 'content-type': 'application/json; charset=utf-8' },
      );
      for (const name of [
        'allow',
        'vary',
        'x-frame-options',
        'referrer-policy',
        'x-content-type-options',
        'cross-origin-opener-policy',
      ])
        expect(answer.headers).not.toHaveProperty(name);
    }
  });
});

describe('an unavailable database', () => {
  test('is 503 with the headers, without the cause', async () => {
    const started = await startApp({ entities: [Crate, Bottle] });
    try {
      await started.dataSource.destroy();
      for (const [method, path, allow] of [
        ['GET', CRATES, COLLECTION],
        ['GET', `${CRATES}1/`, OBJECT],
        ['POST', CRATES, COLLECTION],
        ['DELETE', `${CRATES}1/`, OBJECT],
      ] as const) {
        const answer = await started.client.send(
          method,
          path,
          method === 'POST' ? { body: { name: 'n' } } : {},
        );
        expect([method, path, answer.status, answer.json]).toEqual([
          method,
          path,
          503,
          { detail: expect.any(String) },
        ]);
        expect(answer.text).not.toMatch(/sqlite|typeorm|driver|sql/i);
        expectContractHeaders(answer, allow);
      }
    } finally {
      await started.close();
    }
  });
});

describe('headers that the application sets', () => {
  let started: StartedApp;
  beforeAll(async () => {
    started = await startApp({
      entities: [Crate, Bottle],
      configure: (app) => {
        app.enableCors({ origin: ['http://a.example'], exposedHeaders: ['Location'], credentials: true });
        app.use((_request: IncomingMessage, response: ServerResponse, next: () => void) => {
          response.setHeader('X-Frame-Options', 'SAMEORIGIN');
          response.setHeader('Referrer-Policy', 'no-referrer');
          response.setHeader('Content-Security-Policy', "default-src 'none'");
          next();
        });
      },
    });
    await started.client.post(CRATES, { name: 'one' });
  });
  afterAll(() => started.close());

  test.each<readonly [number, string, string, object | undefined]>([
    [200, 'GET', `${CRATES}1/`, undefined],
    [200, 'GET', '/', undefined],
    [201, 'POST', CRATES, { name: 'made' }],
    [400, 'POST', CRATES, {}],
    [404, 'GET', `${CRATES}99/`, undefined],
    [404, 'GET', '/rest/v1/none/', undefined],
    [405, 'DELETE', CRATES, undefined],
    [405, 'PROPFIND', CRATES, undefined],
    [204, 'DELETE', `${CRATES}2/`, undefined],
  ])('are kept, and Vary is added to: %d of %s %s', async (status, method, path, body) => {
    const answer = await started.client.send(method, path, { body, headers: { origin: 'http://a.example' } });
    expect([answer.status, answer.headers.vary]).toEqual([status, 'Origin, Accept, Cookie']);
    expect(answer.headers).toMatchObject({
      'x-frame-options': 'SAMEORIGIN',
      'referrer-policy': 'no-referrer',
      'content-security-policy': "default-src 'none'",
      'access-control-allow-origin': 'http://a.example',
      'access-control-allow-credentials': 'true',
      'access-control-expose-headers': 'Location',
      'x-content-type-options': 'nosniff',
      'cross-origin-opener-policy': 'same-origin',
    });
    expect(answer.headers).not.toHaveProperty('x-powered-by');
  });

  test("answer a preflight: it is the application's", async () => {
    const answer = await started.client.send('OPTIONS', CRATES, {
      headers: { origin: 'http://a.example', 'access-control-request-method': 'POST' },
    });
    expect([
      answer.status,
      answer.text,
      answer.headers['access-control-allow-origin'],
      answer.headers['access-control-allow-methods'],
    ]).toEqual([204, '', 'http://a.example', expect.stringContaining('POST')]);
  });
});

describe('Vary', () => {
  test.each([
    ['*', '*'],
    ['accept', 'accept, Cookie'],
    ['COOKIE, Accept-Encoding', 'COOKIE, Accept-Encoding, Accept'],
    ['Accept-Language', 'Accept-Language, Accept, Cookie'],
    [['Origin', 'Accept-Encoding'], 'Origin, Accept-Encoding, Accept, Cookie'],
  ])('of the application %j becomes %j', async (before, after) => {
    const started = await startApp({
      entities: [Crate, Bottle],
      configure: (app) =>
        app.use((_request: IncomingMessage, response: ServerResponse, next: () => void) => {
          response.setHeader('Vary', before);
          next();
        }),
    });
    try {
      for (const [path, status] of [
        [CRATES, 200],
        ['/', 200],
        ['/rest/v1/none/', 404],
      ] as const) {
        const answer = await started.client.get(path);
        expect([answer.status, answer.headers.vary]).toEqual([status, after]);
      }
    } finally {
      await started.close();
    }
  });
});
