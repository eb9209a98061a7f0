// @tags http nest
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { Body, HttpCode } from '@nestjs/common';
import type { NestExpressApplication } from '@nestjs/platform-express';
import { request } from 'node:http';
import type { IncomingMessage, OutgoingHttpHeaders } from 'node:http';
import * as zlib from 'node:zlib';
import { Action, IdempotencyRecord, Restify, RestifyController } from 'nestjs-restify';
import { Column, Entity, JoinTable, ManyToMany, PrimaryGeneratedColumn } from 'typeorm';
import type { Relation } from 'typeorm';
import { PLATFORM } from '../support/platform.js';
import { startApp } from '../support/start-app.js';
import type { AppSettings, StartedApp } from '../support/start-app.js';

const NOTES = '/rest/v1/bytes/note/';

@Restify({ app: 'bytes', bulk: true, idempotency: true })
@Entity('bytes_note')
class Note {
  @PrimaryGeneratedColumn() id: number;
  @Column({ length: 200 }) text: string;
  @ManyToMany(() => Label) @JoinTable({ name: 'bytes_note_labels' }) labels: Relation<Label[]>;
}

@Restify('bytes')
@Entity('bytes_label')
class Label {
  @PrimaryGeneratedColumn() id: number;
}

let acted: unknown;

@RestifyController(Note)
class NoteController {
  @Action({ path: 'act', detail: false, methods: ['POST'] })
  @HttpCode(200)
  act(@Body() body: unknown): object {
    acted = body;
    return { acted: true };
  }
}

interface Said {
  readonly status: number | undefined;
  readonly headers: OutgoingHttpHeaders;
  readonly json: unknown;
}

let started: StartedApp;

/** Each piece goes over the line by itself. */
function send(
  method: string,
  path: string,
  pieces: readonly Buffer[],
  headers: OutgoingHttpHeaders = {},
): Promise<Said> {
  return new Promise((resolve, reject) => {
    const length = pieces.length > 1 ? {} : { 'content-length': pieces[0]?.length ?? 0 };
    const outgoing = request(
      {
        port: started.port,
        method,
        path,
        headers: { 'content-type': 'application/json', ...length, ...headers },
      },
      (response) => {
        const chunks: Buffer[] = [];
        response.on('data', (chunk: Buffer) => chunks.push(chunk));
        response.on('end', () => {
          const text = Buffer.concat(chunks).toString('utf8');
          resolve({
            status: response.statusCode,
            headers: response.headers,
            json: text === '' ? undefined : (JSON.parse(text) as unknown),
          });
        });
      },
    );
    outgoing.on('error', reject);
    const [first = Buffer.alloc(0), ...rest] = pieces;
    outgoing.setNoDelay(true);
    outgoing.write(first);
    const next = (): void => {
      const piece = rest.shift();
      if (!piece) {
        outgoing.end();
        return;
      }
      outgoing.write(piece);
      setTimeout(next, 15);
    };
    setTimeout(next, 15);
  });
}

function body(before: string, bytes: readonly number[], after: string): Buffer {
  return Buffer.concat([Buffer.from(before), Buffer.from(bytes), Buffer.from(after)]);
}

const REFUSED = { status: 400, json: { detail: 'JSON parse error - the body is not UTF-8' } };
const MANY = 'x'.repeat(180);

/** No first byte, one that goes on nothing, one that ends too soon, one that is too long, half of a pair. */
const BROKEN: readonly (readonly number[])[] = [
  [0xff],
  [0x80],
  [0xe2, 0x82],
  [0xc0, 0xaf],
  [0xed, 0xa0, 0x80],
];

const CODINGS = { gzip: zlib.gzipSync, deflate: zlib.deflateSync, br: zlib.brotliCompressSync };

interface ParsedRequest extends IncomingMessage {
  body?: unknown;
  _body?: boolean;
}

/** What Express's parser does with zstd on Node 22.15 or newer, on request: it decodes the body, or fails with an error of zlib. */
function actAsNewerNode(request: ParsedRequest, _response: unknown, next: (error?: unknown) => void): void {
  const mode = request.headers['x-newer-node'];
  if (mode === undefined) {
    next();
    return;
  }
  request.resume();
  request.on('end', () => {
    if (mode === 'fails')
      next(Object.assign(new Error('Unknown frame'), { code: 'ZSTD_error_prefix_unknown', status: 400 }));
    else {
      Object.assign(request, { body: { text: 'a' }, _body: true });
      next();
    }
  });
}

const SETTINGS: readonly (readonly [string, Partial<AppSettings>])[] = [
  ['as it is', {}],
  ['without a body parser', { nest: { bodyParser: false } }],
  ['with raw bodies', { nest: { rawBody: true } }],
  [
    'with a parser of its own',
    {
      configure: (app) =>
        void (app as NestExpressApplication).useBodyParser(
          PLATFORM === 'fastify' ? ('application/json' as 'json') : 'json',
          { ...(PLATFORM === 'fastify' ? { bodyLimit: 50_000 } : { limit: '50kb' }) } as Parameters<
            NestExpressApplication['useBodyParser']
          >[1],
        ),
    },
  ],
];

describe.each(SETTINGS)('an application %s', (_, settings) => {
  beforeAll(async () => {
    started = await startApp({
      entities: [Note, Label, IdempotencyRecord],
      controllers: [NoteController],
      ...settings,
      configure: (app) => {
        if (PLATFORM === 'express') app.use(actAsNewerNode);
        settings.configure?.(app);
      },
    });
  });
  beforeEach(async () => {
    await started.dataSource.getRepository(Note).clear();
  });
  afterAll(() => started.close());

  async function expectNothing(): Promise<void> {
    expect((await started.client.get(NOTES)).json).toEqual([]);
  }

  test('refuses bytes that are no UTF-8, and stores nothing', async () => {
    for (const bytes of BROKEN) {
      expect(await send('POST', NOTES, [body('{"text": "a', bytes, 'b"}')])).toMatchObject(REFUSED);
      expect(await send('POST', NOTES, [body('[{"text": "a', bytes, 'b"}]')])).toMatchObject(REFUSED);
      expect(await send('POST', NOTES, [body('{"text": "ok", "a', bytes, '": 1}')])).toMatchObject(REFUSED);
      expect(
        await send('POST', NOTES, [body('{"text": "a', bytes, 'b"}')], { 'idempotency-key': '"k"' }),
      ).toMatchObject(REFUSED);
    }
    await expectNothing();
    const { id } = (await started.client.post(NOTES, { text: 'old' })).json as { id: number };
    for (const method of ['PATCH', 'PUT'])
      expect(await send(method, `${NOTES}${id}/`, [body('{"text": "a', [0xff], 'b"}')])).toMatchObject(
        REFUSED,
      );
    expect(
      await send('POST', `${NOTES}${id}/labels/`, [body('{"label": 1, "x": "', [0xff], '"}')]),
    ).toMatchObject(REFUSED);
    expect((await started.client.get(`${NOTES}${id}/`)).json).toMatchObject({ text: 'old' });
  });

  test('takes every character, also U+FFFD, wherever the line cuts it', async () => {
    const text = 'é€😀\ufffd';
    const whole = Buffer.from(JSON.stringify({ text }));
    for (let at = 1; at < whole.length; at += 1) {
      expect(await send('POST', NOTES, [whole.subarray(0, at), whole.subarray(at)])).toMatchObject({
        status: 201,
        json: { text },
      });
    }
    expect(
      await send(
        'POST',
        NOTES,
        [...whole].map((byte) => Buffer.from([byte])),
      ),
    ).toMatchObject({ status: 201, json: { text } });
  });

  test('refuses what the line cuts, too', async () => {
    expect(
      await send('POST', NOTES, [
        Buffer.from('{"text": "a'),
        Buffer.from([0xe2]),
        Buffer.from([0x82]),
        Buffer.from('b"}'),
      ]),
    ).toMatchObject(REFUSED);
    expect(await send('POST', NOTES, [Buffer.from('{"text": "a"}'), Buffer.from([0xe2])])).toMatchObject({
      status: 400,
      json: { detail: expect.stringMatching(/^JSON parse error - /) },
    });
    await expectNothing();
  });

  test.each(Object.entries(CODINGS))('looks into what is compressed by %s', async (coding, compress) => {
    const headers = { 'content-encoding': coding };
    expect(
      await send('POST', NOTES, [compress(Buffer.from(JSON.stringify({ text: `é${MANY}` })))], headers),
    ).toMatchObject({ status: 201, json: { text: `é${MANY}` } });
    await started.dataSource.getRepository(Note).clear();
    const broken = compress(body('{"text": "a', [0xff], `b${MANY}"}`));
    expect(await send('POST', NOTES, [broken], headers)).toMatchObject(REFUSED);
    expect(await send('POST', NOTES, [broken.subarray(0, 9), broken.subarray(9)], headers)).toMatchObject(
      REFUSED,
    );
    await expectNothing();
  });

  test.each(['zstd', 'zstdd', 'compress', 'gzip, br', 'gzip, gzip', '"'])(
    'lists the supported codings for the coding %j',
    async (coding) => {
      const refused = {
        status: 415,
        json: { detail: `Unsupported content encoding "${coding}" in request.` },
        headers: { 'accept-encoding': 'gzip, deflate, br' },
      };
      const text = Buffer.from('{"text": "a"}');
      for (const headers of [{}, { 'x-newer-node': 'decodes' }, { 'x-newer-node': 'fails' }] as Record<
        string,
        string
      >[])
        for (const path of [NOTES, `${NOTES}act/`, `${NOTES}99/`]) {
          acted = 'not yet';
          const method = path.endsWith('99/') ? 'PATCH' : 'POST';
          const said = await send(method, path, [text], { 'content-encoding': coding, ...headers });
          expect(said).toMatchObject(method === 'PATCH' ? { status: 404 } : refused);
          expect(acted).toBe('not yet');
        }
      await expectNothing();
    },
  );

  test('ignores a byte order mark in front of a body, and no other', async () => {
    const mark = '\ufeff';
    const post = (text: string | Buffer, headers: OutgoingHttpHeaders = {}, path = NOTES): Promise<Said> =>
      send('POST', path, [Buffer.from(text)], headers);
    expect(await post(`${mark}{"text": "a"}`)).toMatchObject({ status: 201, json: { text: 'a' } });
    expect(await post(`${mark} [{"text": "b"}]`)).toMatchObject({ status: 201, json: [{ text: 'b' }] });
    expect(await post(`{"text": "${mark}c"}`)).toMatchObject({ status: 201, json: { text: 'c' } });
    expect(await post(zlib.gzipSync(`${mark}{"text": "d"}`), { 'content-encoding': 'gzip' })).toMatchObject({
      status: 201,
    });
    expect(
      await send('POST', NOTES, [body('', [0xef, 0xbb], ''), body('', [0xbf], '{"text": "e"}')]),
    ).toMatchObject({ status: 201 });
    acted = 'not yet';
    expect(await post(`${mark}{"text": "f"}`, {}, `${NOTES}act/`)).toMatchObject({ status: 200 });
    expect(acted).toEqual({ text: 'f' });
    // A mark alone is no body.
    expect(await post(mark)).toMatchObject({ status: 400, json: { text: ['This field is required.'] } });
    for (const text of [`${mark}${mark}{"text": "a"}`, `{${mark}"text": "a"}`, `${mark}{"text": `])
      expect(await post(text)).toMatchObject({
        status: 400,
        json: { detail: expect.stringMatching(/^JSON parse error - /) },
      });
    expect((await started.client.get(NOTES)).json).toHaveLength(5);
  });

  test('takes no coding, and blames the Content-Type first', async () => {
    expect(
      await send('POST', NOTES, [Buffer.from('{"text": "a"}')], { 'content-encoding': 'Identity' }),
    ).toMatchObject({ status: 201 });
    for (const type of [
      'text/plain',
      'application/json; charset=latin1',
      'application/json; charset=utf-16',
      'application/json; charset=nonsense',
    ]) {
      for (const headers of [
        { 'content-type': type },
        { 'content-type': type, 'content-encoding': 'compress' },
      ]) {
        const said = await send('POST', NOTES, [body('{"text": "a', [0xff], '"}')], headers);
        expect([type, said.status, said.json]).toEqual([
          type,
          415,
          { detail: `Unsupported media type "${type}" in request.` },
        ]);
      }
    }
  });

  test('gives an action no text that the client has not sent', async () => {
    acted = 'not yet';
    await send('POST', `${NOTES}act/`, [body('{"text": "a', [0xff], 'b"}')]);
    expect(JSON.stringify([acted])).not.toContain('\ufffd');
    if (settings.nest?.bodyParser === false) return;
    await send('POST', `${NOTES}act/`, [Buffer.from('{"text": "é\ufffd"}')]);
    expect(acted).toEqual({ text: 'é\ufffd' });
  });
});
