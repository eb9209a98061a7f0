// @tags db nest
import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { Restify } from 'nestjs-restify';
import type { QueryRunner, Relation } from 'typeorm';
import { Column, Entity, Index, ManyToOne, PrimaryGeneratedColumn } from 'typeorm';
import { connectAdapter } from '../support/connect-adapter.js';
import type { ConnectedAdapter } from '../support/connect-adapter.js';
import { onEachDatabase } from '../support/each-database.js';
import type { TestDatabase } from '../support/databases.js';
import { ModelRows } from '../support/model-rows.js';
import { ReadLog } from '../support/read-costs.js';
import type { Read } from '../support/read-costs.js';

const EQUAL_ROWS = 20_000;

@Restify({ app: 'deep', orderingFields: ['state', 'rank', 'code'], orderingNulls: true })
@Entity('deep_job')
@Index(['state', 'id'])
@Index(['state', 'code'])
@Index(['rank', 'code'])
class Job {
  @PrimaryGeneratedColumn() id: number;
  @Column() state: number;
  @Column({ type: 'int', nullable: true }) rank: number | null;
  @Column({ type: 'varchar', length: 20 }) code: string;
}

@Restify({ app: 'deep' })
@Entity('deep_owner')
class Owner {
  @PrimaryGeneratedColumn() id: number;
  @Index() @Column({ type: 'varchar', length: 20 }) name: string;
}

@Restify({ app: 'deep', orderingFields: ['owner.name'] })
@Entity('deep_task')
class Task {
  @PrimaryGeneratedColumn() id: number;
  @Index() @ManyToOne(() => Owner, { nullable: false }) owner: Relation<Owner>;
}

/** Inserts rows of which nearly all are equal in `state` and `rank`; some are NULL or greater in `rank`. */
const FILL: Readonly<Record<TestDatabase['name'], (table: string) => string>> = {
  postgres: (table) =>
    `INSERT INTO ${table} (state, rank, code) SELECT 0, CASE WHEN n > 10 THEN 0 END, to_char(n, 'FM00000') FROM generate_series(1, ${EQUAL_ROWS}) n`,
  sqlite: (table) =>
    `INSERT INTO ${table} (state, rank, code) WITH RECURSIVE s(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM s WHERE n < ${EQUAL_ROWS}) SELECT 0, CASE WHEN n > 10 THEN 0 END, printf('%05d', n) FROM s`,
  mariadb: (table) =>
    `INSERT INTO ${table} (state, \`rank\`, code) SELECT 0, CASE WHEN seq > 10 THEN 0 END, lpad(seq, 5, '0') FROM seq_1_to_${EQUAL_ROWS}`,
};

const ANALYZE: Readonly<Record<TestDatabase['name'], (table: string) => string>> = {
  postgres: (table) => `ANALYZE ${table}`,
  sqlite: (table) => `ANALYZE ${table}`,
  mariadb: (table) => `ANALYZE TABLE ${table}`,
};

/** What one node of a plan of PostgreSQL says, and its inner nodes. */
interface PlanNode {
  readonly 'Index Cond'?: string;
  readonly 'Rows Removed by Filter'?: number;
  readonly 'Shared Hit Blocks': number;
  readonly 'Shared Read Blocks': number;
  readonly Plans?: readonly PlanNode[];
}

function nodesOf(node: PlanNode): readonly PlanNode[] {
  return [node, ...(node.Plans ?? []).flatMap(nodesOf)];
}

async function onOneConnection<Result>(
  { dataSource }: ConnectedAdapter,
  run: (runner: QueryRunner) => Promise<Result>,
): Promise<Result> {
  const runner = dataSource.createQueryRunner();
  try {
    return await run(runner);
  } finally {
    await runner.release();
  }
}

async function planOf(connected: ConnectedAdapter, { sql, parameters }: Read): Promise<PlanNode> {
  const [record] = await onOneConnection(
    connected,
    (runner) =>
      runner.query(`EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) ${sql}`, [...parameters]) as Promise<
        readonly Readonly<Record<string, readonly [{ readonly Plan: PlanNode }]>>[]
      >,
  );
  const plan = record?.['QUERY PLAN']?.[0].Plan;
  if (!plan) throw new Error('No plan');
  return plan;
}

onEachDatabase('a page after many equal rows', (database) => {
  const log = new ReadLog();
  let connected: ConnectedAdapter;
  let model: ModelRows;
  beforeAll(async () => {
    connected = await connectAdapter({ entities: [Job], database });
    const { dataSource, adapter } = connected;
    const table = dataSource.getMetadata(Job).tablePath;
    await dataSource.query(FILL[database.name](table));
    await dataSource.query(ANALYZE[database.name](table));
    dataSource.logger = log;
    model = new ModelRows(adapter, connected.resource('deep.job'));
  });
  beforeEach(() => {
    log.reads.length = 0;
  });
  afterAll(() => connected.close());

  const expectIndexConditions = async (read: Read): Promise<void> => {
    const plan = await planOf(connected, read);
    const nodes = nodesOf(plan);
    expect(nodes.flatMap((node) => node['Index Cond'] ?? [])).toEqual([
      expect.stringMatching(/^\(ROW\(.*\) [<>]= ROW\(/),
    ]);
    // The row at which the page starts.
    for (const node of nodes) expect(node['Rows Removed by Filter'] ?? 0).toBeLessThan(2);
    expect(plan['Shared Hit Blocks'] + plan['Shared Read Blocks']).toBeLessThan(40);
  };

  const expectSearch = ({ sql, parameters }: Read, search: string): void => {
    const { databaseConnection } = connected.dataSource.driver as unknown as {
      readonly databaseConnection: { prepare(sql: string): { all(...values: readonly unknown[]): unknown } };
    };
    const steps = databaseConnection.prepare(`EXPLAIN QUERY PLAN ${sql}`).all(...parameters);
    const plan = JSON.stringify(steps);
    expect(plan).toContain(search);
    expect(plan).not.toContain('TEMP B-TREE');
  };

  const expectFewReads = ({ sql, parameters }: Read): Promise<void> =>
    onOneConnection(connected, async (runner) => {
      await runner.query('FLUSH STATUS');
      await runner.query(sql, [...parameters]);
      const counts = (await runner.query(
        `SHOW SESSION STATUS WHERE Variable_name IN ('Handler_read_next', 'Handler_read_prev')`,
      )) as readonly { readonly Value: string }[];
      expect(counts.reduce((sum, { Value }) => sum + Number(Value), 0)).toBeLessThan(200);
    });

  const expectCheap = async (read: Read, search: string): Promise<void> => {
    if (database.name === 'postgres') await expectIndexConditions(read);
    else if (database.name === 'mariadb') await expectFewReads(read);
    else expectSearch(read, search);
  };

  test.each([
    ['state', [0, 19_000], '(state=? AND id>?)'],
    ['-state', [0, 1000], '(state=? AND id<?)'],
    ['state,code', [0, '19000', 19_000], '(state,code)>(?,?)'],
    ['-state,-code', [0, '01000', 1000], '(state,code)<(?,?)'],
    [database.name === 'postgres' ? '-rank,-code' : 'rank,code', [0, '10000', 10_000], '(rank,code)>(?,?)'],
  ] as const)('in the order %s is found by the index', async (ordering, values, search) => {
    for (const inclusive of [false, true]) {
      const from = { values, backward: false, inclusive };
      const { rows } = await model.page({ ordering }, { limit: 10, from });
      expect(rows).toHaveLength(10);
      const read = log.reads.findLast(({ sql }) => sql.includes('deep_job') && sql.includes('ORDER BY'));
      if (!read) throw new Error('No statement');
      await expectCheap(read, search);
    }
  });

  test('of a list without pagination is found by the index', async () => {
    expect(await model.list({ ordering: 'state' })).toHaveLength(EQUAL_ROWS);
    const reads = log.reads.filter(({ sql }) => sql.includes('deep_job') && sql.includes('ORDER BY'));
    expect(reads.length).toBeGreaterThan(5);
    const last = reads.at(-1);
    if (!last) throw new Error('No statement');
    await expectCheap({ ...last, sql: last.sql.replace(/LIMIT \d+/, 'LIMIT 10') }, '(state=? AND id>?)');
  });
});

onEachDatabase('a page in the order of a related column', (database) => {
  const log = new ReadLog();
  let connected: ConnectedAdapter;
  beforeAll(async () => {
    connected = await connectAdapter({ entities: [Owner, Task], database });
    const { dataSource } = connected;
    const names = Array.from({ length: 2000 }, (_, n) => ({ name: String(n).padStart(5, '0') }));
    await dataSource.getRepository(Owner).insert(names);
    const task = dataSource.getMetadata(Task).tablePath;
    const owner = dataSource.getMetadata(Owner).tablePath;
    const column = dataSource.driver.escape('ownerId');
    await dataSource.query(
      `INSERT INTO ${task} (${column}) SELECT o.id FROM ${owner} o, (SELECT 1 FROM ${owner} LIMIT 10) n`,
    );
    for (const table of [task, owner]) await dataSource.query(ANALYZE[database.name](table));
    dataSource.logger = log;
  });
  afterAll(() => connected.close());

  const pageAfter = async (values: readonly unknown[], backward: boolean): Promise<readonly unknown[]> => {
    const model = new ModelRows(connected.adapter, connected.resource('deep.task'));
    const from = { values, backward, inclusive: false };
    return (await model.page({ ordering: 'owner__name' }, { limit: 15, from })).rows;
  };

  test('begins behind the position, in both directions', async () => {
    expect(await pageAfter(['01500', 1_000_000], false)).toMatchObject([
      ...Array.from({ length: 10 }, () => ({ owner: 1502 })),
      ...Array.from({ length: 5 }, () => ({ owner: 1503 })),
    ]);
    expect(await pageAfter(['01500', 0], true)).toMatchObject([
      ...Array.from({ length: 5 }, () => ({ owner: 1499 })),
      ...Array.from({ length: 10 }, () => ({ owner: 1500 })),
    ]);
  });

  if (database.name === 'postgres')
    test('is found by the index of the related column', async () => {
      log.reads.length = 0;
      await pageAfter(['01500', 1_000_000], false);
      const read = log.reads.findLast(({ sql }) => sql.includes('deep_task') && sql.includes('ORDER BY'));
      if (!read) throw new Error('No statement');
      const plan = await planOf(connected, read);
      const conditions = nodesOf(plan).flatMap((node) => node['Index Cond'] ?? []);
      expect(conditions).toContainEqual(expect.stringMatching(/name\)?::text >= /));
      expect(plan['Shared Hit Blocks'] + plan['Shared Read Blocks']).toBeLessThan(200);
    });
});
