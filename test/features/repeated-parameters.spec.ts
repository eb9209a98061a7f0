// @tags db
import { Injectable } from '@nestjs/common';
import type { PipeTransform } from '@nestjs/common';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import {
  allow,
  basic,
  FieldFilter,
  FilterSet,
  JsonServerFilter,
  JsonServerOrdering,
  JsonServerPagination,
  OrderingFilter,
  Restify,
  where,
} from 'nestjs-restify';
import type {
  AccessContext,
  FilterBackend,
  FilterParameters,
  FilterContext,
  FilterResult,
  Grant,
  ListKind,
  Permission,
} from 'nestjs-restify';
import { Column, Entity, ManyToOne, OneToMany, PrimaryGeneratedColumn } from 'typeorm';
import type { Relation } from 'typeorm';
import { onEachDatabase } from '../support/each-database.js';
import { noFilter } from '../support/no-filter.js';
import { startApp } from '../support/start-app.js';
import type { StartedApp } from '../support/start-app.js';

/** Blind callers know of neither `weight` nor the maker's name. */
class Sighted implements Permission {
  decide({ actor }: AccessContext): Grant {
    return (actor as { name?: string } | null)?.name === 'blind'
      ? allow({ readable: ['id', 'title', 'maker'] })
      : allow();
  }
}

@Injectable()
class Titles extends FilterSet {
  readonly filters: FilterParameters = {
    titles: { type: 'text', list: true, rows: (titles) => where('title', 'in', titles) },
  };
}

/** Reads a parameter whose own name has brackets, and one of which it wants each. */
@Injectable()
class Colours implements FilterBackend {
  filter({ values }: FilterContext): FilterResult {
    const wanted = [...values('raw__in[]'), ...values('colour')];
    return wanted.length > 0 ? { rows: where('title', 'in', wanted) } : {};
  }

  parameters(): readonly string[] {
    return ['raw__in[]', 'colour'];
  }

  lists(): ReadonlyMap<string, ListKind> {
    return new Map([['colour', 'each']]);
  }
}

@Restify({ app: 'rep', permissions: [Sighted], shape: true })
@Entity('rep_maker')
class RepMaker {
  @PrimaryGeneratedColumn() id: number;
  @Column({ length: 20 }) name: string;
  @OneToMany(() => RepThing, (thing) => thing.maker) things: Relation<RepThing[]>;
}

const FILTERED = {
  app: 'rep',
  permissions: [Sighted],
  filterBackends: [FieldFilter, OrderingFilter, Titles, Colours],
  filterFields: {
    id: ['exact', 'in'],
    title: ['exact', 'in'],
    weight: ['exact', 'in', 'range', 'gte'],
    'maker.name': ['in'],
  },
  filters: {
    any: {
      type: 'number',
      list: true,
      reads: ['weight'],
      rows: (weights: readonly number[]) => where('weight', 'in', weights),
    },
  },
  filterGroups: true,
  queryLimits: { values: 4 },
  shape: true,
  expandable: ['maker'],
  bulk: true,
} as const;

@Restify(FILTERED)
@Entity('rep_thing')
class RepThing {
  @PrimaryGeneratedColumn() id: number;
  @Column({ length: 20 }) title: string;
  @Column() weight: number;
  @ManyToOne(() => RepMaker, (maker) => maker.things) maker: Relation<RepMaker> | null;
}

/** Names the texts that it is given: a list is one text for it. */
@Injectable()
class Marked implements PipeTransform {
  transform(value: unknown, { type }: { readonly type: string }): unknown {
    if (type === 'query') SEEN.push(value);
    return value;
  }
}
const SEEN: unknown[] = [];

@Restify({
  app: 'rep',
  strict: true,
  filterFields: { id: ['exact', 'in'], size: ['exact'] },
  shape: true,
  pipes: [Marked],
})
@Entity('rep_strict')
class RepStrict {
  @PrimaryGeneratedColumn() id: number;
  @Column() size: number;
}

/** Objects with parameters that are removed before the filters are read. */
@Restify({ app: 'rep', aggregate: { sum: ['size'] }, label: 'size', filterFields: { id: ['in'] } })
@Entity('rep_counted')
class RepCounted {
  @PrimaryGeneratedColumn() id: number;
  @Column() size: number;
  @ManyToOne(() => RepCounted, { nullable: true }) other: Relation<RepCounted> | null;
}

const THINGS = '/rest/v1/rep/repthing/';

onEachDatabase('parameters that come more than once', (database) => {
  let started: StartedApp;
  beforeAll(async () => {
    started = await startApp({
      entities: [RepMaker, RepThing, RepStrict, RepCounted],
      database,
      providers: [Titles, Colours, Marked],
      restify: { authentication: [basic((name) => ({ name }))] },
    });
    const { manager } = started.dataSource;
    const [ada, bob] = await manager.save(RepMaker, [{ name: 'Ada' }, { name: 'Bob' }]);
    await manager.save(RepThing, [
      { title: 'a', weight: 5, maker: ada },
      { title: 'b, c', weight: 3, maker: bob },
      { title: 'd"', weight: 1, maker: null },
      { title: 'e', weight: 3, maker: ada },
    ]);
    await manager.save(RepCounted, [{ size: 1 }, { size: 2 }, { size: 4 }]);
    await manager.save(RepStrict, [{ size: 1 }, { size: 2 }, { size: 3 }]);
  });
  afterAll(() => started.close());

  const ids = async (query: string, who = ''): Promise<unknown> => {
    const headers: Record<string, string> =
      who === '' ? {} : { authorization: `Basic ${Buffer.from(`${who}:pw`).toString('base64')}` };
    const { status, json, text } = await started.client.get(`${THINGS}?${query}`, { headers });
    return status === 200 ? (json as { id: number }[]).map(({ id }) => id) : [status, JSON.parse(text)];
  };
  const ALL = [1, 2, 3, 4];
  const TOO_MANY = ['Ensure there are no more than 4 values.'];

  test.each<[string, unknown]>([
    ['id__in=1&id__in=2', [1, 2]],
    ['id__in[]=1&id__in[]=2', [1, 2]],
    ['id__in%5B%5D=1&id__in%5B%5D=2', [1, 2]],
    ['id__in[0]=1&id__in[1]=2', [1, 2]],
    ['id__in[0]=3', [3]],
    ['id__in[]=3', [3]],
    ['id__in=1,2&id__in=3', [1, 2, 3]],
    ['id__in=4&id__in[]=1,2', [1, 2, 4]],
    ['id__in=&id__in=2', [2]],
    ['id__in=2&id__in=', [2]],
    ['id__in=&id__in=', ALL],
    ['id__in[]=', ALL],
    ['id__in=1&id__in=x', [400, { id__in: ['Enter a number.'] }]],
    ['id__in[]=x', [400, { id__in: ['Enter a number.'] }]],
    ['id__in=1,2,3&id__in=4', ALL],
    ['id__in=1,2,3&id__in=4,5', [400, { id__in: TOO_MANY }]],
    ['id__in=1&id__in=2&id__in[]=3&id__in[]=4&id__in[]=5', [400, { id__in: TOO_MANY }]],
    ['title__in=%22b,%20c%22&title__in=a', [1, 2]],
    ['title__in=a&title__in=%22b,%20c%22', [1, 2]],
    ['title__in=%22d%5C%22%22&title__in=e', [3, 4]],
    ['title__in=%22b&title__in=c%22', [400, { title__in: ['A quote is not closed.'] }]],
    ['title__in=a&title__in=%22', [400, { title__in: ['A quote is not closed.'] }]],
    ['title__in=%22a%22b&title__in=%22,c', [400, { title__in: ['Write a comma behind a quoted value.'] }]],
    ['weight__range=2&weight__range=4', [2, 4]],
    ['weight__range[]=2&weight__range[]=4', [2, 4]],
    [
      'weight__range=2,4&weight__range=1',
      [400, { weight__range: ['Ensure there are no more than 2 values.'] }],
    ],
    ['any=5&any=1', [1, 3]],
    ['any[]=5&any[]=1', [1, 3]],
    ['titles=a&titles=%22b,%20c%22', [1, 2]],
    ['titles[]=a&titles[]=e', [1, 4]],
    ['maker__name__in=Ada&maker__name__in=Bob', [1, 2, 4]],
    ['colour=a&colour=e', [1, 4]],
    ['colour[]=a&colour[]=e', [1, 4]],
    ['colour[]=b,%20c', [2]],
    ['raw__in[]=a&raw__in[]=e', [1, 4]],
    ['ordering=weight&ordering=-id', [3, 4, 2, 1]],
    ['ordering[]=weight&ordering[]=-id', [3, 4, 2, 1]],
    ['ordering=weight,id&ordering=-id', [3, 2, 4, 1]],
    ['ordering=%22weight&ordering=-id', [4, 3, 2, 1]],
    ['ordering=&ordering=-id', [4, 3, 2, 1]],
    ['id=1&id=2', [2]],
    ['id=x&id=2', [2]],
    ['id[]=1&id[]=2', ALL],
    ['weight__gte=9&weight__gte=5', [1]],
    ['weight__gte[]=9', [400, noFilter('weight__gte[]')]],
    ['filter=or(id__in=1,id=2)&filter=id__in=3', [3]],
    ['filter=and(id__in=%221%22,id__in=2)', []],
    ['filter=or(id__in[]=1)', [400, { filter: [expect.stringContaining('id__in[]')] }]],
    ['id__in[0]=1', [1]],
    ['id__in[a]=1', [400, noFilter('id__in[a]')]],
    ['ordering[0]=weight&ordering[1]=-id', [3, 4, 2, 1]],
    ['id__in[][]=1', [400, noFilter('id__in[][]')]],
    ['[]=1&[]=2', ALL],
  ])('?%s', async (query, expected) => {
    expect(await ids(query)).toEqual(expected);
  });

  // contract 4.6
  test('stay lists in models with labels and aggregates', async () => {
    const counted = async (query: string): Promise<unknown> =>
      (await started.client.get(`/rest/v1/rep/repcounted/?id__in=1&id__in=3${query}`)).json;
    expect(await counted('&aggregate=sum.size')).toEqual([{ sum: { size: 5 } }]);
    for (const query of ['', '&with=labels', '&with='])
      expect([query, await counted(query)]).toEqual([
        query,
        [expect.objectContaining({ id: 1 }), expect.objectContaining({ id: 3 })],
      ]);
  });

  test('do not reveal fields that a caller may not read: such a name is unknown', async () => {
    for (const query of [
      'weight__in=1&weight__in=2',
      'weight__in[]=x',
      'weight__in=%22a&weight__in=%22b',
      'any=x&any=y',
      'ordering=weight&ordering=weight',
    ]) {
      expect([query, await ids(query, 'blind')]).toEqual([query, ALL]);
    }
  });

  test('choose fields and what is expanded', async () => {
    const { client } = started;
    const first = async (query: string): Promise<unknown> =>
      ((await client.get(`${THINGS}?id=1&${query}`)).json as unknown[])[0];
    expect(await first('fields=id&fields=title')).toEqual({ id: 1, title: 'a' });
    expect(await first('fields[]=id&fields[]=title')).toEqual({ id: 1, title: 'a' });
    expect(await first('omit=weight&omit[]=maker')).toEqual({ id: 1, title: 'a' });
    expect(await first('fields=maker&expand=nothing&expand=maker&omit=maker.things&omit=maker.id')).toEqual({
      maker: { name: 'Ada' },
    });
    expect((await client.get(`${THINGS}1/?fields[]=id&fields[]=title`)).json).toEqual({ id: 1, title: 'a' });
    const changed = await client.patch(`${THINGS}1/?fields=id&fields=weight`, { title: 'a' });
    expect([changed.status, changed.json]).toEqual([200, { id: 1, weight: 5 }]);
    const many = Array.from({ length: 30 }, (_, index) => `expand=maker.x${index}`).join('&');
    expect((await client.get(`${THINGS}1/?${many}`)).json).toEqual({
      expand: [expect.stringContaining('relations at most')],
    });
  });

  test('name the objects of a bulk write, of which the keys stay one value', async () => {
    const { client, dataSource } = started;
    const made = await dataSource.manager.save(
      RepThing,
      [1, 2, 3].map((weight) => ({ title: 'bulk', weight: 100 + weight, maker: null })),
    );
    const [first, second, third] = made.map(({ id }) => id);
    const changed = await client.patch(`${THINGS}?weight__in=101&weight__in=102&fields[]=id`, {
      title: 'changed',
    });
    expect([changed.status, changed.json]).toEqual([200, [{ id: first }, { id: second }]]);
    const refused = async (query: string): Promise<unknown> => {
      const { status, json } = await client.delete(`${THINGS}?${query}`);
      return [status, Object.keys(json as object)];
    };
    expect(await refused('weight__in=101&weight__in=')).toEqual([400, ['weight__in']]);
    expect(await refused('weight__in=&weight__in=')).toEqual([400, ['weight__in']]);
    for (const query of [
      `keys=${first}&keys=${second}`,
      `keys=${first},,${second}`,
      `keys=${first},`,
      'keys=',
      `keys=,${first}`,
    ])
      expect([query, await refused(query)]).toEqual([query, [400, ['keys']]]);
    expect(await refused(`keys[]=${first}`)).toEqual([400, ['keys[]']]);
    expect(await dataSource.manager.countBy(RepThing, { id: third })).toBe(1);
    expect((await client.delete(`${THINGS}?weight__in[]=101&weight__in[]=102&weight__in[]=103`)).status).toBe(
      204,
    );
    expect(await ids('')).toEqual(ALL);
  });

  test('are all applied by a strict model, and by one with a pipe, which gets one text of each', async () => {
    const { client } = started;
    const strict = async (query: string): Promise<unknown> => {
      const { status, json } = await client.get(`/rest/v1/rep/repstrict/?${query}`);
      return status === 200 ? (json as { id: number }[]).map(({ id }) => id) : [status, json];
    };
    SEEN.length = 0;
    expect(await strict('id__in=1&id__in=2')).toEqual([1, 2]);
    expect(await strict('id__in[]=1&id__in[]=3&id__in=2')).toEqual([1, 2, 3]);
    expect(await strict('id__in=%221&id__in=2%22')).toEqual([400, { id__in: ['A quote is not closed.'] }]);
    expect(SEEN).toEqual([{ id__in: '1,2' }, { 'id__in[]': '1,3', id__in: '2' }, { id__in: '"1' }]);
    expect(await strict('id[]=1')).toEqual([400, { 'id[]': ['Unknown parameter.'] }]);
    expect(await strict('nope__in[]=1')).toEqual([400, { 'nope__in[]': ['Unknown parameter.'] }]);
    expect((await client.get('/rest/v1/rep/repstrict/1/?fields[]=id')).json).toEqual({ id: 1 });
  });
});

describe("lists of json-server's dialect", () => {
  let started: StartedApp;
  beforeAll(async () => {
    started = await startApp({
      entities: [Plain],
      restify: {
        pagination: new JsonServerPagination(),
        filterBackends: [JsonServerFilter, JsonServerOrdering],
      },
    });
    await started.dataSource.manager.save(Plain, [{ size: 3 }, { size: 1 }, { size: 3 }]);
  });
  afterAll(() => started.close());

  test.each([
    ['id=1&id=2', [1, 2]],
    ['id[]=1&id[]=2', [1, 2]],
    ['id[]=1&id=3', [1, 3]],
    ['size_ne[]=3&size_ne[]=9', [2]],
    ['_sort=size&_sort=id&_order=desc&_order=desc', [3, 1, 2]],
    ['_sort[]=size&_sort[]=id&_order[]=&_order[]=desc', [2, 3, 1]],
    ['_sort=size,id&_order=asc,desc', [2, 3, 1]],
    ['any=3&any=1', [1, 2, 3]],
  ])('?%s', async (query, expected) => {
    const { status, json } = await started.client.get(`/rest/v1/rep/plain/?${query}`);
    expect([status, (json as { id: number }[]).map(({ id }) => id)]).toEqual([200, expected]);
  });
});

@Restify({
  app: 'rep',
  strict: true,
  filterFields: { id: ['exact'], size: ['exact', 'ne'] },
  filters: {
    any: { type: 'number', list: true, reads: ['size'], rows: (sizes) => where('size', 'in', sizes) },
  },
})
@Entity('rep_plain')
class Plain {
  @PrimaryGeneratedColumn() id: number;
  @Column() size: number;
}
