// @tags db nest
import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { allow, CursorPagination, LimitOffsetPagination, Restify, where } from 'nestjs-restify';
import type { Grant, Permission } from 'nestjs-restify';
import {
  Column,
  Entity,
  Index,
  JoinColumn,
  JoinTable,
  ManyToMany,
  ManyToOne,
  OneToMany,
  PrimaryColumn,
} from 'typeorm';
import type { Relation } from 'typeorm';
import type { TestDatabase } from '../support/databases.js';
import { onEachDatabase } from '../support/each-database.js';
import { ReadCosts, ReadLog } from '../support/read-costs.js';
import { startApp } from '../support/start-app.js';
import type { StartedApp } from '../support/start-app.js';

const SIZES = [10_000, 100_000] as const;
const PAGE = 20;
/** The customers of the small tenant are the last ten; nearly all orders are those of the other one. */
const CUSTOMERS = 1000;
const [LARGE, SMALL] = [1, 2];

let tenant = LARGE;

class OwnOrders implements Permission {
  decide(): Grant {
    return allow({ rows: where('customer.tenant', tenant) });
  }
}

@Restify({ app: 'growth', pagination: new LimitOffsetPagination({ pageSize: PAGE, count: false }) })
@Entity('growth_customer')
class Customer {
  @PrimaryColumn() id: number;
  @Index() @Column() tenant: number;
  @Index() @Column({ type: 'varchar', length: 20 }) name: string;
  @OneToMany(() => Order, (order) => order.customer) orders: Relation<Order[]>;
}

@Restify({
  app: 'growth',
  filterFields: {
    state: ['exact'],
    customer: ['exact'],
    'customer.name': ['exact'],
    'lines.product': ['exact'],
    tags: ['exact'],
  },
  orderingFields: ['state', 'customer.name'],
  expandable: ['customer', 'lines'],
  pagination: new CursorPagination({ pageSize: PAGE, secret: 'x'.repeat(32) }),
})
@Entity('growth_order')
@Index(['state', 'id'])
class Order {
  @PrimaryColumn() id: number;
  @Column() state: number;
  @Column({ type: 'simple-json' }) meta: object;
  @Index()
  @ManyToOne(() => Customer, (customer) => customer.orders, { nullable: false })
  @JoinColumn({ name: 'customer_id' })
  customer: Relation<Customer>;
  @OneToMany(() => Line, (line) => line.order) lines: Relation<Line[]>;
  @ManyToMany(() => Tag, (tag) => tag.orders)
  @JoinTable({
    name: 'growth_tagging',
    joinColumn: { name: 'order_id' },
    inverseJoinColumn: { name: 'tag_id' },
  })
  tags: Relation<Tag[]>;
}

/** The same orders, of which each tenant sees its own. */
@Restify({
  app: 'growth',
  name: 'own',
  permissions: [OwnOrders],
  pagination: new LimitOffsetPagination({ pageSize: PAGE, count: false }),
})
@Entity({ name: 'growth_order', synchronize: false })
class OwnOrder {
  @PrimaryColumn() id: number;
  @ManyToOne(() => Customer, { nullable: false })
  @JoinColumn({ name: 'customer_id' })
  customer: Relation<Customer>;
}

@Restify({ app: 'growth', pagination: new LimitOffsetPagination({ pageSize: PAGE, count: false }) })
@Entity('growth_line')
class Line {
  @PrimaryColumn() id: number;
  @Index()
  @ManyToOne(() => Order, (order) => order.lines)
  @JoinColumn({ name: 'order_id' })
  order: Relation<Order>;
  @Index() @Column() product: number;
}

@Restify({ app: 'growth' })
@Entity('growth_tag')
class Tag {
  @PrimaryColumn() id: number;
  @ManyToMany(() => Order, (order) => order.tags) orders: Relation<Order[]>;
}

const MODELS = [Customer, Order, OwnOrder, Line, Tag];

/** The numbers from 1 to `count`, as a table `s` with the column `n`. */
const NUMBERS: Readonly<Record<TestDatabase['name'], (count: number) => string>> = {
  postgres: (count) => `generate_series(1, ${count}) s(n)`,
  mariadb: (count) => `(SELECT seq AS n FROM seq_1_to_${count}) s`,
  sqlite: (count) =>
    `(WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c WHERE n < ${count}) SELECT n FROM c) s`,
};

const TABLES = ['growth_customer', 'growth_order', 'growth_line', 'growth_tag', 'growth_tagging'];

async function fill({ dataSource }: StartedApp, name: TestDatabase['name'], orders: number): Promise<void> {
  const numbers = NUMBERS[name];
  const text = (prefix: string, value: string): string =>
    name === 'mariadb' ? `CONCAT('${prefix}', ${value})` : `'${prefix}' || ${value}`;
  for (const sql of [
    `INSERT INTO growth_customer (id, tenant, name) SELECT n, CASE WHEN n > ${CUSTOMERS - 10} THEN ${SMALL} ELSE ${LARGE} END, ${text('c', 'n')} FROM ${numbers(CUSTOMERS)}`,
    // Each customer of the small tenant has one order.
    `INSERT INTO growth_order (id, state, meta, customer_id) SELECT n, n % 5, '{"note":"${'x'.repeat(200)}"}', CASE WHEN n <= 10 THEN ${CUSTOMERS} - 10 + n ELSE 1 + n % ${CUSTOMERS - 10} END FROM ${numbers(orders)}`,
    `INSERT INTO growth_line (id, order_id, product) SELECT n, 1 + n % ${orders}, n % ${orders / 5} FROM ${numbers(2 * orders)}`,
    `INSERT INTO growth_tag (id) SELECT n FROM ${numbers(orders / 5)}`,
    `INSERT INTO growth_tagging (order_id, tag_id) SELECT n, 1 + n % ${orders / 5} FROM ${numbers(orders)}`,
    ...TABLES.map((table) => `ANALYZE ${name === 'mariadb' ? 'TABLE ' : ''}${table}`),
    ...(name === 'postgres' ? [`VACUUM ${TABLES.join(', ')}`] : []),
  ])
    await dataSource.query(sql);
}

interface Case {
  readonly path: string;
  /** The statement by hand for the same rows. */
  readonly sql: string;
  readonly as?: number;
}

const ORDERS = 'SELECT o.id, o.state, o.meta, o.customer_id FROM growth_order o';
const ORDER = '/rest/v1/growth/order/';

const CASES: readonly Case[] = [
  { path: `${ORDER}77/`, sql: `${ORDERS} WHERE o.id = 77` },
  { path: ORDER, sql: `${ORDERS} ORDER BY o.id LIMIT 21` },
  { path: `${ORDER}?ordering=state`, sql: `${ORDERS} ORDER BY o.state, o.id LIMIT 21` },
  { path: `${ORDER}?ordering=-state`, sql: `${ORDERS} ORDER BY o.state DESC, o.id DESC LIMIT 21` },
  { path: `${ORDER}?customer=7`, sql: `${ORDERS} WHERE o.customer_id = 7 ORDER BY o.id LIMIT 21` },
  {
    path: `${ORDER}?customer__name=c995`,
    sql: `${ORDERS} JOIN growth_customer c ON c.id = o.customer_id WHERE c.name = 'c995' ORDER BY o.id LIMIT 21`,
  },
  {
    path: `${ORDER}?ordering=customer__name`,
    sql: `${ORDERS} JOIN growth_customer c ON c.id = o.customer_id ORDER BY c.name, o.id LIMIT 21`,
  },
  {
    path: `${ORDER}?lines__product=5`,
    sql: `${ORDERS} WHERE o.id IN (SELECT l.order_id FROM growth_line l WHERE l.product = 5) ORDER BY o.id LIMIT 21`,
  },
  {
    path: `${ORDER}?tags=5`,
    sql: `${ORDERS} WHERE o.id IN (SELECT t.order_id FROM growth_tagging t WHERE t.tag_id = 5) ORDER BY o.id LIMIT 21`,
  },
  {
    path: `${ORDER}?customer=7&expand=customer,lines`,
    // An expansion contains at most 100 lines of each order.
    sql: `SELECT r.*, c.name FROM (SELECT o.id AS order_id, o.state, o.customer_id, l.id, l.product, row_number() OVER (PARTITION BY l.order_id ORDER BY l.id) AS place FROM growth_order o JOIN growth_line l ON l.order_id = o.id WHERE o.customer_id = 7) r JOIN growth_customer c ON c.id = r.customer_id WHERE r.place <= 101 ORDER BY r.place`,
  },
  {
    path: `${ORDER}77/lines/`,
    sql: `SELECT l.id, l.product, (SELECT count(*) FROM growth_order o WHERE o.id = 77) FROM growth_line l WHERE l.order_id = 77 ORDER BY l.id LIMIT 21`,
  },
  {
    path: `${ORDER}77/tags/`,
    sql: `SELECT t.tag_id, (SELECT count(*) FROM growth_order o WHERE o.id = 77) FROM growth_tagging t JOIN growth_tag g ON g.id = t.tag_id WHERE t.order_id = 77 ORDER BY t.tag_id`,
  },
  {
    path: '/rest/v1/growth/own/',
    as: SMALL,
    sql: `SELECT o.id, o.customer_id FROM growth_order o JOIN growth_customer c ON c.id = o.customer_id WHERE c.tenant = ${SMALL} ORDER BY o.id LIMIT 21`,
  },
];

onEachDatabase('the cost of a read that an index serves', (database) => {
  for (const size of SIZES) {
    let started: StartedApp;
    const log = new ReadLog();

    beforeAll(async () => {
      tenant = LARGE;
      started = await startApp({
        compare: false,
        entities: [...MODELS],
        database,
        dataSource: { logging: true, logger: log },
      });
      await fill(started, database.name, size);
    });
    beforeEach(() => {
      log.clear();
    });
    afterAll(() => started.close());

    test.each(CASES)(`with ${size} rows is about that of SQL by hand: $path`, async ({ path, sql, as }) => {
      const costs = new ReadCosts(database.name, started.dataSource);
      tenant = as ?? LARGE;
      const { status } = await started.client.get(path);
      expect(status).toBe(200);
      const reads = log.reads.filter((read) => /^(?:SELECT|WITH)/.test(read.sql));
      expect(reads.length).toBeGreaterThan(0);
      const byHand = await costs.of([{ sql, parameters: [] }]);
      const cost = await costs.of(reads);
      expect({ cost, byHand, isFair: cost <= 2 * byHand + (database.name === 'sqlite' ? 0 : 8) }).toEqual({
        cost,
        byHand,
        isFair: true,
      });
    });
  }
});
