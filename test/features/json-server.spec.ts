// @tags db
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import {
  allow,
  AllowAny,
  basic,
  JsonServerFilter,
  JsonServerOrdering,
  JsonServerPagination,
  JsonServerSearch,
  Restify,
  RestifyModule,
  RestifyOpenApi,
  where,
} from 'nestjs-restify';
import type { AccessContext, Grant, Permission } from 'nestjs-restify';
import { Column, Entity, JoinTable, ManyToMany, ManyToOne, OneToMany, PrimaryGeneratedColumn } from 'typeorm';
import type { Relation } from 'typeorm';
import { resolveParameters } from '../openapi/document.js';
import { onEachDatabase } from '../support/each-database.js';
import { startApp } from '../support/start-app.js';
import type { StartedApp } from '../support/start-app.js';

interface Person {
  readonly name: string;
}

/** Ann reads all; others read what is public, and neither `price` nor `shelf`. */
class Readers implements Permission {
  decide({ actor }: AccessContext): Grant {
    if ((actor as Person | null)?.name === 'ann') return allow();
    return allow({ rows: where('open', true), readable: ['id', 'title', 'open'] });
  }
}

/** Bob sees the shelf of the first letter alone. */
class Shelves implements Permission {
  decide({ actor }: AccessContext): Grant {
    return (actor as Person | null)?.name === 'ann' ? allow() : allow({ rows: where('letter', 'A') });
  }
}

@Restify({
  app: 'js',
  permissions: [Shelves],
  filterFields: { id: ['exact'], 'scrolls.price': ['exact', 'gte', 'ne'] },
})
@Entity()
class JsShelf {
  @PrimaryGeneratedColumn() id: number;
  @Column({ length: 1 }) letter: string;
  @OneToMany(() => JsScroll, (scroll) => scroll.shelf) scrolls: Relation<JsScroll[]>;
}

@Restify({
  app: 'js',
  permissions: [Readers],
  through: { tags: { permissions: [AllowAny] } },
  filterFields: {
    id: ['exact', 'ne'],
    title: ['exact', 'icontains', 'in'],
    price: ['exact', 'ne', 'gte', 'lte'],
    open: ['exact'],
    shelf: ['exact'],
    'shelf.letter': ['exact'],
  },
  filters: { cheap: { type: 'number', reads: ['price'], rows: (most) => where('price', 'lt', most) } },
  searchFields: ['title'],
  queryLimits: { values: 3 },
})
@Entity()
class JsScroll {
  @PrimaryGeneratedColumn() id: number;
  @Column({ length: 50 }) title: string;
  @Column({ type: 'int', nullable: true }) price: number | null;
  @Column() open: boolean;
  @ManyToOne(() => JsShelf, (shelf) => shelf.scrolls, { nullable: true }) shelf: Relation<JsShelf> | null;
  @ManyToMany(() => JsTag) @JoinTable() tags: Relation<JsTag[]>;
}

@Restify('js')
@Entity()
class JsTag {
  @PrimaryGeneratedColumn() id: number;
  @Column({ length: 50 }) word: string;
}

@Restify({ app: 'js', strict: true, filterFields: { id: ['exact', 'in'], size: ['gte', 'exact'] } })
@Entity()
class JsStrict {
  @PrimaryGeneratedColumn() id: number;
  @Column() size: number;
}

const DIALECT = {
  pagination: new JsonServerPagination({ maxPageSize: 4, maxOffset: 10 }),
  filterBackends: [JsonServerFilter, JsonServerSearch, JsonServerOrdering],
};
const ANN = { headers: { authorization: `Basic ${Buffer.from('ann:pw').toString('base64')}` } };
const BOB = { headers: { authorization: `Basic ${Buffer.from('bob:pw').toString('base64')}` } };
const SCROLLS = '/rest/v1/js/jsscroll/';

onEachDatabase('the dialect of json-server', (database) => {
  let started: StartedApp;

  beforeAll(async () => {
    started = await startApp({
      entities: [JsShelf, JsScroll, JsTag, JsStrict],
      database,
      restify: { ...DIALECT, authentication: [basic((name) => ({ name }))] },
    });
    const { manager } = started.dataSource;
    const [a, b] = await manager.save(JsShelf, [{ letter: 'A' }, { letter: 'B' }]);
    const tag = await manager.save(JsTag, { word: 'old' });
    const rows = [
      { title: 'One, two', price: 5, open: true, shelf: a, tags: [tag] },
      { title: '100% _pure', price: 10, open: false, shelf: a, tags: [] },
      { title: 'Three', price: null, open: true, shelf: b, tags: [tag] },
      { title: 'FOUR', price: 20, open: true, shelf: b, tags: [] },
      { title: 'five', price: 20, open: false, shelf: null, tags: [] },
    ];
    for (const row of rows) await manager.save(JsScroll, row);
  });
  afterAll(() => started.close());

  async function ids(query: string, who = ANN, path = SCROLLS): Promise<unknown> {
    const { status, json } = await started.client.get(`${path}?${query}`, who);
    return status === 200 ? (json as { id: number }[]).map(({ id }) => id) : [status, json];
  }

  describe('filters', () => {
    test.each<[query: string, kept: unknown]>([
      ['_end=4', [1, 2, 3, 4]],
      ['price=20', [4, 5]],
      ['price_gte=10&price_lte=10', [2]],
      ['price_ne=20', [1, 2, 3]],
      ['title_like=FOU', [4]],
      ['title_like=%25', [2]],
      ['title=One,%20two', [1]],
      ['shelf=1', [1, 2]],
      ['shelf__letter=B', [3, 4]],
      ['cheap=11', [1, 2]],
      ['price=&title_like=&cheap=&q=', [1, 2, 3, 4]],
      ['q=thr', [3]],
      // Neither ours nor what the model does not name.
      ['price__gte=20&title__in=x&title_gte=x&open_ne=true&nothing_like=x&search=x&_end=2', [1, 2]],
    ])('%s', async (query, kept) => {
      expect(await ids(query)).toEqual(kept);
    });

    test.each<[query: string, kept: unknown]>([
      ['id=3&id=1', [1, 3]],
      ['shelf=1&shelf=99999999999999', [1, 2]],
      ['id=99', []],
      ['id=99&id=98', []],
      ['title=One,%20two&title=five', [1, 5]],
      ['price_ne=20&price_ne=5', [2, 3]],
      ['price=20&price=&price=5', [1, 4, 5]],
      ['shelf__letter=A&shelf__letter=B&open=true', [1, 3, 4]],
      ['cheap=1&cheap=11', [1, 2]],
    ])('all values of a repeated parameter: %s', async (query, kept) => {
      expect(await ids(query)).toEqual(kept);
    });

    test('over many, any value of the same row', async () => {
      expect(await ids('scrolls__price=10&scrolls__price=20', ANN, '/rest/v1/js/jsshelf/')).toEqual([1, 2]);
      expect(await ids('scrolls__price_gte=10&scrolls__price_ne=20', ANN, '/rest/v1/js/jsshelf/')).toEqual([
        1,
      ]);
    });

    test('list all invalid values, and the maximum number of values', async () => {
      expect(await ids('price_gte=many&price=x&price=y&cheap=z')).toEqual([
        400,
        { price_gte: ['Enter a number.'], price: ['Enter a number.'], cheap: ['Enter a number.'] },
      ]);
      expect(await ids('id=1&id=2&id=3&id=4')).toEqual([
        400,
        { id: ['Ensure there are no more than 3 values.'] },
      ]);
      expect(await ids('id=1&id=2&price_ne=1&price_ne=2')).toEqual([
        400,
        { price_ne: ['Ensure there are no more than 3 values.'] },
      ]);
      expect(await ids('title=%00')).toEqual([400, { title: ['Null characters are not allowed.'] }]);
    });

    test('in a strict model are known by their names here, and no others are', async () => {
      const { json } = await started.client.get(
        '/rest/v1/js/jsstrict/?size_gte=1&size=1&size__gte=1&id__in=1&_sort=id&q=x&_start=0&page=2',
      );
      expect(json).toEqual({
        size__gte: ['Unknown parameter.'],
        id__in: ['Unknown parameter.'],
        page: ['Unknown parameter.'],
      });
    });
  });

  describe('orders', () => {
    test.each<[query: string, order: unknown]>([
      ['_sort=id&_order=desc', [5, 4, 3, 2]],
      ['_sort=open,id&_order=asc,desc', [5, 2, 4, 3]],
      ['_sort=open,id&_order=DESC', [1, 3, 4, 2]],
      ['_sort=-id', [5, 4, 3, 2]],
      ['_sort=nothing,id&_order=asc,desc', [5, 4, 3, 2]],
      ['_order=desc', [1, 2, 3, 4]],
    ])('%s', async (query, order) => {
      expect(await ids(query)).toEqual(order);
    });
  });

  describe('pages', () => {
    test.each<[query: string, kept: unknown, total: string | undefined, range: string | undefined]>([
      ['', [1, 2, 3, 4], '5', 'items 0-3/5'],
      ['_start=1&_end=3', [2, 3], '5', 'items 1-2/5'],
      ['_start=4&_end=400', [5], '5', 'items 4-4/5'],
      ['_start=9&_end=10', [], '5', 'items */5'],
      ['_end=1&price=20', [4], '2', 'items 0-0/2'],
      ['_start=1&_limit=2', [2, 3], '5', 'items 1-2/5'],
      ['_limit=2', [1, 2], '5', 'items 0-1/5'],
      ['_page=2&_limit=2', [3, 4], '5', 'items 2-3/5'],
      ['_page=3&_per_page=2', [5], '5', 'items 4-4/5'],
      ['_page=2', [5], '5', 'items 4-4/5'],
      ['_page=9&_per_page=1', [], '5', 'items */5'],
      ['_limit=400', [1, 2, 3, 4], '5', 'items 0-3/5'],
      ['_end=0', [], '5', 'items */5'],
      ['_start=3&_end=3', [], '5', 'items */5'],
    ])('%j', async (query, kept, total, range) => {
      const { headers, json } = await started.client.get(`${SCROLLS}?${query}`, ANN);
      expect([
        (json as { id: number }[]).map(({ id }) => id),
        headers['x-total-count'],
        headers['content-range'],
      ]).toEqual([kept, total, range]);
    });

    test('are led to by Link, with all values of repeated parameters', async () => {
      const { headers, json } = await started.client.get(`${SCROLLS}?id=1&id=2&id=3&_start=1&_end=2`, ANN);
      const at = (start: number): string =>
        `<http://127.0.0.1:${started.port}${SCROLLS}?id=1&id=2&id=3&_start=${start}&_end=${start + 1}>`;
      expect(json).toMatchObject([{ id: 2 }]);
      expect(headers.link).toBe(
        `${at(0)}; rel="first", ${at(0)}; rel="prev", ${at(2)}; rel="next", ${at(2)}; rel="last"`,
      );
    });

    test('of a number are led to by their numbers', async () => {
      const { headers } = await started.client.get(`${SCROLLS}?_page=2&_limit=2`, ANN);
      const at = (page: number): string =>
        `<http://127.0.0.1:${started.port}${SCROLLS}?_limit=2&_page=${page}>`;
      expect(headers.link).toBe(
        `${at(1)}; rel="first", ${at(1)}; rel="prev", ${at(3)}; rel="next", ${at(3)}; rel="last"`,
      );
      const limited = await started.client.get(`${SCROLLS}?_limit=2`, ANN);
      expect(limited.headers.link).toContain(`${SCROLLS}?_start=2&_end=4>; rel="next"`);
    });

    test('that cannot be are errors', async () => {
      expect(await ids('_start=x')).toEqual([400, { _start: ['A valid integer is required.'] }]);
      expect(await ids('_start=11')).toEqual([
        400,
        { _start: ['Ensure this value is less than or equal to 10.'] },
      ]);
      expect(await ids('_page=0')).toEqual([
        400,
        { _page: ['Ensure this value is greater than or equal to 1.'] },
      ]);
      expect(await ids('_page=12&_limit=1')).toEqual([
        400,
        { _page: ['Ensure this value is less than or equal to 11.'] },
      ]);
      expect(await ids('_page=1&_start=0')).toEqual([
        400,
        { _page: ['Send either "_page", or "_start" and "_end".'] },
      ]);
    });
  });

  describe('within the grants', () => {
    test('of rows: nothing is kept or counted that the caller may not see', async () => {
      const { headers, json } = await started.client.get(`${SCROLLS}?id=1&id=2&id=5`, BOB);
      expect([json, headers['x-total-count']]).toEqual([[{ id: 1, title: 'One, two', open: true }], '1']);
    });

    test('of fields: one that may not be read answers as one that there is not', async () => {
      const [unreadable, unknown] = await Promise.all(
        [
          'price_gte=10&price=x&cheap=1&shelf=1&shelf__letter=A&_sort=price&_order=desc',
          'prize_gte=10&prize=x&cheep=1&shelv=1&shelv__letter=A&_sort=prize&_order=desc',
        ].map((query) => ids(query, BOB)),
      );
      expect(unreadable).toEqual([1, 3, 4]);
      expect(unreadable).toEqual(unknown);
    });

    test('of related models: fields that may not be read there are no filters', async () => {
      expect(await ids('scrolls__price_gte=99', BOB, '/rest/v1/js/jsshelf/')).toEqual([1]);
      expect(await ids('scrolls__price_gte=99', ANN, '/rest/v1/js/jsshelf/')).toEqual([]);
    });

    test('in nested lists: by the child, and by the through model', async () => {
      expect(await ids('title_like=pure', ANN, '/rest/v1/js/jsshelf/1/scrolls/')).toEqual([2]);
      expect(await ids('title_like=pure', BOB, '/rest/v1/js/jsshelf/1/scrolls/')).toEqual([]);
      expect(await ids('_sort=id&_order=desc&_end=1', ANN, '/rest/v1/js/jsshelf/2/scrolls/')).toEqual([4]);
      expect(
        (await started.client.get(`${SCROLLS}1/tags/?_start=0&_end=1`, ANN)).headers['x-total-count'],
      ).toBe('1');
    });
  });
});

test('the OpenAPI document names its parameters and headers', async () => {
  const started = await startApp({ entities: [JsStrict], restify: DIALECT });
  try {
    const { paths } = resolveParameters(
      started.app
        .get(RestifyOpenApi)
        .extend({ openapi: '3.1.0', info: { title: 'JS', version: '1' }, paths: {} }),
    );
    const { get } = (paths as Record<string, unknown>)['/rest/v1/js/jsstrict'] as {
      get: { parameters: { name: string }[]; responses: Record<string, { headers?: object }> };
    };
    expect(get.parameters.map(({ name }) => name)).toEqual(
      expect.arrayContaining(['id', 'size', 'size_gte', '_sort', '_order', '_start', '_end']),
    );
    expect(Object.keys(get.responses['200']?.headers ?? {})).toEqual(
      expect.arrayContaining(['Link', 'X-Total-Count', 'Content-Range']),
    );
  } finally {
    await started.close();
  }
});

test('a parameter keeps its meaning beside a field of that name', async () => {
  @Restify({ app: 'js', filterFields: { votes: ['gte'], q: ['exact'] } })
  @Entity()
  class JsTaken {
    @PrimaryGeneratedColumn() id: number;
    @Column() votes: number;
    @Column() votes_gte: number;
    @Column() q: string;
    @Column() _end: number;
  }
  const started = await startApp({ entities: [JsTaken], restify: DIALECT });
  try {
    const url = '/rest/v1/js/jstaken/';
    for (const votes of [1, 2, 3])
      await started.client.post(url, { votes, votes_gte: 9, q: `${votes} a`, _end: 7 });
    const count = async (query: string): Promise<number> =>
      ((await started.client.get(`${url}?${query}`)).json as unknown[]).length;
    expect([await count('votes_gte=2'), await count('q=a'), await count('_start=0&_end=1')]).toEqual([
      2, 3, 1,
    ]);
  } finally {
    await started.close();
  }
});

test('wrong sizes refuse to start', async () => {
  const pagination = new JsonServerPagination({ pageSize: 50, maxPageSize: 20, maxOffset: -1 });
  const refused = await startApp({
    entities: [JsTag],
    restifyModules: [RestifyModule.forRoot('rest/v1', { pagination })],
  }).catch((error: unknown) => error);
  expect(String(refused)).toMatch(
    /pagination\.pageSize: 50 is more than maxPageSize, 20[^]*pagination\.maxOffset: -1 is not a valid number of rows/,
  );
});
