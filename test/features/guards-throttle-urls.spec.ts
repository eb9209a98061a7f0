// @tags http nest
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { Injectable } from '@nestjs/common';
import type { CanActivate, ExecutionContext } from '@nestjs/common';
import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { copyFile, mkdir, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { Action, Restify, RestifyController, RestifyModule, RestifyUrls } from 'nestjs-restify';
import { of } from 'rxjs';
import type { Observable } from 'rxjs';
import {
  Entity,
  JoinTable,
  ManyToMany,
  ManyToOne,
  OneToMany,
  PrimaryColumn,
  PrimaryGeneratedColumn,
} from 'typeorm';
import type { Relation } from 'typeorm';
import { Client } from '../support/client.js';
import { PLATFORM } from '../support/platform.js';
import { startApp } from '../support/start-app.js';
import type { StartedApp } from '../support/start-app.js';
import { WORLD } from '../support/world.js';

@Injectable()
class Doors {
  readonly open = new Set<string>();
}

@Injectable()
class Doorkeeper implements CanActivate {
  constructor(private readonly doors: Doors) {}

  canActivate(context: ExecutionContext): boolean {
    return this.doors.open.has(
      context.switchToHttp().getRequest<{ headers: Record<string, string> }>().headers['x-door'] ?? '',
    );
  }
}

@Injectable()
class Observing implements CanActivate {
  canActivate(): Observable<boolean> {
    return of(true);
  }
}

@Restify('gtu')
@Entity()
class GtuHouse {
  @PrimaryGeneratedColumn() id: number;
  @OneToMany(() => GtuRoom, (room) => room.house) rooms: Relation<GtuRoom[]>;
  @ManyToMany(() => GtuKey) @JoinTable() keys: Relation<GtuKey[]>;
}

@Restify({ app: 'gtu', guards: [Observing, Doorkeeper] })
@Entity()
class GtuRoom {
  @PrimaryGeneratedColumn() id: number;
  @ManyToOne(() => GtuHouse, (house) => house.rooms) house: Relation<GtuHouse>;
}

@Restify('gtu')
@Entity()
class GtuKey {
  @PrimaryColumn({ length: 20 }) code: string;
}

@RestifyController(GtuHouse)
class GtuController {
  constructor(private readonly urls: RestifyUrls) {}

  @Action({ detail: true })
  links(request: object, pk: number): object {
    return {
      own: this.urls.reverse('gtu_gtuhouse-detail', { pk }, { request }),
      first: this.urls.reverse('gtu_gtuhouse-list'),
    };
  }
}

describe('guards of Nest that a model names', () => {
  let started: StartedApp;
  beforeAll(async () => {
    started = await startApp({
      entities: [GtuHouse, GtuRoom, GtuKey],
      providers: [Doors, Doorkeeper],
      controllers: [GtuController],
    });
    started.app.get(Doors).open.add('blue');
    await started.client.post('/rest/v1/gtu/gtuhouse/', {});
  });
  afterAll(() => started.close());

  test.each(['/rest/v1/gtu/gturoom/', '/rest/v1/gtu/gtuhouse/1/rooms/'])(
    'stand before its own URLs and its nested ones: %s',
    async (path) => {
      const refused = await started.client.get(path);
      expect([refused.status, refused.json]).toEqual([
        403,
        { detail: 'You do not have permission to perform this action.' },
      ]);
      expect((await started.client.get(path, { headers: { 'x-door': 'blue' } })).json).toEqual([]);
    },
  );

  test('stand before the method in the order of checks', async () => {
    expect((await started.client.put('/rest/v1/gtu/gturoom/', {})).status).toBe(403);
    expect(
      (await started.client.put('/rest/v1/gtu/gturoom/', {}, { headers: { 'x-door': 'blue' } })).status,
    ).toBe(405);
  });
});

// @nestjs/throttler is CommonJS and requires NestJS 12's ES modules, which a test runner on Node 20 cannot: a process of its own.
describe('a throttle', () => {
  let server: ChildProcess;
  let client: Client;
  const as = (name: string): { headers: Record<string, string> } => ({
    headers: { authorization: `Basic ${Buffer.from(`${name}:x`).toString('base64')}` },
  });
  const started = (argument?: string): ChildProcess =>
    spawn(process.execPath, [program, ...(argument === undefined ? [] : [argument])], {
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { ...process.env, RESTIFY_TEST_PLATFORM: PLATFORM },
    });
  // Where Node finds the packages of this world.
  const program = join(WORLD.directory, 'dist', `throttled-app-${process.pid}.mjs`);
  beforeAll(async () => {
    await mkdir(dirname(program), { recursive: true });
    await copyFile('test/fixtures/throttled-app.mjs', program);
    server = started();
    client = new Client(await portOf(server));
  });
  afterAll(async () => {
    server.kill('SIGTERM');
    await rm(program);
  });

  test('limits the requests of a caller, separately for each caller and model, before the method is checked', async () => {
    for (let call = 0; call < 3; call++)
      expect((await client.get('/rest/v1/gate/ticket/', as('ann'))).status).toBe(200);
    const refused = await client.put('/rest/v1/gate/ticket/', {}, as('ann'));
    const seconds = Number(refused.headers['retry-after']);
    expect([refused.status, refused.json]).toEqual([
      429,
      { detail: `Request was throttled. Expected available in ${seconds} seconds.` },
    ]);
    expect(seconds).toBeGreaterThan(0);
    expect(seconds).toBeLessThanOrEqual(60);
    expect((await client.get('/rest/v1/gate/ticket/', as('bob'))).status).toBe(200);
    expect((await client.get('/rest/v1/gate/free/', as('ann'))).status).toBe(200);
  });

  test('counts each object in the body of another one', async () => {
    const send = async (method: string, path: string, body: object): Promise<number> =>
      (await client.send(method, `/rest/v1/gate/free/${path}`, { ...as('dave'), body })).status;
    expect(await send('POST', '', { tickets: [{}, {}] })).toBe(201);
    expect(await send('POST', '', {})).toBe(201);
    expect(await send('POST', '', { tickets: [{}, {}] })).toBe(429);
    expect(await send('PATCH', '1/', { tickets: { delete: [1] } })).toBe(429);
    expect((await client.get('/rest/v1/gate/free/', as('dave'))).json).toHaveLength(2);
    expect((await client.get('/rest/v1/gate/free/1/tickets/', as('erin'))).json).toHaveLength(2);
  });

  test('counts requests by methods that no URL serves', async () => {
    const statuses: number[] = [];
    for (const method of ['PURGE', 'PROPFIND', 'LINK', 'PURGE', 'TRACE'])
      statuses.push((await client.send(method, '/rest/v1/gate/ticket/', as('carol'))).status);
    expect(statuses).toEqual([405, 405, 405, 429, 429]);
  });

  test('S19 counts an anonymous caller by the address, and ignores headers', async () => {
    const answers: number[] = [];
    for (let call = 0; call < 5; call++)
      answers.push(
        (await client.get('/rest/v1/gate/ticket/', { headers: { 'x-forwarded-for': `10.0.0.${call}` } }))
          .status,
      );
    expect(answers).toEqual([200, 200, 200, 429, 429]);
  });

  test('shares its storage with the credentials that are refused: an address is shut for what other processes have refused', async () => {
    const other = started('refused-elsewhere');
    const there = new Client(await portOf(other));
    expect((await there.get('/rest/v1/gate/free/', as('ann'))).status).toBe(200);
    expect((await there.get('/rest/v1/gate/free/', as('mallory'))).status).toBe(401);
    const refused = await there.get('/rest/v1/gate/free/', as('ann'));
    expect([refused.status, Number(refused.headers['retry-after']) > 30]).toEqual([429, true]);
    other.kill('SIGTERM');
  });

  test('refuses to start without a storage to count in', async () => {
    const failing = started('without-storage');
    const text: string[] = [];
    failing.stderr?.on('data', (chunk: Buffer) => text.push(chunk.toString()));
    const [code] = (await once(failing, 'close')) as [number];
    expect(code).toBe(1);
    expect(text.join('')).toContain(
      'A model names a throttle: install @nestjs/throttler, and import ThrottlerModule.forRoot([]) in the application.',
    );
  });
});

function portOf(server: ChildProcess): Promise<number> {
  return new Promise((resolve, reject) => {
    const errors: string[] = [];
    server.stderr?.on('data', (chunk: Buffer) => errors.push(chunk.toString()));
    server.stdout?.on('data', (chunk: Buffer) => {
      const port = /^PORT (\d+)$/m.exec(chunk.toString())?.[1];
      if (port !== undefined) resolve(Number(port));
    });
    server.on('exit', (code) => {
      reject(new Error(`The application ended with ${code}: ${errors.join('')}`));
    });
  });
}

describe('URLs by name', () => {
  let started: StartedApp;
  let urls: RestifyUrls;
  beforeAll(async () => {
    started = await startApp({
      entities: [GtuHouse, GtuRoom, GtuKey],
      providers: [Doors, Doorkeeper],
      controllers: [GtuController],
      restifyModules: [RestifyModule.forRoot('rest/v1'), RestifyModule.forRoot('rest/v2')],
      configure: (app) => app.setGlobalPrefix('api'),
    });
    urls = started.app.get(RestifyUrls);
  });
  afterAll(() => started.close());

  test.each([
    ['gtu_gtuhouse-list', {}, '/api/rest/v1/gtu/gtuhouse/'],
    ['gtu_gtuhouse-detail', { pk: 7 }, '/api/rest/v1/gtu/gtuhouse/7/'],
    ['gtu_gtukey-detail', { pk: 'a/b c' }, '/api/rest/v1/gtu/gtukey/a%2Fb%20c/'],
    ['gtuhouse-rooms-list', { pk: 7 }, '/api/rest/v1/gtu/gtuhouse/7/rooms/'],
    ['gtu_gtuhouse-rooms-list', { pk: 7 }, '/api/rest/v1/gtu/gtuhouse/7/rooms/'],
    ['gtuhouse-keys-detail', { pk: 7, childPk: 'x' }, '/api/rest/v1/gtu/gtuhouse/7/keys/x/'],
    ['gtu_gtuhouse-links', { pk: 7 }, '/api/rest/v1/gtu/gtuhouse/7/links/'],
  ])('%s', (name, parameters, url) => {
    expect(urls.reverse(name, parameters)).toBe(url);
  });

  test('are below the requested prefix, else that of the request, else the first', async () => {
    expect(urls.reverse('gtu_gtukey-list', {}, { prefix: 'rest/v2' })).toBe('/api/rest/v2/gtu/gtukey/');
    await started.client.post('/api/rest/v2/gtu/gtuhouse/', {});
    const { json } = await started.client.get('/api/rest/v2/gtu/gtuhouse/1/links/');
    expect(json).toEqual({ own: '/api/rest/v2/gtu/gtuhouse/1/', first: '/api/rest/v1/gtu/gtuhouse/' });
  });

  test('throw an error for an unknown name or prefix, and for an invalid key', () => {
    expect(() => urls.reverse('gtu-nothing')).toThrow('No route is named "gtu-nothing".');
    expect(() => urls.reverse('gtu_gtukey-list', {}, { prefix: 'v3' })).toThrow('There is no prefix "v3".');
    expect(() => urls.reverse('gtu_gtuhouse-detail')).toThrow('This URL needs a key');
  });
});
