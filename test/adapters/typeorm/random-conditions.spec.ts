// @tags db nest
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { and, not, or, Restify, where } from 'nestjs-restify';
import type { RowFilter } from 'nestjs-restify';
import {
  ChildEntity,
  Column,
  DeleteDateColumn,
  Entity,
  Index,
  JoinColumn,
  JoinTable,
  ManyToMany,
  ManyToOne,
  OneToMany,
  PrimaryColumn,
  TableInheritance,
  VirtualColumn,
} from 'typeorm';
import type { Relation } from 'typeorm';
import { resolveRowFilter } from '../../../src/core/query/resolve-row-filter.js';
import { Random } from '../../oracle/random.js';
import { connectAdapter } from '../../support/connect-adapter.js';
import type { ConnectedAdapter } from '../../support/connect-adapter.js';
import type { TestDatabase } from '../../support/databases.js';
import { onEachDatabase } from '../../support/each-database.js';
import { ModelRows } from '../../support/model-rows.js';

const SEED = Number(process.env.RESTIFY_CONDITIONS_SEED ?? 1);
const COUNT = Number(process.env.RESTIFY_CONDITIONS_COUNT ?? 200);

const app = 'conditions';

@Restify({ app })
@Entity('conditions_region')
class Region {
  @PrimaryColumn({ type: 'varchar', length: 10 }) code: string;
  @Index() @Column({ type: 'varchar', length: 10, nullable: true }) name: string | null;
}

@Restify({ app })
@Entity('conditions_party')
@TableInheritance({ column: { type: 'varchar', name: 'type', length: 10 } })
class Party {
  @PrimaryColumn() id: number;
  @Column({ type: 'int', nullable: true }) rank: number | null;
}

@Restify({ app })
@ChildEntity('firm')
class Firm extends Party {
  @Column({ type: 'varchar', length: 10, nullable: true }) tax: string | null;
}

@Restify({ app, orderingFields: ['name', 'born', 'region.name'], orderingNulls: true })
@Entity('conditions_customer')
class Customer {
  @PrimaryColumn() id: number;
  @Index() @Column({ type: 'varchar', length: 10, nullable: true }) name: string | null;
  @Column({ type: 'date', nullable: true }) born: string | null;
  @ManyToOne(() => Region, { nullable: true }) region: Relation<Region> | null;
  @OneToMany(() => Order, (order) => order.customer) orders: Relation<Order[]>;
  @DeleteDateColumn() deleted: Date | null;
  @VirtualColumn({
    type: 'int',
    query: (alias) => `SELECT COUNT(*) FROM conditions_line l WHERE l.amount = ${alias}.id`,
  })
  lines: number;
}

@Restify({ app })
@Entity('conditions_box')
class Box {
  @PrimaryColumn({ type: 'varchar', length: 10 }) room: string;
  @PrimaryColumn() place: number;
  @Index() @Column({ type: 'int', nullable: true }) size: number | null;
  @OneToMany(() => Order, (order) => order.box) orders: Relation<Order[]>;
}

@Restify({
  app,
  orderingFields: [
    'note',
    'made',
    'customer.name',
    'customer.lines',
    'customer.region.name',
    'firm.tax',
    'box.size',
  ],
  orderingNulls: true,
})
@Entity('conditions_order')
class Order {
  @PrimaryColumn() id: number;
  @Column({ type: 'varchar', length: 10, nullable: true }) note: string | null;
  @Column({ type: Date, precision: 3, nullable: true }) made: Date | null;
  @ManyToOne(() => Customer, (customer) => customer.orders, { nullable: true })
  customer: Relation<Customer> | null;
  @ManyToOne(() => Firm, { nullable: true }) firm: Relation<Firm> | null;
  @ManyToOne(() => Box, (box) => box.orders, { nullable: true })
  @JoinColumn([
    { name: 'box_room', referencedColumnName: 'room' },
    { name: 'box_place', referencedColumnName: 'place' },
  ])
  box: Relation<Box> | null;
  @OneToMany(() => Line, (line) => line.order) lines: Relation<Line[]>;
  @ManyToMany(() => Item, (item) => item.orders) @JoinTable({ name: 'conditions_pair' }) items: Relation<
    Item[]
  >;
}

@Restify({ app, orderingFields: ['name', 'maker.name'], orderingNulls: true })
@Entity('conditions_item')
class Item {
  @PrimaryColumn({ type: 'varchar', length: 10 }) code: string;
  @Index() @Column({ type: 'varchar', length: 10 }) name: string;
  @ManyToOne(() => Region, { nullable: false }) maker: Relation<Region>;
  @ManyToMany(() => Order, (order) => order.items) orders: Relation<Order[]>;
  @DeleteDateColumn() deleted: Date | null;
}

@Restify({
  app,
  orderingFields: ['amount', 'item.name', 'order.customer.name', 'from.name'],
  orderingNulls: true,
})
@Entity('conditions_line')
class Line {
  @PrimaryColumn() id: number;
  @Index() @Column() amount: number;
  @Column({ type: 'varchar', length: 10, nullable: true }) note: string | null;
  @ManyToOne(() => Order, (order) => order.lines, { nullable: true }) order: Relation<Order> | null;
  @ManyToOne(() => Item, { nullable: false }) item: Relation<Item>;
  @ManyToOne(() => Region, { nullable: false }) from: Relation<Region>;
}

type Value = string | number | null;
type Kind = 'text' | 'number' | 'date' | 'instant';
type Stored = Record<string, unknown>;

interface Model {
  readonly entity: new () => object;
  readonly key: readonly string[];
  readonly columns: Readonly<Record<string, Kind>>;
  readonly one: Readonly<Record<string, string>>;
  /** The model, and the relation of it that leads back; without one: by the pairs. */
  readonly many: Readonly<Record<string, readonly [model: string, back?: string]>>;
  readonly orders: readonly string[];
}

const MODELS: Readonly<Record<string, Model>> = {
  region: {
    entity: Region,
    key: ['code'],
    columns: { code: 'text', name: 'text' },
    one: {},
    many: {},
    orders: [],
  },
  firm: {
    entity: Firm,
    key: ['id'],
    columns: { id: 'number', rank: 'number', tax: 'text' },
    one: {},
    many: {},
    orders: [],
  },
  customer: {
    entity: Customer,
    key: ['id'],
    columns: { id: 'number', name: 'text', born: 'date', lines: 'number' },
    one: { region: 'region' },
    many: { orders: ['order', 'customer'] },
    orders: ['name', 'born', 'region.name'],
  },
  box: {
    entity: Box,
    key: ['room', 'place'],
    columns: { room: 'text', place: 'number', size: 'number' },
    one: {},
    many: { orders: ['order', 'box'] },
    orders: [],
  },
  order: {
    entity: Order,
    key: ['id'],
    columns: { id: 'number', note: 'text', made: 'instant' },
    one: { customer: 'customer', firm: 'firm', box: 'box' },
    many: { lines: ['line', 'order'], items: ['item'] },
    orders: [
      'note',
      'made',
      'customer.name',
      'customer.lines',
      'customer.region.name',
      'firm.tax',
      'box.size',
    ],
  },
  item: {
    entity: Item,
    key: ['code'],
    columns: { code: 'text', name: 'text' },
    one: { maker: 'region' },
    many: { orders: ['order'] },
    orders: ['name', 'maker.name'],
  },
  line: {
    entity: Line,
    key: ['id'],
    columns: { id: 'number', amount: 'number', note: 'text' },
    one: { order: 'order', item: 'item', from: 'region' },
    many: {},
    orders: ['amount', 'item.name', 'order.customer.name', 'from.name'],
  },
};

function modelOf(name: string): Model {
  const model = MODELS[name];
  if (!model) throw new Error(`No model ${name}`);
  return model;
}

const TEXTS = ['a', 'b', 'ab', 'c'];
const DATES = ['2020-01-01', '2021-02-03', '2022-05-06'];
const INSTANTS = ['2020-01-01T00:00:00.000Z', '2020-01-01T00:00:00.500Z', '2021-06-01T10:00:00.000Z'];

function valueOf(kind: Kind, random: Random): string | number {
  switch (kind) {
    case 'text':
      return random.pick(TEXTS);
    case 'number':
      return 1 + random.below(5);
    case 'date':
      return random.pick(DATES);
    case 'instant':
      return random.pick(INSTANTS);
  }
}

/** The rows as they are stored: to-one relations are keys. */
class Stock {
  readonly rows: Readonly<Record<string, Stored[]>> = {
    region: [],
    firm: [],
    customer: [],
    box: [],
    order: [],
    item: [],
    line: [],
  };
  readonly pairs: (readonly [order: number, item: string])[] = [];

  constructor(random: Random) {
    const maybe = <Any>(value: Any): Any | null => (random.chance(0.3) ? null : value);
    const text = (): Value => maybe(random.pick(TEXTS));
    const add = (model: string, row: Stored): void => void this.of(model).push(row);
    for (const code of ['r1', 'r2', 'r3']) add('region', { code, name: text() });
    // A party that is no firm, to which orders refer.
    for (const id of [1, 2, 3, 4])
      add('firm', { id, rank: maybe(random.below(5)), tax: text(), isGone: id === 3 });
    for (const id of [1, 2, 3, 4, 5])
      add('customer', {
        id,
        name: text(),
        born: maybe(random.pick(DATES)),
        region: maybe(this.keyIn('region', random)),
        isGone: id === 3,
      });
    for (const [room, place] of [
      ['a', 1],
      ['a', 2],
      ['b', 1],
    ] as const)
      add('box', { room, place, size: maybe(1 + random.below(3)) });
    for (let id = 1; id <= 12; id++)
      add('order', {
        id,
        note: text(),
        made: maybe(random.pick(INSTANTS)),
        customer: maybe(this.keyIn('customer', random)),
        firm: maybe(this.keyIn('firm', random)),
        box: maybe(this.keyIn('box', random)),
      });
    for (const code of ['i1', 'i2', 'i3', 'i4'])
      add('item', {
        code,
        name: random.pick(TEXTS),
        maker: this.keyIn('region', random),
        isGone: code === 'i3',
      });
    for (let id = 1; id <= 16; id++)
      add('line', {
        id,
        amount: 1 + random.below(5),
        note: text(),
        order: maybe(this.keyIn('order', random)),
        item: this.keyIn('item', random),
        from: this.keyIn('region', random),
      });
    for (const customer of this.of('customer'))
      customer.lines = this.of('line').filter(({ amount }) => amount === customer.id).length;
    for (const { id } of this.of('order'))
      for (const { code } of this.of('item'))
        if (random.chance(0.3)) this.pairs.push([id as number, code as string]);
  }

  of(model: string): Stored[] {
    return this.rows[model] ?? [];
  }

  shown(model: string): readonly Stored[] {
    return this.of(model).filter(({ isGone }) => isGone !== true);
  }

  target(row: Stored | null, relation: string, model: string): Stored | null {
    const key = row?.[relation] ?? null;
    return this.shown(model).find((each) => key !== null && String(key) === keyOf(each, model)) ?? null;
  }

  targets(
    row: Stored,
    [model, back]: readonly [model: string, back?: string],
    from: string,
  ): readonly Stored[] {
    return this.shown(model).filter((each) =>
      back === undefined
        ? this.pairs.some(([order, item]) =>
            from === 'order'
              ? order === row.id && item === each.code
              : order === each.id && item === row.code,
          )
        : each[back] !== null && String(each[back]) === keyOf(row, from),
    );
  }

  private keyIn(model: string, random: Random): unknown {
    const row = random.pick(this.of(model));
    const { key } = modelOf(model);
    return key.length === 1 ? row[key[0] ?? ''] : key.map((name) => row[name]);
  }
}

function keysOf(rows: readonly Readonly<Stored>[], model: string): string[] {
  return rows.map((row) => keyOf(row, model));
}

function keyOf(row: Readonly<Stored>, model: string): string {
  return modelOf(model)
    .key.map((name) => String(row[name]))
    .join();
}

const ORDERED = ['exact', 'ne', 'in', 'isnull', 'gt', 'gte', 'lt', 'lte', 'range'] as const;
const TEXTUAL = ['contains', 'icontains', 'startswith', 'endswith', 'iexact'] as const;

/** A filter by a path of at most four steps. */
function comparisonOf(model: string, random: Random, steps: readonly string[] = []): RowFilter {
  const { columns, one, many } = modelOf(model);
  const relations = [
    ...Object.entries(one),
    ...Object.entries(many).map(([name, [to]]) => [name, to] as const),
  ];
  if (steps.length < 3 && relations.length > 0 && random.chance(0.65)) {
    const [name, to] = random.pick(relations);
    const [first, ...others] = modelOf(to).key;
    return others.length === 0 && random.chance(0.2)
      ? compared([...steps, name], modelOf(to).columns[first ?? ''] ?? 'text', random, [
          'exact',
          'ne',
          'in',
          'isnull',
        ])
      : comparisonOf(to, random, [...steps, name]);
  }
  const [name, kind] = random.pick(Object.entries(columns));
  return compared([...steps, name], kind, random, kind === 'text' ? [...ORDERED, ...TEXTUAL] : ORDERED);
}

type Lookup = (typeof ORDERED)[number] | (typeof TEXTUAL)[number];

function compared(
  steps: readonly string[],
  kind: Kind,
  random: Random,
  lookups: readonly Lookup[],
): RowFilter {
  const value = (): string | number => valueOf(kind, random);
  const path = steps.join('.');
  const lookup = random.pick([...lookups, 'exact', 'exact', 'in', 'in', 'ne', 'ne', 'isnull'] as const);
  switch (lookup) {
    case 'isnull':
      return where(path, lookup, random.chance(0.5));
    case 'in':
      return where(path, lookup, Array.from({ length: random.below(4) }, value));
    case 'range':
      return where(path, lookup, [value(), value()]);
    case 'exact':
    case 'ne':
      return where(path, lookup, random.chance(0.2) ? null : value());
    default:
      return where(path, lookup, value());
  }
}

function filterOf(model: string, random: Random, depth = 0): RowFilter {
  if (depth === 3 || random.chance(0.35)) return comparisonOf(model, random);
  const inner = (): RowFilter => filterOf(model, random, depth + 1);
  if (random.chance(0.25)) return not(inner());
  const several = Array.from({ length: 1 + random.below(3) }, inner);
  return random.chance(0.6) ? and(...several) : or(...several);
}

function matches(filter: RowFilter, row: Stored, model: string, stock: Stock): boolean {
  switch (filter.kind) {
    case 'and':
      return filter.filters.every((each) => matches(each, row, model, stock));
    case 'or':
      return filter.filters.some((each) => matches(each, row, model, stock));
    case 'not':
      return !matches(filter.filter, row, model, stock);
    case 'where':
      return some(row, model, filter.path.split('.'), stock, (own) =>
        compare(own, filter.lookup as Lookup, filter.value),
      );
  }
}

/** Whether one of the values at the end of the path fits; a missing row has null. */
function some(
  row: Stored | null,
  model: string,
  [step = '', ...rest]: readonly string[],
  stock: Stock,
  fits: (own: Value) => boolean,
): boolean {
  const { one, many } = modelOf(model);
  const related = many[step];
  if (related) {
    const [to] = related;
    return (
      row !== null &&
      stock
        .targets(row, related, model)
        .some((each) => some(each, to, rest.length === 0 ? modelOf(to).key : rest, stock, fits))
    );
  }
  const to = one[step];
  if (to === undefined || rest.length === 0) return fits((row?.[step] ?? null) as Value);
  const part = rest.length === 1 ? modelOf(to).key.indexOf(rest[0] ?? '') : -1;
  // The column of the foreign key holds it, even that of a row that is no longer shown.
  if (part >= 0) return fits(([row?.[step] ?? null].flat()[part] ?? null) as Value);
  return some(stock.target(row, step, to), to, rest, stock, fits);
}

function compare(own: Value, lookup: Lookup, value: unknown): boolean {
  if (lookup === 'exact') return own === value;
  if (lookup === 'ne') return own !== value;
  if (lookup === 'isnull') return (own === null) === value;
  return own !== null && value !== null && COMPARISONS[lookup](own, value as never);
}

/** Comparisons that no null satisfies. Texts are of small letters. */
const COMPARISONS: Readonly<
  Record<
    Exclude<Lookup, 'exact' | 'ne' | 'isnull'>,
    (own: string | number, value: string & readonly (string | number)[]) => boolean
  >
> = {
  in: (own, values: readonly (string | number)[]) => values.includes(own),
  range: (own, [low = '', high = '']: readonly (string | number)[]) => own >= low && own <= high,
  gt: (own, value) => own > value,
  gte: (own, value) => own >= value,
  lt: (own, value) => own < value,
  lte: (own, value) => own <= value,
  contains: (own, value) => String(own).includes(value),
  icontains: (own, value) => String(own).includes(value),
  startswith: (own, value) => String(own).startsWith(value),
  endswith: (own, value) => String(own).endsWith(value),
  iexact: (own, value) => own === value,
};

interface Term {
  readonly path: string;
  readonly descending: boolean;
  readonly nulls: 'first' | 'last' | undefined;
}

function orderOf(model: string, random: Random): readonly Term[] {
  return random
    .shuffled(modelOf(model).orders)
    .slice(0, random.below(3))
    .map((path) => ({
      path,
      descending: random.chance(0.5),
      nulls: random.pick([undefined, undefined, 'first', 'last']),
    }));
}

function textOf(order: readonly Term[]): string {
  return order
    .map(
      ({ path, descending, nulls }) =>
        `${descending ? '-' : ''}${path.replaceAll('.', '__')}${nulls === undefined ? '' : `.nulls${nulls}`}`,
    )
    .join(',');
}

function inOrder(
  rows: readonly Stored[],
  {
    model,
    order,
    stock,
    nullsFirst,
  }: { model: string; order: readonly Term[]; stock: Stock; nullsFirst: boolean },
): readonly string[] {
  const at = (row: Stored, path: string): Value => {
    let found: Value = null;
    some(row, model, path.split('.'), stock, (own) => ((found = own), true));
    return found;
  };
  const descending = order.at(-1)?.descending ?? false;
  const terms = [...order, ...modelOf(model).key.map((path) => ({ path, descending, nulls: undefined }))];
  const sorted = [...rows].sort((one, other) => {
    for (const term of terms) {
      const [a, b] = [at(one, term.path), at(other, term.path)];
      if (a === b) continue;
      const first = term.nulls === undefined ? nullsFirst !== term.descending : term.nulls === 'first';
      if (a === null || b === null) return (a === null) === first ? -1 : 1;
      return a < b !== term.descending ? -1 : 1;
    }
    return 0;
  });
  return keysOf(sorted, model);
}

async function insert({ dataSource }: ConnectedAdapter, stock: Stock, { name }: TestDatabase): Promise<void> {
  for (const [model, { entity, key, one }] of Object.entries(MODELS))
    if (key.length > 0)
      await dataSource.getRepository(entity).insert(
        stock.of(model).map(({ isGone, lines: _, ...row }) => ({
          ...row,
          ...(row.made === undefined || row.made === null ? {} : { made: new Date(row.made as string) }),
          ...Object.fromEntries(
            Object.entries(one).map(([relation, to]) => [relation, keyObject(row[relation], to)]),
          ),
          ...(isGone === true && (model === 'customer' || model === 'item') ? { deleted: new Date() } : {}),
        })),
      );
  for (const [order, item] of stock.pairs)
    await dataSource.createQueryBuilder().relation(Order, 'items').of(order).add(item);
  const type = name === 'mariadb' ? '`type`' : '"type"';
  // Shown as null. In an order, such rows and missing ones are beside each other, and no ties.
  if (name === 'mariadb')
    for (const [table, column] of [
      ['customer', 'born'],
      ['order', 'made'],
    ])
      await dataSource.query(
        `SET STATEMENT sql_mode = '' FOR UPDATE conditions_${table} SET ${column} = '0000-00-00' WHERE ${column} IS NULL`,
      );
  await dataSource.query(`UPDATE conditions_party SET ${type} = 'person' WHERE id = 3`);
}

function keyObject(key: unknown, model: string): object | null {
  if (key === null || key === undefined) return null;
  return Object.fromEntries(modelOf(model).key.map((name, at) => [name, Array.isArray(key) ? key[at] : key]));
}

const ROOTS = ['order', 'line', 'item', 'customer', 'box'];

onEachDatabase('random conditions over relations', (database) => {
  const random = new Random(SEED);
  const stock = new Stock(random);
  let connected: ConnectedAdapter;
  beforeAll(async () => {
    connected = await connectAdapter({
      entities: [Party, ...Object.values(MODELS).map(({ entity }) => entity)],
      database,
    });
    await insert(connected, stock, database);
  });
  afterAll(() => connected.close());

  /** The keys of all pages, forward from the first row or backward from the last one. */
  const keysByPages = async (
    list: {
      readonly rows: ModelRows;
      readonly parameters: Readonly<Record<string, string>>;
      readonly model: string;
    },
    {
      backward,
      limit,
      total,
    }: { readonly backward: boolean; readonly limit: number; readonly total: number },
  ): Promise<readonly string[]> => {
    const { rows, parameters, model } = list;
    const end = backward && total > 0 ? await rows.page(parameters, { limit: total }) : undefined;
    const keys = end ? keysOf(end.rows.slice(-1), model) : [];
    let from = end && { values: end.last, backward, inclusive: false };
    for (;;) {
      const page = await rows.page(parameters, { limit, from });
      keys.splice(backward ? 0 : keys.length, 0, ...keysOf(page.rows, model));
      if (!page.more) return keys;
      from = { values: page.last, backward, inclusive: false };
    }
  };

  const compareTrial = async (trial: number): Promise<void> => {
    const model = random.pick(ROOTS);
    const resource = connected.resource(`conditions.${model}`);
    const filter = filterOf(model, random);
    const order = orderOf(model, random);
    const parameters: Readonly<Record<string, string>> =
      order.length === 0 ? {} : { ordering: textOf(order) };
    const expected = inOrder(
      stock.shown(model).filter((row) => matches(filter, row, model, stock)),
      { model, order, stock, nullsFirst: database.name !== 'postgres' },
    );
    const rows = new ModelRows(connected.adapter, resource, resolveRowFilter(filter, resource));
    const pages = {
      backward: expected.length > 0 && random.chance(0.5),
      limit: 1 + random.below(4),
      total: expected.length,
    };
    const about = { trial, model, filter: JSON.stringify(filter), ...parameters, ...pages };
    expect({
      ...about,
      listed: keysOf(await rows.list(parameters), model),
      paged: await keysByPages({ rows, parameters, model }, pages),
    }).toEqual({ ...about, listed: expected, paged: expected });
  };

  test(`find the rows that they find in memory, in their order and by pages (seed ${SEED})`, async () => {
    for (let trial = 0; trial < COUNT; trial++) await compareTrial(trial);
  });
});
