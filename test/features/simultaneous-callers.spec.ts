// @tags http nest
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { Injectable } from '@nestjs/common';
import { PassportStrategy } from '@nestjs/passport';
import {
  Action,
  allow,
  basic,
  CurrentActor,
  deny,
  ResourceController,
  Restify,
  RestifyController,
  strategy,
  where,
} from 'nestjs-restify';
import type { AccessContext, Authentication, Grant, HookContext, Permission, Denial } from 'nestjs-restify';
import type { IncomingMessage } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import { Strategy } from 'passport';
import { BasicStrategy } from 'passport-http';
import { Column, Entity, PrimaryGeneratedColumn } from 'typeorm';
import { Client } from '../support/client.js';
import { startApp } from '../support/start-app.js';
import type { StartedApp } from '../support/start-app.js';
import { sendPipelined } from './raw-request.js';

// S21: what a request is kept on is its own, however many there are at once and however long each of them takes.

interface Named {
  readonly name: string;
}

const PEOPLE = Array.from({ length: 10 }, (_, index) => `user${index}`);
const STORM = 'storm';
const SILENT = 'silent';
const LATE = 'late';

/** The same order in every run. */
function randomNumbers(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
    return state / 2_147_483_648;
  };
}

const random = randomNumbers(7);

/** At once, a tick later, or after 5 or 50 ms. */
function delay(): Promise<void> | undefined {
  switch (Math.floor(random() * 4)) {
    case 0:
      return undefined;
    case 1:
      return Promise.resolve();
    case 2:
      return pause(5);
    default:
      return pause(50);
  }
}

function isRight(name: string, password: string): boolean {
  return PEOPLE.includes(name) && password === `of ${name}`;
}

const settled: string[] = [];

function verify(name: string, password: string): Named | null | Promise<Named | null> {
  if (name === STORM) throw new Error('the directory is away');
  if (name === SILENT) return new Promise(() => undefined);
  if (name === LATE) {
    return pause(3000).then(() => {
      settled.push(name);
      return { name };
    });
  }
  const told = isRight(name, password) ? { name } : null;
  return delay()?.then(() => told) ?? told;
}

@Injectable()
class NamedPasswords extends PassportStrategy(BasicStrategy, 'sim-passwords') {
  validate(name: string, password: string): Named | null | Promise<Named | null> {
    return verify(name, password);
  }
}

/** Calls back by itself, as strategies of packages do. */
class TokenStrategy extends Strategy {
  protected knows: (name: string) => boolean = () => false;

  override authenticate(request: IncomingMessage): void {
    const [, token = ''] = (request.headers.authorization ?? '').split(' ');
    const [name = '', password = ''] = Buffer.from(token, 'base64').toString().split(':');
    if (name === STORM) throw new Error('the token service is away');
    if (name === SILENT) return;
    const tell = (): void => {
      if (this.knows(name) && isRight(name, password)) this.success({ name });
      else this.fail(401);
    };
    const wait = delay();
    if (wait) void wait.then(tell);
    else tell();
  }
}

@Injectable()
class EvenTokens extends PassportStrategy(TokenStrategy, 'sim-even') {
  constructor() {
    super();
    this.knows = (name) => Number(name.slice(4)) % 2 === 0;
  }

  validate(): void {
    // TokenStrategy tells by itself.
  }
}

@Injectable()
class OddTokens extends PassportStrategy(TokenStrategy, 'sim-odd') {
  constructor() {
    super();
    this.knows = (name) => Number(name.slice(4)) % 2 === 1;
  }

  validate(): void {
    // TokenStrategy tells by itself.
  }
}

@Injectable()
class OwnRows implements Permission {
  async decide({ actor }: AccessContext): Promise<Grant | Denial> {
    await delay();
    return actor === null ? deny() : allow({ rows: where('owner', (actor as Named).name) });
  }
}

@Restify({ app: 'sim', permissions: [OwnRows] })
@Entity('sim_note')
class SimNote {
  @PrimaryGeneratedColumn()
  id: number;

  @Column()
  owner: string;
}

@Restify({ app: 'sim', permissions: [OwnRows] })
@Entity('sim_memo')
class SimMemo {
  @PrimaryGeneratedColumn()
  id: number;

  @Column()
  owner: string;
}

@RestifyController(SimMemo)
class MemoController extends ResourceController<SimMemo> {
  override async valuesOnCreate({ actor }: HookContext): Promise<Partial<SimMemo>> {
    await delay();
    return { owner: (actor as Named).name };
  }

  @Action({ detail: false, permissions: [] })
  async me(@CurrentActor() actor: object | null): Promise<object> {
    await delay();
    return { actor };
  }
}

interface Asked {
  readonly method: 'GET' | 'POST';
  readonly path: string;
  readonly authorization: string;
  readonly body: string;
  readonly answer: readonly [number, unknown];
}

const NOTES = '/rest/v1/sim/simnote/';
const MEMOS = '/rest/v1/sim/simmemo/';
const AWAY = [503, { detail: 'The service is temporarily unavailable. Try again later.' }] as const;

function credentials(scheme: string, name: string, password: string): string {
  return `${scheme} ${Buffer.from(`${name}:${password}`).toString('base64')}`;
}

/** 100 requests of ten users, of people with wrong passwords, and of those whose check fails, in random order. */
function hundred(scheme: string, refused: string): readonly Asked[] {
  return Array.from({ length: 100 }, (_, index): Asked => {
    const name = PEOPLE[Math.floor(random() * PEOPLE.length)] ?? '';
    const chance = random();
    if (chance < 0.2)
      return { ...asking(scheme, index, name, 'guessed'), answer: [401, { detail: refused }] };
    if (chance < 0.3) return { ...asking(scheme, index, STORM, 'x'), answer: AWAY };
    return asking(scheme, index, name, `of ${name}`);
  });
}

function asking(scheme: string, index: number, name: string, password: string): Asked {
  const authorization = credentials(scheme, name, password);
  switch (index % 3) {
    case 0:
      return {
        method: 'GET',
        path: NOTES,
        authorization,
        body: '',
        answer: [200, [{ id: PEOPLE.indexOf(name) + 1, owner: name }]],
      };
    case 1:
      return {
        method: 'GET',
        path: `${MEMOS}me/`,
        authorization,
        body: '',
        answer: [200, { actor: { name } }],
      };
    default:
      return {
        method: 'POST',
        path: MEMOS,
        authorization,
        body: '{"owner":"whoever"}',
        answer: [201, { id: expect.any(Number), owner: name }],
      };
  }
}

function rawText({ method, path, authorization, body }: Asked): string {
  const sent =
    body === '' ? [] : ['Content-Type: application/json', `Content-Length: ${Buffer.byteLength(body)}`];
  return [`${method} ${path} HTTP/1.1`, 'Host: h', `Authorization: ${authorization}`, ...sent, '', body].join(
    '\r\n',
  );
}

describe.each([
  ['basic(verify)', 'Basic', [basic(verify)]],
  ['a strategy by name', 'Basic', [strategy('sim-passwords', 'Basic')]],
  ['two strategies on one model', 'Bearer', ['sim-even', 'sim-odd']],
] satisfies [string, string, Authentication[]][])(
  'requests that %s authenticates at the same time',
  (_name, scheme, authentication) => {
    let started: StartedApp;
    const refused = scheme === 'Basic' ? 'Invalid username/password.' : 'Invalid token.';
    beforeAll(async () => {
      started = await startApp({
        entities: [SimNote, SimMemo],
        controllers: [MemoController],
        providers: [NamedPasswords, EvenTokens, OddTokens],
        restify: { authentication, authenticationThrottle: false, authenticationTimeout: 2500 },
      });
      await started.dataSource.getRepository(SimNote).insert(PEOPLE.map((owner) => ({ owner })));
    });
    afterAll(() => started.close());

    test('are answered each as its own caller, on connections of their own', async () => {
      const asked = hundred(scheme, refused);
      const answers = await Promise.all(
        asked.map(({ method, path, authorization, body }) =>
          started.client.send(method, path, {
            headers: { authorization },
            ...(body === '' ? {} : { body: JSON.parse(body) as unknown }),
          }),
        ),
      );
      expect(answers.map(({ status, json }) => [status, json])).toEqual(asked.map(({ answer }) => answer));
    });

    test('are answered each as its own caller, one behind the other on few connections', async () => {
      const asked = hundred(scheme, refused);
      const connections = [asked.slice(0, 50), asked.slice(50, 90), asked.slice(90)];
      const answers = await Promise.all(
        connections.map((requests) => sendPipelined(started.port, requests.map(rawText))),
      );
      expect(answers.flat().map(({ status, json }) => [status, json])).toEqual(
        asked.map(({ answer }) => answer),
      );
    });

    test('are 503 where no answer comes in time, and do not delay others', async () => {
      const right = asking(scheme, 0, 'user1', 'of user1');
      const silent = [1, 2, 3].map((index) => asking(scheme, index, SILENT, 'x'));
      const waiting = silent.map(({ method, path, authorization }) =>
        started.client.send(method, path, { headers: { authorization } }),
      );
      const answer = await started.client.get(right.path, {
        headers: { authorization: right.authorization },
      });
      expect([answer.status, answer.json]).toEqual(right.answer);
      expect((await Promise.all(waiting)).map(({ status, json }) => [status, json])).toEqual(
        silent.map(() => AWAY),
      );
    });
  },
);

describe('a check of credentials that takes too long', () => {
  let started: StartedApp;
  beforeAll(async () => {
    started = await startApp({
      entities: [SimNote, SimMemo],
      controllers: [MemoController],
      restify: { authentication: [basic(verify)], authenticationTimeout: 1000 },
    });
  });
  afterAll(() => started.close());

  test('is 503, and its late result is dropped', async () => {
    const headers = { authorization: credentials('Basic', LATE, 'x') };
    const answer = await started.client.get(`${MEMOS}me/`, { headers });
    expect([answer.status, answer.json]).toEqual(AWAY);
    expect(settled).toEqual([]);
    while (settled.length === 0) await pause(20);
    const next = await started.client.get(`${MEMOS}me/`, {
      headers: { authorization: credentials('Basic', 'user3', 'of user3') },
    });
    expect(next.json).toEqual({ actor: { name: 'user3' } });
  });
});

describe('credentials of HTTP Basic', () => {
  const right = new Map([
    ['ada', 'a:b:c'],
    ['bob', ':'],
    ['cy', 'größe €'],
    ['admin', 'admin'],
  ]);
  let started: StartedApp;
  const asked: string[] = [];
  beforeAll(async () => {
    started = await startApp({
      entities: [SimNote, SimMemo],
      controllers: [MemoController],
      providers: [NamedPasswords],
      restify: {
        authentication: [
          basic((name, password) => {
            asked.push(`${name}|${password}`);
            return right.get(name) === password ? { name } : null;
          }),
        ],
      },
    });
  });
  afterEach(() => {
    asked.length = 0;
  });
  afterAll(() => started.close());

  const me = (authorization: string) => started.client.get(`${MEMOS}me/`, { headers: { authorization } });

  test.each([...right])('have all behind the first colon as the password: %s', async (name, password) => {
    const answer = await me(credentials('Basic', name, password));
    expect([answer.status, answer.json]).toEqual([200, { actor: { name } }]);
  });

  test('are wrong with a password that only begins as the right one', async () => {
    const answer = await me(credentials('Basic', 'admin', 'admin:x'));
    expect([answer.status, answer.json]).toEqual([401, { detail: 'Invalid username/password.' }]);
    expect(asked).toEqual(['admin|admin:x']);
  });

  test.each([
    ['no UTF-8', Buffer.from([0x61, 0xff, 0x3a, 0x62]).toString('base64')],
    ['half a sequence of UTF-8', Buffer.from([0x61, 0x3a, 0xe2, 0x82]).toString('base64')],
    ['a surrogate in UTF-8', Buffer.from([0x61, 0x3a, 0xed, 0xa0, 0x80]).toString('base64')],
    ['a control character', Buffer.from('a\0:b').toString('base64')],
    ['no name', Buffer.from(':b').toString('base64')],
    ['no password', Buffer.from('a:').toString('base64')],
    ['no colon', Buffer.from('a').toString('base64')],
    ['two words', `${Buffer.from('admin:admin').toString('base64')} x`],
    ['no base64', '{}'],
    ['nothing', ''],
  ])('are 401, and nothing is verified, with %s', async (_name, token) => {
    const answer = await me(`Basic ${token}`);
    expect([answer.status, answer.json, answer.headers['www-authenticate']]).toEqual([
      401,
      { detail: 'Invalid username/password.' },
      'Basic realm="api"',
    ]);
    expect(asked).toEqual([]);
  });
});

describe('a challenge of a name that browsers have no box for', () => {
  test('stands in the place of the scheme’s own, and the status is 401', async () => {
    const started = await startApp({
      entities: [SimNote, SimMemo],
      controllers: [MemoController],
      providers: [EvenTokens],
      restify: {
        authentication: [
          basic(verify, { challenge: 'XBasic' }),
          strategy('sim-even', { header: 'X-Token', challenge: 'Token' }),
        ],
      },
    });
    const client = new Client(started.port);
    const challenges = 'XBasic realm="api", Token realm="api"';
    const none = await client.get(NOTES);
    expect([none.status, none.headers['www-authenticate']]).toEqual([401, challenges]);
    const wrong = await client.get(NOTES, {
      headers: { authorization: credentials('Basic', 'user1', 'guessed') },
    });
    expect([wrong.status, wrong.json, wrong.headers['www-authenticate']]).toEqual([
      401,
      { detail: 'Invalid username/password.' },
      challenges,
    ]);
    const right = await client.get(`${MEMOS}me/`, {
      headers: { authorization: credentials('Basic', 'user1', 'of user1') },
    });
    expect(right.json).toEqual({ actor: { name: 'user1' } });
    await started.close();
  });
});
