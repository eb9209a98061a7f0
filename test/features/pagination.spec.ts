// @tags db http
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { LimitOffsetPagination, PageNumberPagination, Restify } from 'nestjs-restify';
import type { Page, PageResponse, PageQuery, PageRequest, Pagination } from 'nestjs-restify';
import { Column, Entity, JoinTable, ManyToMany, ManyToOne, OneToMany, PrimaryGeneratedColumn } from 'typeorm';
import type { Relation } from 'typeorm';
import { onEachDatabase } from '../support/each-database.js';
import { startApp } from '../support/start-app.js';
import type { StartedApp } from '../support/start-app.js';

interface Envelope {
  readonly count: number | null;
  readonly next: string | null;
  readonly previous: string | null;
  readonly results: readonly Record<string, unknown>[];
}

@Restify({
  app: 'pages',
  pagination: new PageNumberPagination({
    pageSize: 3,
    maxPageSize: 5,
    maxOffset: 12,
    countParameter: 'count',
  }),
  orderingFields: ['id', 'tree.name'],
})
@Entity('pages_leaf')
class Leaf {
  @PrimaryGeneratedColumn()
  id: number;

  @Column()
  name: string;

  @ManyToOne(() => Tree, (tree) => tree.leaves, { nullable: true })
  tree: Relation<Tree> | null;
}

@Restify({
  app: 'pages',
  pagination: new LimitOffsetPagination({ pageSize: 2, maxPageSize: 4, maxOffset: 6 }),
  through: { birds: { pagination: new PageNumberPagination({ pageSize: 1 }) } },
})
@Entity('pages_tree')
class Tree {
  @PrimaryGeneratedColumn()
  id: number;

  @Column()
  name: string;

  @OneToMany(() => Leaf, (leaf) => leaf.tree)
  leaves: Relation<Leaf[]>;

  @ManyToMany(() => Bird, (bird) => bird.trees)
  @JoinTable({ name: 'pages_nest' })
  birds: Relation<Bird[]>;
}

@Restify({ app: 'pages', pagination: false })
@Entity('pages_bird')
class Bird {
  @PrimaryGeneratedColumn()
  id: number;

  @Column()
  name: string;

  @ManyToMany(() => Tree, (tree) => tree.birds)
  trees: Relation<Tree[]>;
}

/** Written by the process, on every database. */
@Restify({
  app: 'pages',
  computed: { loud: (root: object) => (root as Root).name.toUpperCase() },
  strict: true,
})
@Entity('pages_root')
class Root {
  @PrimaryGeneratedColumn()
  id: number;

  @Column()
  name: string;
}

const FOREST = [Leaf, Tree, Bird, Root];

onEachDatabase('pages', (database) => {
  let started: StartedApp;
  const base = 'http://h/rest/v1/pages';
  beforeAll(async () => {
    started = await startApp({
      entities: FOREST,
      database,
      restify: { pagination: new PageNumberPagination({ pageSize: 2, style: 'headers' }) },
    });
    const { dataSource } = started;
    await dataSource
      .getRepository(Tree)
      .insert([{ name: 'oak' }, { name: 'elm' }, { name: 'ash' }, { name: 'yew' }, { name: 'fir' }]);
    await dataSource
      .getRepository(Leaf)
      .insert([1, 2, 3, 4, 5, 6, 7].map((n) => ({ name: `l${n % 2}`, tree: { id: n < 6 ? 1 : 2 } })));
    await dataSource.getRepository(Bird).insert([{ name: 'tit' }, { name: 'jay' }, { name: 'owl' }]);
    await dataSource.getRepository(Root).insert([{ name: 'a' }, { name: 'b' }, { name: 'c' }]);
    await dataSource.createQueryBuilder().relation(Tree, 'birds').of(1).add([1, 2, 3]);
  });
  afterAll(() => started.close());
  const ask = async (path: string): Promise<Envelope & { readonly ids: readonly unknown[] }> => {
    const answer = await started.client.get(`/rest/v1/pages/${path}`, { headers: { host: 'h' } });
    expect([answer.status, answer.text.slice(0, 200)]).toEqual([200, expect.stringMatching(/^\{"count"/)]);
    const envelope = answer.json as Envelope;
    return { ...envelope, ids: envelope.results.map((row) => row.id) };
  };
  const refused = async (path: string): Promise<readonly unknown[]> => {
    const answer = await started.client.get(`/rest/v1/pages/${path}`);
    return [answer.status, answer.json];
  };

  describe('by number', () => {
    test("come in DRF's envelope, to the byte, with their length", async () => {
      const answer = await started.client.get('/rest/v1/pages/leaf/?page_size=1', { headers: { host: 'h' } });
      expect(answer.text).toBe(
        '{"count":7,"next":"http://h/rest/v1/pages/leaf/?page_size=1&page=2","previous":null,"results":[{"id":1,"name":"l1","tree":1}]}',
      );
      expect(answer.headers['content-length']).toBe(String(answer.text.length));
      expect(answer.headers).not.toHaveProperty('link');
    });

    test('lead from one to the next and back, and end with null', async () => {
      expect(await ask('leaf/')).toMatchObject({
        count: 7,
        next: `${base}/leaf/?page=2`,
        previous: null,
        ids: [1, 2, 3],
      });
      expect(await ask('leaf?page=2')).toMatchObject({
        next: `${base}/leaf/?page=3`,
        previous: `${base}/leaf/`,
        ids: [4, 5, 6],
      });
      expect(await ask('leaf/?page=3')).toMatchObject({
        next: null,
        previous: `${base}/leaf/?page=2`,
        ids: [7],
      });
      expect(await ask('leaf/?page=last')).toMatchObject({
        next: null,
        previous: `${base}/leaf/?page=2`,
        ids: [7],
        count: 7,
      });
    });

    test('keep the other parameters, escaped, and are cut of what these leave', async () => {
      expect(await ask('leaf/?name=l1&a=%22%3E&page=2&page_size=2&b=x+y&b=%C3%A9')).toEqual({
        count: 4,
        next: null,
        previous: `${base}/leaf/?name=l1&a=%22%3E&page_size=2&b=x%20y&b=%C3%A9`,
        results: expect.anything(),
        ids: [5, 7],
      });
      expect(await ask('leaf/?ordering=-tree__name,-id&page=2')).toMatchObject({ count: 7, ids: [2, 1, 7] });
      expect(await ask('leaf/?search=l0&ordering=-id')).toMatchObject({
        count: 3,
        next: null,
        ids: [6, 4, 2],
      });
    });

    test('have no more rows than the greatest page', async () => {
      for (const size of ['5', '6', '1000000', '9'.repeat(50)])
        expect(await ask(`leaf/?page_size=${size}`)).toMatchObject({
          ids: [1, 2, 3, 4, 5],
          next: `${base}/leaf/?page_size=${size}&page=2`,
        });
    });

    test('the first one is there without rows', async () => {
      expect(await ask('leaf/?name=none')).toEqual({
        count: 0,
        next: null,
        previous: null,
        results: [],
        ids: [],
      });
      expect(await ask('leaf/?name=none&page=last')).toMatchObject({ count: 0, previous: null });
      expect(await ask('leaf/?page=&page_size=')).toMatchObject({ ids: [1, 2, 3] });
    });

    test.each([
      '0',
      '-1',
      '4',
      '5',
      '6',
      '99999999999',
      '9'.repeat(40),
      '9'.repeat(200),
      '1e0',
      '1.0',
      '+1',
      '%201',
      'x',
      'Last',
      'null',
      '%D9%A1',
      '1,2',
      '../1',
    ])('page=%s is no page: 404', async (page) => {
      expect(await refused(`leaf/?page=${page}`)).toEqual([404, { detail: 'Invalid page.' }]);
      expect(await refused(`tree/1/leaves/?page=${page}`)).toEqual([404, { detail: 'Invalid page.' }]);
    });

    test.each([
      ['0', 'Ensure this value is greater than or equal to 1.'],
      ['-7', 'Ensure this value is greater than or equal to 1.'],
      ['1e3', 'A valid integer is required.'],
      ['2.5', 'A valid integer is required.'],
      ['NaN', 'A valid integer is required.'],
      ['Infinity', 'A valid integer is required.'],
      ['-', 'A valid integer is required.'],
      ['0x10', 'A valid integer is required.'],
      ['%00', 'Null characters are not allowed.'],
    ])('page_size=%s is 400', async (size, message) => {
      expect(await refused(`leaf/?page_size=${size}`)).toEqual([400, { page_size: [message] }]);
    });

    test('are counted as the client requests, with clientCount', async () => {
      expect(await ask('leaf/?count=none')).toMatchObject({
        count: null,
        next: `${base}/leaf/?count=none&page=2`,
        ids: [1, 2, 3],
      });
      expect(await ask('leaf/?count=estimated&page=3')).toMatchObject({ count: 7, next: null });
      expect(await refused('leaf/?count=all')).toEqual([400, { count: ['"all" is not a valid choice.'] }]);
      expect(await refused('leaf/?count=constructor')).toEqual([
        400,
        { count: ['"constructor" is not a valid choice.'] },
      ]);
      expect(await refused('leaf/?count=none&page=last')).toEqual([404, { detail: 'Invalid page.' }]);
      expect(await refused('leaf/?count=none&page=5')).toEqual([404, { detail: 'Invalid page.' }]);
      expect(await ask('tree/?count=none')).toMatchObject({ count: 5 });
    });
  });

  describe('by offset', () => {
    test('lead from one to the next and back, and end with null', async () => {
      expect(await ask('tree/')).toMatchObject({
        count: 5,
        next: `${base}/tree/?limit=2&offset=2`,
        previous: null,
        ids: [1, 2],
      });
      expect(await ask('tree/?offset=1')).toMatchObject({
        next: `${base}/tree/?limit=2&offset=3`,
        previous: `${base}/tree/?limit=2`,
        ids: [2, 3],
      });
      expect(await ask('tree/?limit=2&offset=4&x=')).toMatchObject({
        next: null,
        previous: `${base}/tree/?x=&limit=2&offset=2`,
        ids: [5],
      });
      expect(await ask('tree/?limit=99')).toMatchObject({
        next: `${base}/tree/?limit=4&offset=4`,
        ids: [1, 2, 3, 4],
      });
    });

    test('are empty behind the end', async () => {
      expect(await ask('tree/?offset=5')).toMatchObject({
        count: 5,
        next: null,
        previous: `${base}/tree/?limit=2&offset=3`,
        ids: [],
      });
      expect(await ask('tree/?offset=6&limit=1')).toMatchObject({ count: 5, next: null, ids: [] });
    });

    test.each([
      ['limit=0', { limit: ['Ensure this value is greater than or equal to 1.'] }],
      ['limit=-1', { limit: ['Ensure this value is greater than or equal to 1.'] }],
      ['limit=all', { limit: ['A valid integer is required.'] }],
      ['limit=1e3', { limit: ['A valid integer is required.'] }],
      ['limit=1&limit=x', { limit: ['A valid integer is required.'] }],
      ['offset=-1', { offset: ['Ensure this value is greater than or equal to 0.'] }],
      ['offset=7', { offset: ['Ensure this value is less than or equal to 6.'] }],
      ['offset=99999999999999999999999', { offset: ['Ensure this value is less than or equal to 6.'] }],
      ['offset=1;DROP', { offset: ['A valid integer is required.'] }],
      ['offset=%00', { offset: ['Null characters are not allowed.'] }],
    ])('?%s is 400', async (query, errors) => {
      expect(await refused(`tree/?${query}`)).toEqual([400, errors]);
    });
  });

  describe('of nested lists', () => {
    test("are the child's, of this parent's rows alone", async () => {
      expect(await ask('tree/1/leaves/?page=2')).toMatchObject({
        count: 5,
        next: null,
        previous: `${base}/tree/1/leaves/`,
        ids: [4, 5],
      });
      expect(await ask('tree/2/leaves/')).toMatchObject({ count: 2, next: null, ids: [6, 7] });
      expect(await ask('tree/3/leaves/')).toMatchObject({ count: 0, next: null, ids: [] });
    });

    test('are those of the through objects, from both sides', async () => {
      expect(await ask('tree/1/birds/?page=2')).toMatchObject({
        count: 3,
        next: `${base}/tree/1/birds/?page=3`,
        previous: `${base}/tree/1/birds/`,
        results: [{ id: 2, tree: 1, bird: 2 }],
      });
      expect(await ask('bird/3/trees/')).toMatchObject({
        count: 1,
        next: null,
        results: [{ id: 1, tree: 1, bird: 3 }],
      });
    });

    test('of a missing parent are 404, for each page', async () => {
      for (const query of ['', '?page=2', '?page=x', '?page_size=0', '?page=last', '?count=all'])
        expect(await refused(`tree/9/leaves/${query}`)).toEqual([404, { detail: 'Not found.' }]);
      for (const query of ['', '?page=2', '?page=x', '?page=last'])
        expect(await refused(`tree/9/birds/${query}`)).toEqual([404, { detail: 'Not found.' }]);
    });
  });

  describe('with headers', () => {
    const told = async (path: string): Promise<readonly unknown[]> => {
      const { headers, text } = await started.client.get(`/rest/v1/pages/${path}`, {
        headers: { host: 'h' },
      });
      return [text, headers.link, headers['x-total-count'], headers['content-range']];
    };

    test('keep the body a plain array, and count nothing', async () => {
      expect(await told('root/')).toEqual([
        '[{"id":1,"name":"a","loud":"A"},{"id":2,"name":"b","loud":"B"}]',
        `<${base}/root/>; rel="first", <${base}/root/?page=2>; rel="next"`,
        undefined,
        'items 0-1/*',
      ]);
      expect(await told('root/?page=2')).toEqual([
        '[{"id":3,"name":"c","loud":"C"}]',
        `<${base}/root/>; rel="first", <${base}/root/>; rel="prev"`,
        undefined,
        'items 2-2/*',
      ]);
      expect(await told('root/?name=none')).toEqual([
        '[]',
        `<${base}/root/?name=none>; rel="first"`,
        undefined,
        undefined,
      ]);
    });

    test('are the same for HEAD', async () => {
      const [head, get] = [
        await started.client.send('HEAD', '/rest/v1/pages/root/?page=2'),
        await started.client.get('/rest/v1/pages/root/?page=2'),
      ];
      const { date: _, ...sent } = get.headers;
      expect([head.status, head.text]).toEqual([200, '']);
      expect(head.headers).toMatchObject(sent);
    });
  });

  test('are known to a strict model, and no other parameter is', async () => {
    expect(await refused('root/?page=2&limit=1')).toEqual([400, { limit: ['Unknown parameter.'] }]);
    expect(await refused('root/1/?page=1')).toEqual([400, { page: ['Unknown parameter.'] }]);
  });

  test('are not cut with pagination: false, nor in responses other than lists', async () => {
    expect((await started.client.get('/rest/v1/pages/bird/?page=9')).json).toHaveLength(3);
    expect((await started.client.get('/rest/v1/pages/leaf/1/?page=9')).json).toEqual({
      id: 1,
      name: 'l1',
      tree: 1,
    });
    expect((await started.client.send('OPTIONS', '/rest/v1/pages/leaf/?page=9')).status).toBe(200);
  });

  test('of plain models are written by the database where it can', () => {
    expect(started.compared.askedPages).toBeGreaterThan(20);
  });
});

/** Every second row. */
class Odd implements Pagination {
  parameters(): readonly string[] {
    return ['nth'];
  }

  page({ parameters }: PageQuery): PageRequest {
    return {
      window: { kind: 'offset', limit: 1, offset: (Number(parameters.get('nth') ?? 1) - 1) * 2 },
      count: 'exact',
    };
  }

  present({ offset, more, count }: Page): PageResponse {
    return {
      headers: { 'X-Offset': String(offset) },
      envelope: { members: { more, all: count?.rows ?? null }, rows: 'rows' },
    };
  }
}

@Restify({ app: 'pages', pagination: new Odd() })
@Entity('pages_twig')
class Twig {
  @PrimaryGeneratedColumn()
  id: number;

  @Column()
  name: string;
}

/** As plain JavaScript may be: what a client sends goes on as it is. */
class Careless implements Pagination {
  parameters(): readonly string[] {
    return ['limit', 'offset'];
  }

  page({ parameters }: PageQuery): PageRequest {
    const said = (name: string, otherwise: number): number => (parameters.get(name) ?? otherwise) as number;
    if (parameters.has('values'))
      return {
        window: { kind: 'cursor', limit: 1, position: { values: [], backward: false, inclusive: false } },
      };
    return { window: { kind: 'offset', limit: said('limit', 2), offset: said('offset', 0) } };
  }

  present(): PageResponse {
    return {};
  }
}

@Restify({ app: 'pages', pagination: new Careless() })
@Entity('pages_stick')
class Stick {
  @PrimaryGeneratedColumn()
  id: number;

  @Column()
  name: string;
}

@Restify({ app: 'pages' })
@Entity('pages_many')
class Many {
  @PrimaryGeneratedColumn()
  id: number;

  @Column()
  name: string;
}

onEachDatabase('a pagination', (database) => {
  test('can be a class of the application', async () => {
    const started = await startApp({ entities: [Twig], database });
    await started.dataSource.getRepository(Twig).insert(['a', 'b', 'c'].map((name) => ({ name })));
    const answer = await started.client.get('/rest/v1/pages/twig/?nth=2');
    await started.close();
    expect([answer.text, answer.headers['x-offset']]).toEqual([
      '{"more":false,"all":3,"rows":[{"id":3,"name":"c"}]}',
      '2',
    ]);
  });

  test('of the application cannot put what a client sends into a statement', async () => {
    const started = await startApp({ entities: [Stick], database });
    await started.dataSource.getRepository(Stick).insert(['a', 'b', 'c'].map((name) => ({ name })));
    const asked = async (query: string): Promise<number> =>
      (await started.client.get(`/rest/v1/pages/stick/${query}`)).status;
    const statuses = [
      await asked(''),
      await asked('?limit=1'),
      await asked('?offset=1'),
      await asked('?offset=0+UNION+SELECT+1,2'),
      await asked('?limit=0%20--'),
      await asked('?values'),
    ];
    const left = await started.client.get('/rest/v1/pages/stick/');
    await started.close();
    expect([statuses, left.text]).toEqual([
      [200, 500, 500, 500, 500, 500],
      '[{"id":1,"name":"a"},{"id":2,"name":"b"}]',
    ]);
  });

  test('has 50 rows by default, and 100 at most', async () => {
    const started = await startApp({
      entities: [Many],
      database,
      restify: { pagination: new LimitOffsetPagination({ style: 'headers', count: 'exact' }) },
    });
    await started.dataSource
      .getRepository(Many)
      .insert(Array.from({ length: 120 }, (_, index) => ({ name: String(index) })));
    const lengths: unknown[] = [];
    for (const query of ['', '?limit=10', '?limit=100', '?limit=101', '?limit=100000&offset=119'])
      lengths.push(((await started.client.get(`/rest/v1/pages/many/${query}`)).json as unknown[]).length);
    const { headers } = await started.client.get('/rest/v1/pages/many/?limit=50', { headers: { host: 'h' } });
    const beyond = await started.client.get('/rest/v1/pages/many/?offset=10001');
    await started.close();
    expect(lengths).toEqual([50, 10, 100, 100, 1]);
    const url = 'http://h/rest/v1/pages/many/?limit=50';
    expect([headers.link, headers['x-total-count'], headers['content-range']]).toEqual([
      `<${url}>; rel="first", <${url}&offset=50>; rel="next", <${url}&offset=100>; rel="last"`,
      '120',
      'items 0-49/120',
    ]);
    expect([beyond.status, beyond.json]).toEqual([
      400,
      { offset: ['Ensure this value is less than or equal to 10000.'] },
    ]);
  });
});

test('links follow the request and the global prefix', async () => {
  const started = await startApp({
    entities: FOREST,
    trustProxy: true,
    configure: (app) => app.setGlobalPrefix('api'),
  });
  await started.dataSource.getRepository(Leaf).insert([{ name: 'a' }, { name: 'b' }]);
  const { json } = await started.client.get('/api/rest/v1/pages/leaf/?page_size=1', {
    headers: { 'x-forwarded-proto': 'https', 'x-forwarded-host': 'shop.example' },
  });
  await started.close();
  expect(json).toMatchObject({ next: 'https://shop.example/api/rest/v1/pages/leaf/?page_size=1&page=2' });
});
