// @tags db http
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import {
  CsvRenderer,
  CursorPagination,
  FieldFilter,
  JsonServerFilter,
  JsonServerOrdering,
  JsonServerPagination,
  JsonServerSearch,
  OrderingFilter,
  PageNumberPagination,
  Restify,
  RestifyOpenApi,
  SearchFilter,
} from 'nestjs-restify';
import { Column, Entity, JoinTable, ManyToMany, ManyToOne, OneToMany, PrimaryGeneratedColumn } from 'typeorm';
import type { Relation } from 'typeorm';
import { resolveParameters } from '../openapi/document.js';
import { onEachDatabase } from '../support/each-database.js';
import { startApp } from '../support/start-app.js';
import type { StartedApp } from '../support/start-app.js';

const NAMES = { search: 'q', ordering: 'sort', page: 'p', page_size: 'per-page', fields: 'only' };

/** All fields of it have the name of a query parameter. */
@Restify({
  app: 'renamed',
  strict: true,
  shape: true,
  expandable: ['shelf'],
  filterGroups: true,
  bulk: { upsert: ['page'] },
  renderers: [new CsvRenderer()],
  parameters: {
    filter: 'where',
    expand: 'with',
    format: 'as',
    keys: 'ids',
    upsert: 'merge',
    omit: 'without',
  },
})
@Entity('renamed_note')
class Note {
  @PrimaryGeneratedColumn() id: number;
  @Column({ default: '' }) search: string;
  @Column({ default: '' }) ordering: string;
  @Column({ unique: true }) page: number;
  @Column({ default: '' }) format: string;
  @Column({ default: '' }) keys: string;
  @Column({ default: '' }) filter: string;
  @ManyToOne(() => Shelf, (shelf) => shelf.notes, { nullable: true }) shelf: Relation<Shelf> | null;
}

@Restify({ app: 'renamed', parameters: { search: 'search' }, searchFields: ['name'] })
@Entity('renamed_shelf')
class Shelf {
  @PrimaryGeneratedColumn() id: number;
  @Column() name: string;
  @OneToMany(() => Note, (note) => note.shelf) notes: Relation<Note[]>;
  @ManyToMany(() => Tag, (tag) => tag.shelves) @JoinTable() tags: Relation<Tag[]>;
}

@Restify({
  app: 'renamed',
  pagination: new CursorPagination({
    secret: 'a secret of more than 32 characters',
    pageSize: 2,
    countParameter: 'count',
  }),
  parameters: { cursor: 'after', count: 'total' },
})
@Entity('renamed_tag')
class Tag {
  @PrimaryGeneratedColumn() id: number;
  @Column() cursor: string;
  @ManyToMany(() => Shelf, (shelf) => shelf.tags) shelves: Relation<Shelf[]>;
}

interface Page {
  readonly count: number;
  readonly next: string | null;
  readonly previous: string | null;
  readonly results: readonly Record<string, unknown>[];
}

@Restify({
  app: 'renamed',
  filterBackends: [JsonServerFilter, JsonServerSearch, JsonServerOrdering],
  pagination: new JsonServerPagination({ pageSize: 1 }),
  parameters: { q: 'text', _sort: 'by', _order: 'direction', _start: 'from', _end: 'to' },
})
@Entity('renamed_theirs')
class Theirs {
  @PrimaryGeneratedColumn() id: number;
  @Column() q: string;
}

test("parameters of json-server's dialect", async () => {
  const started = await startApp({ entities: [Theirs] });
  const url = '/rest/v1/renamed/theirs/';
  for (const q of ['maps', 'old maps', 'rooms']) await started.client.post(url, { q });
  const ask = (query: string): ReturnType<typeof started.client.get> => started.client.get(`${url}?${query}`);
  const answers = [
    await ask('q=maps'),
    await ask('text=maps&to=9'),
    await ask('by=q,id&direction=desc&to=3'),
    await ask('text=maps&by=id'),
    await ask('from=x'),
  ];
  await started.close();
  expect(
    answers.map(({ json }) => (Array.isArray(json) ? json.map(({ id }) => id as number) : json)),
  ).toEqual([[1], [1, 2], [3, 2, 1], [1], { from: ['A valid integer is required.'] }]);
  expect(answers[3]?.headers.link).toContain('?text=maps&by=id&from=1&to=2>; rel="next"');
});

onEachDatabase('renamed parameters', (database) => {
  let started: StartedApp;

  beforeAll(async () => {
    started = await startApp({
      database,
      entities: [Note, Shelf, Tag],
      restify: {
        filterBackends: [FieldFilter, SearchFilter, OrderingFilter],
        pagination: new PageNumberPagination({ pageSize: 2 }),
        parameters: NAMES,
      },
    });
    const { client } = started;
    await client.post('/rest/v1/renamed/shelf/', { name: 'first' });
    for (const [page, search] of [
      [1, 'maps'],
      [2, 'old maps'],
      [3, 'rooms'],
    ])
      await client.post('/rest/v1/renamed/note/', {
        page,
        search,
        ordering: `o${page}`,
        format: 'csv',
        keys: `k${page}`,
        filter: `f${page}`,
        shelf: 1,
      });
    for (const cursor of ['a', 'b', 'c']) await client.post('/rest/v1/renamed/tag/', { cursor });
    for (const tag of [1, 2, 3]) await client.post('/rest/v1/renamed/shelf/1/tags/', { tag });
  });
  afterAll(() => started.close());

  async function page(path: string): Promise<Page> {
    const { status, json } = await started.client.get(path);
    expect([path, status, json]).toEqual([path, 200, expect.objectContaining({})]);
    return json as Page;
  }

  async function ids(path: string): Promise<unknown> {
    return (await page(path)).results.map(({ id }) => id);
  }

  describe.each(['/rest/v1/renamed/note/', '/rest/v1/renamed/shelf/1/notes/'])('of %s', (url) => {
    test('filter, search and order by their new names, and fields by theirs', async () => {
      expect([
        await ids(`${url}?search=maps`),
        await ids(`${url}?search__exact=maps`),
        await ids(`${url}?q=maps`),
        await ids(`${url}?q=maps&sort=-search`),
        await ids(`${url}?sort[]=-page&sort[]=id&per-page=9`),
        await ids(`${url}?page=3`),
        await ids(`${url}?ordering=o2`),
        await ids(`${url}?format=csv&p=2`),
        await ids(`${url}?keys=k2&filter=f2`),
        await ids(`${url}?where=or(page=1,filter=f3)`),
      ]).toEqual([[1], [1], [1, 2], [2, 1], [3, 2, 1], [3], [2], [3], [2], [1, 3]]);
    });

    test('lead on with links', async () => {
      const first = await page(`${url}?per-page=1&format=csv`);
      expect(first.next).toMatch(/\?per-page=1&format=csv&p=2$/);
      const second = await page(new URL(first.next ?? '').pathname + new URL(first.next ?? '').search);
      expect([second.results[0]?.id, second.previous]).toEqual([2, first.next?.replace('&p=2', '')]);
    });

    test('shape answers', async () => {
      expect((await page(`${url}?only=id,page&p=2`)).results).toEqual([{ id: 3, page: 3 }]);
      expect((await page(`${url}?with=shelf&page=1&only=shelf`)).results).toEqual([
        { shelf: expect.objectContaining({ name: 'first' }) },
      ]);
      expect(Object.keys((await page(`${url}?without=id,shelf`)).results[0] ?? {})).toEqual([
        'search',
        'ordering',
        'page',
        'format',
        'keys',
        'filter',
      ]);
      const { headers } = await started.client.get(`${url}?as=csv`);
      expect(headers['content-type']).toMatch(/^text\/csv/);
    });

    test('have their new names in error messages', async () => {
      const terms = Array.from({ length: 21 }, (_, index) => `t${index}`).join('+');
      const errors = [
        'per-page=x',
        'where=or(',
        `q=${terms}`,
        'only=nothing',
        'without=nothing',
        'with=nothing',
        'page_size=1&omit=id&expand=shelf',
      ];
      const answers = await Promise.all(errors.map((query) => started.client.get(`${url}?${query}`)));
      expect(answers.map(({ status, json }) => [status, Object.keys(json as object)])).toEqual([
        [400, ['per-page']],
        [400, ['where']],
        [400, ['q']],
        [400, ['only']],
        [400, ['without']],
        [400, ['with']],
        [400, ['page_size', 'omit', 'expand']],
      ]);
    });
  });

  test('of a model win over those of its prefix', async () => {
    expect(await ids('/rest/v1/renamed/shelf/?search=nothing')).toEqual([]);
    expect(await ids('/rest/v1/renamed/shelf/?q=nothing&sort=-id&per-page=5')).toEqual([1]);
  });

  test('of cursors', async () => {
    const first = await page('/rest/v1/renamed/tag/?total=exact&sort=-cursor');
    expect([first.results.map(({ id }) => id), first.count]).toEqual([[3, 2], 3]);
    const { pathname, search } = new URL(first.next ?? '');
    expect(search).toMatch(/[&?]after=/);
    expect(await ids(`${pathname}${search}`)).toEqual([1]);
    expect(await ids('/rest/v1/renamed/tag/?cursor=b')).toEqual([2]);
    expect((await started.client.get('/rest/v1/renamed/tag/?total=x')).json).toEqual({
      total: ['"x" is not a valid choice.'],
    });
  });

  test('of nested lists over many-to-many are those of the prefix', async () => {
    const first = await page('/rest/v1/renamed/shelf/1/tags/?per-page=2&sort=-id');
    expect(first.results.map(({ tag }) => tag)).toEqual([3, 2]);
    expect(first.next).toMatch(/\?per-page=2&sort=-id&p=2$/);
  });

  test('of bulk writes', async () => {
    const url = '/rest/v1/renamed/note/';
    const none = await started.client.patch(url, { ordering: 'x' });
    const unknown = await started.client.patch(`${url}?ids=99`, { ordering: 'x' });
    const changed = await started.client.patch(`${url}?ids=1,2&only=id,ordering`, { ordering: 'x' });
    const merged = await started.client.post(`${url}?merge=1&only=id,page`, [{ page: 3 }]);
    const wrong = await started.client.post(`${url}?merge=x`, [{ page: 3 }]);
    expect([none.json, unknown.json, changed.json, merged.json, wrong.json]).toEqual([
      { non_field_errors: ['Name the objects: by "ids", or by filters.'] },
      { ids: ['Invalid pk "99" - object does not exist.'] },
      [
        { id: 1, ordering: 'x' },
        { id: 2, ordering: 'x' },
      ],
      [{ id: 3, page: 3 }],
      { merge: ['Must be a valid boolean.'] },
    ]);
  });

  test('stand in the OpenAPI document', () => {
    const { paths } = resolveParameters(
      started.app
        .get(RestifyOpenApi)
        .extend({ openapi: '3.1.0', info: { title: 'Renamed', version: '1' }, paths: {} }),
    );
    const namesOf = (path: string, method: string): readonly string[] => {
      const { parameters } = (paths as Record<string, Record<string, { parameters: { name: string }[] }>>)[
        path
      ]?.[method] ?? { parameters: [] };
      return parameters.map(({ name }) => name);
    };
    const list = [
      'id',
      'search',
      'ordering',
      'page',
      'format',
      'keys',
      'filter',
      'shelf',
      'where',
      'q',
      'sort',
    ];
    const shape = ['only', 'without', 'with'];
    expect([...namesOf('/rest/v1/renamed/note', 'get')].sort()).toEqual(
      [...list, 'p', 'per-page', ...shape, 'as'].sort(),
    );
    expect([...namesOf('/rest/v1/renamed/note', 'patch')].sort()).toEqual([...list, 'ids', ...shape].sort());
    expect(namesOf('/rest/v1/renamed/note', 'post')).toEqual(expect.arrayContaining(['merge', ...shape]));
    expect(namesOf('/rest/v1/renamed/tag', 'get')).toEqual(
      expect.arrayContaining(['cursor', 'after', 'total', 'per-page']),
    );
  });
});

@Restify({ app: 'renamed', searchFields: ['$text'], parameters: { search: 'q' } })
@Entity('renamed_pattern')
class Pattern {
  @PrimaryGeneratedColumn() id: number;
  @Column() text: string;
}

onEachDatabase(
  'a renamed search by patterns',
  (database) => {
    test('names a wrong one', async () => {
      const started = await startApp({ database, entities: [Pattern] });
      await started.client.post('/rest/v1/renamed/pattern/', { text: 'a' });
      const { status, json } = await started.client.get('/rest/v1/renamed/pattern/?q=(');
      await started.close();
      expect([status, json]).toEqual([400, { q: ['Enter a valid search pattern.'] }]);
    });
  },
  ['postgres', 'mariadb'],
);
