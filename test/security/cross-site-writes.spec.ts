// @tags http
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { Injectable } from '@nestjs/common';
import type { CanActivate, ExecutionContext } from '@nestjs/common';
import { Action, basic, guard, Restify, RestifyController } from 'nestjs-restify';
import type { IncomingMessage } from 'node:http';
import { Strategy } from 'passport';
import { Column, Entity, PrimaryGeneratedColumn } from 'typeorm';
import { usePassportStrategy } from '../support/restore.js';
import { startApp } from '../support/start-app.js';
import type { StartedApp } from '../support/start-app.js';

interface SessionRequest {
  readonly socket: object;
  readonly headers: Readonly<Record<string, string | undefined>>;
  user?: object;
}

/** The application's session: a cookie with the name of the user, or a token. */
function readSession(request: SessionRequest): void {
  const { cookie = '', authorization = '' } = request.headers;
  const name = (/session=(\w+)/.exec(cookie) ?? /^Bearer (right)$/.exec(authorization))?.[1];
  if (name !== undefined) request.user = { name };
}

/** A client certificate, as the server of an application has it that requests one. */
function presentCertificate(request: SessionRequest): void {
  const isPresented = request.headers['x-with-certificate'] !== undefined;
  if (isPresented) request.user = { name: 'certified' };
  // Without one it is an empty object. Later requests use the same socket.
  const certificate = isPresented ? { subject: { CN: 'ann' } } : {};
  Object.assign(request.socket, { getPeerCertificate: () => certificate });
}

/** Reads a token from `Authorization` or a cookie, as strategies of passport-jwt do. */
class TokenOrCookie extends Strategy {
  override authenticate({ headers }: IncomingMessage): void {
    const token = /^Bearer (\w+)/.exec(headers.authorization ?? '')?.[1];
    if (token === 'right' || /session=\w+/.test(headers.cookie ?? '')) this.success({ name: 'ann' });
    else this.fail(401);
  }
}
usePassportStrategy('forged-token', new TokenOrCookie());

/** A guard of the application that reads the session's cookie. */
@Injectable()
class CookieGuard implements CanActivate {
  canActivate(context: ExecutionContext): boolean {
    readSession(context.switchToHttp().getRequest<SessionRequest>());
    return true;
  }
}

@Injectable()
class KeyGuard implements CanActivate {
  canActivate(context: ExecutionContext): boolean {
    const request = context.switchToHttp().getRequest<SessionRequest>();
    if (request.headers['x-api-key'] === 'right') request.user = { name: 'machine' };
    return true;
  }
}

/** Everybody may write, known by the middleware's session or not. */
@Restify({ app: 'forged', bulk: true })
@Entity('forged_open')
class Open {
  @PrimaryGeneratedColumn()
  id: number;

  @Column()
  name: string;
}

@RestifyController(Open)
class OpenController {
  @Action({ detail: false, methods: ['POST'] })
  sync(): object {
    return { done: true };
  }
}

@Restify({
  app: 'forged',
  authentication: [
    guard(KeyGuard, { header: 'X-Api-Key' }),
    CookieGuard,
    basic((name, password) => (password === 'right' ? { name } : null)),
  ],
})
@Entity('forged_open', { synchronize: false })
class Mixed {
  @PrimaryGeneratedColumn()
  id: number;

  @Column()
  name: string;
}

@Restify({ app: 'forged', guards: [CookieGuard] })
@Entity('forged_open', { synchronize: false })
class Guarded {
  @PrimaryGeneratedColumn()
  id: number;

  @Column()
  name: string;
}

@Injectable()
class TokenGuard implements CanActivate {
  canActivate(context: ExecutionContext): boolean {
    const request = context.switchToHttp().getRequest<SessionRequest>();
    if (/^\w+ right$/.test(request.headers.authorization ?? '')) request.user = { name: 'machine' };
    return true;
  }
}

@Restify({ app: 'forged', authentication: ['forged-token'] })
@Entity('forged_open', { synchronize: false })
class ByStrategy {
  @PrimaryGeneratedColumn()
  id: number;

  @Column()
  name: string;
}

@Restify({ app: 'forged', authentication: [guard(TokenGuard, 'Bearer')] })
@Entity('forged_open', { synchronize: false })
class ByToken {
  @PrimaryGeneratedColumn()
  id: number;

  @Column()
  name: string;
}

@Restify({ app: 'forged', authentication: [guard(TokenGuard, { header: 'Authorization' })] })
@Entity('forged_open', { synchronize: false })
class ByAuthorization {
  @PrimaryGeneratedColumn()
  id: number;

  @Column()
  name: string;
}

/** Names the cookies as the place of its credentials. */
@Restify({ app: 'forged', authentication: [guard(CookieGuard, { header: 'Cookie' })] })
@Entity('forged_open', { synchronize: false })
class ByCookie {
  @PrimaryGeneratedColumn()
  id: number;

  @Column()
  name: string;
}

const COOKIE = { cookie: 'session=ann' };
const CROSS = { 'sec-fetch-site': 'cross-site', origin: 'https://evil.example' };
const REFUSED =
  'Cross-site request refused: pages of this origin may not send it with cookies or a password that the browser keeps. Authenticate by a token in a header, or have the origin added to trustedOrigins.';

describe.each<[title: string, path: string]>([
  ['a session of the application', '/rest/v1/forged/open/'],
  ['a guard in `authentication`', '/rest/v1/forged/mixed/'],
  ['guards of the model', '/rest/v1/forged/guarded/'],
])('unsafe requests that are known by %s', (_title, path) => {
  let started: StartedApp;
  beforeAll(async () => {
    started = await startApp({
      entities: [Open, Mixed, Guarded],
      controllers: [OpenController],
      // The model without a scheme cannot describe the 403 of a session that the application sets by itself.
      undescribed: [403],
      restify: { trustedOrigins: ['https://admin.example'] },
      configure: (app) => {
        app.use((request: SessionRequest, _response: unknown, next: () => void) => {
          if (path.includes('open')) readSession(request);
          next();
        });
      },
    });
  });
  afterAll(() => started.close());

  const post = async (headers: Readonly<Record<string, string>>): Promise<number> =>
    (await started.client.post(path, { name: 'a' }, { headers })).status;
  const own = (): string => `http://127.0.0.1:${started.port}`;

  test('are refused from another site and from another origin of the same site, and nothing is written', async () => {
    const before = await started.dataSource.getRepository(Open).count();
    const { status, json } = await started.client.post(
      path,
      { name: 'a' },
      { headers: { ...COOKIE, ...CROSS } },
    );
    expect([status, json]).toEqual([403, { detail: REFUSED }]);
    expect(await post({ ...COOKIE, 'sec-fetch-site': 'same-site', origin: 'http://127.0.0.1:1' })).toBe(403);
    expect(await post({ ...COOKIE, 'sec-fetch-site': 'cross-site' })).toBe(403);
    expect(await started.dataSource.getRepository(Open).count()).toBe(before);
  });

  test.each<[headers: Readonly<Record<string, string>>]>([
    [{ origin: 'https://evil.example' }],
    [{ origin: 'null' }],
    [{ origin: 'https://127.0.0.1' }],
    [{ origin: 'https://admin.example.evil.example' }],
  ])('are refused by their Origin where browsers send no Sec-Fetch-Site: %j', async (headers) => {
    expect(await post({ ...COOKIE, ...headers })).toBe(403);
  });

  test('are served for the own origin, for trusted origins, and for clients that are not browsers', async () => {
    expect(await post({ ...COOKIE, 'sec-fetch-site': 'same-origin' })).toBe(201);
    expect(await post({ ...COOKIE, 'sec-fetch-site': 'none' })).toBe(201);
    expect(await post({ ...COOKIE, origin: own() })).toBe(201);
    expect(await post({ ...COOKIE, 'sec-fetch-site': 'cross-site', origin: 'https://admin.example' })).toBe(
      201,
    );
    expect(await post(COOKIE)).toBe(201);
  });

  test('are refused by every unsafe method, with and without a body, and safe ones are served', async () => {
    const headers = { ...COOKIE, ...CROSS };
    const { id } = await started.dataSource.getRepository(Open).save({ name: 'b' });
    for (const method of ['PUT', 'PATCH', 'DELETE']) {
      const { status } = await started.client.send(method, `${path}${id}/`, { body: { name: 'c' }, headers });
      expect([method, status]).toEqual([method, 403]);
    }
    // A form without a content type is a simple request of CORS.
    expect((await started.client.send('POST', path, { headers })).status).toBe(403);
    for (const method of ['GET', 'HEAD', 'OPTIONS'])
      expect([method, (await started.client.send(method, path, { headers })).status]).toEqual([method, 200]);
    expect((await started.dataSource.getRepository(Open).findOneByOrFail({ id })).name).toBe('b');
  });
});

describe('unsafe requests from another site', () => {
  let started: StartedApp;
  beforeAll(async () => {
    started = await startApp({
      entities: [Open, Mixed, Guarded],
      controllers: [OpenController],
      undescribed: [403],
      configure: (app) => {
        app.use((request: SessionRequest, _response: unknown, next: () => void) => {
          readSession(request);
          next();
        });
      },
    });
  });
  afterAll(() => started.close());

  test('are served without a session if every caller may do them', async () => {
    const { status } = await started.client.post(
      '/rest/v1/forged/open/',
      { name: 'a' },
      { headers: { ...CROSS, cookie: 'theme=dark' } },
    );
    expect(status).toBe(201);
  });

  test('are refused in bulk and at actions', async () => {
    const headers = { ...COOKIE, ...CROSS };
    expect((await started.client.post('/rest/v1/forged/open/', [{ name: 'a' }], { headers })).status).toBe(
      403,
    );
    expect((await started.client.post('/rest/v1/forged/open/sync/', undefined, { headers })).status).toBe(
      403,
    );
    const junk = { headers: { ...headers, authorization: 'x' } };
    expect((await started.client.post('/rest/v1/forged/open/', [{ name: 'a' }], junk)).status).toBe(403);
    expect((await started.client.post('/rest/v1/forged/open/sync/', undefined, junk)).status).toBe(403);
    expect(
      (await started.client.post('/rest/v1/forged/open/sync/', undefined, { headers: COOKIE })).status,
    ).toBe(200);
  });
});

describe('credentials in a header', () => {
  let started: StartedApp;
  beforeAll(async () => {
    started = await startApp({
      entities: [Open, Mixed, Guarded, ByCookie, ByStrategy, ByToken, ByAuthorization],
      controllers: [OpenController],
      undescribed: [403],
      restify: { trustedOrigins: ['https://admin.example'] },
      configure: (app) => {
        app.use(
          (request: SessionRequest & { readonly url: string }, _response: unknown, next: () => void) => {
            presentCertificate(request);
            if (request.url.includes('/open/')) readSession(request);
            next();
          },
        );
      },
    });
  });
  afterAll(() => started.close());

  const BASIC = `Basic ${Buffer.from('ann:right').toString('base64')}`;
  const postTo = (model: string, headers: Readonly<Record<string, string>>): Promise<number> =>
    started.client
      .post(`/rest/v1/forged/${model}/`, { name: 'a' }, { headers: { ...CROSS, ...headers } })
      .then(({ status }) => status);
  const post = (headers: Readonly<Record<string, string>>): Promise<number> =>
    postTo('mixed', { ...COOKIE, ...headers });

  test('that no form of another site can send are served beside a cookie', async () => {
    expect(await post({ 'x-api-key': 'right' })).toBe(201);
    // A guard that names its place.
    const token = { authorization: 'Bearer right' };
    expect(await postTo('bytoken', { ...COOKIE, ...token })).toBe(201);
    expect(await postTo('byauthorization', { ...COOKIE, authorization: 'Token right' })).toBe(201);
    expect(await postTo('byauthorization', { ...COOKIE, authorization: 'Basic right' })).toBe(403);
    // An application that authenticates by a token puts the actor on the request.
    expect(await postTo('open', token)).toBe(201);
    expect(await postTo('guarded', { 'x-api-key': 'right', ...token })).toBe(201);
  });

  test('of a Passport strategy are served beside a cookie, unless the strategy authenticates by the cookie', async () => {
    const token = { authorization: 'Bearer right' };
    expect(await postTo('bystrategy', token)).toBe(201);
    expect(await postTo('bystrategy', { ...token, cookie: 'theme=dark' })).toBe(201);
    expect(await postTo('bystrategy', COOKIE)).toBe(403);
    expect(await postTo('bystrategy', { ...COOKIE, authorization: 'Bearer x' })).toBe(403);
    expect(await postTo('bystrategy', { ...COOKIE, authorization: 'x' })).toBe(403);
    expect(
      await postTo('bystrategy', { ...COOKIE, authorization: 'Bearer x', 'sec-fetch-site': 'same-origin' }),
    ).toBe(201);
  });

  test('do not make a client certificate good, which browsers send by themselves', async () => {
    const certified = { 'x-with-certificate': 'yes' };
    for (const model of ['open', 'guarded', 'mixed']) {
      expect([model, await postTo(model, certified)]).toEqual([model, 403]);
      expect([model, await postTo(model, { ...certified, authorization: 'x' })]).toEqual([model, 403]);
      expect([model, await postTo(model, { ...certified, 'sec-fetch-site': 'none' })]).toEqual([model, 201]);
    }
  });

  test('that browsers keep and send by themselves are refused as cookies are, beside a cookie and alone', async () => {
    expect(await post({ authorization: BASIC })).toBe(403);
    expect(await postTo('mixed', { authorization: BASIC })).toBe(403);
    expect(await postTo('mixed', { authorization: BASIC, origin: 'https://admin.example' })).toBe(201);
    expect(await postTo('mixed', { authorization: BASIC, 'sec-fetch-site': 'same-origin' })).toBe(201);
  });

  test.each([
    '',
    'Basic eDp5',
    'Digest username="ann"',
    'Negotiate YII',
    'NTLM TlR',
    'x',
    'Bearer x',
    'Bearer right',
    'x, Basic eDp5',
  ])('that do not identify the caller do not permit a session: Authorization: %j', async (authorization) => {
    const before = await started.dataSource.getRepository(Open).count();
    for (const model of ['open', 'guarded', 'mixed', 'bycookie']) {
      const headers = { ...COOKIE, authorization };
      expect([model, await postTo(model, headers)]).toEqual([model, 403]);
      expect([model, await postTo(model, { ...headers, 'x-api-key': 'wrong' })]).toEqual([model, 403]);
    }
    expect(await started.dataSource.getRepository(Open).count()).toBe(before);
  });

  test('that do not identify the caller do not permit a session of browsers that send only Origin', async () => {
    for (const origin of ['null', 'https://evil.example']) {
      const headers = { ...COOKIE, authorization: 'x', origin };
      const { status } = await started.client.post('/rest/v1/forged/open/', { name: 'a' }, { headers });
      expect([origin, status]).toEqual([origin, 403]);
    }
  });

  test('that are cookies by declaration are refused', async () => {
    expect(await postTo('bycookie', COOKIE)).toBe(403);
    expect(await postTo('bycookie', { ...COOKIE, 'sec-fetch-site': 'same-origin' })).toBe(201);
  });

  test('that are wrong do not make a cookie good', async () => {
    expect(await post({ 'x-api-key': 'wrong' })).toBe(403);
  });
});

test('an origin with a path, without a scheme, or a wildcard refuses to start', async () => {
  const trustedOrigins = ['https://admin.example/app', 'admin.example', '*', 'https://a.example:443'];
  await expect(
    startApp({ entities: [Open], controllers: [OpenController], restify: { trustedOrigins } }),
  ).rejects.toThrow(/trustedOrigins\[0\].*trustedOrigins\[1\].*trustedOrigins\[2\].*trustedOrigins\[3\]/s);
  await expect(
    startApp({
      entities: [Open],
      controllers: [OpenController],
      restify: { trustedOrigins: 'https://a.example' as never },
    }),
  ).rejects.toThrow(/trustedOrigins: "https:\/\/a\.example" is not a list/);
});
