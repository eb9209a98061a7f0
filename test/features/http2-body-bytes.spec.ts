// @tags nest
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { Body, HttpCode, Req } from '@nestjs/common';
import { Action, Restify, RestifyController } from 'nestjs-restify';
import { gzipSync } from 'node:zlib';
import { Column, Entity, PrimaryGeneratedColumn } from 'typeorm';
import { Http2ExpressAdapter } from '../support/http2-express.js';
import { sendHttp2 } from '../support/send-http2.js';
import type { Http2Answer } from '../support/send-http2.js';
import { startApp } from '../support/start-app.js';
import type { AppSettings, StartedApp } from '../support/start-app.js';

@Restify({ app: 'h2bytes', bulk: true })
@Entity('h2bytes_note')
class Note {
  @PrimaryGeneratedColumn() id: number;
  @Column({ length: 200, default: 'none' }) text: string;
  @Column({ type: 'simple-json', nullable: true }) data: unknown;
}

let acted: unknown;

@RestifyController(Note)
class NoteController {
  @Action({ path: 'act', detail: false, methods: ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] })
  @HttpCode(200)
  act(@Body() body: unknown, @Req() { headers }: { readonly headers: Record<string, unknown> }): object {
    acted = body;
    return { type: headers['content-type'] ?? null };
  }
}

const NOTES = '/rest/v1/h2bytes/note/';
const EXPRESS: Partial<AppSettings> = { adapter: () => new Http2ExpressAdapter() };
const FASTIFY: Partial<AppSettings> = { fastify: { http2: true } };
const BROKEN = { status: 400, json: { detail: 'JSON parse error - the body is not UTF-8' } };
const DIGITS = '{"big":12345678901234567890,"exact":0.12345678901234567891}';

describe.each<readonly [name: string, settings: Partial<AppSettings>]>([
  ['Express', EXPRESS],
  ['Express without a body parser', { ...EXPRESS, nest: { bodyParser: false } }],
  ['Express with raw bodies', { ...EXPRESS, nest: { rawBody: true } }],
  ['Fastify', FASTIFY],
  ['Fastify with raw bodies', { ...FASTIFY, nest: { rawBody: true } }],
])('a body over HTTP/2 on %s', (_name, settings) => {
  let started: StartedApp;
  beforeAll(async () => {
    started = await startApp({
      compare: false,
      undescribed: 'all',
      entities: [Note],
      controllers: [NoteController],
      ...settings,
    });
  });
  afterAll(() => started.close());

  describe.each([
    ['with its length', true],
    ['without its length', false],
  ])('%s', (_length, hasLength) => {
    const say = (
      pieces: readonly (string | Buffer)[],
      { method = 'POST', path = '', headers = {} }: { method?: string; path?: string; headers?: object } = {},
    ): Promise<Http2Answer> => {
      const length = pieces.reduce((sum, piece) => sum + Buffer.byteLength(piece), 0);
      return sendHttp2(started.port, {
        method,
        path: `${NOTES}${path}`,
        pieces,
        headers: {
          'content-type': 'application/json',
          ...(hasLength ? { 'content-length': length } : {}),
          ...headers,
        },
      });
    };
    const bytes = (text: string, ...more: readonly number[]): Buffer =>
      Buffer.concat([Buffer.from(text), Buffer.from(more)]);

    test.each([[[0xff]], [[0x80]], [[0xe2, 0x82]], [[0xed, 0xa0, 0x80]]])(
      'is refused if it is not UTF-8: %p',
      async (wrong) => {
        const pieces = [bytes('{"text":"a', ...wrong), Buffer.from('"}')];
        expect(await say(pieces)).toMatchObject(BROKEN);
        expect(await say([Buffer.concat(pieces)])).toMatchObject(BROKEN);
        expect(
          await say([gzipSync(Buffer.concat(pieces))], { headers: { 'content-encoding': 'gzip' } }),
        ).toMatchObject(BROKEN);
        acted = undefined;
        expect(await say(pieces, { path: 'act/' })).toMatchObject(BROKEN);
        expect(acted).toBeUndefined();
      },
    );

    test('keeps its characters, wherever a frame ends', async () => {
      const euro = Buffer.from('{"text":"€😀"}');
      for (let at = 1; at < euro.length; at++)
        expect(await say([euro.subarray(0, at), euro.subarray(at)])).toMatchObject({
          status: 201,
          json: { text: '€😀' },
        });
    });

    test('keeps all digits of numbers', async () => {
      const body = `{"data":${DIGITS}}`;
      const made = await say([body.slice(0, 30), body.slice(30)]);
      expect(made.status).toBe(201);
      expect(made.text).toContain(DIGITS);
      const { id } = made.json as Note;
      const packed = { method: 'PATCH', path: `${id}/`, headers: { 'content-encoding': 'gzip' } };
      expect((await say([gzipSync(body)], packed)).text).toContain(DIGITS);
      expect((await say([`[${body}]`])).text).toContain(DIGITS);
    });

    test('may begin with a byte order mark, which alone is no body', async () => {
      const marked = `\ufeff{"text":"marked","data":${DIGITS}}`;
      const made = await say([marked]);
      expect(made).toMatchObject({ status: 201, json: { text: 'marked' } });
      expect(made.text).toContain(DIGITS);
      expect(await say(['\ufeff'])).toMatchObject({ status: 201, json: { text: 'none' } });
      expect(await say([Buffer.from([0xef, 0xbb]), Buffer.from([0xbf])])).toMatchObject({ status: 201 });
    });

    test('is refused beyond the limit', async () => {
      const large = `{"text":"${'x'.repeat(1024 * 1024)}"}`;
      const refused = { status: 413, json: { detail: expect.stringMatching(/^Request body is too large/) } };
      expect(await say([large.slice(0, 70_000), large.slice(70_000)])).toMatchObject(refused);
      expect(await say([gzipSync(large)], { headers: { 'content-encoding': 'gzip' } })).toMatchObject(
        refused,
      );
      acted = undefined;
      expect((await say([large], { path: 'act/' })).status).toBe(413);
      expect(acted).toBeUndefined();
    });
  });

  test.each(['GET', 'POST', 'PUT', 'PATCH', 'DELETE'])(
    'of 0 bytes is none for the method of an action, whatever its type is: %s',
    async (method) => {
      const types = [
        undefined,
        'application/json',
        'text/plain',
        'image/png',
        'multipart/form-data; boundary=a',
      ];
      for (const type of types)
        for (const isEnded of [true, false])
          for (const length of [{}, { 'content-length': 0 }]) {
            const headers = { ...(type === undefined ? {} : { 'content-type': type }), ...length };
            const { status, json } = await sendHttp2(started.port, {
              method,
              path: `${NOTES}act/`,
              pieces: [],
              headers,
              isEnded,
            });
            expect([type, isEnded, length, status, json]).toEqual([
              type,
              isEnded,
              length,
              200,
              { type: type ?? null },
            ]);
          }
    },
  );

  test.each(['POST', 'PUT', 'PATCH'])(
    'of another type is refused for the method of an action: %s',
    async (method) => {
      acted = 'nothing';
      // Fastify itself parses plain text.
      for (const type of [{}, { 'content-type': 'image/png' }, { 'content-type': 'x/y+z' }])
        for (const length of [{}, { 'content-length': 7 }]) {
          const headers = { ...type, ...length };
          const { status } = await sendHttp2(started.port, {
            method,
            path: `${NOTES}act/`,
            pieces: ['{"a":1}'],
            headers,
          });
          expect([headers, status]).toEqual([headers, 415]);
        }
      expect(acted).toBe('nothing');
    },
  );
});
