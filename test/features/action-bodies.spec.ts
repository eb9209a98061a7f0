// @tags http nest
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { Body, Req, UploadedFile, UseInterceptors, ValidationPipe } from '@nestjs/common';
import type { CallHandler, ExecutionContext, NestInterceptor } from '@nestjs/common';
import { FileInterceptor } from '@nestjs/platform-express';
import type { NestExpressApplication } from '@nestjs/platform-express';
import { IsOptional, IsString } from 'class-validator';
import type { IncomingMessage } from 'node:http';
import { gzipSync } from 'node:zlib';
import {
  Action,
  basic,
  IdempotencyRecord,
  IsAuthenticated,
  MANY_TO_MANY_DETAIL_ACTION,
  NestedAction,
  ONE_TO_MANY_LIST_ACTION,
  ResourceController,
  Restify,
  RestifyController,
} from 'nestjs-restify';
import { Column, Entity, JoinTable, ManyToMany, ManyToOne, OneToMany, PrimaryGeneratedColumn } from 'typeorm';
import type { Relation } from 'typeorm';
import type { Observable } from 'rxjs';
import type { Answer, RequestOptions } from '../support/client.js';
import { PLATFORM } from '../support/platform.js';
import { startApp } from '../support/start-app.js';
import type { AppSettings, StartedApp } from '../support/start-app.js';

const ITEM = '/rest/v1/sent/item/';
const TASK = '/rest/v1/sent/task/';

class PurgeBody {
  @IsOptional()
  @IsString()
  before?: string;
}

@Restify({ app: 'sent', bulk: true })
@Entity('sent_item')
class Item {
  @PrimaryGeneratedColumn() id: number;
  @Column({ default: 'x' }) name: string;
  @OneToMany(() => Sub, (sub) => sub.item) subs: Relation<Sub[]>;
  @ManyToMany(() => Sub) @JoinTable({ name: 'sent_item_marks' }) marks: Relation<Sub[]>;
}

@Restify('sent')
@Entity('sent_sub')
class Sub {
  @PrimaryGeneratedColumn() id: number;
  @ManyToOne(() => Item, (item) => item.subs) item: Relation<Item>;
}

@Restify({ app: 'sent', idempotency: true })
@Entity('sent_task')
class Task {
  @PrimaryGeneratedColumn() id: number;
  @Column({ default: 'x' }) name: string;
}

@Restify('sent')
@Entity('sent_plain')
class Plain {
  @PrimaryGeneratedColumn() id: number;
  @Column({ default: 'x' }) name: string;
}

@Restify('sent')
@Entity('sent_picture')
class Picture {
  @PrimaryGeneratedColumn() id: number;
}

@Restify({
  app: 'sent',
  permissions: [IsAuthenticated],
  authentication: [basic((name) => (name === 'ann' ? { name } : null))],
})
@Entity('sent_secret')
class Secret {
  @PrimaryGeneratedColumn() id: number;
}

/** What the methods of the application were called with. */
let ran: unknown[] = [];

function run(body: unknown): object {
  ran.push(body);
  return { ran: true, body: body ?? null };
}

/** Sets the body itself, as an upload interceptor does. */
class Uploading implements NestInterceptor {
  intercept(context: ExecutionContext, next: CallHandler): Observable<unknown> {
    context.switchToHttp().getRequest<{ body: unknown }>().body = { uploaded: true };
    return next.handle();
  }
}

async function textOf(stream: AsyncIterable<Buffer>): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of stream) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
}

@RestifyController(Item)
class ItemController {
  @Action({ detail: false, methods: ['POST', 'DELETE'] })
  purge(@Body(new ValidationPipe()) body: PurgeBody): object {
    return run(body);
  }

  @Action({ detail: true, methods: ['PUT'] })
  rename(@Body('name') name: unknown): object {
    return run(name);
  }

  @Action({ detail: false, methods: ['POST'] })
  plain(request: { readonly body?: unknown }): object {
    return run(request.body);
  }

  @Action({ detail: false, methods: ['GET'] })
  look(): object {
    return run('looked');
  }

  @Action({ detail: false, methods: ['POST'] })
  stream(@Req() request: IncomingMessage): Promise<object> {
    return textOf(request).then(run);
  }

  @Action({ detail: false, methods: ['POST'] })
  @UseInterceptors(Uploading)
  upload(@Body() body: unknown): object {
    return run(body);
  }

  @Action({ detail: true, methods: ['PUT'] })
  @UseInterceptors(FileInterceptor('file'))
  photo(@UploadedFile() file: { readonly buffer: Buffer } | undefined, @Body() body: object): object {
    return run({ ...body, file: file?.buffer.toString() });
  }

  @NestedAction(ONE_TO_MANY_LIST_ACTION, 'subs', { methods: ['POST'] })
  subs(@Body(new ValidationPipe()) body: PurgeBody): object {
    return run(body);
  }

  @NestedAction(MANY_TO_MANY_DETAIL_ACTION, 'marks', { methods: ['PATCH'] })
  mark(@Body() body: unknown): object {
    return run(body);
  }
}

@RestifyController(Secret)
class SecretController {
  @Action({ detail: true, methods: ['POST'] })
  tell(@Body() body: unknown): object {
    return run(body);
  }
}

/** Each method that has a body is replaced. */
@RestifyController(Task)
class TaskController extends ResourceController<Task> {
  override create(@Body() body: unknown): Promise<object> {
    return Promise.resolve(run(body));
  }

  override update(request: { readonly body?: unknown }): Promise<object> {
    return Promise.resolve(run(request.body));
  }

  override async partialUpdate(request: object): Promise<object> {
    run('called');
    return (await super.partialUpdate(request)) as object;
  }

  override destroy(): Promise<void> {
    run('destroyed');
    return Promise.resolve();
  }
}

@RestifyController(Picture)
class PictureController extends ResourceController<Picture> {
  @UseInterceptors(FileInterceptor('file'))
  override create(
    @UploadedFile() file: { readonly buffer: Buffer } | undefined,
    @Body() body?: object,
  ): Promise<object> {
    return Promise.resolve(run({ ...body, file: file?.buffer.toString() }));
  }
}

/** Runs around the generated operations of its model. */
class Passing implements NestInterceptor {
  intercept(_context: ExecutionContext, next: CallHandler): Observable<unknown> {
    return next.handle();
  }
}

@RestifyController(Plain)
@UseInterceptors(Passing)
class PlainController extends ResourceController<Plain> {
  override destroy(@Body() body: unknown): Promise<object> {
    return Promise.resolve(run(body));
  }
}

const JSON_TYPE = 'application/json';
const BROKEN = '{"before":"2020"';
const LARGE = JSON.stringify({ before: 'x'.repeat(200_000) });
const GOOD = '{"before":"2020"}';
const INVALID_TEXT = Buffer.concat([Buffer.from('{"before":"'), Buffer.from([0xff]), Buffer.from('"}')]);
const PARSE_ERROR = { detail: expect.stringMatching(/^JSON parse error - /) };

function typed(raw: string | Buffer, type: string = JSON_TYPE, headers: object = {}): RequestOptions {
  return { raw, headers: { ...(type === '' ? {} : { 'content-type': type }), ...headers } };
}

function unsupported(type: string): object {
  return { detail: `Unsupported media type "${type}" in request.` };
}

/** What each generated operation refuses, with its status. */
const REFUSED: readonly (readonly [string, RequestOptions, number, unknown])[] = [
  ['broken JSON', typed(BROKEN), 400, PARSE_ERROR],
  ['no JSON at all', typed('before'), 400, PARSE_ERROR],
  ['too much', typed(LARGE), 413, { detail: 'Request body is too large.' }],
  ['too much that is broken', typed(LARGE.slice(0, -1)), 413, { detail: 'Request body is too large.' }],
  [
    'an unknown coding',
    typed(GOOD, JSON_TYPE, { 'content-encoding': 'compress' }),
    415,
    { detail: 'Unsupported content encoding "compress" in request.' },
  ],
  ['broken gzip', typed(GOOD, JSON_TYPE, { 'content-encoding': 'gzip' }), 400, PARSE_ERROR],
  [
    'broken JSON in gzip',
    typed(gzipSync(BROKEN), JSON_TYPE, { 'content-encoding': 'gzip' }),
    400,
    PARSE_ERROR,
  ],
  ['bytes that are not UTF-8', typed(INVALID_TEXT), 400, PARSE_ERROR],
  [
    'a foreign charset',
    typed(GOOD, 'application/json; charset=iso-8859-5'),
    415,
    unsupported('application/json; charset=iso-8859-5'),
  ],
  ['no media type', typed(GOOD, ''), 415, unsupported('')],
  [
    'another kind of JSON',
    typed(GOOD, 'application/merge-patch+json'),
    415,
    unsupported('application/merge-patch+json'),
  ],
  ['an unknown type', typed(GOOD, 'image/x'), 415, unsupported('image/x')],
];

/** Fastify and Nest refuse a form of parts by themselves there, and Fastify has a parser of texts. */
const UNPARSED: typeof REFUSED = [
  [
    'a form of parts',
    typed(GOOD, 'multipart/form-data; boundary=x'),
    415,
    unsupported('multipart/form-data; boundary=x'),
  ],
  ...(PLATFORM === 'fastify'
    ? []
    : ([['a text', typed(GOOD, 'text/plain'), 415, unsupported('text/plain')]] as const)),
];

let started: StartedApp;
let id: number;

async function start(settings: Partial<AppSettings> = {}): Promise<void> {
  started = await startApp({
    entities: [Item, Sub, Task, Plain, Picture, Secret, IdempotencyRecord],
    controllers: [ItemController, SecretController, TaskController, PlainController, PictureController],
    ...settings,
  });
  ({ id } = (await started.client.post('/rest/v1/sent/secret/', {}, ANN)).json as { id: number });
  for (const entity of [Item, Task, Plain]) await started.dataSource.manager.save(entity, { id });
}

const ANN = { headers: { authorization: `Basic ${Buffer.from('ann:x').toString('base64')}` } };

async function expectRefused(
  method: string,
  path: string,
  [, options, status, json]: (typeof REFUSED)[number],
): Promise<void> {
  const answer = await started.client.send(method, path, options);
  expect([method, path, answer.status, answer.json]).toEqual([method, path, status, json]);
  expect(answer.headers['content-type']).toBe(JSON_TYPE);
  expect(ran).toEqual([]);
}

beforeEach(() => {
  ran = [];
});

const SETTINGS: readonly (readonly [string, Partial<AppSettings>])[] = [
  ['as it is', {}],
  ['with raw bodies', { nest: { rawBody: true } }],
  ['without a body parser', { nest: { bodyParser: false } }],
  [
    'with a global prefix',
    { configure: (app) => void app.useGlobalPipes({ transform: (value: unknown) => value }) },
  ],
];

describe.each(SETTINGS)('a body of an action, in an application %s', (name, settings) => {
  beforeAll(() => start(settings));
  afterAll(() => started.close());

  test.each(
    name === 'without a body parser'
      ? REFUSED.filter(([, { raw }]) => raw !== LARGE && raw !== LARGE.slice(0, -1))
      : REFUSED,
  )('is refused as that of a generated operation: %s', async (...refused) => {
    await expectRefused('POST', '/rest/v1/sent/sub/', refused);
    await expectRefused('POST', `${ITEM}purge/`, refused);
    await expectRefused('POST', `${ITEM}purge`, refused);
    await expectRefused('DELETE', `${ITEM}purge/`, refused);
    await expectRefused('PUT', `${ITEM}${id}/rename/`, refused);
    await expectRefused('POST', `${ITEM}${id}/subs/`, refused);
    await expectRefused('PATCH', `${ITEM}${id}/marks/9/`, refused);
  });

  test.each(UNPARSED)('is refused where no parser has read it: %s', async (...refused) => {
    await expectRefused('POST', `${ITEM}purge/`, refused);
    await expectRefused('PUT', `${ITEM}${id}/rename/`, refused);
    await expectRefused('POST', `${ITEM}${id}/subs/`, refused);
  });

  test.each(REFUSED.filter(([what]) => what !== 'an unknown type'))(
    'is refused without `@Body`, too: %s',
    async (...refused) => {
      if (refused[1].raw === LARGE || name !== 'without a body parser')
        await expectRefused('POST', `${ITEM}plain/`, refused);
    },
  );

  test.each(REFUSED)('is refused where a method replaces the operation: %s', async (...refused) => {
    if (name === 'without a body parser' && refused[2] === 413) return;
    await expectRefused('POST', TASK, refused);
    await expectRefused('PUT', `${TASK}${id}/`, refused);
    await expectRefused('PATCH', `${TASK}${id}/`, refused);
    await expectRefused('DELETE', `/rest/v1/sent/plain/${id}/`, refused);
  });

  test('is what the client has sent', async () => {
    for (const path of [`${ITEM}purge/`, `${ITEM}plain/`, `${ITEM}${id}/subs/`, TASK])
      expect([path, (await started.client.post(path, { before: 'é' })).json]).toEqual([
        path,
        { ran: true, body: { before: 'é' } },
      ]);
    expect((await started.client.put(`${ITEM}${id}/rename/`, { name: 'n' })).json).toMatchObject({
      body: 'n',
    });
    expect((await started.client.post(`${ITEM}plain/`, [1])).json).toMatchObject({ body: [1] });
    const zipped = typed(gzipSync(GOOD), JSON_TYPE, { 'content-encoding': 'gzip' });
    expect((await started.client.post(`${ITEM}plain/`, undefined, zipped)).json).toMatchObject({
      body: { before: '2020' },
    });
  });

  test('may be missing, also where its length is unknown', async () => {
    for (const path of [`${ITEM}purge/`, `${ITEM}plain/`, `${ITEM}${id}/subs/`, TASK]) {
      const { status, json } = await started.client.post(path);
      expect([path, status < 300, json]).toEqual([path, true, { ran: true, body: null }]);
    }
    expect(
      (await started.client.post(`${ITEM}plain/`, undefined, typed('', '', { 'content-length': '0' }))).json,
    ).toEqual({ ran: true, body: null });
    for (const type of ['image/x', 'multipart/form-data; boundary=x', 'application/merge-patch+json'])
      for (const path of [`${ITEM}purge/`, `${ITEM}plain/`, `${ITEM}${id}/subs/`]) {
        const { status, json } = await started.client.post(path, undefined, typed('', type));
        expect([type, path, status < 300, json]).toEqual([type, path, true, { ran: true, body: null }]);
      }
    expect((await started.client.delete(`${ITEM}purge/`)).json).toEqual({ ran: true, body: null });
    for (const path of [`${ITEM}purge/`, `${ITEM}plain/`, TASK]) {
      const chunked = { 'content-type': JSON_TYPE, 'transfer-encoding': 'chunked' };
      const { status, json } = await started.client.post(path, undefined, { headers: chunked });
      expect([path, status < 300, json]).toMatchObject([path, true, { ran: true }]);
    }
  });
});

describe('a refused body', () => {
  beforeAll(() => start());
  afterAll(() => started.close());

  test('is ignored by GET, HEAD and a deletion, as those that are generated', async () => {
    for (const options of [typed(BROKEN), typed('x', 'image/x')]) {
      for (const method of ['GET', 'HEAD'])
        expect((await started.client.send(method, `${ITEM}look/`, options)).status).toBe(200);
    }
    for (const options of [typed(BROKEN), typed(LARGE)])
      expect((await started.client.send('DELETE', `${TASK}${id}/`, options)).status).toBe(204);
  });

  test.each([
    ['broken JSON', typed(BROKEN), 400],
    ['too much', typed(LARGE), 413],
    ['an unknown type', typed('x', 'image/x'), 415],
  ])('is an error after permissions, format and object: %s', async (_, options, status) => {
    const { client } = started;
    const post = (path: string, more: object = {}): Promise<Answer> =>
      client.send('POST', path, { ...options, headers: { ...options.headers, ...more } });
    expect((await post(`/rest/v1/sent/secret/${id}/tell/`)).status).toBe(401);
    expect((await post('/rest/v1/sent/secret/99/tell/', ANN.headers)).status).toBe(404);
    expect(
      (await post(`/rest/v1/sent/secret/${id}/tell/`, { ...ANN.headers, accept: 'text/html' })).status,
    ).toBe(406);
    expect((await post(`/rest/v1/sent/secret/${id}/tell/`, ANN.headers)).status).toBe(status);
    expect((await post(`${ITEM}99/subs/`)).status).toBe(404);
    expect((await client.send('PATCH', `${TASK}99/`, options)).status).toBe(404);
    expect(ran).toEqual([]);
  });

  test('is reported before the Idempotency-Key', async () => {
    const headers = { 'content-type': JSON_TYPE, 'idempotency-key': '"' };
    const answer = await started.client.send('POST', TASK, { raw: BROKEN, headers });
    expect([answer.status, answer.json]).toEqual([400, PARSE_ERROR]);
    const good = await started.client.send('POST', TASK, { raw: GOOD, headers });
    expect([good.status, ran]).toEqual([400, []]);
  });
});

describe('a method that replaces an operation', () => {
  beforeAll(() => start());
  afterAll(() => started.close());

  test.each([
    ['a text', '"x"', { non_field_errors: ['Invalid data. Expected a dictionary, but got str.'] }],
    ['a list', '[]', { non_field_errors: ['Invalid data. Expected a dictionary, but got list.'] }],
    ['null', 'null', { non_field_errors: ['No data provided'] }],
    ['what is too deep', `{"a":${'['.repeat(200)}${']'.repeat(200)}}`, PARSE_ERROR],
  ])('gets no JSON that the operation refuses: %s', async (what, raw, json) => {
    await expectRefused('POST', TASK, [what, typed(raw), 400, json]);
    await expectRefused('PATCH', `${TASK}${id}/`, [what, typed(raw), 400, json]);
  });

  test('gets no body of another type, by any body parser', async () => {
    for (const type of ['text/plain', 'application/x-www-form-urlencoded']) {
      await expectRefused('POST', TASK, ['text', typed('a=1', type), 415, unsupported(type)]);
      await expectRefused('PUT', `${TASK}${id}/`, ['text', typed('a=1', type), 415, unsupported(type)]);
    }
  });
});

describe('what the application parses itself', () => {
  test('forms reach an action', async () => {
    await start();
    try {
      const form = typed('before=2020', 'application/x-www-form-urlencoded');
      expect((await started.client.post(`${ITEM}purge/`, undefined, form)).json).toEqual({
        ran: true,
        body: { before: '2020' },
      });
      const large = typed(`a=${'x'.repeat(200_000)}`, 'application/x-www-form-urlencoded');
      expect((await started.client.post(`${ITEM}purge/`, undefined, large)).status).toBe(413);
    } finally {
      await started.close();
    }
  });

  test('texts, bytes and other kinds of JSON reach an action by a parser', async () => {
    await start({
      undescribed: 'all',
      configure: (app) => {
        if (PLATFORM === 'fastify') {
          const instance = app.getHttpAdapter().getInstance() as {
            addContentTypeParser(
              type: string,
              options: { parseAs: 'string' | 'buffer' },
              parser: (request: object, body: unknown, done: (error: null, value: unknown) => void) => void,
            ): void;
          };
          instance.addContentTypeParser(
            'application/merge-patch+json',
            { parseAs: 'string' },
            (_, body, done) => {
              done(null, JSON.parse(String(body)));
            },
          );
          instance.addContentTypeParser('image/x', { parseAs: 'buffer' }, (_, body, done) => {
            done(null, body);
          });
          return;
        }
        const express = app as NestExpressApplication;
        express.useBodyParser('json', { type: ['application/json', 'application/*+json'] });
        express.useBodyParser('text');
        express.useBodyParser('raw', { type: 'image/x' });
      },
    });
    try {
      const send = (options: RequestOptions): Promise<Answer> =>
        started.client.post(`${ITEM}plain/`, undefined, options);
      expect((await send(typed(GOOD, 'application/merge-patch+json'))).json).toMatchObject({
        body: { before: '2020' },
      });
      expect((await send(typed('a b', 'text/plain'))).json).toMatchObject({ body: 'a b' });
      await send(typed(Buffer.from([0xff, 0]), 'image/x'));
      expect(ran.at(-1)).toEqual(Buffer.from([0xff, 0]));
      const chunked = { 'content-type': 'image/x', 'transfer-encoding': 'chunked' };
      expect((await send({ headers: chunked })).status).toBe(200);
    } finally {
      await started.close();
    }
  });

  test('an interceptor sets the body of an upload', async () => {
    await start({
      configure: (app) => {
        if (PLATFORM === 'fastify')
          (
            app.getHttpAdapter().getInstance() as {
              addContentTypeParser(
                type: string,
                parser: (
                  request: object,
                  payload: NodeJS.ReadableStream,
                  done: (error: null) => void,
                ) => void,
              ): void;
            }
          ).addContentTypeParser('multipart/form-data', (_, payload, done) => {
            payload.resume();
            done(null);
          });
      },
    });
    try {
      const parts = typed('--x--', 'multipart/form-data; boundary=x');
      expect((await started.client.post(`${ITEM}upload/`, undefined, parts)).json).toMatchObject({
        body: { uploaded: true },
      });
      ran = [];
      await expectRefused('POST', `${ITEM}purge/`, [
        'parts',
        parts,
        415,
        unsupported('multipart/form-data; boundary=x'),
      ]);
    } finally {
      await started.close();
    }
  });

  // Fastify refuses both types itself, unless the application adds a parser.
  if (PLATFORM === 'express') {
    test('a text in JSON is refused by the parser of Nest', async () => {
      await start();
      try {
        const json = { non_field_errors: ['Invalid data. Expected a dictionary, but got str.'] };
        await expectRefused('POST', `${ITEM}purge/`, ['a text', typed('"2020"'), 400, json]);
      } finally {
        await started.close();
      }
    });

    test('multer reads an upload, and a stream is left to the method', async () => {
      await start();
      try {
        const parts = [
          '--x\r\nContent-Disposition: form-data; name="title"\r\n\r\nSun\r\n',
          '--x\r\nContent-Disposition: form-data; name="file"; filename="a.txt"\r\n\r\nbytes\r\n--x--\r\n',
        ].join('');
        const upload = typed(parts, 'multipart/form-data; boundary=x');
        const sent = { ran: true, body: { title: 'Sun', file: 'bytes' } };
        expect((await started.client.send('PUT', `${ITEM}${id}/photo/`, upload)).json).toEqual(sent);
        expect((await started.client.send('POST', '/rest/v1/sent/picture/', upload)).json).toEqual(sent);
        for (const type of ['image/x', 'text/plain'])
          expect((await started.client.send('POST', `${ITEM}stream/`, typed('bytes', type))).json).toEqual({
            ran: true,
            body: 'bytes',
          });
        ran = [];
        await expectRefused('PUT', `${ITEM}${id}/photo/`, ['broken JSON', typed(BROKEN), 400, PARSE_ERROR]);
        await expectRefused('POST', '/rest/v1/sent/picture/', [
          'broken JSON',
          typed(BROKEN),
          400,
          PARSE_ERROR,
        ]);
        await expectRefused('PUT', `${ITEM}99/photo/`, ['unknown', upload, 404, { detail: 'Not found.' }]);
      } finally {
        await started.close();
      }
    });
  }
});
