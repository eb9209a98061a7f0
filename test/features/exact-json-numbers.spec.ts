// @tags db http nest
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { Req } from '@nestjs/common';
import type { NestInterceptor } from '@nestjs/common';
import type { NestExpressApplication } from '@nestjs/platform-express';
import {
  CsvRenderer,
  IdempotencyRecord,
  NdjsonRenderer,
  ResourceController,
  Restify,
  RestifyController,
} from 'nestjs-restify';
import { map } from 'rxjs';
import { request as httpRequest } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { gzipSync } from 'node:zlib';
import {
  AfterLoad,
  BeforeInsert,
  BeforeUpdate,
  Column,
  Entity,
  ManyToOne,
  OneToMany,
  PrimaryGeneratedColumn,
  UpdateDateColumn,
  VersionColumn,
} from 'typeorm';
import type { ColumnType, Relation } from 'typeorm';
import { onEachDatabase } from '../support/each-database.js';
import { PLATFORM } from '../support/platform.js';
import { startApp } from '../support/start-app.js';
import type { AppSettings, StartedApp } from '../support/start-app.js';
import { WORLD } from '../support/world.js';

/** Numbers that JavaScript writes in another form, and some that it does not. */
const NUMBERS = [
  '12345678901234567890',
  '12345678901234567891',
  '-9007199254740993',
  '9007199254740993',
  // The same in JavaScript, but mysql2 makes a text of it where Node tells it the source of a number.
  '9007199254740992',
  '100000000000000000000',
  '0.1234567890123456789',
  '123456789.123456789',
  '1.0',
  '1',
  '1.50',
  '0.1e1',
  '1E5',
  '100000',
  '1e-7',
  '-0',
  '0',
  '-0.0',
  '0.1',
];

/** What `jsonb` of PostgreSQL makes of them: the same value, with the same decimal places. */
const IN_JSONB: Readonly<Record<string, string>> = {
  '0.1e1': '1',
  '1E5': '100000',
  '1e-7': '0.0000001',
  '-0': '0',
  '-0.0': '0.0',
};

const seen: unknown[] = [];

/** One column of a type; an entity each. */
function storing(
  name: string,
  type: ColumnType,
  extend: (entity: new () => Stored) => void = () => undefined,
): new () => Stored {
  class Storing extends Stored {}
  Object.defineProperty(Storing, 'name', { value: name });
  Column({ type, nullable: true } as object)(prototypeOf(Storing), 'data');
  extend(Storing);
  Entity({ name: `exact_${name}` })(Storing);
  Restify({
    app: 'exact',
    name,
    shape: true,
    bulk: true,
    renderers: [new CsvRenderer(), new NdjsonRenderer()],
  })(Storing);
  return Storing;
}

function prototypeOf(entity: new () => Stored): Stored {
  return entity.prototype as Stored;
}

class Stored {
  @PrimaryGeneratedColumn() id: number;
  @Column({ nullable: true }) title: string;
  data: unknown;
}

/** Written by TypeORM. */
function listened(entity: new () => Stored): void {
  const prototype = prototypeOf(entity);
  Object.defineProperty(prototype, 'look', {
    value: function (this: Stored) {
      seen.push(this.data);
    },
  });
  BeforeInsert()(prototype, 'look');
  BeforeUpdate()(prototype, 'look');
}

/** Read by TypeORM. */
function loaded(entity: new () => Stored): void {
  const prototype = prototypeOf(entity);
  Object.defineProperty(prototype, 'load', { value: () => undefined });
  AfterLoad()(prototype, 'load');
}

const raw = (text: string): { raw: string; headers: Record<string, string> } => ({
  raw: text,
  headers: { 'content-type': 'application/json' },
});

onEachDatabase('numbers of JSON columns', (database) => {
  const types: readonly (readonly [string, ColumnType])[] = [
    ['simple', 'simple-json'],
    ['json', 'json'],
    ...(database.name === 'postgres' || (database.name === 'sqlite' && WORLD.name === 'nest-12')
      ? [['jsonb', 'jsonb'] as const]
      : []),
  ];
  const models = types.flatMap(([name, type]) => [
    [name, type, undefined] as const,
    [`${name}listened`, type, listened] as const,
    [`${name}loaded`, type, loaded] as const,
  ]);
  let started: StartedApp;
  beforeAll(async () => {
    started = await startApp({
      entities: models.map(([name, type, extend]) => storing(name, type, extend)),
      database,
      undescribed: 'all',
    });
  });
  afterAll(() => started.close());

  describe.each(models.map(([name, type]) => [name, type] as const))('%s', (name, type) => {
    const url = `/rest/v1/exact/${name}/`;
    const stored = (number: string): string =>
      database.name === 'postgres' && type === 'jsonb' ? (IN_JSONB[number] ?? number) : number;
    /** SQLite stores a number by itself as its own. */
    const isNumeric = database.name === 'sqlite' && type === 'json';
    const bodies: readonly (readonly [string, (number: string) => string])[] = [
      ['by themselves', (number) => number],
      ['in an object', (number) => `{"n":${number}}`],
      ['in lists and objects', (number) => `[1,{"a":[${number},"${number}"],"b":{"n":${number}}},${number}]`],
    ];

    test.each(isNumeric ? bodies.slice(1) : bodies)('%s come out as they went in', async (_, of) => {
      const { client } = started;
      const created = await client.send('POST', url, raw('{}'));
      const { id } = created.json as { id: number };
      const object = (number: string): string =>
        `{"id":${id},"title":null,"data":${of(stored(number)).replaceAll(`"${stored(number)}"`, `"${number}"`)}}`;
      for (const number of NUMBERS) {
        const body = `{"data": ${of(number)}, "title": null}`;
        for (const method of ['PATCH', 'PUT']) {
          const changed = await client.send(method, `${url}${id}/`, raw(body));
          expect([method, changed.status, changed.text]).toEqual([method, 200, object(number)]);
        }
        const read = await client.get(`${url}${id}/`);
        expect(read.text).toBe(object(number));
        // A client that sends back what it has read changes nothing.
        expect((await client.send('PUT', `${url}${id}/`, raw(read.text))).text).toBe(read.text);
        const posted = await client.send('POST', url, raw(body));
        expect(posted.status).toBe(201);
        expect(posted.text).toBe(
          object(number).replace(`"id":${id},`, `"id":${(posted.json as { id: number }).id},`),
        );
        expect((await client.get(`${url}?fields=data&ordering=-id`)).text).toContain(
          posted.text.slice(posted.text.indexOf('"data"'), -1),
        );
        for (const path of ['', '?with=x', '?fields=id,title,data'])
          expect((await client.get(`${url}${path}`)).text).toContain(posted.text);
        expect((await client.get(`${url}?format=ndjson`)).text.split('\n')).toContain(posted.text);
        if (of(number) === number)
          expect((await client.get(`${url}?format=csv`)).text).toContain(
            `\r\n${(posted.json as { id: number }).id},,${stored(number)}\r\n`,
          );
        expect((await client.delete(`${url}${(posted.json as { id: number }).id}/`)).status).toBe(204);
      }
      await client.delete(`${url}${id}/`);
    });

    if (isNumeric)
      test('by themselves are numbers of SQLite, or errors', async () => {
        const { client } = started;
        for (const number of NUMBERS) {
          const { status, json } = await client.send('POST', url, raw(`{"data":${number}}`));
          const isExact = String(Number(number)) === number || !/\d{16}|\d{9}\.\d{9}/.test(number);
          expect([number, status, json]).toEqual([
            number,
            isExact ? 201 : 400,
            isExact
              ? expect.objectContaining({ data: Number(number) + 0 })
              : { data: ['The database cannot hold this value.'] },
          ]);
        }
      });

    test('come out of bulk writes as they went in', async () => {
      const { client } = started;
      const list = `[${NUMBERS.map((number) => `{"data":{"n":${number}}}`).join(',')}]`;
      const created = await client.send('POST', url, raw(list));
      expect(created.status).toBe(201);
      const ids = (created.json as { id: number }[]).map(({ id }) => id);
      const shown = (numbers: readonly string[]): string =>
        `[${numbers.map((number, at) => `{"id":${ids[at] ?? 0},"title":null,"data":{"n":${stored(number)}}}`).join(',')}]`;
      expect(created.text).toBe(shown(NUMBERS));
      const reversed = [...NUMBERS].reverse();
      const changes = `[${reversed.map((number, at) => `{"id":${ids[at] ?? 0},"data":{"n":${number}}}`).join(',')}]`;
      const changed = await client.send('PATCH', url, raw(changes));
      expect([changed.status, changed.text]).toEqual([200, shown(reversed)]);
      const all = await client.send('PATCH', `${url}?keys=${ids.join(',')}`, raw('{"data":{"n":1.10}}'));
      expect(all.text).toBe(shown(ids.map(() => '1.10')));
      expect((await client.delete(`${url}?keys=${ids.join(',')}`)).status).toBe(204);
    });

    test('of a range that JavaScript does not have are errors of their field', async () => {
      for (const number of ['1e400', '-1e400', '1e-400', `1${'0'.repeat(400)}`])
        for (const of of bodies.map(([, each]) => each))
          expect(await started.client.send('POST', url, raw(`{"data":${of(number)}}`))).toMatchObject({
            status: 400,
            json: { data: [expect.any(String)] },
          });
    });
  });
});

class Part {
  @Column({ type: 'simple-json', nullable: true }) inner: unknown;
}

@Restify({
  app: 'exact',
  conditional: true,
  idempotency: true,
  bulk: { upsert: ['code'] },
  shape: true,
  expandable: ['children'],
})
@Entity('exact_whole')
class Whole {
  @PrimaryGeneratedColumn() id: number;
  @Column({ length: 20, unique: true }) code: string;
  @Column({ type: 'json', nullable: true }) data: unknown;
  @Column(() => Part) part: Part;
  @VersionColumn() version: number;
  @UpdateDateColumn({ precision: 6 }) changed: Date;
  @OneToMany(() => Child, (child) => child.whole) children: Relation<Child[]>;
}

@Restify({ app: 'exact', conditional: true, expandable: ['whole'], shape: true })
@Entity('exact_child')
class Child {
  @PrimaryGeneratedColumn() id: number;
  @Column({ type: 'simple-json', nullable: true }) data: unknown;
  @ManyToOne(() => Whole, (whole) => whole.children) whole: Relation<Whole>;
}

/** Written by TypeORM in transactions of several statements. */
@Restify({ app: 'exact', conditional: true, bulk: { upsert: ['code'] } })
@Entity('exact_hooked')
class Hooked {
  @PrimaryGeneratedColumn() id: number;
  @Column({ length: 20, unique: true }) code: string;
  @Column({ type: 'json', nullable: true }) data: unknown;
  @VersionColumn() version: number;
}

@RestifyController(Hooked)
class HookedController extends ResourceController<Hooked> {
  override beforeWrite({ entity, operation }: { entity: Hooked; operation: string }): Promise<void> {
    seen.push(JSON.parse(JSON.stringify(entity.data ?? null)));
    const data = entity.data as Record<string, unknown> | null;
    if (operation === 'destroy' || typeof data !== 'object' || data === null) return Promise.resolve();
    if (data.change === 'member') data.n = 5;
    if (data.change === 'value') entity.data = { ...data, m: 6 };
    return Promise.resolve();
  }
}

/** What code of the application returns. */
class Wrapping implements NestInterceptor {
  intercept: NestInterceptor['intercept'] = (_, next) =>
    next.handle().pipe(map((data: unknown) => ({ data })));
}

@Restify({ app: 'exact', interceptors: [Wrapping] })
@Entity('exact_wrapped')
class Wrapped {
  @PrimaryGeneratedColumn() id: number;
  @Column({ type: 'simple-json', nullable: true }) data: unknown;
}

@Restify('exact')
@Entity('exact_replaced')
class Replaced {
  @PrimaryGeneratedColumn() id: number;
  @Column({ type: 'simple-json', nullable: true }) data: unknown;
}

@RestifyController(Replaced)
class ReplacedController extends ResourceController<Replaced> {
  override async create(@Req() request: unknown): Promise<unknown> {
    const created: unknown = await super.create(request);
    seen.push(JSON.parse(JSON.stringify(created)));
    return created;
  }
}

onEachDatabase('numbers of JSON columns beside', (database) => {
  let started: StartedApp;
  beforeAll(async () => {
    started = await startApp({
      entities: [Whole, Child, Hooked, Wrapped, Replaced, IdempotencyRecord],
      controllers: [HookedController, ReplacedController],
      database,
      undescribed: 'all',
    });
  });
  afterAll(() => started.close());
  const send = (
    method: string,
    path: string,
    body: string,
    headers: Record<string, string> = {},
  ): ReturnType<StartedApp['client']['send']> =>
    started.client.send(method, `/rest/v1/exact/${path}`, {
      raw: body,
      headers: { 'content-type': 'application/json', ...headers },
    });

  const BIG = '{"n":12345678901234567890,"one":1.0}';
  const BIGGER = '{"n":12345678901234567891,"one":1.00}';

  test('embedded objects, entity tags and versions', async () => {
    const created = await send('POST', 'whole/', `{"code":"tags","data":${BIG},"part":{"inner":[1.0]}}`);
    expect(created.text).toContain(`"data":${BIG},"version":1,`);
    expect(created.text).toContain('"part":{"inner":[1.0]}');
    const { id } = created.json as { id: number };
    const read = await started.client.get(`/rest/v1/exact/whole/${id}/`);
    const tag = String(read.headers.etag);
    expect([read.text, tag]).toEqual([created.text, created.headers.etag]);
    const first = await send('PATCH', `whole/${id}/`, `{"data":${BIGGER}}`, { 'if-match': tag });
    expect(first.text).toContain(`"data":${BIGGER},"version":2,`);
    expect((await send('PATCH', `whole/${id}/`, `{"data":${BIG}}`, { 'if-match': tag })).status).toBe(412);
    // What is stored already is no change.
    const same = await send('PATCH', `whole/${id}/`, `{"data":${BIGGER}}`);
    expect([same.text, same.headers.etag]).toEqual([first.text, first.headers.etag]);
    const rounded = await send('PATCH', `whole/${id}/`, '{"data":{"n":12345678901234567000,"one":1}}');
    expect(rounded.text).toContain('"data":{"n":12345678901234567000,"one":1},"version":3,');
    const inner = await send('PATCH', `whole/${id}/`, '{"part":{"inner":[1.00]}}');
    expect(inner.text).toContain('"part":{"inner":[1.00]}');
    expect(inner.text).toContain('"version":4,');
  });

  test('changes by a hook or by TypeORM', async () => {
    seen.length = 0;
    const created = await send('POST', 'hooked/', `{"code":"a","data":${BIG}}`);
    expect(created.text).toContain(`"data":${BIG},"version":1`);
    const url = `hooked/${(created.json as { id: number }).id}/`;
    const tag = String(created.headers.etag);
    const changed = await send('PUT', url, `{"code":"a","data":${BIGGER}}`, { 'if-match': tag });
    expect(changed.text).toContain(`"data":${BIGGER},"version":2`);
    expect(changed.headers.etag).not.toBe(tag);
    expect((await send('PUT', url, `{"code":"a","data":${BIG}}`, { 'if-match': tag })).status).toBe(412);
    const same = await send('PUT', url, `{"code":"a","data":${BIGGER}}`);
    expect(same.text).toBe(changed.text);
    const rounded = await send('PATCH', url, '{"data":{"n":12345678901234567000,"one":1}}');
    expect(rounded.text).toContain('"data":{"n":12345678901234567000,"one":1},"version":3');
    expect(seen[0]).toEqual({ n: 12345678901234567000, one: 1 });
    const other = await send('PATCH', url, '{"code":"b"}');
    expect(other.text).toContain('"data":{"n":12345678901234567000,"one":1},"version":4');
    await send('PATCH', url, `{"data":${BIG}}`);
    expect((await send('PATCH', url, '{"code":"c"}')).text).toContain(`"data":${BIG},"version":6`);
    expect((await send('DELETE', url, '')).status).toBe(204);
  });

  test('what a hook changes counts, and the rest is as sent', async () => {
    const member = await send('POST', 'hooked/', '{"code":"m","data":{"change":"member","n":1.0,"m":2.0}}');
    expect(member.text).toContain('"data":{"change":"member","n":5,"m":2.0}');
    const value = await send('POST', 'hooked/', '{"code":"v","data":{"change":"value","n":1.0,"m":2.0}}');
    expect(value.json).toMatchObject({ data: { change: 'value', n: 1, m: 6 } });
  });

  test('upserts and replays', async () => {
    const list = (n: string): string => `[{"code":"u1","data":{"n":${n}}},{"code":"u2","data":[${n}]}]`;
    for (const [n, status] of [
      ['1.0', 201],
      ['12345678901234567890', 200],
      ['12345678901234567891', 200],
    ] as const) {
      for (const model of ['whole', 'hooked']) {
        const answer = await send('POST', `${model}/?upsert=true`, list(n));
        expect([model, n, answer.status]).toEqual([model, n, status]);
        expect(answer.text).toContain(`"data":{"n":${n}}`);
        expect(answer.text).toContain(`"data":[${n}]`);
      }
    }
    const post = (n: string): ReturnType<typeof send> =>
      send('POST', 'whole/?fields=code,data,part', `{"code":"key","data":{"n":${n}},"part":{"inner":${n}}}`, {
        'idempotency-key': 'a-key',
      });
    const first = await post('12345678901234567890');
    expect(first.text).toBe(
      '{"code":"key","data":{"n":12345678901234567890},"part":{"inner":12345678901234567890}}',
    );
    const again = await post('12345678901234567890');
    expect([again.status, again.text]).toEqual([201, first.text]);
    expect((await post('12345678901234567891')).status).toBe(422);
  });

  test('expansions and labels', async () => {
    const whole = await send('POST', 'whole/', `{"code":"expanded","data":${BIG},"part":{"inner":1.0}}`);
    const { id } = whole.json as { id: number };
    const child = await send('POST', 'child/', `{"data":-0.0,"whole":${id}}`);
    const childId = (child.json as { id: number }).id;
    const read = async (path: string): Promise<string> =>
      (await started.client.get(`/rest/v1/exact/${path}`)).text;
    expect(await read(`whole/${id}/?expand=children&fields=children,part,data`)).toBe(
      `{"data":${BIG},"part":{"inner":1.0},"children":[{"id":${childId},"data":-0.0,"whole":${id}}]}`,
    );
    expect(await read(`child/${childId}/?expand=whole&fields=data,whole.data,whole.part`)).toBe(
      `{"data":-0.0,"whole":{"data":${BIG},"part":{"inner":1.0}}}`,
    );
  });

  test('interceptors and methods of the application', async () => {
    const wrapped = await send('POST', 'wrapped/', `{"data":${BIG}}`);
    expect(wrapped.text).toMatch(new RegExp(`^\\{"data":\\{"id":\\d+,"data":\\${BIG}\\}\\}$`));
    const list = await started.client.get('/rest/v1/exact/wrapped/');
    expect(list.text).toContain(`"data":${BIG}`);
    seen.length = 0;
    const replaced = await send('POST', 'replaced/', `{"data":${BIG}}`);
    expect(replaced.text).toContain(`"data":${BIG}`);
    expect(seen).toEqual([expect.objectContaining({ data: JSON.parse(BIG) as unknown })]);
  });

  test('compressed bodies, and bodies in many chunks', async () => {
    const body = `{"code":"gzip","data":{"text":"${'x'.repeat(50_000)}","n":12345678901234567890},"part":{}}`;
    const zipped = await started.client.send('POST', '/rest/v1/exact/whole/', {
      raw: gzipSync(body),
      headers: { 'content-type': 'application/json', 'content-encoding': 'gzip' },
    });
    expect([zipped.status, zipped.text.includes('"n":12345678901234567890}')]).toEqual([201, true]);
    // A byte order mark is ignored.
    const marked = await send('POST', 'whole/', `\ufeff${body.replace('gzip', 'marked')}`);
    expect([marked.status, marked.text]).toEqual([201, expect.stringContaining('"n":12345678901234567890')]);
    const plain = await send('POST', 'whole/', body.replace('gzip', 'chunks'));
    expect([plain.status, plain.text.includes('"n":12345678901234567890}')]).toEqual([201, true]);
  });
});

const Lists = ((): new () => object => {
  class Lists {
    readonly id: number;
    data: unknown[] | null;
    more: unknown[] | null;
  }
  PrimaryGeneratedColumn()(Lists.prototype, 'id');
  Column({ type: 'json', array: true, nullable: true })(Lists.prototype, 'data');
  Column({ type: 'jsonb', array: true, nullable: true })(Lists.prototype, 'more');
  Entity('exact_lists')(Lists);
  Restify('exact')(Lists);
  return Lists;
})();

onEachDatabase(
  'numbers of arrays of JSON',
  (database) => {
    test('come out as they went in', async () => {
      const started = await startApp({ entities: [Lists], database, undescribed: 'all' });
      try {
        const { client } = started;
        const values = '[12345678901234567890,{"n":1.0},[1.50],1]';
        const created = await client.send('POST', '/rest/v1/exact/lists/', raw(`{"data":${values}}`));
        expect(created.text).toBe(`{"id":1,"data":${values},"more":null}`);
        const changed = await client.send(
          'PATCH',
          '/rest/v1/exact/lists/1/',
          raw('{"data":[12345678901234567891,{"n":1.00}],"more":[1.0]}'),
        );
        expect(changed.text).toBe('{"id":1,"data":[12345678901234567891,{"n":1.00}],"more":[1.0]}');
        expect((await client.get('/rest/v1/exact/lists/')).text).toBe(`[${changed.text}]`);
      } finally {
        await started.close();
      }
    });
  },
  ['postgres'],
);

@Restify('exact')
@Entity('exact_read')
class ReadOnce {
  @PrimaryGeneratedColumn() id: number;
  @Column({ type: 'simple-json', nullable: true }) data: unknown;
}

const WARES = '/rest/v1/exact/readonce/';

test.each<readonly [string, Partial<AppSettings>]>([
  ['without a body parser', { nest: { bodyParser: false } }],
  ['with raw bodies', { nest: { rawBody: true } }],
  [
    'with a parser of its own',
    {
      configure: (app) =>
        void (app as NestExpressApplication).useBodyParser(
          PLATFORM === 'fastify' ? ('application/json' as 'json') : 'json',
        ),
    },
  ],
  [
    'with middleware that takes its time before the parser',
    PLATFORM === 'fastify'
      ? {}
      : {
          configure: (app) => {
            app.use((_: unknown, __: unknown, next: () => void) => {
              setTimeout(next, 50);
            });
          },
        },
  ],
])('numbers of JSON columns in an application %s', async (_, settings) => {
  const started = await startApp({ entities: [ReadOnce], ...settings });
  try {
    const body = '{"data":{"text":"é","n":12345678901234567890}}';
    const answer = await started.client.send('POST', WARES, raw(body));
    expect([answer.status, answer.text]).toEqual([201, `{"id":1,${body.slice(1)}`]);
  } finally {
    await started.close();
  }
});

if (PLATFORM === 'express')
  test('a body that no parser reads is not kept', async () => {
    let seenRequest: IncomingMessage | undefined;
    const started = await startApp({
      entities: [ReadOnce],
      undescribed: 'all',
      configure: (app) => {
        app.use((request: IncomingMessage, response: ServerResponse) => {
          seenRequest = request;
          request.resume();
          request.on('end', () => {
            response.statusCode = 429;
            response.end();
          });
        });
      },
    });
    try {
      const status = await new Promise<number | undefined>((resolve, reject) => {
        const outgoing = httpRequest(
          {
            host: '127.0.0.1',
            port: started.port,
            path: WARES,
            method: 'POST',
            headers: { 'content-type': 'application/json' },
          },
          (incoming) => {
            incoming.resume();
            incoming.on('end', () => {
              resolve(incoming.statusCode);
            });
          },
        );
        outgoing.on('error', reject);
        for (let times = 0; times < 100; times++) outgoing.write('x'.repeat(50_000));
        outgoing.end();
      });
      expect(status).toBe(429);
      const kept = Object.getOwnPropertySymbols(seenRequest ?? {}).find(
        ({ description }) => description === 'restify.chunks',
      );
      expect(kept).toBeDefined();
      expect((seenRequest as unknown as Record<symbol, unknown>)[kept ?? Symbol()]).toBeUndefined();
    } finally {
      await started.close();
    }
  });
