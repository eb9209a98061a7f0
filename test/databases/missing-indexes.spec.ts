// @tags db nest
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { allow, Restify, RestifyModule, RestifyResources } from 'nestjs-restify';
import type { Grant, MissingIndex, Permission, RestifyModuleOptions } from 'nestjs-restify';
import {
  Column,
  DeleteDateColumn,
  Entity,
  Index,
  JoinColumn,
  ManyToOne,
  OneToMany,
  PrimaryColumn,
  PrimaryGeneratedColumn,
} from 'typeorm';
import type { Relation } from 'typeorm';
import type { TestDatabase } from '../support/databases.js';
import { onEachDatabase, onEachServer } from '../support/each-database.js';
import { startApp } from '../support/start-app.js';
import type { StartedApp } from '../support/start-app.js';

const ROWS = 3000;

/** May select any rows. */
class OfTenant implements Permission {
  decide(): Grant {
    return allow();
  }
}

@Restify({ app: 'mi' })
@Entity('mi_buyer')
class Buyer {
  @PrimaryGeneratedColumn()
  id: number;

  @Column({ length: 60 })
  name: string;

  @OneToMany(() => Sale, (sale) => sale.buyer)
  sales: Relation<Sale[]>;
}

@Restify({
  app: 'mi',
  ordering: ['-placed'],
  orderingFields: ['id', 'total', 'number', 'paid', 'buyer', 'buyer.name', 'late nulls last'],
  filterFields: {
    id: ['exact'],
    number: ['exact'],
    placed: ['gte', 'lt'],
    paid: ['exact'],
    state: ['exact'],
    region: ['exact'],
    branch: ['exact', 'in'],
    mail: ['iexact', 'icontains', 'ne'],
    buyer: ['exact'],
    'buyer.name': ['exact'],
  },
})
@Entity('mi_sale')
@Index(['region', 'branch'])
class Sale {
  @PrimaryGeneratedColumn()
  id: number;

  @Column({ length: 40, unique: true })
  number: string;

  @Column()
  total: number;

  @Column()
  placed: number;

  @Column()
  paid: boolean;

  /** Three values. */
  @Column()
  state: number;

  @Column()
  region: number;

  @Column()
  branch: number;

  @Column({ length: 60 })
  mail: string;

  @Column({ type: 'int', nullable: true })
  late: number | null;

  /** No filter of the model. */
  @Column({ default: 0 })
  other: number;

  @ManyToOne(() => Buyer, (buyer) => buyer.sales)
  @JoinColumn({ name: 'buyer_id' })
  buyer: Relation<Buyer>;
}

/** The rows of a tenant, as a permission selects them, are in an index in the order of `total`. */
@Restify({
  app: 'mi',
  permissions: [OfTenant],
  ordering: ['total'],
  orderingFields: ['total', 'weight'],
  filterFields: ['total', 'note'],
})
@Entity('mi_lease')
@Index(['tenant', 'total'])
class Lease {
  @PrimaryColumn()
  tenant: number;

  @PrimaryColumn()
  id: number;

  @Column()
  total: number;

  @Column()
  weight: number;

  /** A partial index of the rows that are not deleted serves each request. */
  @Index({ where: 'deleted IS NULL' })
  @Column()
  note: number;

  @DeleteDateColumn()
  deleted: Date | null;
}

/** What has no options has filters and orders by each field: none of them is asked for. */
@Restify('mi')
@Entity('mi_plain')
class Plain {
  @PrimaryGeneratedColumn()
  id: number;

  @Column()
  total: number;
}

/** Its table is made by hand. */
@Restify({
  app: 'mi',
  orderingFields: ['part'],
  filterFields: ['day', 'code', 'part', 'mail', 'digest', 'span'],
})
@Entity('mi_event', { synchronize: false })
class Event {
  @PrimaryColumn()
  id: number;

  @PrimaryColumn()
  day: number;

  @Column()
  code: number;

  @Column({ type: 'int', nullable: true })
  part: number | null;

  @Column('text')
  mail: string;

  @Column()
  digest: number;

  @Column()
  span: number;
}

const EVENTS = [
  'CREATE TABLE mi_event (id int, day int, code int, part int, mail text, digest int, span int, PRIMARY KEY (id, day)) PARTITION BY RANGE (day)',
  'CREATE TABLE mi_event_1 PARTITION OF mi_event FOR VALUES FROM (0) TO (500)',
  'CREATE TABLE mi_event_2 PARTITION OF mi_event FOR VALUES FROM (500) TO (1000)',
  // None of these serves a filter by `code` or `mail`; the next one serves filters by `part`, and no order.
  'CREATE INDEX ON mi_event (code) WHERE code > 5',
  'CREATE INDEX ON mi_event (lower(mail))',
  'CREATE INDEX ON mi_event (part) WHERE part IS NOT NULL',
  'CREATE INDEX ON mi_event USING hash (digest)',
  'CREATE INDEX ON mi_event_1 (span)',
  'CREATE INDEX ON mi_event_2 (span)',
  `INSERT INTO mi_event SELECT i, i % 1000, i, i, 'm' || i, i, i FROM generate_series(1, ${ROWS}) i`,
  'ANALYZE mi_event',
];

const ENTITIES = [Buyer, Sale, Lease, Plain];

const SERIES = {
  sqlite: `(WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${ROWS}) SELECT i FROM n)`,
  postgres: `(SELECT i FROM generate_series(1, ${ROWS}) i)`,
  mariadb: `(SELECT seq AS i FROM seq_1_to_${ROWS})`,
} as const;

async function fill({ dataSource }: StartedApp, { name }: TestDatabase): Promise<void> {
  const series = `FROM ${SERIES[name]} s`;
  const text = name === 'mariadb' ? 'CONCAT(s.i)' : 'CAST(s.i AS text)';
  const paid = name === 'postgres' ? 's.i % 2 = 0' : 's.i % 2';
  const names = 'number, total, placed, paid, state, region, branch, mail, buyer_id';
  await dataSource.query(`INSERT INTO mi_buyer (name) SELECT ${text} ${series}`);
  await dataSource.query(
    `INSERT INTO mi_sale (${names}) SELECT ${text}, s.i, s.i, ${paid}, s.i % 3, s.i % 100, s.i % 101, ${text}, s.i ${series}`,
  );
  await dataSource.query(
    `INSERT INTO mi_lease (tenant, id, total, weight, note) SELECT s.i % 10, s.i, s.i, s.i, s.i ${series}`,
  );
  await dataSource.query(`INSERT INTO mi_plain (total) SELECT s.i ${series}`);
  await analyze({ dataSource }, name);
}

async function analyze(
  { dataSource }: Pick<StartedApp, 'dataSource'>,
  name: TestDatabase['name'],
): Promise<void> {
  if (name === 'postgres') await dataSource.query('ANALYZE');
  if (name === 'mariadb') await dataSource.query('ANALYZE TABLE mi_buyer, mi_sale, mi_lease, mi_plain');
}

/** Collects the warnings of the log. */
function logger(warned: string[]): never {
  const silent = Object.fromEntries(
    ['log', 'error', 'debug', 'verbose', 'fatal'].map((level) => [level, () => undefined]),
  );
  return { ...silent, warn: (text: unknown) => void warned.push(String(text)) } as never;
}

function summarize(found: readonly MissingIndex[]): unknown {
  return Object.fromEntries(
    found.map(({ table, columns, uses }) => [
      `${table.replace(/["`]/g, '').replace(/^.*\./, '')} ${columns.join(' ')}`,
      uses.map(({ model, kind, name }) => `${model} ${kind} ${name}`).sort(),
    ]),
  );
}

onEachDatabase('missing indexes', (database) => {
  let started: StartedApp;
  beforeAll(async () => {
    started = await startApp({ entities: ENTITIES, database, compare: false });
    await fill(started, database);
  });
  afterAll(() => started.close());
  const find = (options?: { rows: number }): Promise<readonly MissingIndex[]> =>
    started.app.get(RestifyResources).findMissingIndexes(options);

  test('are found by what models declare, and are none once they are created', async () => {
    const { dataSource } = started;
    expect(await find()).toEqual([]);
    const found = await find({ rows: ROWS / 2 });
    expect(summarize(found)).toEqual({
      'mi_sale placed id': ['mi.sale default-order -placed', 'mi.sale filter placed'],
      'mi_sale total id': ['mi.sale ordering total'],
      'mi_sale paid id': ['mi.sale ordering paid'],
      'mi_sale branch': ['mi.sale filter branch'],
      'mi_buyer name': ['mi.sale filter buyer.name'],
      'mi_lease weight tenant id': ['mi.lease ordering weight'],
      // MariaDB creates an index with each foreign key.
      ...(database.name !== 'mariadb' && {
        'mi_sale buyer_id id': [
          'mi.sale filter buyer.id',
          'mi.sale foreign-key buyer_id',
          'mi.sale ordering buyer.id',
        ],
      }),
    });
    for (const { rows } of found) expect(rows).toBeGreaterThan(ROWS / 2);
    for (const { statement } of found) await dataSource.query(statement);
    await analyze(started, database.name);
    expect(await find({ rows: 0 })).toEqual([]);
  });
});

onEachDatabase(
  'indexes that serve a part of the requests',
  (database) => {
    test('do not count as indexes that serve all', async () => {
      const started = await startApp({ entities: [Event], database, compare: false });
      try {
        for (const sql of EVENTS) await started.dataSource.query(sql);
        const resources = started.app.get(RestifyResources);
        const found = await resources.findMissingIndexes({ rows: ROWS / 2, prefix: '/rest/v1/' });
        expect(summarize(found)).toEqual({
          'mi_event code': ['mi.event filter code'],
          'mi_event mail': ['mi.event filter mail'],
          'mi_event part id day': ['mi.event ordering part'],
        });
        expect(found.every(({ rows }) => rows === ROWS)).toBe(true);
        for (const { statement } of found) await started.dataSource.query(statement);
        expect(await resources.findMissingIndexes({ rows: 0 })).toEqual([]);
        await started.dataSource.query('DROP TABLE mi_event');
        expect(await resources.findMissingIndexes({ rows: 0 })).toEqual([]);
        expect(await resources.findMissingIndexes({ rows: 0, prefix: 'other' })).toEqual([]);
      } finally {
        await started.close();
      }
    });
  },
  ['postgres'],
);

const STARTED: RestifyModuleOptions = { missingIndexRows: 1000 };

onEachServer('a table without an index', (database) => {
  /** Two prefixes with the same models. */
  const start = async (restify: RestifyModuleOptions): Promise<readonly string[]> => {
    const warned: string[] = [];
    const started = await startApp({ entities: ENTITIES, database, compare: false });
    try {
      await fill(started, database);
      const again = await startApp({
        entities: ENTITIES,
        database,
        compare: false,
        dataSource: { ...started.dataSource.options, synchronize: false, dropSchema: false },
        restifyModules: ['one', 'two'].map((prefix) =>
          RestifyModule.forRoot(prefix, { unknownEntities: 'ignore', ...restify }),
        ),
        nest: { logger: logger(warned) },
      });
      await warnings(warned, restify === STARTED ? 20_000 : 1000);
      await again.close();
    } finally {
      await started.close();
    }
    return warned.filter((each) => each.includes('No index'));
  };

  test('is a warning after the start on servers, each once, with the statement', async () => {
    const warned = await start(STARTED);
    expect(warned).toHaveLength(database.name === 'mariadb' ? 6 : 7);
    expect(new Set(warned).size).toBe(warned.length);
    const [placed = ''] = warned.filter((each) => each.includes('placed'));
    expect(placed).toMatch(
      /^No index of the table \S*mi_sale\S*, which has about [23],\d{3} rows, begins with placed \((ordering of mi\.sale: -placed; filterFields of mi\.sale: placed|filterFields of mi\.sale: placed; ordering of mi\.sale: -placed)\): the database reads the whole table\. CREATE INDEX .*mi_sale\S* \(.placed., .id.\); missingIndexRows: false in RestifyModule\.forRoot turns this warning off\.$/,
    );
  });

  test('is not given with missingIndexRows: false', async () => {
    expect(await start({ missingIndexRows: false })).toEqual([]);
  });
});

/** Waits for the warnings, which come together. */
async function warnings(warned: readonly string[], most: number): Promise<void> {
  const end = Date.now() + most;
  while (!warned.some((each) => each.includes('No index')) && Date.now() < end)
    await new Promise((resolve) => setTimeout(resolve, 50));
}
