// @tags db http nest
import { connect } from 'node:net';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { Restify } from 'nestjs-restify';
import {
  AfterLoad,
  BeforeInsert,
  Column,
  Entity,
  EventSubscriber,
  JoinColumn,
  JoinTable,
  ManyToMany,
  ManyToOne,
  PrimaryColumn,
  PrimaryGeneratedColumn,
} from 'typeorm';
import type { EntitySubscriberInterface, InsertEvent, Relation } from 'typeorm';
import type { Answer } from '../support/client.js';
import { onEachDatabase } from '../support/each-database.js';
import { startApp } from '../support/start-app.js';
import type { StartedApp } from '../support/start-app.js';
import { chunked, sendRaw } from './raw-request.js';

class Corner {
  @Column({ type: 'int', nullable: true })
  across: number | null;

  @Column({ length: 5, default: '' })
  mark: string;
}

@Restify('bad')
@Entity('bad_sample')
class Sample {
  @PrimaryGeneratedColumn()
  id: number;

  @Column({ length: 20 })
  title: string;

  @Column({ type: 'text', nullable: true })
  story: string | null;

  @Column({ type: 'int', default: 0 })
  count: number;

  @Column({ type: 'smallint', default: 0 })
  small: number;

  @Column({ type: 'bigint', nullable: true })
  big: string | null;

  @Column({ type: 'decimal', precision: 8, scale: 2, nullable: true })
  price: string | null;

  @Column({ type: 'double precision', nullable: true })
  ratio: number | null;

  @Column({ default: false })
  flag: boolean;

  @Column({ type: Date, precision: 3, nullable: true })
  at: Date | null;

  @Column({ type: 'date', nullable: true })
  day: string | null;

  @Column({ type: 'time', nullable: true })
  clock: string | null;

  @Column({ type: 'simple-enum', enum: ['red', 'blue'], default: 'red' })
  colour: string;

  @Column({ type: 'simple-json', nullable: true })
  extra: unknown;

  @Column({ type: 'simple-array', nullable: true })
  tags: string[] | null;

  @Column(() => Corner)
  corner: Corner;

  @ManyToOne(() => Sample, { nullable: true })
  origin: Relation<Sample> | null;

  @ManyToOne(() => Term, { nullable: true })
  term: Relation<Term> | null;

  @ManyToMany(() => Term)
  @JoinTable({ name: 'bad_sample_term' })
  terms: Relation<Term[]>;
}

@Restify('bad')
@Entity('bad_term')
class Term {
  @PrimaryColumn({ length: 50 })
  word: string;
}

@Restify('bad')
@Entity('bad_token')
class Token {
  @PrimaryGeneratedColumn('uuid')
  id: string;
}

@Restify({ app: 'bad', strict: true })
@Entity('bad_exact')
class Exact {
  @PrimaryGeneratedColumn()
  id: number;

  @Column({ length: 20 })
  title: string;

  @Column(() => Corner)
  corner: Corner;
}

const MODELS = [Sample, Term, Token, Exact];
const BAD = '/rest/v1/bad';
const SAMPLES = `${BAD}/sample/`;
const JSON_TYPE = { 'content-type': 'application/json' };
const NOT_FOUND = { detail: 'Not found.' };
const DRIVER =
  /sqlite|postgres|mysql|maria|syntax|constraint|column|bad_|QueryFailed|ER_|SELECT|INSERT| at .*\.[jt]s/i;

/** JSON texts, as they stand in the body. */
const HOSTILE: Readonly<Record<string, readonly string[]>> = {
  title: [
    '"\\u0000"',
    '"a\\u0000b"',
    '"\\ud800"',
    '"\\udc00\\ud800"',
    'true',
    '[]',
    '{}',
    '{"length": 1}',
    '[["a"]]',
    'null',
    '""',
    '"  "',
    `"${'x'.repeat(21)}"`,
    `"${'x'.repeat(5000)}"`,
  ],
  story: ['"\\u0000"', '"\\udfff"', 'false', '["a"]', '{"toString": 1}'],
  count: [
    '9223372036854775808',
    '18446744073709551616',
    '-9223372036854775809',
    '1e400',
    '-1e400',
    '1e30',
    '2147483648',
    '-2147483649',
    `"${'9'.repeat(500)}"`,
    '9'.repeat(400),
    '"\\u0000"',
    '"1\\u0000"',
    '"NaN"',
    '"Infinity"',
    '1.5',
    '"٣"',
    '"1_000"',
    '"1 2"',
    'true',
    '[1]',
    '{"valueOf": 1}',
    'null',
    '""',
  ],
  small: ['32768', '-32769', '65536', '9223372036854775808'],
  big: [
    '9223372036854775808',
    '"9223372036854775808"',
    '"-9223372036854775809"',
    '1e19',
    '1e400',
    '"18446744073709551616"',
    '9007199254740993',
    `"${'1'.repeat(5000)}"`,
    '"1e5"',
    '1.5',
    'true',
    '[]',
    '{}',
    '"\\u0000"',
    '"\\ud800"',
  ],
  price: [
    '1e400',
    '-1e400',
    '1e20',
    '"1e20"',
    '"1e1000000"',
    '"NaN"',
    '"sNaN"',
    '"Infinity"',
    '9223372036854775808',
    `"${'1'.repeat(5000)}"`,
    `"0.${'1'.repeat(5000)}"`,
    '1234567.5',
    '0.001',
    '"0x10"',
    '"--1"',
    '"1,5"',
    'true',
    '[]',
    '"\\u0000"',
  ],
  ratio: ['1e400', '-1e400', '"1e999"', '"NaN"', '"inf"', '"\\u0000"', 'true', '[]', '""'],
  flag: ['2', '-1', '"yes"', '"\\u0000"', '[]', '{}', 'null', '9223372036854775808', '1e400'],
  at: [
    '"2022-13-01T00:00:00Z"',
    '"2022-02-30T00:00:00Z"',
    '"2022-01-01T24:00:00Z"',
    '"2022-01-01T00:00:60Z"',
    '"2022-01-01"',
    '1665000000000',
    '1e400',
    '"99999-01-01T00:00:00Z"',
    '"0000-01-01T00:00:00Z"',
    '"-000001-01-01T00:00:00Z"',
    '"2022-01-01T00:00:00+99:99"',
    '"now"',
    '"infinity"',
    '"\\u0000"',
    'true',
    '[]',
    '{}',
  ],
  day: [
    '"2022-02-30"',
    '"0000-00-00"',
    '"99999-01-01"',
    '"2022-01-01T00:00:00Z"',
    '20220101',
    '"today"',
    '"infinity"',
    '"\\u0000"',
    '[]',
  ],
  clock: ['"24:00"', '"23:60"', '"-1:00"', '"838:59:59"', '5', '"allballs"', '"\\u0000"', '[]'],
  colour: [
    '"green"',
    '"Red"',
    '"red "',
    '"\\u0000"',
    '"\\ud800"',
    '"constructor"',
    '"__proto__"',
    '0',
    '1e400',
    '[]',
    '["red"]',
    '{}',
    'null',
    '""',
  ],
  extra: [
    '"\\u0000"',
    '{"a": "\\u0000"}',
    '{"\\u0000": 1}',
    '["\\ud800"]',
    '{"\\ud800": 1}',
    '[{"a": [{"b": "x\\u0000"}]}]',
  ],
  tags: [
    '"a"',
    '{}',
    '5',
    'true',
    '["a", null]',
    '["\\u0000"]',
    '["\\ud800"]',
    '[["a"]]',
    '[{}]',
    '{"length": 3}',
  ],
  corner: [
    '5',
    '"a"',
    '[]',
    'true',
    'null',
    '{"across": "x"}',
    '{"across": 1e400}',
    '{"mark": "\\u0000"}',
    '{"mark": "123456"}',
    '{"across": 9223372036854775808, "mark": {}}',
    '{"mark": null}',
  ],
  origin: [
    '9223372036854775808',
    '1e400',
    '1e30',
    '-1',
    '0',
    '1.5',
    '"x"',
    `"${'9'.repeat(5000)}"`,
    `"${'x'.repeat(5000)}"`,
    '"1\\u0000"',
    '"\\ud800"',
    'true',
    '[1]',
    '{"id": 1}',
    '{}',
    '99999',
  ],
  term: [
    '"\\u0000"',
    '"\\ud800"',
    '"none"',
    `"${'x'.repeat(5000)}"`,
    'true',
    '[]',
    '{"word": "a"}',
    '5',
    '1e400',
    '"__proto__"',
    '"%00"',
  ],
};

/** SQLite keeps every integer of 53 bits and more in every integer column. */
const WITHIN_SQLITE = new Set(['2147483648', '-2147483649', '32768', '-32769', '65536']);

/** Texts that stand in a URL as they are, of which none is a key of a row. */
const NO_KEYS = [
  'x'.repeat(5000),
  '9'.repeat(5000),
  '%F0%9F%98%80'.repeat(400),
  '%00',
  '1%00',
  '%',
  '%z',
  '%E0%A4%A',
  '%ED%A0%80',
  '%C3%28',
  '%FF',
  '1%',
  '..%2F..',
  '%252F',
  '__proto__',
  'constructor',
  'hasOwnProperty',
  'toString',
  '1e1',
  '0x1',
  '1.0',
  '01',
  '+1',
  '-1',
  '%201',
  '1%20',
  'null',
  'undefined',
  'NaN',
  'true',
  '[object%20Object]',
  "1'--",
  '1%20OR%201=1',
  '2147483648',
  '9223372036854775807',
  '9223372036854775808',
  '99999999999999999999',
  '1,2',
  ',',
  '%2C',
  '00000000-0000-0000-0000-00000000000g',
  '{}',
];

onEachDatabase('bad input', (database) => {
  let started: StartedApp;
  beforeAll(async () => {
    started = await startApp({ entities: MODELS, database });
  });
  afterAll(() => started.close());

  const sendJson = (method: string, path: string, raw: string): Promise<Answer> =>
    started.client.send(method, path, { raw, headers: JSON_TYPE });

  async function sample(): Promise<{ readonly path: string; readonly body: unknown }> {
    const answer = await started.client.post(SAMPLES, { title: 'sample' });
    expect([answer.status, answer.text]).toEqual([201, expect.any(String)]);
    return { path: `${SAMPLES}${(answer.json as { id: number }).id}/`, body: answer.json };
  }

  test.each(Object.entries(HOSTILE))(
    'in the field %s is 400 under it, on POST and PATCH, and changes nothing',
    async (field, values) => {
      const { path, body } = await sample();
      const before = await started.dataSource.getRepository(Sample).count();
      for (const value of values.filter((each) => database.name !== 'sqlite' || !WITHIN_SQLITE.has(each))) {
        const text = `{${field === 'title' ? '' : '"title": "a", '}"${field}": ${value}}`;
        for (const [method, url] of [
          ['POST', SAMPLES],
          ['PATCH', path],
        ] as const) {
          const answer = await sendJson(method, url, text);
          const shown = [
            method,
            value.slice(0, 60),
            answer.status,
            answer.headers['content-type'],
            Object.keys(answer.json ?? {}),
          ];
          expect(shown).toEqual([method, value.slice(0, 60), 400, 'application/json', [field]]);
          expect(answer.text.length).toBeLessThan(1000);
          expect(answer.text).not.toMatch(DRIVER);
        }
      }
      expect((await started.client.get(path)).json).toEqual(body);
      expect(await started.dataSource.getRepository(Sample).count()).toBe(before);
    },
  );

  test('of a number that JSON cannot give back is no value of a json column', async () => {
    for (const value of ['1e400', '{"a": [-1e400]}']) {
      const answer = await sendJson('POST', SAMPLES, `{"title": "a", "extra": ${value}}`);
      expect([value, answer.status, answer.json]).toEqual([value, 400, { extra: [expect.any(String)] }]);
    }
  });

  test('for a key in a URL is 404 for every method, of an object, a parent and a child', async () => {
    const { path } = await sample();
    const terms = `${path}terms/`;
    for (const text of NO_KEYS) {
      for (const method of ['GET', 'PUT', 'PATCH', 'DELETE']) {
        const options =
          method === 'GET' || method === 'DELETE' ? {} : { raw: '{"title": "a"}', headers: JSON_TYPE };
        for (const url of [
          `${SAMPLES}${text}/`,
          `${BAD}/token/${text}/`,
          `${BAD}/term/${text}/`,
          `${SAMPLES}${text}/terms/a/`,
          `${terms}${text}/`,
        ]) {
          const answer = await started.client.send(method, url, options);
          expect([method, url.slice(0, 80), answer.status, answer.json]).toEqual([
            method,
            url.slice(0, 80),
            404,
            NOT_FOUND,
          ]);
        }
      }
      for (const method of ['GET', 'POST']) {
        const answer = await started.client.send(method, `${SAMPLES}${text}/terms/`);
        expect([method, text.slice(0, 80), answer.status, answer.json]).toEqual([
          method,
          text.slice(0, 80),
          404,
          NOT_FOUND,
        ]);
      }
    }
  });

  test('for the key of a new object is 400 under it', async () => {
    const before = (await started.client.get(`${BAD}/term/`)).json;
    for (const value of [
      '"\\u0000"',
      '"\\ud800"',
      `"${'x'.repeat(5000)}"`,
      '""',
      '" "',
      'null',
      'true',
      '[]',
      '{}',
    ]) {
      const answer = await sendJson('POST', `${BAD}/term/`, `{"word": ${value}}`);
      expect([value.slice(0, 20), answer.status, answer.json]).toEqual([
        value.slice(0, 20),
        400,
        { word: [expect.any(String)] },
      ]);
    }
    expect((await started.client.get(`${BAD}/term/`)).json).toEqual(before);
  });

  test('for the other side of a through object is 400 under it, and makes no pair', async () => {
    const { path } = await sample();
    for (const value of HOSTILE.term ?? []) {
      const answer = await sendJson('POST', `${path}terms/`, `{"term": ${value}}`);
      expect([value.slice(0, 20), answer.status, answer.json]).toEqual([
        value.slice(0, 20),
        400,
        { term: [expect.any(String)] },
      ]);
    }
    expect((await started.client.get(`${path}terms/`)).json).toEqual([]);
  });

  test('in a query is 400, or finds nothing', async () => {
    await sample();
    for (const query of [
      'title=%00',
      'title=%ED%A0%80',
      'title=%',
      'title=%zz',
      'search=%00',
      'search=%C3%28',
      '%00=1&title=%',
      'count=9223372036854775808',
      'count=1e400',
      `count=${'9'.repeat(5000)}`,
      'big=9223372036854775808',
      'price=NaN',
      'ratio=1e999',
      'at=now',
      'day=0000-00-00',
      'clock=25:00',
      'flag=2',
      'colour=green',
      'origin=x',
      'id=%00',
    ]) {
      const answer = await started.client.get(`${SAMPLES}?${query}`);
      expect([query.slice(0, 40), answer.status, answer.headers['content-type'], answer.text]).toEqual([
        query.slice(0, 40),
        400,
        'application/json',
        expect.not.stringMatching(DRIVER),
      ]);
    }
    for (const query of [
      'origin=2147483647',
      `term=${'x'.repeat(5000)}`,
      `title=${'x'.repeat(5000)}`,
      'term=__proto__',
    ]) {
      const answer = await started.client.get(`${SAMPLES}?${query}`);
      expect([query.slice(0, 40), answer.status, answer.json]).toEqual([query.slice(0, 40), 200, []]);
    }
  });

  test('keeps a member named __proto__ of a json column, and only there', async () => {
    const extra =
      '{"__proto__":{"admin":true},"constructor":{"prototype":{"admin":true}},"hasOwnProperty":1}';
    const answer = await sendJson('POST', SAMPLES, `{"title": "json", "extra": ${extra}}`);
    expect([answer.status, answer.text.includes(`"extra":${extra}`)]).toEqual([201, true]);
    const got = await started.client.get(`${SAMPLES}${(answer.json as { id: number }).id}/`);
    expect(got.text).toBe(answer.text);
    expect(({} as Record<string, unknown>).admin).toBeUndefined();
  });
});

describe('a body', () => {
  let started: StartedApp;
  beforeAll(async () => {
    started = await startApp({ entities: MODELS });
  });
  afterAll(() => started.close());

  const send = (
    method: string,
    path: string,
    raw: string | Buffer,
    headers: Record<string, string> = JSON_TYPE,
  ): Promise<Answer> => started.client.send(method, path, { raw, headers });
  const rows = async (): Promise<readonly Record<string, unknown>[]> =>
    (await started.client.get(SAMPLES)).json as readonly Record<string, unknown>[];

  async function created(
    raw: string | Buffer,
    headers?: Record<string, string>,
  ): Promise<Record<string, unknown>> {
    const answer = await send('POST', SAMPLES, raw, headers);
    expect([answer.status, answer.text]).toEqual([201, expect.any(String)]);
    return answer.json as Record<string, unknown>;
  }

  test('nested 20,000 deep is 400, wherever it is deep', async () => {
    const before = await rows();
    const list = '['.repeat(20_000) + ']'.repeat(20_000);
    const object = '{"":'.repeat(20_000) + '1' + '}'.repeat(20_000);
    for (const deep of [list, object]) {
      for (const raw of [
        deep,
        `{"title": "a", "extra": ${deep}}`,
        `{"title": ${deep}}`,
        `{"title": "a", "unknown": ${deep}}`,
        `{"title": "a", "__proto__": ${deep}}`,
        `{"title": "a", "corner": ${deep}}`,
        `{"title": "a", "origin": ${deep}}`,
      ]) {
        const answer = await send('POST', SAMPLES, raw);
        expect([raw.slice(0, 30), answer.status, answer.json]).toEqual([
          raw.slice(0, 30),
          400,
          { detail: 'JSON parse error - nested too deeply' },
        ]);
      }
    }
    for (const raw of ['['.repeat(20_000), '{"a":'.repeat(20_000)]) {
      const answer = await send('POST', SAMPLES, raw);
      expect([answer.status, answer.json]).toEqual([
        400,
        { detail: expect.stringMatching(/^JSON parse error - /) },
      ]);
    }
    expect(await rows()).toEqual(before);
    const shallow = `${'['.repeat(90)}${']'.repeat(90)}`;
    expect(JSON.stringify((await created(`{"title": "a", "extra": ${shallow}}`)).extra)).toBe(shallow);
  });

  test('of 3 MB is 413 however it is sent, and the connection serves on', async () => {
    const before = await rows();
    const size = 3 * 1024 * 1024;
    const path = `${SAMPLES}${String((await created('{"title": "a"}')).id)}/`;
    for (const raw of [
      `{"title": "${'x'.repeat(size)}"}`,
      'x'.repeat(size),
      '['.repeat(size),
      Buffer.alloc(size),
      ' '.repeat(size),
    ]) {
      for (const [method, url] of [
        ['POST', SAMPLES],
        ['PUT', path],
        ['PATCH', path],
        ['POST', `${path}terms/`],
      ] as const) {
        const answer = await send(method, url, raw);
        expect([method, answer.status, answer.headers['content-type'], answer.json]).toEqual([
          method,
          413,
          'application/json',
          { detail: expect.any(String) },
        ]);
      }
    }
    const streamed = await sendRaw(
      started.port,
      [`POST ${SAMPLES} HTTP/1.1`, 'Content-Type: application/json', 'Transfer-Encoding: chunked'],
      chunked('{"title": "', 'x'.repeat(200_000), '"}'),
    );
    expect([streamed.status, streamed.json]).toEqual([413, { detail: expect.any(String) }]);
    const bomb = await send('POST', SAMPLES, gzipSync(`{"title": "${'x'.repeat(size)}"}`), {
      ...JSON_TYPE,
      'content-encoding': 'gzip',
    });
    expect([bomb.status, bomb.json]).toEqual([413, { detail: expect.any(String) }]);
    expect((await rows()).length).toBe(before.length + 1);
  });

  test('with keys that objects inherit has unknown fields like any other', async () => {
    const evil =
      '"__proto__": {"title": "evil", "polluted": 1}, "constructor": {"prototype": {"polluted": 1}}, "hasOwnProperty": 1, "toString": "x", "valueOf": null, "__defineGetter__": [], "prototype": {}';
    const without = await send('POST', SAMPLES, `{${evil}}`);
    expect([without.status, without.json]).toEqual([400, { title: ['This field is required.'] }]);
    const row = await created(
      `{${evil}, "title": "good", "corner": {"__proto__": {"mark": "evil"}, "constructor": 1, "across": 3}}`,
    );
    expect(row).toMatchObject({ title: 'good', corner: { across: 3, mark: '' } });
    expect(Object.keys(row).sort()).toEqual(Object.keys((await rows())[0] ?? {}).sort());
    const patched = await send('PATCH', `${SAMPLES}${String(row.id)}/`, `{${evil}}`);
    expect([patched.status, patched.json]).toEqual([200, row]);
    expect(({} as Record<string, unknown>).polluted).toBeUndefined();
  });

  test('with keys that objects inherit is refused by a strict model, which names each', async () => {
    const names = [
      '__proto__',
      'constructor',
      'hasOwnProperty',
      'toString',
      'valueOf',
      'prototype',
      '__defineGetter__',
      'Title',
      'title ',
      'tïtle',
      'corner.across',
      '',
    ];
    for (const name of names) {
      const answer = await send(
        'POST',
        `${BAD}/exact/`,
        `{"title": "a", ${JSON.stringify(name)}: {"title": "evil"}}`,
      );
      expect([answer.status, answer.text]).toEqual([400, `{${JSON.stringify(name)}:["Unknown field."]}`]);
    }
    const all = await send(
      'POST',
      `${BAD}/exact/`,
      `{${names.map((name) => `${JSON.stringify(name)}: 1`).join(', ')}}`,
    );
    expect([
      all.status,
      Object.entries(all.json as object)
        .map(([name]) => name)
        .sort(),
    ]).toEqual([400, [...names, 'title'].sort()]);
    expect((await started.client.get(`${BAD}/exact/`)).json).toEqual([]);
  });

  test('with a key twice has the last one', async () => {
    expect(
      await created(
        '{"title": "a", "count": "x", "title": "b", "count": 2, "corner": {"across": 1}, "corner": {"mark": "m"}}',
      ),
    ).toMatchObject({ title: 'b', count: 2, corner: { across: null, mark: 'm' } });
    expect(await created('{"title": null, "t\\u0069tle": "escaped"}')).toMatchObject({ title: 'escaped' });
    const refused = await send('POST', SAMPLES, '{"title": "a", "title": null}');
    expect([refused.status, refused.json]).toEqual([400, { title: ['This field may not be null.'] }]);
  });

  test('may be compressed, and is 4xx where that is broken or unknown', async () => {
    const before = (await rows()).length;
    expect(
      await created(gzipSync('{"title": "zipped"}'), { ...JSON_TYPE, 'content-encoding': 'gzip' }),
    ).toMatchObject({ title: 'zipped' });
    const broken: readonly (readonly [encoding: string, body: string | Buffer])[] = [
      ['gzip', '{"title": "a"}'],
      ['gzip', gzipSync('{"title": "a"}').subarray(0, 20)],
      ['gzip', gzipSync('{"title": ')],
      ['deflate', 'x'],
      ['br', '{"title": "a"}'],
      ['zstd', '{"title": "a"}'],
      ['nonsense', '{"title": "a"}'],
      ['gzip, gzip', gzipSync(gzipSync('{"title": "a"}'))],
    ];
    for (const [encoding, raw] of broken) {
      const answer = await send('POST', SAMPLES, raw, { ...JSON_TYPE, 'content-encoding': encoding });
      const status = answer.status === 415 ? 415 : 400;
      expect([encoding, answer.status, answer.headers['content-type'], answer.json]).toEqual([
        encoding,
        status,
        'application/json',
        { detail: expect.any(String) },
      ]);
      const unknown = await send('PATCH', `${SAMPLES}99999/`, raw, {
        ...JSON_TYPE,
        'content-encoding': encoding,
      });
      expect([encoding, unknown.status, unknown.json]).toEqual([encoding, 404, NOT_FOUND]);
    }
    expect((await rows()).length).toBe(before + 1);
  });

  test('may come in chunks, and with no chunk counts as {}', async () => {
    const path = `${SAMPLES}${String((await created('{"title": "a"}')).id)}/`;
    const inChunks = (
      method: string,
      url: string,
      type: string | undefined,
      ...parts: readonly string[]
    ): ReturnType<typeof sendRaw> =>
      sendRaw(
        started.port,
        [
          `${method} ${url} HTTP/1.1`,
          ...(type === undefined ? [] : [`Content-Type: ${type}`]),
          'Transfer-Encoding: chunked',
        ],
        chunked(...parts),
      );
    const whole = await inChunks('PATCH', path, 'application/json', '{"ti', 'tle": "in ch', 'unks"}');
    expect([whole.status, whole.json]).toEqual([200, expect.objectContaining({ title: 'in chunks' })]);
    for (const type of ['application/json', undefined]) {
      const nothing = await inChunks('PATCH', path, type);
      expect([type, nothing.status, nothing.json]).toEqual([type, 200, whole.json]);
      const required = await inChunks('POST', SAMPLES, type);
      expect([type, required.status, required.json]).toEqual([
        type,
        400,
        { title: ['This field is required.'] },
      ]);
      const ignored = await inChunks('GET', path, type);
      expect([type, ignored.status, ignored.json]).toEqual([type, 200, whole.json]);
    }
    const untyped = await inChunks('PATCH', path, undefined, '{"title": "b"}');
    expect([untyped.status, untyped.json]).toEqual([
      415,
      { detail: 'Unsupported media type "" in request.' },
    ]);
  });

  test('that breaks off writes nothing, and does no harm', async () => {
    const before = await rows();
    for (const head of ['Content-Length: 500', 'Transfer-Encoding: chunked']) {
      await new Promise<void>((resolve) => {
        const socket = connect(started.port, '127.0.0.1', () => {
          socket.write(
            [
              `POST ${SAMPLES} HTTP/1.1`,
              'Host: h',
              'Content-Type: application/json',
              head,
              '',
              head.startsWith('C') ? '{"title": "half"}' : '11\r\n{"title": "half"}\r\n',
            ].join('\r\n'),
            () => {
              setTimeout(() => {
                socket.destroy();
                resolve();
              }, 20);
            },
          );
        });
      });
    }
    expect(await rows()).toEqual(before);
  });

  test('is taken as JSON by every way to write the type, and by no other type', async () => {
    for (const type of [
      'application/json',
      'application/json; charset=utf-8',
      'application/json;charset=UTF-8',
      'application/json; charset="utf-8"',
      'Application/JSON',
      'application/json ; charset=utf-8',
      'application/json; version=1',
    ]) {
      expect(await created('{"title": "typed"}', { 'content-type': type })).toMatchObject({ title: 'typed' });
    }
    const before = await rows();
    const others = [
      'text/plain',
      'text/json',
      'application/jsonx',
      'application/x-json',
      'application/vnd.api+json',
      'application/json-patch+json',
      'application/merge-patch+json',
      'application/x-www-form-urlencoded',
      'multipart/form-data; boundary=x',
      'application/octet-stream',
      'application/*',
      '*/*',
      'json',
      ';',
      'application/json; charset=latin1',
      'application/json; charset=utf-16',
      'application/json; charset=nonsense',
      'application/json; charset=',
      'application/json, text/plain',
      '"application/json"',
      'application / json',
      '__proto__',
    ];
    for (const type of others) {
      for (const raw of ['{"title": "a"}', '{"title": ', 'title=a']) {
        const answer = await send('POST', SAMPLES, raw, { 'content-type': type });
        expect([type, raw, answer.status, answer.json]).toEqual([
          type,
          raw,
          415,
          { detail: `Unsupported media type "${type}" in request.` },
        ]);
      }
    }
    expect(await rows()).toEqual(before);
  });
});

const mood: { fail: string | undefined } = { fail: undefined };

function failIf(when: string, thrown: unknown): void {
  if (mood.fail === when) throw thrown;
}

@Restify('moody')
@Entity('moody_left')
class MoodyLeft {
  @PrimaryGeneratedColumn()
  id: number;

  @Column({ length: 20, default: '' })
  name: string;

  @ManyToMany(() => MoodyRight)
  @JoinTable({
    name: 'moody_pair',
    joinColumn: { name: 'left_id' },
    inverseJoinColumn: { name: 'right_id' },
    synchronize: false,
  })
  rights: Relation<MoodyRight[]>;

  @AfterLoad()
  loaded(): void {
    failIf('load', new Error('secret load'));
  }
}

@Restify('moody')
@Entity('moody_right')
class MoodyRight {
  @PrimaryGeneratedColumn()
  id: number;
}

/** A pair that is its own key: another side is another row. */
@Entity('moody_pair')
class MoodyPair {
  @PrimaryColumn('int')
  left_id: number;

  @PrimaryColumn('int')
  right_id: number;

  @ManyToOne(() => MoodyLeft, { onDelete: 'CASCADE' })
  @JoinColumn({ name: 'left_id' })
  left: Relation<MoodyLeft>;

  @ManyToOne(() => MoodyRight, { onDelete: 'CASCADE' })
  @JoinColumn({ name: 'right_id' })
  right: Relation<MoodyRight>;

  @BeforeInsert()
  beforeInsert(): void {
    failIf('pair', 'secret text');
  }
}

@EventSubscriber()
class MoodySubscriber implements EntitySubscriberInterface {
  afterInsert({ metadata }: InsertEvent<object>): void {
    if (metadata.tableName !== 'moody_left') return;
    failIf('after insert', null);
    failIf('like a driver', Object.assign(new Error('UNIQUE constraint'), { status: 418 }));
  }

  beforeTransactionCommit(): void {
    failIf('before commit', new Error('secret commit'));
  }
}

onEachDatabase('listeners and subscribers that throw', (database) => {
  let started: StartedApp;
  beforeAll(async () => {
    started = await startApp({
      entities: [MoodyLeft, MoodyRight, MoodyPair],
      database,
      dataSource: { subscribers: [MoodySubscriber] },
    });
  });
  afterAll(() => started.close());
  beforeEach(() => {
    mood.fail = undefined;
  });

  const LEFTS = '/rest/v1/moody/moodyleft/';
  const FAILED = { detail: 'A server error occurred.' };

  async function failing(when: string, method: string, path: string, body?: object): Promise<void> {
    mood.fail = when;
    const answer = await started.client.send(method, path, body ? { body } : {});
    mood.fail = undefined;
    expect([when, method, answer.status, answer.headers['content-type'], answer.json]).toEqual([
      when,
      method,
      500,
      'application/json',
      FAILED,
    ]);
  }

  test('leave no trace of a POST, whatever they throw and however late', async () => {
    const before = (await started.client.get(LEFTS)).json;
    for (const when of ['after insert', 'like a driver', 'before commit', 'load'])
      await failing(when, 'POST', LEFTS, { name: when });
    expect((await started.client.get(LEFTS)).json).toEqual(before);
  });

  test('leave an object as it was on PATCH and DELETE', async () => {
    const { id } = (await started.client.post(LEFTS, { name: 'kept' })).json as { id: number };
    const before = (await started.client.get(`${LEFTS}${id}/`)).json;
    for (const when of ['before commit', 'load']) {
      await failing(when, 'PATCH', `${LEFTS}${id}/`, { name: when });
      await failing(when, 'DELETE', `${LEFTS}${id}/`);
      await failing('load', 'GET', `${LEFTS}${id}/`);
      await failing('load', 'GET', LEFTS);
    }
    expect((await started.client.get(`${LEFTS}${id}/`)).json).toEqual(before);
  });

  test('leave a pair in its place while it is replaced', async () => {
    const { id: left } = (await started.client.post(LEFTS, {})).json as { id: number };
    const [one, two] = [
      await started.client.post('/rest/v1/moody/moodyright/'),
      await started.client.post('/rest/v1/moody/moodyright/'),
    ].map(({ json }) => (json as { id: number }).id);
    const path = `${LEFTS}${left}/rights/`;
    await failing('pair', 'POST', path, { right: one });
    expect((await started.client.get(path)).json).toEqual([]);
    expect((await started.client.post(path, { right: one })).status).toBe(201);
    const before = (await started.client.get(path)).json;
    await failing('before commit', 'PATCH', `${path}${one}/`, { right: two });
    await failing('before commit', 'PUT', `${path}${one}/`, { right: two });
    await failing('before commit', 'DELETE', `${path}${one}/`);
    expect((await started.client.get(path)).json).toEqual(before);
  });
});
