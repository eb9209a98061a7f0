// @tags db http nest
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { CursorPagination, LimitOffsetPagination, PageNumberPagination, Restify } from 'nestjs-restify';
import { Column, Entity, ManyToOne, OneToMany, PrimaryColumn } from 'typeorm';
import type { Relation } from 'typeorm';
import { onEachDatabase } from '../support/each-database.js';
import { startApp } from '../support/start-app.js';
import type { StartedApp } from '../support/start-app.js';

class Sale {
  @PrimaryColumn({ type: 'int' }) id: number;
  @Column({ length: 10 }) kind: string;
  @Column({ type: 'int' }) pieces: number;
}

const AGGREGATE: { group: ['kind']; sum: ['pieces'] } = { group: ['kind'], sum: ['pieces'] };

@Restify({
  app: 'sale',
  aggregate: AGGREGATE,
  pagination: new PageNumberPagination({ pageSize: 2 }),
  strict: true,
})
@Entity('agg_paged')
class AggPaged extends Sale {}

@Restify({
  app: 'sale',
  aggregate: AGGREGATE,
  pagination: new LimitOffsetPagination({ pageSize: 2, style: 'headers', count: 'exact' }),
  parameters: { aggregate: 'agg', group: 'by', having: 'has', ordering: 'sort' },
})
@Entity('agg_offset')
class AggOffset extends Sale {}

@Restify({
  app: 'sale',
  aggregate: AGGREGATE,
  pagination: new CursorPagination({ pageSize: 2, secret: 'a secret of at least 32 characters' }),
})
@Entity('agg_cursor')
class AggCursor extends Sale {}

@Restify({
  app: 'sale',
  aggregate: { ...AGGREGATE, minGroup: 2 },
  filterFields: ['kind'],
  queryLimits: { aggregatedGroups: 3 },
})
@Entity('agg_few')
class AggFew extends Sale {}

@Restify({
  app: 'sale',
  aggregate: { ...AGGREGATE, minGroup: 2 },
  filterFields: ['kind'],
  pagination: new PageNumberPagination({ pageSize: 1 }),
})
@Entity('agg_few_paged')
class AggFewPaged extends Sale {}

@Restify({ app: 'sale' })
@Entity('agg_shop')
class AggShop {
  @PrimaryColumn({ type: 'int' }) id: number;
  @OneToMany(() => AggPart, (part) => part.shop) parts: Relation<AggPart[]>;
}

@Restify({ app: 'sale', aggregate: {}, pagination: new PageNumberPagination({ pageSize: 2 }) })
@Entity('agg_part')
class AggPart {
  @PrimaryColumn({ type: 'int' }) id: number;
  @ManyToOne(() => AggShop, (shop) => shop.parts) shop: Relation<AggShop>;
}

const ENTITIES = [AggPaged, AggOffset, AggCursor, AggFew, AggFewPaged];
/** Groups of 1, 2, 2, 3 and 1 rows. */
const KINDS = ['a', 'b', 'b', 'c', 'c', 'd', 'd', 'd', 'e'];

onEachDatabase('pages of aggregates', (database) => {
  let started: StartedApp;
  beforeAll(async () => {
    started = await startApp({ entities: [...ENTITIES, AggShop, AggPart], database });
    for (const entity of ENTITIES)
      await started.dataSource.manager.insert(
        entity,
        KINDS.map((kind, index) => ({ id: index + 1, kind, pieces: index })),
      );
  });
  afterAll(() => started.close());

  const get = (path: string): ReturnType<StartedApp['client']['get']> =>
    started.client.get(path.startsWith('/') ? path : `/rest/v1/sale/${path}`);
  const kindsIn = (rows: unknown): unknown => (rows as { kind: string }[]).map(({ kind }) => kind);

  test('have the envelope of the list, and its count is that of the groups', async () => {
    const path = 'aggpaged/?aggregate=count&group=kind&ordering=-count';
    const first = await get(path);
    expect(first.json).toEqual({
      count: 5,
      next: expect.stringContaining('page=2') as unknown,
      previous: null,
      results: [
        { kind: 'd', count: 3 },
        { kind: 'b', count: 2 },
      ],
    });
    const second = await get(`${path}&page=2`);
    expect(second.json).toMatchObject({ count: 5, results: [{ kind: 'c' }, { kind: 'a' }] });
    expect((await get(`${path}&page=last`)).json).toMatchObject({
      count: 5,
      next: null,
      results: [{ kind: 'e' }],
    });
    expect((await get(`${path}&page=4`)).status).toBe(404);
    expect((await get(`${path}&having.count__gte=2&page_size=1`)).json).toMatchObject({ count: 3 });
    expect((await get(`${path}&having.count__gte=9`)).json).toMatchObject({ count: 0, results: [] });
    expect((await get('aggpaged/?aggregate=count')).json).toMatchObject({
      count: 1,
      results: [{ count: 9 }],
    });
  });

  test('reject unknown parameters in a strict model, and no others', async () => {
    expect((await get('aggpaged/?aggregate=count&colour=red')).json).toEqual({
      colour: ['Unknown parameter.'],
    });
    expect((await get('aggpaged/?aggregate=&group=&having.count__gte=')).status).toBe(200);
    expect((await get('aggpaged/?aggregate=count&tz=UTC')).status).toBe(200);
    expect((await get('aggpaged/?tz=UTC')).json).toEqual({ tz: ['Only with "aggregate".'] });
  });

  test('have headers, and parameters of other names', async () => {
    const { json, headers } = await get(
      'aggoffset/?agg=count&by=kind&sort=-sum.pieces&has.count__gte=2&offset=1',
    );
    expect(kindsIn(json)).toEqual(['c', 'b']);
    expect(headers['x-total-count']).toBe('3');
    expect(headers['content-range']).toBe('items 1-2/3');
    expect((await get('aggoffset/?aggregate=count')).json).toHaveLength(2);
  });

  test('follow cursors, which are valid for the same aggregate alone', async () => {
    const found: unknown[] = [];
    let path: string | null = 'aggcursor/?aggregate=sum.pieces&group=kind&ordering=-kind';
    const pages: string[] = [];
    while (path !== null) {
      const { json } = await get(path);
      const page = json as { next: string | null; results: { kind: string }[] };
      found.push(...page.results.map(({ kind }) => kind));
      path = page.next === null ? null : new URL(page.next).pathname + new URL(page.next).search;
      if (path !== null) pages.push(path);
    }
    expect(found).toEqual(['e', 'd', 'c', 'b', 'a']);
    const last = await get(pages.at(-1) ?? '');
    const { previous } = last.json as { previous: string };
    const back = new URL(previous);
    expect((await get(back.pathname + back.search)).json).toMatchObject({
      results: [{ kind: 'c' }, { kind: 'b' }],
    });
    expect((await get((pages[0] ?? '').replace('-kind', 'kind'))).status).toBe(404);
  });

  test('leave small groups out, with a member that indicates it', async () => {
    const all = await get('aggfew/?aggregate=count&group=kind');
    expect([kindsIn(all.json), all.headers['x-groups-omitted']]).toEqual([['b', 'c', 'd'], 'true']);
    const large = await get('aggfew/?aggregate=count&group=kind&kind=d');
    expect([large.json, large.headers['x-groups-omitted']]).toEqual([[{ kind: 'd', count: 3 }], undefined]);
    // Having is about the groups that remain: it tells nothing of the others.
    const having = await get('aggfew/?aggregate=count&group=kind&having.sum.pieces__gte=100');
    expect([having.json, having.headers['x-groups-omitted']]).toEqual([[], 'true']);
    for (const kind of ['a', 'none']) {
      const small = await get(`aggfew/?aggregate=count&kind=${kind}`);
      expect([small.json, small.headers['x-groups-omitted']]).toEqual([[], 'true']);
    }
    const paged = await get('aggfewpaged/?aggregate=count&group=kind&page=3');
    expect(paged.json).toMatchObject({ count: 3, results: [{ kind: 'd', count: 3 }] });
    expect(paged.headers['x-groups-omitted']).toBe('true');
    const none = await get('aggfewpaged/?aggregate=count&group=kind&kind=e');
    expect(none.json).toMatchObject({ count: 0, results: [] });
    expect(none.headers['x-groups-omitted']).toBe('true');
  });

  test('are 400 for more groups than a list without a pagination may have', async () => {
    await started.dataSource.manager.insert(AggFew, [
      { id: 90, kind: 'f', pieces: 1 },
      { id: 91, kind: 'f', pieces: 1 },
    ]);
    try {
      expect((await get('aggfew/?aggregate=count&group=kind')).json).toEqual({
        group: ['There are more than 3 groups. Filter the rows, or name fewer or longer groups.'],
      });
    } finally {
      await started.dataSource.manager.delete(AggFew, [90, 91]);
    }
  });

  // contract 6.3
  test.each(['page=x', 'page=2', 'page_size=x'])('%s below no parent is 404 of the parent', async (query) => {
    const { status, json } = await get(`aggshop/9/parts/?aggregate=count&${query}`);
    expect({ status, json }).toEqual({ status: 404, json: { detail: 'Not found.' } });
  });
});
