// @tags db http nest
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import {
  BadGatewayException,
  BadRequestException,
  Catch,
  Controller,
  ForbiddenException,
  Get,
  HttpException,
} from '@nestjs/common';
import type {
  ArgumentsHost,
  CanActivate,
  ExceptionFilter,
  ExecutionContext,
  LoggerService,
} from '@nestjs/common';
import { Restify } from 'nestjs-restify';
import {
  Column,
  Entity,
  JoinColumn,
  JoinTable,
  ManyToMany,
  ManyToOne,
  OneToMany,
  PrimaryGeneratedColumn,
} from 'typeorm';
import type { Relation } from 'typeorm';
import type { Answer } from '../support/client.js';
import { DATABASES } from '../support/databases.js';
import { onEachDatabase } from '../support/each-database.js';
import { startApp } from '../support/start-app.js';
import type { AppSettings, StartedApp } from '../support/start-app.js';
import { breakableLine } from '../support/breakable-line.js';

@Restify('err')
@Entity('err_shelf')
class Shelf {
  @PrimaryGeneratedColumn()
  id: number;

  @Column({ length: 20, default: '' })
  name: string;

  @OneToMany(() => Volume, (volume) => volume.shelf)
  volumes: Relation<Volume[]>;

  @ManyToMany(() => Topic, (topic) => topic.shelves)
  @JoinTable({
    name: 'err_placing',
    joinColumn: { name: 'shelf_id' },
    inverseJoinColumn: { name: 'topic_id' },
    synchronize: false,
  })
  topics: Relation<Topic[]>;
}

@Restify('err')
@Entity('err_topic')
class Topic {
  @PrimaryGeneratedColumn()
  id: number;

  @ManyToMany(() => Shelf, (shelf) => shelf.topics)
  shelves: Relation<Shelf[]>;
}

@Restify('err')
@Entity('err_volume')
class Volume {
  @PrimaryGeneratedColumn()
  id: number;

  @Column({ length: 20 })
  title: string;

  @Column({ type: 'int', default: 0 })
  pages: number;

  @ManyToOne(() => Shelf, (shelf) => shelf.volumes, { nullable: false })
  shelf: Relation<Shelf>;
}

/** The through objects of shelves and topics. */
@Entity('err_placing')
class Placing {
  @PrimaryGeneratedColumn()
  id: number;

  @ManyToOne(() => Shelf, { nullable: false, onDelete: 'CASCADE' })
  @JoinColumn({ name: 'shelf_id' })
  shelf: Relation<Shelf>;

  @ManyToOne(() => Topic, { nullable: false, onDelete: 'CASCADE' })
  @JoinColumn({ name: 'topic_id' })
  topic: Relation<Topic>;
}

@Restify('err')
@Entity('err_fine')
class Fine {
  @PrimaryGeneratedColumn()
  id: number;

  @ManyToOne(() => Placing, { nullable: false })
  placing: Relation<Placing>;
}

/** Not served. */
@Entity('err_stamp')
class Stamp {
  @PrimaryGeneratedColumn()
  id: number;

  @ManyToOne(() => Volume, { nullable: false, onDelete: 'RESTRICT' })
  volume: Relation<Volume>;
}

const MODELS = [Shelf, Topic, Volume, Placing, Fine, Stamp];
const ERR = '/rest/v1/err';
const COLLECTION = 'GET, POST, HEAD, OPTIONS';
const OBJECT = 'GET, PUT, PATCH, DELETE, HEAD, OPTIONS';
const READ = 'GET, HEAD, OPTIONS';
const NOT_FOUND = { detail: 'Not found.' };
const FAILED = { detail: 'A server error occurred.' };
const JSON_TYPE = { 'content-type': 'application/json' };
const PARSE_ERROR = { detail: expect.stringMatching(/^JSON parse error - ./) };
const HUGE = JSON.stringify({ name: 'x'.repeat(3 * 1024 * 1024) });

/** Status, body, `Allow`, and every other header that a response of ours has. */
function expectError(answer: Answer, status: number, body: unknown, allow: string): void {
  const { headers } = answer;
  expect({
    status: answer.status,
    body: answer.json,
    text: answer.text.slice(0, 500),
    allow: headers.allow,
  }).toEqual({ status, body, text: expect.any(String), allow });
  expect(headers).toMatchObject({
    'content-type': 'application/json',
    'cross-origin-opener-policy': 'same-origin',
    'referrer-policy': 'same-origin',
    vary: 'Accept, Cookie',
    'x-content-type-options': 'nosniff',
    'x-frame-options': 'DENY',
  });
  expect(headers['x-powered-by']).toBeUndefined();
}

function notAllowed(method: string): object {
  return { detail: `Method "${method}" not allowed.` };
}

function unsupported(type: string): object {
  return { detail: `Unsupported media type "${type}" in request.` };
}

const ONE_DETAIL = { detail: expect.stringMatching(/./) };

async function made(started: StartedApp, model: string, body: object = {}): Promise<number> {
  const answer = await started.client.post(`${ERR}/${model}/`, body);
  expect([answer.status, answer.text]).toEqual([201, expect.any(String)]);
  return (answer.json as { id: number }).id;
}

async function volumeOn(started: StartedApp): Promise<{ readonly shelf: number; readonly volume: number }> {
  const shelf = await made(started, 'shelf', { name: 's' });
  return { shelf, volume: await made(started, 'volume', { title: 't', shelf }) };
}

describe('an error', () => {
  let started: StartedApp;
  beforeAll(async () => {
    started = await startApp({ entities: MODELS });
  });
  afterAll(() => started.close());

  test('in the input is 400, messages under their fields', async () => {
    const { volume } = await volumeOn(started);
    const missing = await started.client.post(`${ERR}/volume/`, { pages: 'many' });
    expectError(
      missing,
      400,
      {
        title: ['This field is required.'],
        pages: ['A valid integer is required.'],
        shelf: ['This field is required.'],
      },
      COLLECTION,
    );
    expectError(
      await started.client.patch(`${ERR}/volume/${volume}/`, { title: null }),
      400,
      { title: ['This field may not be null.'] },
      OBJECT,
    );
    expectError(
      await started.client.get(`${ERR}/volume/?pages=many`),
      400,
      { pages: ['Enter a number.'] },
      COLLECTION,
    );
  });

  test('in the JSON is 400, with a detail that says so', async () => {
    const { shelf, volume } = await volumeOn(started);
    for (const raw of [
      '{',
      '{"title": }',
      "{'title': 'a'}",
      '{"title": NaN}',
      'title=a',
      '{"title": "a"} x',
      '{"title": "a",}',
      '\u0000',
    ]) {
      expectError(
        await started.client.send('POST', `${ERR}/volume/`, { raw, headers: JSON_TYPE }),
        400,
        PARSE_ERROR,
        COLLECTION,
      );
      expectError(
        await started.client.send('PATCH', `${ERR}/volume/${volume}/`, { raw, headers: JSON_TYPE }),
        400,
        PARSE_ERROR,
        OBJECT,
      );
      expectError(
        await started.client.send('POST', `${ERR}/shelf/${shelf}/topics/`, { raw, headers: JSON_TYPE }),
        400,
        PARSE_ERROR,
        COLLECTION,
      );
    }
    expect((await started.client.get(`${ERR}/volume/${volume}/`)).json).toEqual({
      id: volume,
      title: 't',
      pages: 0,
      shelf,
    });
  });

  test('for an unknown object, parent, child, model, app or path is 404', async () => {
    const { shelf } = await volumeOn(started);
    for (const method of ['GET', 'PUT', 'PATCH', 'DELETE']) {
      expectError(await started.client.send(method, `${ERR}/volume/99999/`), 404, NOT_FOUND, OBJECT);
      expectError(
        await started.client.send(method, `${ERR}/shelf/${shelf}/topics/99999/`),
        404,
        NOT_FOUND,
        OBJECT,
      );
      expectError(await started.client.send(method, `${ERR}/shelf/99999/topics/1/`), 404, NOT_FOUND, OBJECT);
    }
    expectError(await started.client.get(`${ERR}/shelf/99999/volumes/`), 404, NOT_FOUND, READ);
    for (const method of ['GET', 'POST'])
      expectError(
        await started.client.send(method, `${ERR}/shelf/99999/topics/`),
        404,
        NOT_FOUND,
        COLLECTION,
      );
    for (const path of [
      '/err/nothing/',
      '/err/stamp/',
      '/err/placing/',
      '/nothing/shelf/',
      '/err/',
      '/err/shelf/1/nothing/',
      `/err/shelf/${shelf}/volumes/1/`,
      '/err/shelf/1/2/3/4/',
      '/x',
    ]) {
      for (const method of ['GET', 'POST', 'DELETE', 'OPTIONS'])
        expectError(await started.client.send(method, `/rest/v1${path}`), 404, NOT_FOUND, '');
    }
  });

  test('for a method that the URL does not serve is 405, which names the method', async () => {
    const { shelf, volume } = await volumeOn(started);
    const urls: readonly (readonly [path: string, allow: string])[] = [
      [`${ERR}/volume/`, COLLECTION],
      [`${ERR}/volume/${volume}/`, OBJECT],
      [`${ERR}/shelf/${shelf}/volumes/`, READ],
      [`${ERR}/shelf/${shelf}/topics/`, COLLECTION],
      [`${ERR}/shelf/${shelf}/topics/1/`, OBJECT],
      ['/', READ],
    ];
    for (const [path, allow] of urls) {
      const refused = [
        'GET',
        'POST',
        'PUT',
        'PATCH',
        'DELETE',
        'TRACE',
        'PROPFIND',
        'PURGE',
        'QUERY',
        'LINK',
      ].filter((method) => !allow.split(', ').includes(method));
      for (const method of refused)
        expectError(await started.client.send(method, path), 405, notAllowed(method), allow);
    }
  });

  test('for an Accept header that leaves JSON out is 406', async () => {
    const { volume } = await volumeOn(started);
    for (const accept of [
      'text/html',
      'application/xml',
      'application/json;q=0',
      '*/*;q=0',
      'text/*, image/png',
      'application/jsonx',
      'json',
    ]) {
      expectError(
        await started.client.get(`${ERR}/volume/`, { headers: { accept } }),
        406,
        { detail: 'Could not satisfy the request Accept header.' },
        COLLECTION,
      );
      expectError(
        await started.client.delete(`${ERR}/volume/${volume}/`, { headers: { accept } }),
        406,
        { detail: 'Could not satisfy the request Accept header.' },
        OBJECT,
      );
    }
    for (const accept of [
      '',
      '*/*',
      'application/*',
      'text/html, */*;q=0.1',
      'application/json; indent=4',
      'APPLICATION/JSON',
    ]) {
      expect([
        accept,
        (await started.client.get(`${ERR}/volume/${volume}/`, { headers: { accept } })).status,
      ]).toEqual([accept, 200]);
    }
  });

  test('for a body that is too large is 413, and for one that is no JSON 415', async () => {
    const { shelf, volume } = await volumeOn(started);
    for (const [method, path, allow] of [
      ['POST', `${ERR}/volume/`, COLLECTION],
      ['PUT', `${ERR}/volume/${volume}/`, OBJECT],
      ['PATCH', `${ERR}/volume/${volume}/`, OBJECT],
      ['POST', `${ERR}/shelf/${shelf}/topics/`, COLLECTION],
    ] as const) {
      expectError(
        await started.client.send(method, path, { raw: HUGE, headers: JSON_TYPE }),
        413,
        ONE_DETAIL,
        allow,
      );
      for (const type of ['text/plain', 'application/x-www-form-urlencoded', 'application/xml']) {
        expectError(
          await started.client.send(method, path, { raw: 'title=a', headers: { 'content-type': type } }),
          415,
          unsupported(type),
          allow,
        );
      }
      expectError(
        await started.client.send(method, path, { raw: '{"title": "a"}' }),
        415,
        unsupported(''),
        allow,
      );
    }
  });
});

onEachDatabase('a deletion that a foreign key restricts', (database) => {
  let started: StartedApp;
  beforeAll(async () => {
    started = await startApp({ entities: MODELS, database });
  });
  afterAll(() => started.close());

  test('is 409, names the model that still refers to the object, and leaves it there', async () => {
    const { shelf, volume } = await volumeOn(started);
    expectError(
      await started.client.delete(`${ERR}/shelf/${shelf}/`),
      409,
      { detail: expect.stringContaining('err.volume') },
      OBJECT,
    );
    expect((await started.client.get(`${ERR}/shelf/${shelf}/`)).status).toBe(200);
    await started.client.delete(`${ERR}/volume/${volume}/`);
    expect((await started.client.delete(`${ERR}/shelf/${shelf}/`)).status).toBe(204);
  });

  test('names a model that is not served too, and no table', async () => {
    const { volume } = await volumeOn(started);
    await started.dataSource.getRepository(Stamp).insert({ volume: { id: volume } });
    const answer = await started.client.delete(`${ERR}/volume/${volume}/`);
    expectError(answer, 409, { detail: expect.stringMatching(/stamp/i) }, OBJECT);
    expect(answer.text).not.toMatch(/err_|constraint|foreign key/i);
  });

  test('is 409 for a through object as well', async () => {
    const { shelf } = await volumeOn(started);
    const topic = await made(started, 'topic');
    const path = `${ERR}/shelf/${shelf}/topics/`;
    const { id } = (await started.client.post(path, { topic })).json as { id: number };
    await started.dataSource.getRepository(Fine).insert({ placing: { id } });
    expectError(
      await started.client.delete(`${path}${id}/`),
      409,
      { detail: expect.stringContaining('err.fine') },
      OBJECT,
    );
    expect((await started.client.get(`${path}${id}/`)).json).toEqual({ id, shelf, topic });
  });
});

const FORBIDDEN = { detail: 'You do not have permission to perform this action.' };

/** Refuses what a header asks it to refuse. */
class Doorman implements CanActivate {
  canActivate(context: ExecutionContext): boolean {
    const { headers } = context.switchToHttp().getRequest<{ headers: Record<string, string> }>();
    switch (headers['x-refuse']) {
      case 'false':
        return false;
      case 'forbidden':
        throw new ForbiddenException('Closed on Mondays.');
      case 'list':
        throw new BadRequestException(['one', 'two']);
      case 'object':
        throw new HttpException({ error: 'secret', nested: { a: 1 } }, 418);
      case 'gateway':
        throw new BadGatewayException('secret host');
      case 'error':
        throw new Error('secret cause');
      case 'text':
        throw 'secret text'; // eslint-disable-line @typescript-eslint/only-throw-error -- what an application throws need be no Error
      case 'null':
        throw null; // eslint-disable-line @typescript-eslint/only-throw-error -- what an application throws need be no Error
      default:
        return true;
    }
  }
}

@Catch()
class PlainFilter implements ExceptionFilter {
  catch(_error: unknown, host: ArgumentsHost): void {
    host
      .switchToHttp()
      .getResponse<{ status(code: number): { type(type: string): { send(text: string): void } } }>()
      .status(599)
      .type('text/plain')
      .send('the application');
  }
}

@Controller('own')
class OwnController {
  @Get()
  own(): never {
    throw new Error('own');
  }
}

describe('the order of the checks', () => {
  let started: StartedApp;
  beforeAll(async () => {
    started = await startApp({
      entities: MODELS,
      controllers: [OwnController],
      undescribed: [400, 403, 418, 502],
      configure: (app) => {
        app.useGlobalGuards(new Doorman());
        app.useGlobalFilters(new PlainFilter());
      },
    });
  });
  afterAll(() => started.close());

  const BROKEN = { raw: '{"name": ', headers: JSON_TYPE };
  const WRONG_ACCEPT = { accept: 'text/html' };
  const TEXT = { 'content-type': 'text/plain' };

  test('puts the route before all else', async () => {
    for (const method of ['GET', 'POST', 'PATCH', 'TRACE']) {
      const options = {
        raw: BROKEN.raw,
        headers: { ...JSON_TYPE, ...WRONG_ACCEPT, 'x-refuse': 'forbidden' },
      };
      expectError(await started.client.send(method, `${ERR}/nothing/`, options), 404, NOT_FOUND, '');
    }
    expectError(
      await started.client.send('POST', `${ERR}/nothing/`, { raw: HUGE, headers: JSON_TYPE }),
      404,
      NOT_FOUND,
      '',
    );
  });

  test("puts the application's guards before the method", async () => {
    for (const path of [`${ERR}/volume/99999/`, `${ERR}/shelf/99999/topics/1/`]) {
      const answer = await started.client.send('POST', path, {
        raw: HUGE,
        headers: { ...TEXT, ...WRONG_ACCEPT, 'x-refuse': 'forbidden' },
      });
      expectError(answer, 403, ONE_DETAIL, OBJECT);
    }
  });

  test('puts the method before Accept and the object', async () => {
    for (const raw of [BROKEN.raw, HUGE]) {
      for (const headers of [JSON_TYPE, { ...JSON_TYPE, ...WRONG_ACCEPT }, { ...TEXT, ...WRONG_ACCEPT }]) {
        expectError(
          await started.client.send('POST', `${ERR}/volume/99999/`, { raw, headers }),
          405,
          notAllowed('POST'),
          OBJECT,
        );
        expectError(
          await started.client.send('PUT', `${ERR}/volume/`, { raw, headers }),
          405,
          notAllowed('PUT'),
          COLLECTION,
        );
        expectError(
          await started.client.send('POST', `${ERR}/shelf/99999/volumes/`, { raw, headers }),
          405,
          notAllowed('POST'),
          READ,
        );
      }
    }
  });

  test('puts Accept before the object and the body', async () => {
    const body = { detail: 'Could not satisfy the request Accept header.' };
    for (const raw of [BROKEN.raw, HUGE]) {
      for (const type of [JSON_TYPE, TEXT]) {
        const options = { raw, headers: { ...type, ...WRONG_ACCEPT } };
        expectError(await started.client.send('PATCH', `${ERR}/volume/99999/`, options), 406, body, OBJECT);
        expectError(await started.client.send('POST', `${ERR}/volume/`, options), 406, body, COLLECTION);
        expectError(
          await started.client.send('POST', `${ERR}/shelf/99999/topics/`, options),
          406,
          body,
          COLLECTION,
        );
      }
    }
  });

  test('puts the parent and the object before the body', async () => {
    const shelf = await made(started, 'shelf');
    for (const raw of [BROKEN.raw, HUGE, '[]', 'null', '{"title": 5}']) {
      for (const headers of [JSON_TYPE, TEXT, {}]) {
        for (const method of ['PUT', 'PATCH']) {
          expectError(
            await started.client.send(method, `${ERR}/volume/99999/`, { raw, headers }),
            404,
            NOT_FOUND,
            OBJECT,
          );
          expectError(
            await started.client.send(method, `${ERR}/volume/x/`, { raw, headers }),
            404,
            NOT_FOUND,
            OBJECT,
          );
          expectError(
            await started.client.send(method, `${ERR}/shelf/${shelf}/topics/99999/`, { raw, headers }),
            404,
            NOT_FOUND,
            OBJECT,
          );
        }
        expectError(
          await started.client.send('POST', `${ERR}/shelf/99999/topics/`, { raw, headers }),
          404,
          NOT_FOUND,
          COLLECTION,
        );
      }
    }
  });

  test('puts the size before the media type, and that before the body', async () => {
    expectError(
      await started.client.send('POST', `${ERR}/volume/`, { raw: HUGE, headers: TEXT }),
      413,
      ONE_DETAIL,
      COLLECTION,
    );
    expectError(
      await started.client.send('POST', `${ERR}/volume/`, { raw: BROKEN.raw, headers: TEXT }),
      415,
      unsupported('text/plain'),
      COLLECTION,
    );
    expectError(await started.client.send('POST', `${ERR}/volume/`, BROKEN), 400, PARSE_ERROR, COLLECTION);
  });

  test('does not check the media type of a body that is not used', async () => {
    const { volume } = await volumeOn(started);
    for (const raw of [BROKEN.raw, HUGE]) {
      for (const headers of [JSON_TYPE, TEXT]) {
        expect((await started.client.send('GET', `${ERR}/volume/${volume}/`, { raw, headers })).status).toBe(
          200,
        );
        expect((await started.client.send('OPTIONS', `${ERR}/volume/`, { raw, headers })).status).toBe(200);
      }
    }
    expect((await started.client.send('DELETE', `${ERR}/volume/${volume}/`, BROKEN)).status).toBe(204);
  });

  test("lets what the application's guards throw become JSON with the headers", async () => {
    const { shelf, volume } = await volumeOn(started);
    const rejections: readonly (readonly [name: string, status: number, body: unknown])[] = [
      ['forbidden', 403, ONE_DETAIL],
      ['list', 400, { detail: 'one two' }],
      ['object', 418, ONE_DETAIL],
      ['gateway', 502, FAILED],
      ['error', 500, FAILED],
      ['text', 500, FAILED],
      ['null', 500, FAILED],
    ];
    for (const [name, status, body] of rejections) {
      for (const [method, path, allow] of [
        ['GET', `${ERR}/volume/`, COLLECTION],
        ['POST', `${ERR}/volume/`, COLLECTION],
        ['DELETE', `${ERR}/volume/${volume}/`, OBJECT],
        ['GET', `${ERR}/shelf/${shelf}/volumes/`, READ],
      ] as const) {
        const answer = await started.client.send(method, path, { headers: { 'x-refuse': name } });
        expectError(answer, status, body, allow);
        expect(answer.text).not.toContain('secret');
      }
    }
    expect((await started.client.get(`${ERR}/volume/${volume}/`)).status).toBe(200);
  });

  test('has the text of a denied permission if a guard of the application returns false', async () => {
    expectError(
      await started.client.get(`${ERR}/volume/`, { headers: { 'x-refuse': 'false' } }),
      403,
      FORBIDDEN,
      COLLECTION,
    );
  });

  test("leaves the application's own routes to its own filter", async () => {
    const answer = await started.client.get('/own');
    expect([answer.status, answer.text, answer.headers.allow, answer.headers['x-frame-options']]).toEqual([
      599,
      'the application',
      undefined,
      undefined,
    ]);
  });
});

const READERS: readonly (readonly [name: string, nest: AppSettings['nest']])[] = [
  ['bodyParser: false', { bodyParser: false }],
  ['rawBody: true', { rawBody: true }],
];

describe.each(READERS)('an application with %s', (_name, nest) => {
  let started: StartedApp;
  beforeAll(async () => {
    started = await startApp({ entities: MODELS, ...(nest ? { nest } : {}) });
  });
  afterAll(() => started.close());

  test('takes bodies', async () => {
    const { shelf, volume } = await volumeOn(started);
    const answer = await started.client.send('PATCH', `${ERR}/volume/${volume}/`, {
      raw: '{"title":"Ünï😀"}',
      headers: { 'content-type': 'application/json; charset=utf-8' },
    });
    expect([answer.status, answer.json]).toEqual([200, { id: volume, title: 'Ünï😀', pages: 0, shelf }]);
    const topic = await made(started, 'topic');
    const through = await started.client.post(`${ERR}/shelf/${shelf}/topics/`, { topic });
    expect([through.status, through.json]).toEqual([201, { id: expect.any(Number), shelf, topic }]);
  });

  test('refuses bodies as every other one does', async () => {
    const { volume } = await volumeOn(started);
    const before = (await started.client.get(`${ERR}/volume/`)).json;
    for (const [method, path, allow] of [
      ['POST', `${ERR}/volume/`, COLLECTION],
      ['PATCH', `${ERR}/volume/${volume}/`, OBJECT],
    ] as const) {
      const send = (raw: string | Buffer, headers: Record<string, string> = JSON_TYPE): Promise<Answer> =>
        started.client.send(method, path, { raw, headers });
      expectError(await send('{"title": '), 400, PARSE_ERROR, allow);
      expectError(
        await send('[]'),
        400,
        { non_field_errors: ['Invalid data. Expected a dictionary, but got list.'] },
        allow,
      );
      expectError(await send('null'), 400, { non_field_errors: ['No data provided'] }, allow);
      expectError(
        await send(`{"a":${'['.repeat(20_000)}${']'.repeat(20_000)}}`),
        400,
        { detail: 'JSON parse error - nested too deeply' },
        allow,
      );
      expectError(await send(HUGE), 413, ONE_DETAIL, allow);
      expectError(await send('{}', { 'content-type': 'text/plain' }), 415, unsupported('text/plain'), allow);
      expectError(
        await send('{}', { 'content-type': 'application/x-www-form-urlencoded' }),
        415,
        unsupported('application/x-www-form-urlencoded'),
        allow,
      );
      const untyped = await send('{}', {});
      expectError(untyped, 415, unsupported(''), allow);
      expect(untyped.headers['accept-patch']).toBe(method === 'PATCH' ? 'application/json' : undefined);
    }
    for (const raw of ['{"title": ', HUGE]) {
      expectError(
        await started.client.send('PATCH', `${ERR}/volume/99999/`, { raw, headers: JSON_TYPE }),
        404,
        NOT_FOUND,
        OBJECT,
      );
      expectError(
        await started.client.send('PUT', `${ERR}/volume/`, { raw, headers: JSON_TYPE }),
        405,
        notAllowed('PUT'),
        COLLECTION,
      );
    }
    expect((await started.client.get(`${ERR}/volume/`)).json).toEqual(before);
  });
});

const logged: string[] = [];
const LOGGER: LoggerService = {
  log: () => undefined,
  warn: () => undefined,
  error: (message: unknown) => {
    logged.push(String(message));
  },
};

onEachDatabase('an unexpected error', (database) => {
  let started: StartedApp;
  beforeAll(async () => {
    started = await startApp({ entities: MODELS, database, nest: { logger: LOGGER } });
  });
  afterAll(() => started.close());
  beforeEach(() => {
    logged.length = 0;
  });

  test('is 500 without a word of its cause, which the log has, and later requests work', async () => {
    const { shelf, volume } = await volumeOn(started);
    const topic = await made(started, 'topic');
    for (const table of ['err_stamp', 'err_volume', 'err_fine', 'err_placing'])
      await started.dataSource.query(`DROP TABLE ${table}`);
    const requests: readonly (readonly [method: string, path: string, allow: string, body?: object])[] = [
      ['GET', `${ERR}/volume/`, COLLECTION],
      ['GET', `${ERR}/volume/?search=t&ordering=-title`, COLLECTION],
      ['POST', `${ERR}/volume/`, COLLECTION, { title: 'a', shelf }],
      ['GET', `${ERR}/volume/${volume}/`, OBJECT],
      ['PUT', `${ERR}/volume/${volume}/`, OBJECT, { title: 'a', shelf }],
      ['PATCH', `${ERR}/volume/${volume}/`, OBJECT, { title: 'a' }],
      ['DELETE', `${ERR}/volume/${volume}/`, OBJECT],
      ['GET', `${ERR}/shelf/${shelf}/volumes/`, READ],
      ['GET', `${ERR}/shelf/${shelf}/topics/`, COLLECTION],
      ['POST', `${ERR}/shelf/${shelf}/topics/`, COLLECTION, { topic }],
      ['DELETE', `${ERR}/shelf/${shelf}/topics/1/`, OBJECT],
    ];
    for (const [method, path, allow, body] of requests) {
      expectError(await started.client.send(method, path, body ? { body } : {}), 500, FAILED, allow);
      expect([method, path, logged.splice(0).join('\n')]).toEqual([
        method,
        path,
        expect.stringMatching(/err_(volume|placing)/),
      ]);
      expect((await started.client.get(`${ERR}/topic/${topic}/`)).status).toBe(200);
    }
    await started.dataSource.synchronize();
    expect((await started.client.get(`${ERR}/volume/`)).json).toEqual([]);
    expect((await started.client.patch(`${ERR}/shelf/${shelf}/`, { name: 'after' })).json).toMatchObject({
      id: shelf,
      name: 'after',
    });
    await made(started, 'volume', { title: 'again', shelf });
  });
});

const AWAY: readonly (readonly [method: string, path: string, allow: string, body?: object])[] = [
  ['GET', `${ERR}/shelf/`, COLLECTION],
  ['POST', `${ERR}/shelf/`, COLLECTION, { name: 'a' }],
  ['GET', `${ERR}/shelf/1/`, OBJECT],
  ['PATCH', `${ERR}/shelf/1/`, OBJECT, { name: 'a' }],
  ['DELETE', `${ERR}/shelf/1/`, OBJECT],
  ['GET', `${ERR}/shelf/1/volumes/`, READ],
  ['POST', `${ERR}/shelf/1/topics/`, COLLECTION, { topic: 1 }],
];

async function expectAway(started: StartedApp): Promise<void> {
  for (const [method, path, allow, body] of AWAY) {
    const answer = await started.client.send(method, path, body ? { body } : {});
    expectError(answer, 503, ONE_DETAIL, allow);
    expect(answer.text).not.toMatch(
      /ECONN|127\.0\.0\.1|connect|socket|pool|sqlite|postgres|mysql|driver|closed/i,
    );
  }
}

describe('an unavailable database', () => {
  const servers = DATABASES.filter(({ name, missing }) => name !== 'sqlite' && missing === undefined);
  if (servers.length > 0)
    test.each(servers)('is 503, and 200 when it is back ($name)', async (database) => {
      const line = breakableLine(database);
      const started = await startApp({ entities: MODELS, database: line.database });
      try {
        const { shelf } = await volumeOn(started);
        await line.cut();
        await expectAway(started);
        await line.mend();
        expect((await started.client.get(`${ERR}/shelf/${shelf}/`)).status).toBe(200);
        await made(started, 'shelf', { name: 'after' });
        expect(
          ((await started.client.get(`${ERR}/shelf/`)).json as readonly { name: string }[]).map(
            ({ name }) => name,
          ),
        ).toEqual(['s', 'after']);
      } finally {
        await started.close();
      }
    });

  test('is 503 where the data source was closed under the application', async () => {
    const started = await startApp({ entities: MODELS });
    await started.dataSource.destroy();
    await expectAway(started);
    await started.dataSource.initialize();
    expect((await started.client.get(`${ERR}/shelf/`)).json).toEqual([]);
    await started.close();
  });
});
