// @tags http nest
import { afterEach, describe, expect, test } from '@jest/globals';
import { Controller, Get, VersioningType } from '@nestjs/common';
import type { CanActivate, INestApplication } from '@nestjs/common';
import { APP_GUARD } from '@nestjs/core';
import {
  Action,
  basic,
  CsvRenderer,
  IsAuthenticated,
  ResourceController,
  Restify,
  RestifyController,
} from 'nestjs-restify';
import { Column, Entity, ManyToOne, OneToMany, PrimaryColumn } from 'typeorm';
import type { Relation } from 'typeorm';
import { startApp } from '../support/start-app.js';
import type { AppSettings, StartedApp } from '../support/start-app.js';
import type { Answer } from '../support/client.js';

/** The `Accept` header of Chromium and Firefox. */
const BROWSER = 'text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,*/*;q=0.8';
const NAVIGATION = { accept: BROWSER, 'sec-fetch-dest': 'document' };
const LIST = '/rest/v1/brw/room/';

@Restify({ app: 'brw', conditional: true, renderers: [new CsvRenderer()] })
@Entity('brw_room')
class Room {
  @PrimaryColumn() id: number;
  @Column() name: string;
  @OneToMany(() => Desk, (desk) => desk.room) desks: Relation<Desk[]>;
}

@Restify({ app: 'brw', permissions: [IsAuthenticated] })
@Entity('brw_desk')
class Desk {
  @PrimaryColumn() id: number;
  @ManyToOne(() => Room, (room) => room.desks) room: Relation<Room>;
}

@RestifyController(Room)
class RoomController {
  @Action({ path: 'plan', detail: false }) plan(): unknown {
    return { file: 'plan.pdf' };
  }
}

@RestifyController(Desk)
class DeskController extends ResourceController<Desk> {
  override list(): Promise<unknown> {
    return Promise.resolve([]);
  }
}

let calls = 0;

class CountingGuard implements CanActivate {
  canActivate(): boolean {
    calls++;
    return true;
  }
}

let started: StartedApp | undefined;
afterEach(async () => {
  await started?.close();
  started = undefined;
});

async function start(settings: Partial<AppSettings> = {}): Promise<StartedApp> {
  started = await startApp({
    entities: [Room, Desk],
    ...settings,
    controllers: [RoomController, DeskController, ...(settings.controllers ?? [])],
    restify: { browsable: true, authentication: [basic(() => null)], ...settings.restify },
  });
  return started;
}

function isPage({ status, headers, text }: Answer): boolean {
  return (
    status === 200 && headers['content-type'] === 'text/html; charset=utf-8' && text.includes('id="app"')
  );
}

function configOf({ text }: Answer): unknown {
  const [, content = ''] = /<meta name="restify" content="([^"]*)">/.exec(text) ?? [];
  return JSON.parse(content.replaceAll('&quot;', '"').replaceAll('&lt;', '<').replaceAll('&amp;', '&'));
}

function scriptOf({ text }: Answer): string {
  return /<script defer src="([^"]*)">/.exec(text)?.[1] ?? '';
}

describe('which requests get the page', () => {
  test.each([
    ['a browser', BROWSER],
    ['HTML alone', 'text/html'],
    ['HTML before JSON', 'application/json;q=0.9, text/html'],
    ['HTML before descriptions', 'application/vnd.restify.description+json;q=0.9, text/html'],
    ['any case', 'TEXT/HTML, */*;q=0.8'],
  ])('%s', async (_name, accept) => {
    const { client } = await start();
    expect(isPage(await client.get(LIST, { headers: { accept } }))).toBe(true);
  });

  test.each([
    ['any type', '*/*'],
    ['JSON', 'application/json'],
    ['a tie', 'text/html, application/json'],
    ['a tie by a range', 'text/html;q=0.8, */*;q=0.8'],
    ['JSON before HTML', 'text/html;q=0.5, application/json'],
  ])('not %s', async (_name, accept) => {
    const { client } = await start();
    const { status, headers } = await client.get(LIST, { headers: { accept } });
    expect([status, headers['content-type']]).toEqual([200, 'application/json']);
  });

  test('not a description, even with a lower quality for HTML', async () => {
    const { client } = await start();
    const type = 'application/vnd.restify.description+json';
    for (const accept of [`${type}, text/html;q=0.1`, `text/html, ${type}`]) {
      const { headers } = await client.get(LIST, { headers: { accept } });
      expect(headers['content-type']).toBe(type);
    }
  });

  test('not another type, and descriptions are compared with the formats of the list too', async () => {
    const { client } = await start();
    const type = 'application/vnd.restify.description+json';
    const csv = 'text/csv; charset=utf-8; header=present';
    for (const [accept, expected] of [
      ['application/json;q=0.5, text/html5, */*', csv],
      [`${type};q=0.5, text/csv`, csv],
      [`${type}, text/csv`, csv],
      [`${type}, text/csv;q=0.5`, type],
    ] as const)
      expect((await client.get(LIST, { headers: { accept } })).headers['content-type']).toBe(expected);
  });

  test('not a frame, an image or a fetch', async () => {
    const { client } = await start();
    for (const destination of ['iframe', 'image', 'empty', 'embed']) {
      const { headers } = await client.get(LIST, {
        headers: { accept: BROWSER, 'sec-fetch-dest': destination },
      });
      expect(headers['content-type']).toBe('application/json');
    }
  });

  test('not a format by name', async () => {
    const { client } = await start();
    for (const [format, type] of [
      ['json', 'application/json'],
      ['csv', 'text/csv; charset=utf-8; header=present'],
    ])
      expect(
        (await client.get(`${LIST}?format=${String(format)}`, { headers: NAVIGATION })).headers,
      ).toMatchObject({
        'content-type': type,
      });
  });

  test('no other method', async () => {
    const { client } = await start();
    const created = await client.post(LIST, { id: 1, name: 'A' }, { headers: NAVIGATION });
    expect([created.status, created.headers['content-type']]).toEqual([201, 'application/json']);
    expect(isPage(await client.send('OPTIONS', LIST, { headers: NAVIGATION }))).toBe(false);
  });

  test('HEAD has the headers of the page', async () => {
    const { client } = await start();
    const page = await client.get(LIST, { headers: NAVIGATION });
    const { status, headers, text } = await client.send('HEAD', LIST, { headers: NAVIGATION });
    expect([status, text]).toEqual([200, '']);
    expect(headers['content-length']).toBe(String(Buffer.byteLength(page.text)));
    expect(headers['content-type']).toBe('text/html; charset=utf-8');
  });

  test('without the option nothing changes', async () => {
    const { client } = await start({ restify: { browsable: false } });
    const { status, headers } = await client.get(LIST, { headers: NAVIGATION });
    expect([status, headers['content-type']]).toEqual([200, 'application/json']);
    expect((await client.get(LIST, { headers: { accept: 'text/html' } })).status).toBe(406);
    expect((await client.get('/rest/v1/~ui/any.js')).status).toBe(404);
  });
});

describe('the page', () => {
  test('is the same for every path, known or not, and holds no data', async () => {
    const { client, dataSource } = await start();
    await dataSource.manager.save(Room, { id: 1, name: 'Secret room' });
    const known = await client.get('/rest/v1/brw/room/1/', { headers: NAVIGATION });
    const others = [
      '/rest/v1/brw/room/2/',
      '/rest/v1/brw/desk/1/',
      '/rest/v1/brw/none/1/',
      '/rest/v1/no/such/path/',
    ];
    expect(isPage(known)).toBe(true);
    const comparable = ({ text, headers }: Answer): unknown => {
      const { date: _date, ...kept } = headers;
      return { text, headers: kept };
    };
    for (const path of others)
      expect(comparable(await client.get(path, { headers: NAVIGATION }))).toEqual(comparable(known));
    expect(known.text).not.toContain('Secret');
  });

  test('precedes authentication, permissions and the guards of the application', async () => {
    calls = 0;
    const { client } = await start({ providers: [{ provide: APP_GUARD, useClass: CountingGuard }] });
    expect(isPage(await client.get('/rest/v1/brw/desk/', { headers: NAVIGATION }))).toBe(true);
    const wrong = { ...NAVIGATION, authorization: 'Basic bm86bm8=' };
    expect(isPage(await client.get('/rest/v1/brw/desk/', { headers: wrong }))).toBe(true);
    expect(calls).toBe(0);
    expect((await client.get('/rest/v1/brw/desk/')).status).toBe(401);
    expect(calls).toBe(1);
  });

  test('has its own headers', async () => {
    const { client } = await start();
    const { headers } = await client.get(LIST, { headers: NAVIGATION });
    expect(headers).toMatchObject({
      'cache-control': 'private, no-cache',
      'x-robots-tag': 'noindex',
      'x-content-type-options': 'nosniff',
      'x-frame-options': 'DENY',
      'content-security-policy':
        "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; font-src 'self'; form-action 'none'; base-uri 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'",
    });
    expect(headers.etag).toBeUndefined();
    expect(headers.vary).toContain('Accept');
  });

  test('replaces the policy of the application, only for itself', async () => {
    const policy = 'script-src none';
    const { client } = await start({
      configure: (app) => {
        app.use(
          (
            _request: unknown,
            response: { setHeader(name: string, value: string): void },
            next: () => void,
          ) => {
            response.setHeader('Content-Security-Policy', policy);
            response.setHeader('Cache-Control', 'public, max-age=60');
            next();
          },
        );
      },
    });
    const page = await client.get(LIST, { headers: NAVIGATION });
    expect(page.headers['content-security-policy']).toContain("default-src 'none'");
    expect(page.headers['cache-control']).toBe('private, no-cache');
    expect((await client.get(LIST)).headers['content-security-policy']).toBe(policy);
  });

  test('is never answered by 304', async () => {
    const { client, dataSource } = await start();
    await dataSource.manager.save(Room, { id: 1, name: 'A' });
    const { etag = '' } = (await client.get('/rest/v1/brw/room/1/')).headers;
    expect(etag).not.toBe('');
    for (const path of ['/rest/v1/brw/room/1/', LIST])
      expect(isPage(await client.get(path, { headers: { ...NAVIGATION, 'if-none-match': etag } }))).toBe(
        true,
      );
    expect(isPage(await client.get(LIST, { headers: { ...NAVIGATION, 'if-none-match': '*' } }))).toBe(true);
  });

  test('is at most 2 kB', async () => {
    const { client } = await start({
      restify: {
        browsable: {
          login: { loginUrl: '/login', logoutUrl: '/logout' },
          documents: { openApi: '/api-json', ui: '/api' },
        },
      },
    });
    const { text } = await client.get(`${LIST}1/desks/`, { headers: NAVIGATION });
    expect(Buffer.byteLength(text)).toBeLessThanOrEqual(2_048);
  });

  test('and JSON for the same Accept vary by the destination; other responses do not', async () => {
    const { client } = await start();
    const varyOf = async (path: string, headers: Readonly<Record<string, string>>): Promise<unknown> =>
      (await client.get(path, { headers })).headers.vary;
    for (const path of ['/', LIST, '/rest/v1/brw/none/', '/rest/v1/brw/desk/'])
      for (const destination of ['document', 'iframe'])
        expect(await varyOf(path, { accept: BROWSER, 'sec-fetch-dest': destination })).toBe(
          'Sec-Fetch-Dest, Accept, Cookie',
        );
    expect(await varyOf(LIST, { accept: BROWSER })).toBe('Sec-Fetch-Dest, Accept, Cookie');
    expect(await varyOf(LIST, { accept: 'application/json' })).toBe('Accept, Cookie');
  });

  test('has the texts of the application', async () => {
    const messages = { en: { title: 'Rooms & <desks>' }, fr: { title: 'Salles' } };
    const { client } = await start({ restify: { browsable: { messages } } });
    expect(configOf(await client.get(LIST, { headers: NAVIGATION }))).toMatchObject({ messages });
  });

  test.each([
    [true, 'xBasic realm="api"'],
    [false, 'Basic realm="api"'],
  ])('with cookies (%p) a request of the page is challenged without a dialog', async (cookie, challenge) => {
    const { client } = await start({ restify: { browsable: { login: { cookie } } } });
    const challengeFor = async (headers: Readonly<Record<string, string>>): Promise<unknown> =>
      (await client.get('/rest/v1/brw/desk/', { headers })).headers['www-authenticate'];
    expect(await challengeFor({ 'x-requested-with': 'XMLHttpRequest' })).toBe(challenge);
    expect(await challengeFor({})).toBe('Basic realm="api"');
    const wrong = `Basic ${Buffer.from('a:b').toString('base64')}`;
    expect(await challengeFor({ 'x-requested-with': 'XMLHttpRequest', authorization: wrong })).toBe(
      challenge,
    );
  });

  test('has the options of the application as data', async () => {
    const login = { cookie: true, loginUrl: '/login?to="<&' };
    const { client } = await start({ restify: { browsable: { login, headers: { 'X-Tenant': 'a' } } } });
    expect(configOf(await client.get(LIST, { headers: NAVIGATION }))).toEqual({
      index: '../../',
      headers: { 'X-Tenant': 'a' },
      login,
      documents: {},
      root: '/rest/v1/',
    });
  });
});

describe('assets', () => {
  test.each([
    ['/rest/v1/', './'],
    ['/rest/v1', 'v1/'],
    ['/rest/v1/brw/room', '../'],
    ['/rest/v1/brw/room/', '../../'],
    ['/rest/v1/brw/room/?a=/b/', '../../'],
    ['/rest/v1/brw/room/1/desks/', '../../../../'],
    ['/rest/v1/x', './'],
  ])('at %s they are relative', async (path, root) => {
    const { client } = await start();
    const page = await client.get(path, { headers: NAVIGATION });
    expect(scriptOf(page)).toMatch(new RegExp(`^${root.replaceAll('.', '\\.')}~ui/[0-9a-f]+\\.js$`));
    const { pathname } = new URL(scriptOf(page), `http://host${path}`);
    expect(pathname).toMatch(/^\/rest\/v1\/~ui\//);
    const { status, headers } = await client.get(pathname);
    expect([status, headers['content-type'], headers['cache-control']]).toEqual([
      200,
      'text/javascript; charset=utf-8',
      'public, max-age=31536000, immutable',
    ]);
  });

  test('the index of all prefixes has those of the first browsable one', async () => {
    const { client } = await start();
    const page = await client.get('/', { headers: NAVIGATION });
    expect(isPage(page)).toBe(true);
    expect(scriptOf(page)).toMatch(/^\.\/rest\/v1\/~ui\//);
    expect(configOf(page)).toMatchObject({ index: './' });
  });

  test('any other name is 404, and no other method is allowed', async () => {
    const { client } = await start();
    for (const name of ['', 'x.js', '../package.json', '%2e%2e/package.json', 'constructor', '__proto__'])
      expect((await client.get(`/rest/v1/~ui/${name}`)).status).toBe(404);
    const { pathname } = new URL(
      scriptOf(await client.get(LIST, { headers: NAVIGATION })),
      `http://host${LIST}`,
    );
    expect((await client.post(pathname, {})).status).toBe(405);
    expect((await client.send('HEAD', pathname)).status).toBe(200);
  });

  test('with an empty prefix they are below the root, and unknown paths stay the application’s', async () => {
    const { client } = await start({ prefix: '', restify: { browsable: true } });
    const page = await client.get('/brw/room/', { headers: NAVIGATION });
    expect(scriptOf(page)).toMatch(/^\.\.\/\.\.\/~ui\//);
    const { pathname } = new URL(scriptOf(page), 'http://host/brw/room/');
    expect((await client.get(pathname)).status).toBe(200);
    expect(isPage(await client.get('/somewhere/', { headers: NAVIGATION }))).toBe(false);
  });
});

describe('beside the application', () => {
  @Controller('rest/v1/elsewhere')
  class Elsewhere {
    @Get() page(): unknown {
      return { own: true };
    }
  }

  test('its own controllers stay as they are', async () => {
    const { client } = await start({ controllers: [Elsewhere], undescribed: 'all' });
    expect((await client.get('/rest/v1/elsewhere', { headers: NAVIGATION })).json).toEqual({ own: true });
  });

  test('its GET actions answer themselves, and methods that replace operations do not', async () => {
    const { client } = await start();
    expect((await client.get(`${LIST}plan/`, { headers: { ...NAVIGATION } })).json).toEqual({
      file: 'plan.pdf',
    });
    expect(isPage(await client.get('/rest/v1/brw/desk/', { headers: NAVIGATION }))).toBe(true);
  });

  test('its middleware may respond before', async () => {
    const { client } = await start({
      configure: (app: INestApplication) => {
        app.use(
          (request: { url?: string }, response: { statusCode: number; end(): void }, next: () => void) => {
            if (request.url !== LIST) {
              next();
              return;
            }
            response.statusCode = 302;
            response.end();
          },
        );
      },
      undescribed: 'all',
    });
    expect((await client.get(LIST, { headers: NAVIGATION })).status).toBe(302);
    expect(isPage(await client.get(`${LIST}1/`, { headers: NAVIGATION }))).toBe(true);
  });
});

describe('versions and the global prefix', () => {
  test('URI versions and the global prefix are part of the path', async () => {
    const { client } = await start({
      configure: (app) => {
        app.setGlobalPrefix('api');
        app.enableVersioning({ type: VersioningType.URI, defaultVersion: '2' });
      },
    });
    const path = '/api/v2/rest/v1/brw/room/';
    const page = await client.get(path, { headers: NAVIGATION });
    expect(isPage(page)).toBe(true);
    const { pathname } = new URL(scriptOf(page), `http://host${path}`);
    expect(pathname).toMatch(/^\/api\/v2\/rest\/v1\/~ui\//);
    expect((await client.get(pathname)).status).toBe(200);
  });

  test('with header versions the page sends the default one', async () => {
    const { client } = await start({
      configure: (app) => {
        app.enableVersioning({ type: VersioningType.HEADER, header: 'X-API-Version', defaultVersion: '3' });
      },
    });
    const page = await client.get(LIST, { headers: NAVIGATION });
    expect(isPage(page)).toBe(true);
    expect(configOf(page)).toMatchObject({ headers: { 'X-API-Version': '3' } });
  });

  test('with media-type versions the page sends the parameter', async () => {
    const { client } = await start({
      configure: (app) => {
        app.enableVersioning({ type: VersioningType.MEDIA_TYPE, key: 'v=', defaultVersion: '3' });
      },
    });
    const page = await client.get(LIST, { headers: NAVIGATION });
    expect(configOf(page)).toMatchObject({ headers: {}, acceptParameter: 'v=3' });
    expect((await client.get(LIST, { headers: { accept: 'application/json;v=3' } })).status).toBe(200);
  });
});
