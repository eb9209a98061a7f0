// @tags http nest
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { Injectable } from '@nestjs/common';
import type { CanActivate, ExecutionContext } from '@nestjs/common';
import { APP_GUARD } from '@nestjs/core';
import { PassportStrategy } from '@nestjs/passport';
import { basic, IsAuthenticated, Restify, RestifyModule } from 'nestjs-restify';
import type { RestifyModuleOptions } from 'nestjs-restify';
import type { IncomingMessage } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import { Strategy } from 'passport';
import { Entity, PrimaryGeneratedColumn } from 'typeorm';
import type { Answer } from '../support/client.js';
import { startApp } from '../support/start-app.js';
import type { AppSettings, StartedApp } from '../support/start-app.js';

@Restify({ app: 'rc', permissions: [IsAuthenticated] })
@Entity('rc_safe')
class RcSafe {
  @PrimaryGeneratedColumn()
  id: number;
}

@Restify('rc')
@Entity('rc_open')
class RcOpen {
  @PrimaryGeneratedColumn()
  id: number;
}

@Restify({ app: 'rc', authentication: ['rc-tokens'], permissions: [IsAuthenticated] })
@Entity('rc_vault')
class RcVault {
  @PrimaryGeneratedColumn()
  id: number;
}

const ENTITIES = [RcSafe, RcOpen, RcVault];
const SAFE = '/rest/v1/rc/rcsafe/';
const OPEN = '/rest/v1/rc/rcopen/';
const VAULT = '/rest/v1/rc/rcvault/';

/** Each call of `verify`, as name and password. */
const calls: string[] = [];
let milliseconds = 0;

async function verify(name: string, password: string): Promise<object | null> {
  calls.push(`${name}:${password}`);
  if (name === 'storm') throw new Error('the directory is away');
  if (name === 'silent') return new Promise(() => undefined);
  if (milliseconds > 0) await pause(milliseconds);
  return password === 'right' ? { name } : null;
}

@Injectable()
class Tokens extends PassportStrategy(
  class extends Strategy {
    override authenticate(request: IncomingMessage): void {
      calls.push(request.headers.authorization ?? '');
      this.fail(401);
    }
  },
  'rc-tokens',
) {
  validate(): void {
    // The strategy tells by itself.
  }
}

@Injectable()
class KnowingGuard implements CanActivate {
  canActivate(context: ExecutionContext): boolean {
    const request = context.switchToHttp().getRequest<{ headers: Record<string, string>; user?: object }>();
    if (request.headers['x-known'] !== undefined) request.user = { name: request.headers['x-known'] };
    return true;
  }
}

const RULES: RestifyModuleOptions = { authentication: [basic(verify)] };
let started: StartedApp;

async function start(
  restify: Partial<RestifyModuleOptions> = {},
  settings: Partial<AppSettings> = {},
): Promise<void> {
  started = await startApp({
    entities: ENTITIES,
    providers: [Tokens, { provide: APP_GUARD, useClass: KnowingGuard }],
    restify: { ...RULES, ...restify },
    ...settings,
  });
}

beforeEach(() => {
  calls.length = 0;
  milliseconds = 0;
});
afterEach(() => started.close());

function credentials(
  name: string,
  password: string,
  more: Readonly<Record<string, string>> = {},
): { readonly headers: Readonly<Record<string, string>> } {
  return {
    headers: { authorization: `Basic ${Buffer.from(`${name}:${password}`).toString('base64')}`, ...more },
  };
}

const ask = (name: string, password: string, path = SAFE): Promise<Answer> =>
  started.client.get(path, credentials(name, password));

async function guess(times: number, name: (call: number) => string): Promise<readonly number[]> {
  const statuses: number[] = [];
  for (let call = 0; call < times; call++) statuses.push((await ask(name(call), 'guessed')).status);
  return statuses;
}

function times(count: number, status: number): readonly number[] {
  return Array.from({ length: count }, () => status);
}

describe('an address whose credentials were refused 30 times in a minute', () => {
  beforeEach(async () => {
    await start();
    expect(await guess(30, (call) => `user${call}`)).toEqual(times(30, 401));
  });

  test('is 429 for all models of the prefix, and nothing is verified, right credentials neither', async () => {
    for (const path of [SAFE, OPEN, `${SAFE}7/`]) {
      const answer = await ask('ada', 'right', path);
      const seconds = Number(answer.headers['retry-after']);
      expect([answer.status, answer.json]).toEqual([
        429,
        { detail: `Request was throttled. Expected available in ${seconds} seconds.` },
      ]);
      expect(seconds).toBeGreaterThan(30);
      expect(seconds).toBeLessThanOrEqual(60);
    }
    const token = await started.client.get(VAULT, { headers: { authorization: 'Bearer x' } });
    expect([token.status, calls.length]).toEqual([429, 30]);
  });

  test('is served without credentials, and as an authenticated actor', async () => {
    expect((await started.client.get(OPEN)).status).toBe(200);
    expect((await started.client.get(SAFE)).status).toBe(401);
    expect((await started.client.get(SAFE, credentials('ada', 'guessed', { 'x-known': 'ada' }))).status).toBe(
      200,
    );
    expect(calls).toHaveLength(30);
  });

  test('gets 404 for an unknown path first, and the errors of the method and of Accept later', async () => {
    expect((await ask('ada', 'right', '/rest/v1/rc/nothing/')).status).toBe(404);
    expect((await started.client.put(SAFE, {}, credentials('ada', 'right'))).status).toBe(429);
    expect(
      (await started.client.get(SAFE, credentials('ada', 'right', { accept: 'text/html' }))).status,
    ).toBe(429);
  });
});

describe('a user name whose password was wrong ten times from one address', () => {
  beforeEach(() => start());

  test('is 429 there, whatever the password, and other names are not', async () => {
    expect(await guess(11, () => 'ada')).toEqual([...times(10, 401), 429]);
    expect((await ask('ada', 'right', OPEN)).status).toBe(429);
    expect(calls).toHaveLength(10);
    expect((await ask('bob', 'right')).status).toBe(200);
  });

  test('has as many again once the password was right', async () => {
    for (let round = 0; round < 3; round++) {
      expect(await guess(9, () => 'ada')).toEqual(times(9, 401));
      expect((await ask('ada', 'right')).status).toBe(200);
    }
  });

  test('is not known by more than its digest where it is long', async () => {
    expect(await guess(11, () => 'a'.repeat(5000))).toEqual([...times(10, 401), 429]);
    expect(await guess(1, () => `${'a'.repeat(4999)}b`)).toEqual([401]);
  });
});

describe('many credentials at once', () => {
  beforeEach(async () => {
    await start();
    milliseconds = 20;
  });

  test('allow no more guesses of one user name than consecutive requests', async () => {
    const answers = await Promise.all(Array.from({ length: 100 }, (_, index) => ask('ada', `guess${index}`)));
    expect(answers.map(({ status }) => status).sort()).toEqual([...times(10, 401), ...times(90, 429)]);
    expect(calls).toHaveLength(10);
  });

  test('allow no more guesses from one address', async () => {
    const answers = await Promise.all(
      Array.from({ length: 100 }, (_, index) => ask(`user${index}`, 'guessed')),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([...times(30, 401), ...times(70, 429)]);
    expect(calls).toHaveLength(30);
  });

  test('are all served where they are right, of one caller and of many', async () => {
    await guess(5, () => 'user1');
    const answers = await Promise.all(
      Array.from({ length: 150 }, (_, index) => ask(`user${index % 3 === 0 ? index : 1}`, 'right')),
    );
    expect(answers.map(({ status }) => status)).toEqual(times(150, 200));
  });
});

describe('what is counted', () => {
  test('are malformed credentials and tokens, by their address', async () => {
    await start();
    for (let call = 0; call < 15; call++) {
      expect((await started.client.get(OPEN, { headers: { authorization: 'Basic ***' } })).status).toBe(401);
      const token = await started.client.get(VAULT, { headers: { authorization: 'Bearer x' } });
      expect([token.status, token.json]).toEqual([401, { detail: 'Invalid token.' }]);
    }
    expect((await started.client.get(VAULT, { headers: { authorization: 'Bearer x' } })).status).toBe(429);
    expect(calls).toHaveLength(15);
  });

  test('are neither checks that fail, nor callers without credentials, nor other schemes', async () => {
    await start({ authenticationThrottle: { perAddress: 2, perUser: 1 } });
    for (let call = 0; call < 4; call++) {
      expect((await ask('storm', 'x')).status).toBe(503);
      expect((await started.client.get(SAFE)).status).toBe(401);
      expect((await started.client.get(SAFE, { headers: { authorization: 'Digest x' } })).status).toBe(401);
    }
    expect((await ask('ada', 'right')).status).toBe(200);
  });

  test('a check that never ends holds others of its user up no longer than it may take', async () => {
    await start({ authenticationThrottle: { perUser: 1 }, authenticationTimeout: 200 });
    const answers = await Promise.all([
      ask('silent', 'a'),
      ask('silent', 'b'),
      ask('silent', 'c'),
      ask('ada', 'right'),
    ]);
    expect(answers.map(({ status }) => status)).toEqual([503, 503, 503, 200]);
  });
});

describe('authenticationThrottle', () => {
  test('has limits and a time of its own, behind which all begins anew', async () => {
    await start({ authenticationThrottle: { perAddress: 3, perUser: 2, ttl: 2500 } });
    expect(await guess(3, () => 'ada')).toEqual([401, 401, 429]);
    expect(await guess(2, () => 'bob')).toEqual([401, 429]);
    const answer = await ask('cy', 'right');
    const seconds = Number(answer.headers['retry-after']);
    expect([answer.status, [1, 2, 3].includes(seconds)]).toEqual([429, true]);
    await pause(seconds * 1000 + 50);
    expect(await guess(3, () => 'ada')).toEqual([401, 401, 429]);
  });

  test('false turns it off', async () => {
    await start({ authenticationThrottle: false });
    expect(await guess(40, () => 'ada')).toEqual(times(40, 401));
  });

  test('belongs to its prefix', async () => {
    await start(
      {},
      {
        restifyModules: [
          RestifyModule.forRoot('rest/v1', { ...RULES, authenticationThrottle: { perUser: 1 } }),
          RestifyModule.forRoot('rest/v2', RULES),
        ],
      },
    );
    expect(await guess(2, () => 'ada')).toEqual([401, 429]);
    expect((await ask('ada', 'right', '/rest/v2/rc/rcsafe/')).status).toBe(200);
  });

  test.each([
    [true, '', 'this does not configure refused credentials'],
    [{ perAddress: 0 }, '.perAddress', '0 is not a limit'],
    [{ perUser: Number.NaN }, '.perUser', 'NaN is not a limit'],
    [{ perUser: '10' }, '.perUser', '10 is not a limit'],
    [{ perUser: 20_000 }, '.perUser', '20000 is not a limit'],
    [{ ttl: 1.5 }, '.ttl', '1.5 is not a limit'],
    [{ perUsr: 3 }, '.perUsr', '"perUsr" is not a limit'],
  ])('of %j refuses to start', async (authenticationThrottle: unknown, name, what) => {
    await start();
    await expect(
      startApp({
        entities: ENTITIES,
        providers: [Tokens],
        restify: { ...RULES, authenticationThrottle } as RestifyModuleOptions,
      }),
    ).rejects.toMatchObject({
      problems: [{ where: `RestifyModule.forRoot('rest/v1').authenticationThrottle${name}`, what }],
    });
  });
});

describe('S19 an address', () => {
  const from = async (address: string): Promise<number> =>
    (await started.client.get(SAFE, credentials('ada', 'guessed', { 'x-forwarded-for': address }))).status;

  test('is not taken from a header of the client', async () => {
    await start({ authenticationThrottle: { perUser: 2 } });
    expect([await from('10.0.0.1'), await from('10.0.0.2'), await from('10.0.0.3')]).toEqual([401, 401, 429]);
  });

  test('is taken from the header of a trusted proxy, and IPv6 addresses are counted by network', async () => {
    await start({ authenticationThrottle: { perUser: 2 } }, { trustProxy: true });
    expect([
      await from('10.0.0.1'),
      await from('10.0.0.1'),
      await from('10.0.0.1'),
      await from('10.0.0.2'),
    ]).toEqual([401, 401, 429, 401]);
    expect([await from('::ffff:10.0.0.3'), await from('10.0.0.3'), await from('10.0.0.3')]).toEqual([
      401, 401, 429,
    ]);
    expect([
      await from('2001:db8:0:1::1'),
      await from('2001:db8::1:ffff:0:0:2'),
      await from('2001:0db8:0000:0001::3'),
      await from('2001:db8:0:2::1'),
    ]).toEqual([401, 401, 429, 401]);
  });
});

describe('the storage of @nestjs/throttler, where the application has one', () => {
  /** As that storage works: it blocks behind the limit, and cannot be asked without counting. */
  class Storage {
    readonly counted = new Map<string, number>();
    away = false;

    increment(
      key: string,
      ttl: number,
      limit: number,
    ): Promise<{ isBlocked: boolean; timeToBlockExpire: number }> {
      if (this.away) return Promise.reject(new Error('no storage'));
      const hits = (this.counted.get(key) ?? 0) + 1;
      this.counted.set(key, hits);
      return Promise.resolve({
        isBlocked: hits > limit,
        timeToBlockExpire: hits > limit ? Math.ceil(ttl / 1000) : 0,
      });
    }
  }

  test('counts addresses for all processes: another one learns of it by its next refusal', async () => {
    const storage = new Storage();
    const providers = [Tokens, { provide: Symbol('ThrottlerStorage'), useValue: storage }];
    await start({ authenticationThrottle: { perAddress: 5 } }, { providers });
    const second = await startApp({
      entities: ENTITIES,
      providers,
      restify: { ...RULES, authenticationThrottle: { perAddress: 5 } },
    });
    expect(await guess(6, (call) => `user${call}`)).toEqual([...times(5, 401), 429]);
    const there = async (): Promise<number> =>
      (await second.client.get(SAFE, credentials('bob', 'guessed'))).status;
    expect([await there(), await there()]).toEqual([401, 429]);
    expect([...storage.counted]).toEqual([['restify:rest/v1:refused:127.0.0.1', 6]]);
    await second.close();
  });

  test('is not needed to refuse: without it each process counts for itself', async () => {
    const storage = new Storage();
    storage.away = true;
    await start(
      { authenticationThrottle: { perAddress: 2 } },
      { providers: [Tokens, { provide: Symbol('ThrottlerStorage'), useValue: storage }] },
    );
    expect(await guess(3, (call) => `user${call}`)).toEqual([401, 401, 429]);
  });
});
