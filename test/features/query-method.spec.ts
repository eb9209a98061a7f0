// @tags db http nest
import { gzipSync } from 'node:zlib';
import { createHash } from 'node:crypto';
import { connect } from 'node:net';
import { Injectable } from '@nestjs/common';
import type {
  ArgumentMetadata,
  CallHandler,
  ExecutionContext,
  NestInterceptor,
  PipeTransform,
} from '@nestjs/common';
import { map } from 'rxjs';
import type { Observable } from 'rxjs';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import {
  allow,
  CsvRenderer,
  CursorPagination,
  deny,
  PageNumberPagination,
  ResourceController,
  Restify,
  RestifyController,
  RestifyOpenApi,
} from 'nestjs-restify';
import type { AccessContext, Denial, Grant, Permission } from 'nestjs-restify';
import {
  Column,
  DeleteDateColumn,
  Entity,
  ManyToOne,
  OneToMany,
  PrimaryColumn,
  PrimaryGeneratedColumn,
} from 'typeorm';
import type { Relation } from 'typeorm';
import type { Answer, RequestOptions } from '../support/client.js';
import { onEachDatabase } from '../support/each-database.js';
import { startApp } from '../support/start-app.js';
import type { StartedApp } from '../support/start-app.js';

const FORM = 'application/x-www-form-urlencoded';

/** A UUID for each number. */
function uuid(number: number): string {
  const hex = createHash('sha256').update(String(number)).digest('hex');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}

/** Callers without the header `x-role` see everything; `blind` ones no stock, `none` nothing. */
class ByRole implements Permission {
  decide({ request, method }: AccessContext): Grant | Denial {
    const role = (request as { readonly headers: Readonly<Record<string, unknown>> }).headers['x-role'];
    if (role === 'none' || (role === 'reader' && method !== 'GET')) return deny();
    return role === 'blind' ? allow({ readable: ['id', 'name'] }) : allow();
  }
}

/** Sees the rows of a list. */
@Injectable()
class Marking implements NestInterceptor {
  static seen = 0;

  intercept(_context: ExecutionContext, next: CallHandler): Observable<unknown> {
    return next.handle().pipe(
      map((rows: unknown) => {
        Marking.seen++;
        return rows;
      }),
    );
  }
}

@Injectable()
class Passing implements PipeTransform {
  transform(value: unknown, { type }: ArgumentMetadata): unknown {
    return type === 'query' ? { ...(value as object), text: '' } : value;
  }
}

@Restify({
  app: 'queried',
  query: true,
  shape: true,
  renderers: [new CsvRenderer()],
  filterFields: {
    id: ['exact', 'in'],
    name: ['exact', 'in', 'icontains'],
    stock: ['gte', 'in'],
    made: ['in'],
    'parts.name': ['in'],
  },
  expandable: ['parts'],
  permissions: [ByRole],
})
@Entity('queried_thing')
class Thing {
  @PrimaryColumn('uuid')
  id: string;

  @Column({ length: 20 })
  name: string;

  @Column({ default: 0 })
  stock: number;

  @Column({ precision: 3 })
  made: Date;

  @OneToMany(() => Part, (part) => part.thing)
  parts: Relation<Part>[];
}

@Restify({
  app: 'queried',
  query: true,
  strict: true,
  trash: true,
  pagination: new PageNumberPagination({ pageSize: 2 }),
  filterFields: { id: ['in'], name: ['in', 'exact'] },
})
@Entity('queried_part')
class Part {
  @PrimaryGeneratedColumn()
  id: number;

  @Column({ length: 20 })
  name: string;

  @ManyToOne(() => Thing, (thing) => thing.parts)
  thing: Relation<Thing>;

  @DeleteDateColumn({ precision: 3 })
  gone: Date | null;
}

@Restify({
  app: 'queried',
  query: true,
  queryLimits: { bodyBytes: 2000 },
  filterFields: { id: ['in'] },
  pagination: new CursorPagination({ pageSize: 1, style: 'headers', secret: 'a'.repeat(32) }),
})
@Entity('queried_note')
class Note {
  @PrimaryGeneratedColumn()
  id: number;

  @Column({ length: 20 })
  text: string;
}

@Restify({
  app: 'queried',
  query: true,
  filterFields: { id: ['in'] },
  pagination: new CursorPagination({ pageSize: 1, style: 'headers', secret: 'a'.repeat(32) }),
  interceptors: [Marking],
  pipes: [Passing],
})
@Entity('queried_wide')
class Wide {
  @PrimaryGeneratedColumn()
  id: number;

  @Column({ length: 20 })
  text: string;
}

/** Its list is a method of the application. */
@Restify({ app: 'queried', query: true })
@Entity('queried_replaced')
class Replaced {
  @PrimaryGeneratedColumn()
  id: number;
}

@RestifyController(Replaced)
class ReplacedController extends ResourceController<Replaced> {
  override list(): Promise<Replaced[]> {
    return Promise.resolve([]);
  }
}

@Restify({ app: 'queried', filterFields: { id: ['in'] } })
@Entity('queried_plain')
class Plain {
  @PrimaryGeneratedColumn()
  id: number;
}

const THINGS = '/rest/v1/queried/thing/';
const PARTS = '/rest/v1/queried/part/';
const NOTES = '/rest/v1/queried/note/';
const WIDE = '/rest/v1/queried/wide/';

onEachDatabase('QUERY', (database) => {
  let started: StartedApp;

  beforeAll(async () => {
    started = await startApp({
      database,
      entities: [Thing, Part, Note, Wide, Replaced, Plain],
      controllers: [ReplacedController],
    });
    const { manager } = started.dataSource;
    await manager.insert(
      Thing,
      [0, 1, 2, 3].map((n) => ({
        id: uuid(n),
        name: `thing ${n}`,
        stock: n,
        made: new Date(Date.UTC(2026, 0, 1, 0, 0, n)),
      })),
    );
    await manager.insert(
      Part,
      ['a', 'b', 'c', 'd', 'e'].map((name, n) => ({ name, thing: { id: uuid(n % 2) } })),
    );
    await manager.softDelete(Part, { name: 'e' });
    await manager.insert(Note, [{ text: 'one' }, { text: 'two' }]);
    await manager.insert(Wide, [{ text: 'one' }, { text: 'two' }]);
  });

  afterAll(() => started.close());

  function query(path: string, raw: string | Buffer, { headers }: RequestOptions = {}): Promise<Answer> {
    return started.client.send('QUERY', path, { raw, headers: { 'content-type': FORM, ...headers } });
  }

  describe('answers as GET', () => {
    test.each([
      [THINGS, ''],
      [THINGS, 'stock__gte=2&ordering=-stock'],
      [THINGS, 'name=thing+1'],
      [THINGS, 'name__icontains=%69ng%202'],
      [THINGS, `id__in=${uuid(1)},${uuid(2)}`],
      [THINGS, `id__in[]=${uuid(1)}&id__in[]=${uuid(2)}`],
      [THINGS, 'parts__name__in=a,c'],
      [THINGS, 'fields=name&ordering=name'],
      [THINGS, 'expand=parts&ordering=name'],
      [THINGS, 'format=csv&ordering=name'],
      [THINGS, 'format=none'],
      [THINGS, 'search=thing&ordering=stock'],
      [THINGS, 'stock__gte=x&id__in=1'],
      [THINGS, 'stock__gtee=1'],
      [THINGS, 'name=%00'],
      [THINGS, 'name=%zz'],
      [THINGS, 'unknown=1'],
      [PARTS, ''],
      [PARTS, 'page=2&ordering=-name'],
      [PARTS, 'page=9'],
      [PARTS, 'unknown=1'],
      [PARTS, 'deleted=only'],
      [PARTS, 'deleted=with&ordering=name'],
      [`${THINGS}${uuid(1)}/parts/`, 'ordering=-name&page_size=1'],
      [`${THINGS}${uuid(9)}/parts/`, ''],
    ])('%s %s', async (path, parameters) => {
      const get = await started.client.get(parameters === '' ? path : `${path}?${parameters}`);
      const queried = await query(path, parameters);
      expect([queried.status, queried.headers['content-type'], queried.text]).toEqual([
        get.status,
        get.headers['content-type'],
        get.text,
      ]);
    });

    test.each(['blind', 'none', 'reader'])('for a caller of the role %s', async (role) => {
      for (const parameters of ['ordering=stock', 'stock__gte=1', 'ordering=name', 'fields=stock']) {
        const get = await started.client.get(`${THINGS}?${parameters}`, { headers: { 'x-role': role } });
        const queried = await query(THINGS, parameters, { headers: { 'x-role': role } });
        expect([queried.status, queried.text]).toEqual([get.status, get.text]);
      }
    });

    test('with the links that GET has, whose queries are the bodies of the other pages', async () => {
      const first = await query(PARTS, 'ordering=name');
      const { next } = first.json as { readonly next: string };
      expect(next).toMatch(/\/queried\/part\/\?ordering=name&page=2$/);
      const second = await query(PARTS, new URL(next).search.slice(1));
      expect(second.json).toMatchObject({ results: [{ name: 'c' }, { name: 'd' }], next: null });
    });
  });

  describe('takes 10,000 values', () => {
    const ids = Array.from({ length: 10_000 }, (_, n) => uuid(n));

    test('in one list', async () => {
      const { status, json } = await query(THINGS, `id__in=${ids.join(',')}&ordering=stock&fields=stock`);
      expect([status, json]).toEqual([200, [{ stock: 0 }, { stock: 1 }, { stock: 2 }, { stock: 3 }]]);
    });

    test('of a repeated parameter', async () => {
      const { status, json } = await query(
        THINGS,
        `${ids.map((id) => `id__in=${id}`).join('&')}&ordering=-stock&fields=stock`,
      );
      expect([status, json]).toEqual([200, [{ stock: 3 }, { stock: 2 }, { stock: 1 }, { stock: 0 }]]);
    });

    test('of texts, and of date-times, which are two parameters each on some databases', async () => {
      const texts = ids.map((_, n) => `thing ${n}`);
      const named = await query(THINGS, `name__in=${texts.join(',')}&fields=stock&ordering=stock`);
      expect([named.status, named.json]).toEqual([200, [0, 1, 2, 3].map((stock) => ({ stock }))]);
      const other = await query(THINGS, `name__in=${texts.join(',').toUpperCase()}`);
      expect([other.status, other.json]).toEqual([200, []]);
      const times = ids.map((_, n) => new Date(Date.UTC(2026, 0, 1, 0, 0, n)).toISOString());
      const made = await query(THINGS, `made__in=${times.join(',')}&fields=stock&ordering=stock`);
      expect([made.status, made.json]).toEqual([200, [0, 1, 2, 3].map((stock) => ({ stock }))]);
    });

    test('in a page with its count, over a relation and below a parent', async () => {
      const names = Array.from(
        { length: 10_000 },
        (_, n) => String.fromCharCode(97 + (n % 26)) + (n < 26 ? '' : String(n)),
      );
      const page = await query(PARTS, `name__in=${names.join(',')}&ordering=name`);
      expect(page.json).toMatchObject({ count: 4, results: [{ name: 'a' }, { name: 'b' }] });
      const related = await query(THINGS, `parts__name__in=${names.join(',')}&fields=stock&ordering=stock`);
      expect(related.json).toEqual([{ stock: 0 }, { stock: 1 }]);
      const nested = await query(`${THINGS}${uuid(0)}/parts/`, `name__in=${names.join(',')}`);
      expect(nested.json).toMatchObject({ count: 2 });
    });

    test('and not more in all of them', async () => {
      const more = await query(THINGS, `id__in=${[...ids, uuid(-1)].join(',')}`);
      expect([more.status, more.json]).toEqual([
        400,
        { id__in: ['Ensure there are no more than 10000 values.'] },
      ]);
      const sum = await query(
        THINGS,
        `id__in=${ids.slice(0, 5001).join(',')}&stock__in=${'1,'.repeat(4999)}1`,
      );
      expect([sum.status, sum.json]).toEqual([
        400,
        { non_field_errors: ['Ensure there are no more than 10000 values in all.'] },
      ]);
    });

    test('while a URL takes as many as before', async () => {
      const { status, json } = await started.client.get(`${THINGS}?id__in=${ids.slice(0, 101).join(',')}`);
      expect([status, json]).toEqual([400, { id__in: ['Ensure there are no more than 100 values.'] }]);
    });
  });

  describe('refuses', () => {
    test('parameters in the URL', async () => {
      const { status, json } = await query(`${THINGS}?stock__gte=1`, 'ordering=name');
      expect([status, json]).toEqual([
        400,
        { detail: 'The parameters of a QUERY are in its body: its URL may not have any.' },
      ]);
      expect((await query(`${THINGS}?`, 'fields=stock&stock__gte=3')).json).toEqual([{ stock: 3 }]);
    });

    test.each([
      'application/json',
      'text/plain',
      `${FORM}; charset=latin1`,
      'no type',
      'multipart/form-data',
    ])('the media type %s', async (type) => {
      const { status, headers } = await query(THINGS, 'ordering=name', { headers: { 'content-type': type } });
      expect([status, headers['accept-query']]).toEqual([415, FORM]);
    });

    test('a body, and an empty one, without a media type', async () => {
      for (const options of [{ raw: 'ordering=name' }, {}]) {
        const { status, json } = await started.client.send('QUERY', THINGS, options);
        expect([status, json]).toEqual([400, { detail: `A QUERY needs a Content-Type: ${FORM}.` }]);
      }
    });

    test('a body beyond the limit of the model, and of all', async () => {
      expect((await query(NOTES, `id__in=${'1,'.repeat(900)}1`)).status).toBe(200);
      expect((await query(NOTES, `id__in=${'1,'.repeat(1000)}1`)).status).toBe(413);
      expect((await query(THINGS, `name=${'a'.repeat(1024 * 1024)}`)).status).toBe(413);
      expect((await query(THINGS, 'a'.repeat(5 * 1024 * 1024))).status).toBe(413);
      expect((await query(THINGS, '')).status).toBe(200);
    });

    test('a text that no URL holds, except of a list of values', async () => {
      const long = 'a'.repeat(8001);
      for (const name of ['name', 'name__icontains', 'search', 'ordering', 'fields']) {
        const { status, json } = await query(THINGS, `${name}=${long}`);
        expect([status, json]).toEqual([
          400,
          { [name]: ['Ensure this value has no more than 8000 characters.'] },
        ]);
      }
      expect((await query(THINGS, `name__in=${long}`)).json).toEqual([]);
    });

    test('more parameters than a URL holds', async () => {
      const names = Array.from({ length: 1001 }, (_, n) => `p${n}=1`).join('&');
      expect((await query(THINGS, names)).json).toEqual({
        detail: 'A body has no more than 1000 parameters.',
      });
    });

    test('bytes that are no text, and an unknown coding', async () => {
      expect((await query(THINGS, Buffer.from([0x61, 0x3d, 0xff]))).status).toBe(400);
      const coded = await query(THINGS, 'name=a', { headers: { 'content-encoding': 'zz' } });
      expect([coded.status, coded.headers['accept-encoding']]).toEqual([415, 'gzip, deflate, br']);
    });

    test('a caller without the permission before what is wrong with the body', async () => {
      const { status } = await query(`${THINGS}?a=1`, 'a'.repeat(5 * 1024 * 1024), {
        headers: { 'x-role': 'none' },
      });
      expect(status).toBe(403);
    });

    test('links that do not fit a header', async () => {
      const refused = await query(WIDE, 'id__in=' + '1,'.repeat(5000) + '2');
      expect([refused.status, refused.json]).toEqual([
        400,
        {
          non_field_errors: [
            'There are more pages than this one, and the parameters are too many for the header with their links.',
          ],
        },
      ]);
      expect((await query(WIDE, 'id__in=' + '1,'.repeat(5000) + '1')).json).toEqual([{ id: 1, text: 'one' }]);
      expect((await query(WIDE, 'id__in=1,2')).headers.link).toMatch(
        /\?id__in=1%2C2&cursor=[^>]*>; rel="next"/,
      );
    });
  });

  test('reads a compressed body', async () => {
    const body = gzipSync(
      `id__in=${Array.from({ length: 3000 }, (_, n) => uuid(n)).join(',')}&fields=stock&ordering=stock`,
    );
    const { json } = await query(THINGS, body, { headers: { 'content-encoding': 'gzip' } });
    expect(json).toEqual([0, 1, 2, 3].map((stock) => ({ stock })));
  });

  test('reads a chunked body beyond the limit of the parsers of the application', async () => {
    const text = `id__in=${Array.from({ length: 9000 }, (_, n) => uuid(n)).join(',')}&fields=stock&ordering=-stock`;
    const chunks = text.match(/.{1,7000}/g) ?? [];
    const body = chunks.map((chunk) => `${chunk.length.toString(16)}\r\n${chunk}\r\n`).join('');
    const answer = await new Promise<string>((resolve, reject) => {
      const socket = connect(started.port, '127.0.0.1');
      let received = '';
      socket.on('data', (bytes) => (received += bytes.toString()));
      socket.on('error', reject);
      socket.on('close', () => {
        resolve(received);
      });
      socket.write(
        `QUERY ${THINGS} HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Type: ${FORM}\r\nTransfer-Encoding: chunked\r\n\r\n${body}0\r\n\r\n`,
      );
    });
    expect(answer).toMatch(/^HTTP\/1\.1 200 /);
    expect(answer).toContain('[{"stock":3},{"stock":2},{"stock":1},{"stock":0}]');
  });

  test('is named by Allow, Accept-Query and OPTIONS where the model has it, and only there', async () => {
    const thing = await started.client.get(THINGS);
    expect(thing.headers.allow).toBe('GET, POST, HEAD, OPTIONS, QUERY');
    expect(thing.headers['accept-query']).toBe(FORM);
    const nested = await started.client.get(`${THINGS}${uuid(0)}/parts/`);
    expect([nested.headers.allow, nested.headers['accept-query']]).toEqual([
      'GET, HEAD, OPTIONS, QUERY',
      FORM,
    ]);
    const options = await started.client.send('OPTIONS', THINGS);
    expect(options.json).toMatchObject({ methods: ['GET', 'POST', 'QUERY'] });
    const reader = await started.client.send('OPTIONS', THINGS, { headers: { 'x-role': 'reader' } });
    expect(reader.status === 403 || JSON.stringify(reader.json).includes('QUERY')).toBe(true);
    for (const path of ['/rest/v1/queried/plain/', `${THINGS}${uuid(0)}/`]) {
      const { headers } = await started.client.get(path);
      expect([headers.allow?.includes('QUERY'), headers['accept-query']]).toEqual([false, undefined]);
      const refused = await query(path, 'ordering=id');
      expect([refused.status, refused.json]).toEqual([405, { detail: 'Method "QUERY" not allowed.' }]);
      expect((await started.client.send('QUERY', path)).status).toBe(405);
    }
    expect((await query('/rest/v1/queried/nothing/', '')).status).toBe(404);
    const replaced = await query('/rest/v1/queried/replaced/', '');
    expect([replaced.status, replaced.headers.allow]).toEqual([405, 'GET, POST, HEAD, OPTIONS']);
  });

  test('of a path that no HTTP library decodes is 404, as GET', async () => {
    for (const path of [`${THINGS}%zz/parts/`, `${THINGS}%zz/parts`]) {
      const get = await started.client.get(path);
      const queried = await query(path, '');
      expect([queried.status, queried.text]).toEqual([404, get.text]);
    }
  });

  test('runs interceptors around it', async () => {
    const before = Marking.seen;
    expect((await query(WIDE, 'id__in=1&text=hidden-by-the-pipe')).json).toEqual([{ id: 1, text: 'one' }]);
    expect(Marking.seen).toBe(before + 1);
  });

  test('is a safe method: a page of another origin sends it as a GET', async () => {
    const headers = { origin: 'https://evil.example', 'sec-fetch-site': 'cross-site', cookie: 'a=b' };
    expect((await query(THINGS, 'fields=stock&stock__gte=3', { headers })).json).toEqual([{ stock: 3 }]);
  });

  test('is described by OpenAPI 3.2', () => {
    const empty = { openapi: '3.1.0', info: { title: 'Test', version: '1' }, paths: {} };
    const openApi = started.app.get(RestifyOpenApi);
    interface Described {
      readonly openapi: string;
      readonly paths: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
    }
    const plain = openApi.extend<Described>(empty);
    expect([plain.openapi, plain.paths[THINGS.slice(0, -1)]?.query]).toEqual(['3.1.0', undefined]);
    const document = openApi.extend<Described>(empty, { version: '3.2' });
    expect(document.openapi).toBe('3.2.0');
    expect(document.paths[THINGS.slice(0, -1)]?.query).toMatchObject({
      operationId: 'queried_thing_query',
      parameters: [],
      requestBody: {
        content: {
          [FORM]: {
            schema: {
              properties: {
                id__in: { type: 'array', maxItems: 10_000 },
                name: { type: 'string' },
                ordering: { type: 'array' },
              },
            },
          },
        },
      },
      responses: { 200: {}, 400: {}, 413: {}, 415: {} },
    });
    expect(document.paths['/rest/v1/queried/plain']?.query).toBeUndefined();
  });
});
