// @tags db nest
import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { Restify } from 'nestjs-restify';
import type { QueryRunner } from 'typeorm';
import { Column, Entity, Index, PrimaryGeneratedColumn } from 'typeorm';
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

  const onOneConnection = async <Result>(run: (runner: QueryRunner) => Promise<Result>): Promise<Result> => {
    const runner = connected.dataSource.createQueryRunner();
    try {
      return await run(runner);
    } finally {
      await runner.release();
    }
  };

  const expectIndexConditions = async ({ sql, parameters }: Read): Promise<void> => {
    const [record] = await onOneConnection(
      (runner) =>
        runner.query(`EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) ${sql}`, [...parameters]) as Promise<
          readonly Readonly<Record<string, readonly [{ readonly Plan: PlanNode }]>>[]
        >,
    );
    const plan = record?.['QUERY PLAN']?.[0].Plan;
    if (!plan) throw new Error('No plan');
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
    expect(JSON.stringify(steps)).toContain(search);
  };

  const expectFewReads = ({ sql, parameters }: Read): Promise<void> =>
    onOneConnection(async (runner) => {
      await runner.query('FLUSH STATUS');
      await runner.query(sql, [...parameters]);
      const counts = (await runner.query(
        `SHOW SESSION STATUS WHERE Variable_name IN ('Handler_read_next', 'Handler_read_prev')`,
      )) as readonly { readonly Value: string }[];
      expect(counts.reduce((sum, { Value }) => sum + Number(Value), 0)).toBeLessThan(200);
    });

  const expectCheap = async (read: Read, search: string | undefined): Promise<void> => {
    if (database.name === 'postgres') await expectIndexConditions(read);
    else if (database.name === 'mariadb') await expectFewReads(read);
    else if (search !== undefined) expectSearch(read, search);
  };

  // An index of SQLite does not contain its integer key as a column: its searches are by the first one alone.
  test.each([
    ['state', [0, 19_000], undefined],
    ['-state', [0, 1000], undefined],
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
    await expectCheap({ ...last, sql: last.sql.replace(/LIMIT \d+/, 'LIMIT 10') }, undefined);
  });
});
