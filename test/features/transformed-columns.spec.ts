// @tags db nest
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import {
  allow,
  and,
  CsvRenderer,
  CursorPagination,
  IdempotencyRecord,
  Restify,
  restify,
  where,
} from 'nestjs-restify';
import type { AccessContext, Grant, Permission, RowFilter } from 'nestjs-restify';
import {
  Column,
  Entity,
  EntitySchema,
  Index,
  JoinColumn,
  ManyToOne,
  OneToMany,
  PrimaryGeneratedColumn,
} from 'typeorm';
import type { Relation, ValueTransformer } from 'typeorm';
import { documentOf } from '../openapi/document.js';
import { onEachDatabase } from '../support/each-database.js';
import { startApp } from '../support/start-app.js';
import type { StartedApp } from '../support/start-app.js';

/** `from` refuses what stands for nothing, with words that no client may see. */
const PIPES: ValueTransformer = {
  to: (values: readonly string[]) => {
    if (values.includes('refused')) throw new Error('secret words of the transformer');
    return values.join('|');
  },
  from: (text: string) => {
    if (text === 'broken') throw new Error('secret words of the transformer');
    return text === '' ? [] : text.split('|');
  },
};

/** Each `to` and `from` leaves null alone. */
function sparing(to: (value: unknown) => unknown, from: (value: unknown) => unknown): ValueTransformer {
  const keep =
    (convert: (value: unknown) => unknown) =>
    (value: unknown): unknown =>
      value === null || value === undefined ? value : convert(value);
  return { to: keep(to), from: keep(from) };
}

const JSON_TEXT = sparing(
  (value) => JSON.stringify(value),
  (text) => JSON.parse(String(text)) as unknown,
);
const NUMBER = sparing(String, Number);
const LOWER = sparing(
  (text) => (text as string).toLowerCase(),
  (text) => text,
);

class Frame {
  @Column({ type: 'varchar', length: 40, transformer: NUMBER, default: '1' })
  width: number;

  @Column({ type: 'text', nullable: true, transformer: JSON_TEXT })
  corners: unknown;
}

@Entity('tc_folder')
class Folder {
  @PrimaryGeneratedColumn()
  id: number;

  @Column({ type: 'text', transformer: PIPES })
  words: string[];

  @OneToMany(() => Sheet, (sheet) => sheet.folder)
  sheets: Relation<Sheet[]>;
}

/** The rows that a header names, by a value as it stands in bodies. */
class Named implements Permission {
  decide({ request }: AccessContext): Grant {
    const said = (request as { headers: Record<string, string | undefined> }).headers['x-rows'];
    return allow(said === undefined ? {} : { rows: JSON.parse(said) as RowFilter });
  }
}

@Restify({
  app: 'tc',
  type: { labels: 'string[]', meta: 'json', plain: 'string', price: 'number', 'frame.corners': 'integer[]' },
  filterFields: {
    tags: ['exact', 'in', 'ne', 'isnull', 'contains'],
    labels: ['exact', 'isnull'],
    open: ['exact'],
    price: ['exact', 'gt', 'range', 'in'],
    at: ['exact', 'gte'],
    size: ['exact'],
    loose: ['exact', 'in'],
    'frame.width': ['exact'],
    'folder.words': ['exact'],
  },
  orderingFields: ['price', 'at', 'id'],
  searchFields: ['tags'],
  filterGroups: true,
  expandable: ['folder'],
  conditional: true,
  idempotency: true,
  shape: true,
  renderers: [new CsvRenderer()],
  bulk: { upsert: ['code'] },
  permissions: [Named],
  pagination: false,
})
@Entity('tc_sheet')
class Sheet {
  @PrimaryGeneratedColumn()
  id: number;

  @Column({ type: 'text', transformer: PIPES })
  tags: string[];

  @Column({ type: 'text', nullable: true, transformer: JSON_TEXT })
  labels: string[] | null;

  @Column({ type: 'varchar', length: 60, nullable: true, transformer: JSON_TEXT })
  meta: object | null;

  @Column({
    type: 'varchar',
    length: 1,
    default: 'N',
    transformer: {
      to: (value: boolean | undefined) => (value === undefined ? undefined : 'NY'[Number(value)]),
      from: (text) => text === 'Y',
    },
  })
  open: boolean;

  @Column({ type: 'decimal', precision: 12, scale: 2, nullable: true, transformer: NUMBER })
  price: number | null;

  @Column({ type: 'bigint', default: 0, transformer: NUMBER })
  size: number;

  @Column({
    type: 'bigint',
    default: 0,
    transformer: sparing(
      (date) => (date as Date).getTime(),
      (time) => new Date(Number(time)),
    ),
  })
  at: Date;

  @Column({
    type: 'varchar',
    length: 20,
    nullable: true,
    transformer: [
      LOWER,
      sparing(
        (text) => `~${String(text)}`,
        (text) => String(text).slice(1),
      ),
    ],
  })
  code: string;

  @Column({ type: 'varchar', length: 20, nullable: true, transformer: LOWER })
  plain: string | null;

  @Column({ type: 'varchar', length: 60, nullable: true, transformer: JSON_TEXT })
  loose: unknown;

  @Column(() => Frame)
  frame: Frame;

  @ManyToOne(() => Folder, (folder) => folder.sheets, { nullable: true })
  @JoinColumn()
  folder: Relation<Folder> | null;
}
Index(['code'], { unique: true })(Sheet);
restify(Folder, 'tc');

const SHEETS = '/rest/v1/tc/sheet/';

const BODY = {
  tags: ['a', 'b'],
  labels: ['x', 'y, z'],
  meta: { deep: [1, null] },
  open: true,
  price: 12.5,
  size: 9007199254740991,
  at: '2020-01-02T03:04:05.678Z',
  code: 'abc',
  plain: 'lower',
  loose: ['any', { thing: true }],
  frame: { width: 3.25, corners: [1, 2] },
};

onEachDatabase('columns whose transformer changes the kind', (database) => {
  let started: StartedApp;
  const logged: string[] = [];
  beforeAll(async () => {
    const logger = {
      log: () => undefined,
      warn: (text: string) => void logged.push(text),
      error: (text: unknown) => void logged.push(String(text)),
    };
    started = await startApp({ database, entities: [Sheet, Folder, IdempotencyRecord], nest: { logger } });
  });
  afterAll(() => started.close());
  beforeEach(() => started.dataSource.query('DELETE FROM tc_sheet'));

  async function make(body: object = {}): Promise<{ path: string; body: Record<string, unknown> }> {
    const { status, json, text } = await started.client.post(SHEETS, { ...BODY, ...body });
    if (status !== 201) throw new Error(text);
    const made = json as Record<string, unknown>;
    return { path: `${SHEETS}${String(made.id)}/`, body: made };
  }

  async function listed(query: string, headers: Record<string, string> = {}): Promise<unknown> {
    const { status, json } = await started.client.get(`${SHEETS}?${query}`, { headers });
    return status === 200 ? (json as { code: string }[]).map(({ code }) => code).sort() : json;
  }

  test('take and give values of the outward kind, and store what `to` makes', async () => {
    const { path, body } = await make();
    expect(body).toEqual({ id: body.id, ...BODY, folder: null });
    const names = ['tags', 'labels', 'open', 'price', 'size', 'at', 'code', 'loose', 'frameWidth'];
    const quoted = names.map((name) => started.dataSource.driver.escape(name)).join(', ');
    const [row] = await started.dataSource.query<[Record<string, unknown>]>(`SELECT ${quoted} FROM tc_sheet`);
    expect(Object.values(row).map(String)).toEqual([
      'a|b',
      '["x","y, z"]',
      'Y',
      database.name === 'sqlite' ? '12.5' : '12.50',
      '9007199254740991',
      '1577934245678',
      '~abc',
      '["any",{"thing":true}]',
      '3.25',
    ]);
    expect((await started.client.get(path)).json).toEqual(body);
    expect((await started.client.get(SHEETS)).json).toEqual([body]);
    const put = await started.client.put(path, {
      ...body,
      tags: [],
      labels: null,
      price: '7',
      open: 'false',
    });
    const after = { ...body, tags: [], labels: null, price: 7, open: false };
    expect([put.status, put.json]).toEqual([200, after]);
    const patch = await started.client.patch(path, {
      frame: { width: 4 },
      loose: null,
      at: '2021-01-01T00:00Z',
    });
    expect(patch.json).toEqual({
      ...after,
      frame: { width: 4, corners: [1, 2] },
      loose: null,
      at: '2021-01-01T00:00:00.000Z',
    });
    const defaults = await started.client.post(SHEETS, { tags: ['t'] });
    expect([defaults.status, defaults.json]).toMatchObject([
      201,
      { tags: ['t'], labels: null, open: false, price: null, size: 0, at: '1970-01-01T00:00:00.000Z' },
    ]);
  });

  test('refuse what is of another kind, and what `to` throws on or no column holds', async () => {
    const answer = await started.client.post(SHEETS, {
      ...BODY,
      tags: 'a,b',
      labels: [1, true],
      meta: { long: 'x'.repeat(80) },
      open: 'perhaps',
      price: 1.005,
      size: 1.5,
      at: 'soon',
      frame: { width: 'wide', corners: ['one'] },
    });
    expect([answer.status, answer.json]).toEqual([
      400,
      {
        tags: ['Expected a list of items but got type "str".'],
        labels: ['Item 1: Not a valid string.'],
        meta: ['Not a valid value.'],
        open: ['Must be a valid boolean.'],
        price: ['Ensure that there are no more than 2 decimal places.'],
        size: ['A valid integer is required.'],
        at: [expect.stringContaining('Datetime has wrong format')],
        frame: { width: ['A valid number is required.'], corners: ['Item 0: A valid integer is required.'] },
      },
    ]);
    const { path } = await make();
    for (const wrong of [
      await started.client.post(SHEETS, { ...BODY, code: 'new', tags: ['refused'] }),
      await started.client.patch(path, { tags: ['refused'] }),
      await started.client.put(path, { ...BODY, tags: ['refused'] }),
      await started.client.get(`${SHEETS}?tags=["refused"]`),
    ])
      expect([wrong.status, wrong.json]).toEqual([400, { tags: ['Not a valid value.'] }]);
    const bulk = await started.client.post(SHEETS, [
      { ...BODY, code: 'one' },
      { ...BODY, code: 'two', tags: ['refused'] },
    ]);
    expect([bulk.status, bulk.json]).toEqual([400, [{}, { tags: ['Not a valid value.'] }]]);
    const none = await started.client.post(SHEETS, { ...BODY, tags: null });
    expect([none.status, none.json]).toEqual([400, { tags: ['This field may not be null.'] }]);
    expect(logged.join()).not.toContain('secret words');
  });

  test('answer 500 before the first byte where `from` throws', async () => {
    const { path } = await make();
    await started.dataSource.query(`UPDATE tc_sheet SET tags = 'broken'`);
    for (const url of [path, SHEETS, `${SHEETS}?format=csv`]) {
      const { status, json } = await started.client.get(url);
      expect([status, json]).toEqual([500, { detail: 'A server error occurred.' }]);
    }
  });

  test('are filtered where the model names them, by what `to` makes', async () => {
    await make({ code: 'one' });
    await make({
      code: 'two',
      tags: ['c'],
      price: 3,
      labels: null,
      at: '1999-01-01T00:00:00Z',
      loose: 'word',
    });
    const expected: readonly (readonly [string, unknown])[] = [
      ['tags=["a","b"]', ['one']],
      ['tags=["b","a"]', []],
      ['tags__in=["c"],["a","b"]', ['one', 'two']],
      ['tags__in=["c"]&tags__in=["d"]', ['two']],
      ['tags!=["c"]', ['one']],
      ['tags__isnull=true', []],
      ['tags__contains=|', ['one']],
      ['tags=a', { tags: ['Value must be valid JSON.'] }],
      ['labels=["x","y, z"]', ['one']],
      ['labels__isnull=true', ['two']],
      ['open=true', ['one', 'two']],
      ['open=0', []],
      ['price=12.50', ['one']],
      ['price__gt=3', ['one']],
      ['price__range=2,4', ['two']],
      ['price__in=3,12.5', ['one', 'two']],
      ['price=much', { price: ['Enter a number.'] }],
      ['at=2020-01-02T04:04:05.678%2B01:00', ['one']],
      ['at__gte=2000-01-01T00:00:00Z', ['one']],
      ['size=9007199254740991', ['one', 'two']],
      ['loose=word', ['two']],
      ['loose__in="word",x', ['two']],
      ['loose=["any",{"thing":true}]', ['one']],
      ['loose=null', []],
      ['loose__in=null,"word"', ['two']],
      ['frame__width=3.25', ['one', 'two']],
      ['filter=or(open=false,price=3)', ['two']],
      ['search=b', ['one']],
      ['ordering=-price', ['one', 'two']],
      // Not named, so no parameters.
      ['meta={}&plain=other&code=other', ['one', 'two']],
    ];
    for (const [query, rows] of expected)
      expect([query, await listed(encodeURI(query).replaceAll('%25', '%'))]).toEqual([query, rows]);
    const ordered = await started.client.get(`${SHEETS}?ordering=price`);
    expect((ordered.json as { code: string }[]).map(({ code }) => code)).toEqual(['two', 'one']);
  });

  test('are compared by their outward form in row conditions, which the database judges', async () => {
    await make({ code: 'one' });
    await make({ code: 'two', tags: ['c'], price: 3 });
    const rows = (filter: RowFilter): { headers: Record<string, string> } => ({
      headers: { 'x-rows': JSON.stringify(filter) },
    });
    const mine = rows(where('tags', ['c']));
    expect(await listed('', mine.headers)).toEqual(['two']);
    expect(await listed('', rows(where('tags', 'in', [['a', 'b'], ['q']])).headers)).toEqual(['one']);
    expect(await listed('', rows(and(where('price', 'gt', 3), where('open', true))).headers)).toEqual([
      'one',
    ]);
    expect(await listed('', rows(where('loose', 'exact', null)).headers)).toEqual([]);
    const { client } = started;
    expect((await client.post(SHEETS, { ...BODY, code: 'in', tags: ['c'] }, mine)).status).toBe(201);
    expect((await client.post(SHEETS, { ...BODY, code: 'out' }, mine)).status).toBe(403);
    // A unique index refuses it too, and tells nothing of a row that is hidden.
    expect((await client.post(SHEETS, { ...BODY, code: 'one' }, mine)).status).toBe(403);
    const { path } = await make({ code: 'mine', tags: ['c'] });
    expect((await client.patch(path, { tags: ['d'] }, mine)).status).toBe(403);
    expect((await client.patch(path, { code: 'ONE', tags: ['d'] }, mine)).status).toBe(403);
    expect((await client.patch(path, { price: 1 }, mine)).json).toMatchObject({ price: 1, tags: ['c'] });
    expect((await client.delete(path, mine)).status).toBe(204);
    const lower = rows(where('code', '~in'));
    expect(await listed('', lower.headers)).toEqual(['in']);
  });

  test('go through bulk writes, upserts, conditional requests, repeated requests, CSV and expansion', async () => {
    const { client, dataSource } = started;
    const upsert = await client.post(`${SHEETS}?upsert=true`, [
      { ...BODY, code: 'UP' },
      { ...BODY, code: 'other', tags: ['o'] },
    ]);
    expect([upsert.status, (upsert.json as { tags: unknown }[]).map(({ tags }) => tags)]).toEqual([
      201,
      [['a', 'b'], ['o']],
    ]);
    const again = await client.post(`${SHEETS}?upsert=true`, [{ ...BODY, code: 'Up', tags: ['changed'] }]);
    expect([again.status, again.json]).toMatchObject([200, [{ code: 'up', tags: ['changed'] }]]);
    const [first] = again.json as [{ id: number }];
    const path = `${SHEETS}${first.id}/`;
    const { etag = '' } = (await client.get(path)).headers;
    const changed = await client.patch(path, { tags: ['n'] }, { headers: { 'if-match': etag } });
    expect(changed.status).toBe(200);
    expect((await client.patch(path, { tags: ['m'] }, { headers: { 'if-match': etag } })).status).toBe(412);
    const keyed = { headers: { 'idempotency-key': '"k1"', 'x-rows': JSON.stringify(where('tags', ['i'])) } };
    const body = { ...BODY, code: 'keyed', tags: ['i'] };
    const made = await client.post(SHEETS, body, keyed);
    const repeated = await client.post(SHEETS, body, keyed);
    expect([made.status, repeated.status, repeated.json]).toEqual([201, 201, made.json]);
    const twice = await client.post(SHEETS, { ...BODY, code: 'KEYED' });
    expect([twice.status, Object.keys(twice.json as object)]).toEqual([400, ['code']]);
    const folder = await client.post('/rest/v1/tc/folder/', { words: ['w', 'v'] });
    const { id } = folder.json as { id: number };
    await client.patch(path, { folder: id });
    const expanded = await client.get(`${path}?expand=folder&fields=folder,tags`);
    expect(expanded.json).toMatchObject({ tags: ['n'], folder: { id, words: ['w', 'v'] } });
    expect(await listed('folder__words=["w","v"]')).toEqual(['up']);
    const nested = await client.get(`/rest/v1/tc/folder/${id}/sheets/`);
    expect(nested.json).toMatchObject([{ tags: ['n'], open: true }]);
    const csv = await client.get(`${SHEETS}?format=csv&fields=tags,price&code=x`);
    expect(csv.status).toBe(200);
    await dataSource.query('DELETE FROM tc_sheet');
  });

  test('are described as what they take and give', async () => {
    const { schemas = {} } = documentOf(started.app).components;
    expect(schemas.TcSheet).toMatchObject({
      properties: {
        tags: { type: 'array', items: { description: 'Any JSON value.' } },
        labels: { type: ['array', 'null'], items: { type: 'string' } },
        meta: { description: 'Any JSON value.' },
        open: { type: 'boolean' },
        price: { type: ['number', 'null'] },
        size: { type: 'integer' },
        at: { type: 'string', format: 'date-time' },
        plain: { type: ['string', 'null'], maxLength: 20 },
        loose: { description: 'Any JSON value.' },
      },
    });
    const options = await started.client.send('OPTIONS', SHEETS);
    expect((options.json as { actions: { POST: unknown } }).actions.POST).toMatchObject({
      tags: { type: 'list', required: true },
      labels: { type: 'list', required: false },
      meta: { type: 'field' },
      open: { type: 'boolean' },
      price: { type: 'float' },
      at: { type: 'datetime' },
    });
  });

  test('are named in a warning if their type is not declared', () => {
    expect(logged.filter((text) => text.includes('any JSON'))).toEqual([
      `Sheet.loose: a transformer makes the values, and the class of the property does not say of which type, so that any JSON is taken and described. Name it: @Restify({ type: { loose: 'string' } }).`,
    ]);
  });
});

describe('an EntitySchema, whose properties have no class', () => {
  interface Note {
    id: number;
    words: string[];
    free: unknown;
  }
  const NoteSchema = new EntitySchema<Note>({
    name: 'Note',
    tableName: 'tc_note',
    columns: {
      id: { type: Number, primary: true, generated: true },
      words: { type: 'text', transformer: PIPES },
      free: { type: 'text', nullable: true, transformer: JSON_TEXT },
    },
  });
  restify(NoteSchema, {
    app: 'tc',
    type: { words: 'string[]' },
    ordering: ['free'],
    pagination: new CursorPagination({ pageSize: 1, secret: 's'.repeat(32) }),
  });

  test('has the declared types, or else any JSON; cursors contain stored values', async () => {
    const started = await startApp({ entities: [NoteSchema] });
    const { client } = started;
    for (const free of [{ z: 1 }, 'text', 4])
      expect((await client.post('/rest/v1/tc/note/', { words: ['a'], free })).json).toMatchObject({
        words: ['a'],
        free,
      });
    expect((await client.post('/rest/v1/tc/note/', { words: 'a' })).status).toBe(400);
    const seen: unknown[] = [];
    for (let next: string | null = '/rest/v1/tc/note/'; next;) {
      const { json } = await client.get(next);
      const page = json as { next: string | null; results: readonly { free: unknown }[] };
      seen.push(...page.results.map(({ free }) => free));
      next = page.next && new URL(page.next).pathname + new URL(page.next).search;
    }
    expect(seen).toEqual(['text', 4, { z: 1 }]);
    await started.close();
  });
});
