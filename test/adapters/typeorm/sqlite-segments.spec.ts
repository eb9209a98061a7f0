// @tags nest
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { Restify } from 'nestjs-restify';
import {
  Column,
  DeleteDateColumn,
  Entity,
  Index,
  JoinColumn,
  ManyToOne,
  PrimaryColumn,
  PrimaryGeneratedColumn,
} from 'typeorm';
import type { Relation } from 'typeorm';
import type { CursorPosition } from '../../../src/core/contracts/pagination.js';
import { connectAdapter } from '../../support/connect-adapter.js';
import type { ConnectedAdapter } from '../../support/connect-adapter.js';
import { ModelRows } from '../../support/model-rows.js';
import type { Shown } from '../../support/model-rows.js';

@Restify('segments')
@Entity('segments_region')
class Region {
  @PrimaryColumn() id: number;
  @Index() @Column({ type: 'varchar', nullable: true }) name: string | null;
}

@Restify('segments')
@Entity('segments_shop')
class Shop {
  @PrimaryColumn() id: number;
  @Index() @Column({ type: 'varchar', collation: 'NOCASE' }) name: string;
  @ManyToOne(() => Region, { nullable: true })
  @JoinColumn({ name: 'region_id' })
  region: Relation<Region> | null;
  @DeleteDateColumn() deleted: Date | null;
}

const OPTIONS = {
  app: 'segments',
  orderingFields: ['state', 'label', 'rank', 'big', 'shop.name', 'shop.region.name'],
  orderingNulls: true,
  filterFields: {
    state: ['exact'],
    label: ['exact'],
    big: ['gte'],
    rank: ['isnull', 'in'],
    'shop.name': ['exact'],
    'shop.region.name': ['ne'],
  },
  filterGroups: true,
} as const;

abstract class Sale {
  @Index() @Column() state: number;
  @Index() @Column({ type: 'varchar', collation: 'NOCASE' }) label: string;
  @Index() @Column({ type: 'int', nullable: true }) rank: number | null;
  @Column({ type: 'bigint', nullable: true }) big: string | null;
  @ManyToOne(() => Shop, { nullable: true }) @JoinColumn({ name: 'shop_id' }) shop: Relation<Shop> | null;
  @DeleteDateColumn() deleted: Date | null;
}

@Restify(OPTIONS)
@Entity('segments_numbered')
@Index(['state', 'rank'])
class NumberedSale extends Sale {
  @PrimaryGeneratedColumn() id: number;
}

@Restify(OPTIONS)
@Entity('segments_named')
@Index(['state', 'code'])
class NamedSale extends Sale {
  @PrimaryColumn({ type: 'varchar', collation: 'NOCASE' }) code: string;
}

@Restify({ ...OPTIONS, orderingFields: [...OPTIONS.orderingFields, 'price'] })
@Entity('segments_paired')
class PairedSale extends Sale {
  /** Its rows are not written as JSON by the database. */
  @Column({ type: 'decimal', precision: 6, scale: 2 }) price: string;
  @PrimaryColumn() part: number;
  @PrimaryColumn({ type: 'varchar' }) code: string;
}

const LONG = 1200;
/** Rows of a page of a list. */
const SLICE = 1000;

/** Many equal values, in an order of their own in each column. */
function saleAt(at: number): Omit<Sale, 'shop'> & { readonly shop: { readonly id: number } | null } {
  return {
    state: at % 7 < 5 ? 1 : at % 3,
    label: ['b', 'A', 'a', 'B', 'C'][(at * 3) % 5] ?? '',
    rank: [null, 2, 1, null, 1][((at * 7) % 11) % 5] ?? null,
    big: at % 4 === 0 ? null : String(9007199254740990n + BigInt(at % 3)),
    // One does not exist, one is deleted, one has no region.
    shop: at % 6 === 5 ? null : { id: 1 + (at % 5) },
    deleted: at % 50 === 49 ? new Date() : null,
  };
}

/** The SQL of the terms by hand. */
const COLUMNS: Readonly<Record<string, string>> = {
  state: 's.state',
  label: 's.label',
  rank: 's.rank',
  big: 's.big',
  price: 's.price',
  shop__name: 'p.name',
  shop__region__name: 'r.name',
};

function orderByHand(ordering: string, key: readonly string[]): string {
  const terms = ordering.split(',').map((term) => {
    const [, minus, name = '', nulls] = /^(-?)(\w+)(?:\.nulls(\w+))?$/.exec(term) ?? [];
    return `${COLUMNS[name] ?? ''}${minus === '-' ? ' DESC' : ''}${nulls === undefined ? '' : ` NULLS ${nulls}`}`;
  });
  const direction = ordering.split(',').at(-1)?.startsWith('-') === true ? ' DESC' : '';
  return [...terms, ...key.map((column) => `s.${column}${direction}`)].join(', ');
}

const ORDERS = [
  'state',
  '-state',
  'label',
  '-label',
  'rank',
  '-rank',
  'rank.nullslast',
  '-rank.nullsfirst',
  'big',
  '-big.nullsfirst',
  'price',
  'state,rank',
  'state,-rank',
  '-state,rank.nullslast',
  'rank.nullslast,-label',
  'state,label,-rank',
  'shop__name',
  '-shop__name',
  'shop__name.nullslast',
  '-shop__name.nullsfirst',
  'shop__region__name',
  '-shop__region__name,state',
  'state,-shop__name',
  'shop__name,shop__region__name,-big',
];

const FILTERS: readonly (readonly [Readonly<Record<string, string>>, string])[] = [
  [{}, '1 = 1'],
  [{ state: '1' }, 's.state = 1'],
  [{ label: 'a' }, `s.label = 'a' COLLATE BINARY`],
  [{ big__gte: '9007199254740991' }, 's.big >= 9007199254740991'],
  [{ rank__in: '1,2' }, 's.rank IN (1, 2)'],
  [{ shop__name: 'north' }, `p.name = 'north' COLLATE BINARY`],
  [{ filter: 'or(state=0,label=b)' }, `(s.state = 0 OR s.label = 'b' COLLATE BINARY)`],
  [
    { filter: 'not(shop__name=north)', state: '1' },
    `s.state = 1 AND (p.name = 'north' COLLATE BINARY) IS NOT TRUE`,
  ],
];

interface Table {
  readonly name: string;
  readonly key: readonly string[];
  readonly model: ModelRows;
}

let connected: ConnectedAdapter;
const tables: Table[] = [];

beforeAll(async () => {
  connected = await connectAdapter({ entities: [Region, Shop, NumberedSale, NamedSale, PairedSale] });
  const { dataSource, adapter } = connected;
  await dataSource.query('PRAGMA foreign_keys = OFF');
  await dataSource.getRepository(Region).insert([
    { id: 1, name: 'x' },
    { id: 2, name: null },
    { id: 3, name: 'X' },
  ]);
  await dataSource.getRepository(Shop).insert([
    { id: 1, name: 'north', region: { id: 1 } },
    { id: 2, name: 'North', region: { id: 2 } },
    { id: 3, name: 'south', region: { id: 3 } },
    { id: 4, name: 'gone', region: { id: 1 }, deleted: new Date() },
  ]);
  const sales = Array.from({ length: LONG }, (_, at) => saleAt(at));
  // Keys in another order than the rows, which NOCASE does not distinguish by their case.
  const code = (at: number): string =>
    `${at % 2 === 0 ? 'k' : 'K'}${String((at * 7919) % LONG).padStart(4, '0')}`;
  for (let start = 0; start < LONG; start += 500) {
    const part = sales.slice(start, start + 500);
    await dataSource.getRepository(NumberedSale).insert(part);
    await dataSource
      .getRepository(NamedSale)
      .insert(part.map((sale, at) => ({ ...sale, code: code(start + at) })));
    await dataSource.getRepository(PairedSale).insert(
      part.map((sale, at) => ({
        ...sale,
        part: (start + at) % 4,
        code: code(start + at),
        price: `${(at * 11) % 4}.5${at % 2}`,
      })),
    );
  }
  for (const [name, key] of [
    ['numbered', ['id']],
    ['named', ['code']],
    ['paired', ['part', 'code']],
  ] as const)
    tables.push({
      name,
      key,
      model: new ModelRows(adapter, connected.resource(`segments.${name}sale`)),
    });
}, 60_000);
afterAll(() => connected.close());

/** Not all can be ordered by a price. */
function tablesIn(ordering: string): readonly Table[] {
  return ordering === 'price' ? tables.slice(-1) : tables;
}

const keysOf = (rows: readonly Shown[], key: readonly string[]): readonly string[] =>
  rows.map((row) => key.map((name) => String(row[name])).join('/'));

const keysByHand = async (
  { name, key }: Table,
  { ordering, condition }: { readonly ordering: string; readonly condition: string },
): Promise<readonly string[]> => {
  const rows = await connected.dataSource.query<Shown[]>(
    `SELECT s.* FROM segments_${name} s LEFT JOIN segments_shop p ON p.id = s.shop_id AND p.deleted IS NULL
     LEFT JOIN segments_region r ON r.id = p.region_id WHERE s.deleted IS NULL AND ${condition} ORDER BY ${orderByHand(ordering, key)}`,
  );
  return keysOf(rows, key);
};

test.each(ORDERS)(
  'a list in the order %s, which is read in pages, has the rows of one statement',
  async (ordering) => {
    for (const table of tablesIn(ordering))
      for (const [filter, condition] of FILTERS) {
        const rows = await table.model.list({ ...filter, ordering });
        const found = keysOf(rows, table.key);
        expect([table.name, filter, found]).toEqual([
          table.name,
          filter,
          await keysByHand(table, { ordering, condition }),
        ]);
      }
  },
);

/** The keys of all pages from a position on, each page from the end of the one before. */
const walk = async (
  { model, key }: Table,
  parameters: Readonly<Record<string, string>>,
  start: CursorPosition,
): Promise<readonly string[]> => {
  const found: string[] = [];
  for (let from = start; ;) {
    const page = await model.page(parameters, { limit: 120, from });
    found.splice(start.backward ? 0 : found.length, 0, ...keysOf(page.rows, key));
    if (!page.more) return found;
    from = { ...start, values: page.last, inclusive: false };
  }
};

test.each(ORDERS)('pages in the order %s, forward and backward, are the list', async (ordering) => {
  for (const table of tablesIn(ordering)) {
    const all = await keysByHand(table, { ordering, condition: '1 = 1' });
    const { last } = await table.model.page({ ordering }, { limit: SLICE });
    for (const backward of [false, true])
      expect([
        table.name,
        backward,
        await walk(table, { ordering }, { values: last, backward, inclusive: true }),
      ]).toEqual([table.name, backward, backward ? all.slice(0, SLICE) : all.slice(SLICE - 1)]);
  }
});

test.each(['rank', '-rank', 'rank.nullslast,-label'])(
  'pages in the order %s have the values of their own filter',
  async (ordering) => {
    for (const table of tables)
      for (const [state, label] of [
        ['1', 'a'],
        ['0', 'B'],
        ['2', 'a'],
      ] as const) {
        const filter = { ordering, state, label };
        const condition = `s.state = ${state} AND s.label = '${label}' COLLATE BINARY`;
        const all = await keysByHand(table, { ordering, condition });
        const { last } = await table.model.page(filter, { limit: 5 });
        const found = await walk(table, filter, { values: last, backward: false, inclusive: false });
        expect([table.name, filter, found]).toEqual([table.name, filter, all.slice(5)]);
      }
  },
);

test('rows that are inserted and deleted while a list is read neither repeat nor skip others', async () => {
  const [table] = tables;
  if (!table) throw new Error('No table');
  const { dataSource } = connected;
  const sales = dataSource.getRepository(NumberedSale);
  const kept = await keysByHand(table, { ordering: 'state', condition: 's.id % 10 <> 0' });
  const found: string[] = [];
  for await (const rows of table.model.pages({ ordering: 'state' })) {
    found.push(...keysOf(rows, table.key));
    // Before and behind the position, among the rows that are equal to it.
    await sales.insert([saleAt(0), { ...saleAt(0), id: -1 - found.length }]);
    await sales
      .createQueryBuilder()
      .delete()
      .where('id > 0 AND id <= :LONG AND id % 10 = 0', { LONG })
      .execute();
  }
  expect(new Set(found).size).toBe(found.length);
  expect(found.filter((id) => Number(id) > 0 && Number(id) <= LONG && Number(id) % 10 !== 0)).toEqual(kept);
});
