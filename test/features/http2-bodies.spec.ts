// @tags nest
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { Body, HttpCode } from '@nestjs/common';
import { Action, Restify, RestifyController } from 'nestjs-restify';
import { gzipSync } from 'node:zlib';
import { Column, Entity, PrimaryGeneratedColumn } from 'typeorm';
import { Http2ExpressAdapter } from '../support/http2-express.js';
import { findNginx, launchNginx } from '../support/launch-nginx.cjs';
import { sendHttp2 } from '../support/send-http2.js';
import type { Http2Answer, Http2Request } from '../support/send-http2.js';
import { startApp } from '../support/start-app.js';
import type { AppSettings, StartedApp } from '../support/start-app.js';

@Restify('bodies')
@Entity('bodies_note')
class Note {
  @PrimaryGeneratedColumn()
  id: number;

  @Column({ default: 'none' })
  text: string;
}

let received: unknown[] = [];

@RestifyController(Note)
class NoteController {
  @Action({ detail: false, methods: ['GET', 'POST'] })
  @HttpCode(200)
  act(@Body() body: unknown): object {
    received.push(body);
    return {};
  }
}

/** The path below the notes. */
function send(port: number, { path, ...sent }: Http2Request): Promise<Http2Answer> {
  return sendHttp2(port, { ...sent, path: `/rest/v1/bodies/note/${path}` });
}

const JSON_TYPE = { 'content-type': 'application/json' };
const NO_JSON = { status: 415, json: expect.anything() };

async function start(settings: Partial<AppSettings>): Promise<StartedApp> {
  const started = await startApp({
    compare: false,
    undescribed: 'all',
    entities: [Note],
    controllers: [NoteController],
    ...settings,
  });
  await started.dataSource.getRepository(Note).insert({ id: 1, text: 'stored' });
  return started;
}

/** What a client sends and gets, on whichever way. */
function testBodies(portOf: () => number): void {
  const say = (sent: Http2Request): Promise<Http2Answer> => send(portOf(), sent);

  test('is stored', async () => {
    const patched = { method: 'PATCH', path: '1/', headers: JSON_TYPE };
    expect(await say({ ...patched, pieces: ['{"text":"patched"}'] })).toMatchObject({
      status: 200,
      json: { id: 1, text: 'patched' },
    });
    expect(await say({ ...patched, method: 'PUT', pieces: ['{"te', 'xt":"put"}'] })).toMatchObject({
      status: 200,
      json: { id: 1, text: 'put' },
    });
    expect(
      await say({ method: 'POST', path: '', headers: JSON_TYPE, pieces: ['{"text":"posted"}'] }),
    ).toMatchObject({ status: 201, json: { id: 2, text: 'posted' } });
  });

  test('is decoded', async () => {
    const headers = { ...JSON_TYPE, 'content-encoding': 'gzip' };
    const pieces = [gzipSync('{"text":"packed"}')];
    expect(await say({ method: 'PATCH', path: '1/', headers, pieces })).toMatchObject({
      status: 200,
      json: { id: 1, text: 'packed' },
    });
  });

  test('is refused where it is broken, too large or of another type', async () => {
    const patched = { method: 'PATCH', path: '1/', headers: JSON_TYPE };
    expect(await say({ ...patched, pieces: ['{"text":'] })).toMatchObject({ status: 400 });
    expect(await say({ ...patched, pieces: [`{"text":"${'x'.repeat(101 * 1024)}"}`] })).toMatchObject({
      status: 413,
    });
    const text = ['{"text":"lost"}'];
    for (const method of ['PATCH', 'PUT'])
      for (const headers of [{}, { 'content-type': 'text/plain' }])
        expect(await say({ method, path: '1/', headers, pieces: text })).toMatchObject(NO_JSON);
    expect(await say({ method: 'POST', path: 'act/', pieces: text })).toMatchObject(NO_JSON);
    const { json } = await say({ method: 'GET', path: '1/', pieces: [] });
    expect(json).not.toMatchObject({ text: 'lost' });
  });

  test('of 0 bytes counts as missing, with each type and without one', async () => {
    for (const headers of [{}, JSON_TYPE, { 'content-type': 'text/plain' }]) {
      expect(await say({ method: 'PATCH', path: '1/', headers, pieces: [] })).toMatchObject({ status: 200 });
      expect(await say({ method: 'GET', path: '1/', headers, pieces: [] })).toMatchObject({ status: 200 });
    }
    for (const headers of [{}, JSON_TYPE])
      for (const method of ['GET', 'POST'])
        expect(await say({ method, path: 'act/', headers, pieces: [] })).toMatchObject({
          status: 200,
          json: {},
        });
  });

  test('reaches the method of an action', async () => {
    received = [];
    const acted = { method: 'POST', path: 'act/', headers: JSON_TYPE };
    expect(await say({ ...acted, pieces: ['{"a":', '1}'] })).toMatchObject({ status: 200, json: {} });
    expect(received).toEqual([{ a: 1 }]);
  });

  test('is ignored by DELETE', async () => {
    const { json } = await say({ method: 'POST', path: '', headers: JSON_TYPE, pieces: ['{}'] });
    const path = `${(json as Note).id}/`;
    expect(await say({ method: 'DELETE', path, pieces: ['no JSON'] })).toMatchObject({
      status: 204,
      json: undefined,
    });
  });
}

const HTTP2 = [
  ['Express', { adapter: () => new Http2ExpressAdapter() }],
  ['Fastify', { fastify: { http2: true, bodyLimit: 100 * 1024 } }],
] as const;

let started: StartedApp;

describe.each<readonly [name: string, settings: Partial<AppSettings>]>(HTTP2)(
  'a body without a length over HTTP/2 on %s',
  (_name, settings) => {
    beforeAll(async () => {
      started = await start(settings);
    });
    afterAll(() => started.close());
    testBodies(() => started.port);
  },
);

/** Without nginx the tests are skipped, and fail in CI: `scripts/install-programs.mjs` installs it. */
const describeWithNginx =
  findNginx() !== undefined || process.env.CI !== undefined ? describe : describe.skip;

const PROXIES = [
  ['a proxy that adds the length', 'proxy_http_version 1.1;'],
  ['a proxy that passes it on in chunks', 'proxy_http_version 1.1; proxy_request_buffering off;'],
] as const;

describeWithNginx.each<readonly [name: string, settings: Partial<AppSettings>]>([
  ['Express', {}],
  ['Fastify', { fastify: {} }],
])('a body without a length over HTTP/2 to nginx in front of %s', (_name, settings) => {
  beforeAll(async () => {
    started = await start(settings);
  });
  afterAll(() => started.close());

  describe.each(PROXIES)('%s', (_proxy, location) => {
    let proxy: Awaited<ReturnType<typeof launchNginx>> | undefined;
    beforeAll(async () => {
      proxy = await launchNginx({ upstream: `server 127.0.0.1:${started.port};`, listen: 'http2', location });
    });
    afterAll(() => proxy?.stop());

    test('is stored', async () => {
      const sent = { method: 'PATCH', path: '1/', headers: JSON_TYPE, pieces: ['{"text":', '"proxied"}'] };
      expect(await send(proxy?.port ?? 0, sent)).toMatchObject({
        status: 200,
        json: { id: 1, text: 'proxied' },
      });
      expect(await send(proxy?.port ?? 0, { ...sent, pieces: [] })).toMatchObject({ status: 200 });
    });
  });
});
