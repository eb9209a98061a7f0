// @tags db http nest
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { allow, basic, CsvRenderer, deny, Restify, where } from 'nestjs-restify';
import type { AccessContext, Denial, Grant, Permission } from 'nestjs-restify';
import { Column, DeleteDateColumn, Entity, ManyToOne, OneToMany, PrimaryColumn } from 'typeorm';
import type { Relation } from 'typeorm';
import { onEachDatabase } from '../support/each-database.js';
import { startApp } from '../support/start-app.js';
import type { StartedApp } from '../support/start-app.js';

const nameOf = (actor: unknown): string => ((actor ?? {}) as { name?: string }).name ?? '';

/** Ann sees everything, Bob what he owns and without totals; Carl has aggregates alone. */
class OrderRules implements Permission {
  decide({ actor, operation }: AccessContext): Grant | Denial {
    switch (nameOf(actor)) {
      case 'ann':
        return allow();
      case 'bob':
        return allow({ rows: where('owner.name', 'Bob'), readable: ['id', 'status', 'owner'] });
      case 'carl':
        return operation === 'aggregate' ? allow({ rows: where('status', 'paid') }) : deny();
      default:
        return deny();
    }
  }
}

/** Bob does not see people of other countries. */
class PersonRules implements Permission {
  decide({ actor }: AccessContext): Grant | Denial {
    return nameOf(actor) === 'bob' ? allow({ rows: where('country', 'de') }) : allow();
  }
}

@Restify({ app: 'shop', permissions: [PersonRules], label: 'name' })
@Entity('agg_person')
class AggPerson {
  @PrimaryColumn({ type: 'int' }) id: number;
  @Column({ length: 20 }) name: string;
  @Column({ length: 20 }) country: string;
  @OneToMany(() => AggOrder, (order) => order.owner) orders: Relation<AggOrder[]>;
}

@Restify({
  app: 'shop',
  permissions: [OrderRules],
  aggregate: {
    group: ['status', 'owner', 'owner.country', 'open'],
    sum: ['total', 'pieces', 'views'],
    avg: ['total', 'pieces', 'weight'],
    min: ['total', 'status', 'pieces'],
    max: ['total', 'status', 'weight'],
  },
  filterFields: {
    status: ['exact', 'ne'],
    'owner.country': ['exact'],
    'lines.text': ['exact'],
    pieces: ['gte'],
  },
  searchFields: ['status'],
  query: true,
  renderers: [new CsvRenderer()],
})
@Entity('agg_order')
class AggOrder {
  @PrimaryColumn({ type: 'int' }) id: number;
  @Column({ length: 20 }) status: string;
  @Column({ type: 'decimal', precision: 12, scale: 2, nullable: true }) total: string | null;
  @Column({ type: 'int', default: 0 }) pieces: number;
  @Column({ type: 'bigint', default: 0 }) views: string;
  @Column({ type: 'float', nullable: true }) weight: number | null;
  @Column({ type: 'boolean', default: true }) open: boolean;
  @ManyToOne(() => AggPerson, (person) => person.orders, { nullable: true })
  owner: Relation<AggPerson> | null;
  @OneToMany(() => AggLine, (line) => line.order) lines: Relation<AggLine[]>;
  @DeleteDateColumn() gone: Date | null;
}

@Restify({ app: 'shop' })
@Entity('agg_line')
class AggLine {
  @PrimaryColumn({ type: 'int' }) id: number;
  @Column({ length: 20 }) text: string;
  @ManyToOne(() => AggOrder, (order) => order.lines) order: Relation<AggOrder>;
}

const ORDERS = '/rest/v1/shop/aggorder/';

onEachDatabase('aggregates of a list', (database) => {
  let started: StartedApp;
  beforeAll(async () => {
    started = await startApp({
      entities: [AggPerson, AggOrder, AggLine],
      database,
      restify: { authentication: [basic((name) => ({ name }))] },
    });
    const { manager } = started.dataSource;
    await manager.insert(AggPerson, [
      { id: 1, name: 'Ann', country: 'fr' },
      { id: 2, name: 'Bob', country: 'de' },
      { id: 3, name: 'Bob', country: 'ch' },
    ]);
    const order = (id: number, values: Partial<AggOrder>): Partial<AggOrder> => ({
      id,
      status: 'paid',
      ...values,
    });
    await manager.insert(AggOrder, [
      order(1, {
        total: '10.10',
        pieces: 1,
        views: '9007199254740993',
        owner: { id: 1 } as AggPerson,
        weight: 0.5,
      }),
      order(2, { total: '20.20', pieces: 2, views: '1', owner: { id: 2 } as AggPerson, weight: 1.5 }),
      order(3, { total: '0.05', pieces: 4, owner: { id: 3 } as AggPerson, open: false }),
      order(4, { total: null, pieces: 5, status: 'draft', owner: { id: 2 } as AggPerson }),
      order(5, { total: '-1.00', pieces: 6, status: 'Draft', owner: null }),
      order(6, { total: '99.00', pieces: 9, status: 'gone' }),
    ]);
    await manager.softDelete(AggOrder, 6);
    await manager.insert(AggLine, [
      { id: 1, text: 'a', order: { id: 1 } },
      { id: 2, text: 'a', order: { id: 1 } },
      { id: 3, text: 'a', order: { id: 4 } },
    ]);
  });
  afterAll(() => started.close());

  const as = (name: string): { headers: { authorization: string } } => ({
    headers: { authorization: `Basic ${Buffer.from(`${name}:pw`).toString('base64')}` },
  });
  const get = async (query: string, who = 'ann', path = ORDERS): Promise<unknown> => {
    const { status, json } = await started.client.get(`${path}?${query}`, as(who));
    return status === 200 ? json : { status, json };
  };

  test('are one object without a group', async () => {
    expect(await get('aggregate=count')).toEqual([{ count: 5 }]);
    expect(await get('aggregate=sum.total,avg.total,min.total,max.total,count')).toEqual([
      {
        count: 5,
        sum: { total: '29.35' },
        avg: { total: '7.337500' },
        min: { total: '-1.00' },
        max: { total: '20.20' },
      },
    ]);
    expect(await get('aggregate=sum.pieces,sum.views,avg.pieces,min.pieces,avg.weight,max.weight')).toEqual([
      {
        sum: { pieces: 18, views: '9007199254740994' },
        avg: { pieces: '3.600000', weight: 1 },
        min: { pieces: 1 },
        max: { weight: 1.5 },
      },
    ]);
  });

  test('of no rows are null, and a count of 0', async () => {
    expect(await get('aggregate=count,sum.total,avg.total,max.status&status=none')).toEqual([
      { count: 0, sum: { total: null }, avg: { total: null }, max: { status: null } },
    ]);
    expect(await get('aggregate=count&group=status&status=none')).toEqual([]);
  });

  test('are grouped by fields, texts by their bytes', async () => {
    expect(await get('aggregate=count&group=status')).toEqual([
      { status: 'Draft', count: 1 },
      { status: 'draft', count: 1 },
      { status: 'paid', count: 3 },
    ]);
    expect(await get('aggregate=min.status,max.status')).toEqual([
      { min: { status: 'Draft' }, max: { status: 'paid' } },
    ]);
    expect(await get('aggregate=count&group=open,status')).toEqual([
      { open: false, status: 'paid', count: 1 },
      { open: true, status: 'Draft', count: 1 },
      { open: true, status: 'draft', count: 1 },
      { open: true, status: 'paid', count: 2 },
    ]);
  });

  test('are grouped by related keys and fields of related objects', async () => {
    expect(await get('aggregate=count&group=owner')).toEqual([
      { owner: 1, count: 1 },
      { owner: 2, count: 2 },
      { owner: 3, count: 1 },
      { owner: null, count: 1 },
    ]);
    expect(await get('aggregate=count&group=owner.country')).toEqual([
      { 'owner.country': 'ch', count: 1 },
      { 'owner.country': 'de', count: 2 },
      { 'owner.country': 'fr', count: 1 },
      { 'owner.country': null, count: 1 },
    ]);
  });

  test('have the labels of related objects that the caller may read', async () => {
    expect(await get('aggregate=count&group=owner:label,open')).toEqual([
      { owner: 1, open: true, labels: { owner: 'Ann' }, count: 1 },
      { owner: 2, open: true, labels: { owner: 'Bob' }, count: 2 },
      { owner: 3, open: false, labels: { owner: 'Bob' }, count: 1 },
      { owner: null, open: true, labels: {}, count: 1 },
    ]);
    expect(await get('aggregate=count&group=owner:label', 'bob')).toEqual([
      { owner: 2, labels: { owner: 'Bob' }, count: 2 },
      { owner: 3, labels: {}, count: 1 },
    ]);
    const { text } = await started.client.get(
      `${ORDERS}?aggregate=count&group=owner:label&ordering=-owner&format=csv`,
      as('bob'),
    );
    expect(text).toBe('owner,labels.owner,count\r\n3,,1\r\n2,Bob,2\r\n');
    expect(await get('aggregate=count&group=owner:month')).toEqual({
      status: 400,
      json: { group: ['Choose one of these for "owner": owner:label.'] },
    });
    expect(await get('aggregate=count&group=status:label')).toMatchObject({ status: 400 });
  });

  test('are described by OPTIONS as the caller may use them', async () => {
    const describe = async (who: string): Promise<unknown> => {
      const { json } = await started.client.send('OPTIONS', ORDERS, as(who));
      return (json as { aggregates?: unknown }).aggregates;
    };
    expect(await describe('bob')).toEqual({
      parameter: 'aggregate',
      group: 'group',
      having: 'having',
      tz: 'tz',
      groups: [
        { name: 'status', choices: [] },
        { name: 'owner', choices: ['label'] },
        { name: 'owner.country', choices: [] },
      ],
      measures: ['count', 'min.status', 'max.status'],
      ordering: ['status', 'owner', 'owner.country', 'count', 'min.status', 'max.status'],
    });
    expect(await describe('eve')).toBeUndefined();
  });

  test('are of the rows of the list with the same filters', async () => {
    expect(await get('aggregate=count&status=paid&search=pai')).toEqual([{ count: 3 }]);
    expect(await get('aggregate=count&lines__text=a')).toEqual([{ count: 2 }]);
    expect(await get('aggregate=count,sum.total&owner__country=de')).toEqual([
      { count: 2, sum: { total: '20.20' } },
    ]);
    expect(await get('aggregate=count,sum.pieces', 'ann', '/rest/v1/shop/aggperson/2/orders/')).toEqual([
      { count: 2, sum: { pieces: 7 } },
    ]);
    expect(await get('aggregate=count', 'ann', '/rest/v1/shop/aggperson/9/orders/')).toMatchObject({
      status: 404,
    });
  });

  test('are of rows and fields that the caller may read', async () => {
    expect(await get('aggregate=count&group=owner,owner.country', 'bob')).toEqual([
      { owner: 2, 'owner.country': 'de', count: 2 },
      { owner: 3, 'owner.country': null, count: 1 },
    ]);
    for (const [query, parameter] of [
      ['aggregate=sum.total', 'aggregate'],
      ['aggregate=count&group=open', 'group'],
      ['aggregate=count&having.sum.total__gte=1', 'having.sum.total__gte'],
      ['aggregate=count&ordering=max.total', 'ordering'],
    ] as const) {
      const { status, json } = await started.client.get(`${ORDERS}?${query}`, as('bob'));
      expect([status, Object.keys(json as object)]).toEqual([400, [parameter]]);
      const unknown = query.replaceAll('total', 'nothing').replaceAll('open', 'nothing');
      const same = await started.client.get(`${ORDERS}?${unknown}`, as('bob'));
      expect([same.status, same.text.replaceAll('nothing', 'total')]).toEqual([
        400,
        expect.stringContaining('total'),
      ]);
    }
    expect(await get('', 'carl')).toMatchObject({ status: 403 });
    expect(await get('aggregate=', 'carl')).toMatchObject({ status: 403 });
    expect(await get('aggregate=count', 'carl')).toEqual([{ count: 3 }]);
    expect(await get('aggregate[]=count', 'carl')).toEqual([{ count: 3 }]);
    expect(await get('aggregate=count', 'eve')).toMatchObject({ status: 403 });
  });

  test('are ordered, and selected by having', async () => {
    expect(await get('aggregate=sum.total&group=status&ordering=-count,status&having.count__gte=1')).toEqual([
      { status: 'paid', sum: { total: '30.35' } },
      { status: 'Draft', sum: { total: '-1.00' } },
      { status: 'draft', sum: { total: null } },
    ]);
    const statuses = async (query: string): Promise<unknown> =>
      ((await get(`aggregate=count&group=status&${query}`)) as { status: string }[]).map(
        ({ status }) => status,
      );
    expect(await statuses('having.sum.total__gt=30.349')).toEqual(['paid']);
    expect(await statuses('having.sum.total__gt=30.35')).toEqual([]);
    expect(await statuses('having.sum.total=30.35')).toEqual(['paid']);
    expect(await statuses('having.sum.total__lte=-1')).toEqual(['Draft']);
    expect(await statuses('having.sum.total__lt=-0.995')).toEqual(['Draft']);
    expect(await statuses('having.sum.total__ne=-1.00')).toEqual(['draft', 'paid']);
    expect(await statuses('having.avg.total__gte=10.116666')).toEqual(['paid']);
    expect(await statuses('having.avg.total__gt=10.116667')).toEqual([]);
    expect(await statuses('having.avg.total=-1')).toEqual(['Draft']);
    expect(await statuses('having.avg.total__lt=-0.99')).toEqual(['Draft']);
    expect(await statuses('having.max.status__gt=a')).toEqual(['draft', 'paid']);
    expect(await statuses('having.min.status=draft')).toEqual(['draft']);
    expect(await statuses('having.min.total__lt=0')).toEqual(['Draft']);
    expect(await statuses('having.max.weight__gte=1.5')).toEqual(['paid']);
    expect(await statuses('having.count=3')).toEqual(['paid']);
    expect(await statuses('having.sum.views__gt=9007199254740992.5')).toEqual(['paid']);
    expect(await statuses('ordering=-sum.total')).toEqual(['draft', 'paid', 'Draft']);
  });

  test.each([
    ['aggregate=total', 'aggregate'],
    ['aggregate=count&group=nothing', 'group'],
    ['aggregate=count&group=status:month', 'group'],
    ['aggregate=count&tz=Mars/Base', 'tz'],
    ['aggregate=count&tz=%27;DROP+TABLE+agg_order', 'tz'],
    ['aggregate=count&having.count__gte=many', 'having.count__gte'],
    ['aggregate=count&having.count__contains=1', 'having.count__contains'],
    ['aggregate=count&having.avg.total__gte=1.1234567', 'having.avg.total__gte'],
    ['aggregate=count&ordering=avg.total', 'ordering'],
    ['aggregate=count&ordering=status', 'ordering'],
    ['group=status', 'group'],
    ['having.count__gte=1', 'having.count__gte'],
    ['aggregate=count&status__foo=1', 'status__foo'],
  ])('are 400 for %s, under the parameter', async (query, parameter) => {
    const { status, json } = await started.client.get(`${ORDERS}?${query}`, as('ann'));
    expect([status, Object.keys(json as object)]).toEqual([400, [parameter]]);
  });

  test('are tables in other formats', async () => {
    const { text } = await started.client.get(
      `${ORDERS}?aggregate=count,sum.total&group=status&format=csv`,
      as('ann'),
    );
    expect(text).toBe('status,count,sum.total\r\nDraft,1,-1.00\r\ndraft,1,\r\npaid,3,30.35\r\n');
    const empty = await started.client.get(
      `${ORDERS}?aggregate=count,sum.total&group=status&status=x&format=csv`,
      as('ann'),
    );
    expect(empty.text).toBe('status,count,sum.total\r\n');
  });

  test('are read by QUERY, with the rights of aggregates', async () => {
    const query = (raw: string, who: string): ReturnType<StartedApp['client']['send']> =>
      started.client.send('QUERY', ORDERS, {
        raw,
        headers: { ...as(who).headers, 'content-type': 'application/x-www-form-urlencoded' },
      });
    const { json } = await query('aggregate=count&group=status&status=paid', 'carl');
    expect(json).toEqual([{ status: 'paid', count: 3 }]);
    expect((await query('status=paid', 'carl')).status).toBe(403);
  });

  test('answer HEAD with the headers of GET', async () => {
    const { status, text } = await started.client.send('HEAD', `${ORDERS}?aggregate=count`, as('ann'));
    expect([status, text]).toEqual([200, '']);
  });
});
