// @tags nest
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { restify } from 'nestjs-restify';
import { Column, Entity, JoinColumn, ManyToOne, PrimaryColumn, PrimaryGeneratedColumn } from 'typeorm';
import type { PrimaryColumnOptions } from 'typeorm';
import { kindEntity, KINDS, lookupsOf } from '../../support/column-kinds.js';
import { connectAdapter } from '../../support/connect-adapter.js';
import type { ConnectedAdapter } from '../../support/connect-adapter.js';
import { ModelRows } from '../../support/model-rows.js';
import type { Shown } from '../../support/model-rows.js';
import { ReadLog } from '../../support/read-costs.js';
import type { Read } from '../../support/read-costs.js';

interface SqliteConnection {
  prepare(sql: string): { all(...parameters: readonly unknown[]): readonly unknown[] };
  exec(sql: string): unknown;
  function(name: string, options: object, run: (value: unknown) => unknown): unknown;
}

const RUNS = 10;

/** A connection whose statements are looked at. */
class Planner {
  private readonly log = new ReadLog();
  private evaluations = 0;

  constructor(private readonly connected: ConnectedAdapter) {
    connected.dataSource.logger = this.log;
    this.connection.exec(`CREATE TABLE probe (value text);
      WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 100) INSERT INTO probe SELECT 'v' || i FROM n;
      CREATE INDEX probe_value ON probe (value);
      ANALYZE probe`);
    this.connection.function('evaluated', { deterministic: true }, (value) => {
      this.evaluations++;
      return value;
    });
  }

  get connection(): SqliteConnection {
    return (this.connected.dataSource.driver as unknown as { readonly databaseConnection: SqliteConnection })
      .databaseConnection;
  }

  /** The second number of the version of SQLite: 54 of 3.54.1. */
  get version(): number {
    const [row] = this.connection.prepare('SELECT sqlite_version() AS version').all();
    return Number((row as { readonly version: string }).version.split('.')[1]);
  }

  rowsOf(name: string): ModelRows {
    return new ModelRows(this.connected.adapter, this.connected.resource(`types.${name}`));
  }

  /** The statement that reads a list. */
  async readOf(name: string, query: Readonly<Record<string, string>>): Promise<Read> {
    this.log.reads.length = 0;
    await this.rowsOf(name).list(query);
    const read = this.log.reads.find(({ sql }) => sql.includes(`"plans_${name}"`));
    if (!read) throw new Error(`No statement reads ${name}`);
    return read;
  }

  planOf({ sql, parameters }: Read): string {
    const steps = this.connection.prepare(`EXPLAIN QUERY PLAN ${sql}`).all(...parameters);
    return (steps as readonly { readonly detail: string }[]).map(({ detail }) => detail).join('\n');
  }

  /**
   * How often SQLite prepares the statement anew in `RUNS` executions. The planner evaluates a deterministic function of
   * constants that is compared with a column that has statistics, so that each preparation calls it once more.
   */
  preparationsOf({ sql, parameters }: Read): number {
    const statement = this.connection.prepare(
      `SELECT (SELECT count(*) FROM probe WHERE value = evaluated('v1')), q.* FROM (${sql}) q`,
    );
    statement.all(...parameters);
    this.evaluations = 0;
    for (let run = 0; run < RUNS; run++) statement.all(...parameters);
    return this.evaluations - RUNS;
  }
}

/** Columns that children refer by: a parent of each type of key. */
const KEYS: Readonly<
  Record<string, { readonly column: PrimaryColumnOptions; readonly keys: readonly string[] }>
> = {
  integer: { column: { type: 'integer' }, keys: ['1', '2', '3'] },
  bigint: { column: { type: 'bigint' }, keys: ['9007199254740993', '9007199254740995', '1'] },
  uuid: {
    column: { type: 'varchar', length: 36, generated: 'uuid' },
    keys: [1, 2, 3].map((n) => `${n}111aaaa-1111-4111-8111-111111111111`),
  },
  text: { column: { type: 'varchar', length: 20 }, keys: ['a', "b'", 'A'] },
};

function parentAndChild(name: string, column: PrimaryColumnOptions): readonly (new () => object)[] {
  const { [`parent_${name}`]: Parent } = {
    [`parent_${name}`]: class {
      readonly id: unknown;
    },
  };
  const { [`child_${name}`]: Child } = {
    [`child_${name}`]: class {
      readonly title: string;
      readonly parent: unknown;
    },
  };
  if (!Parent || !Child) throw new Error('No class');
  PrimaryColumn(column)(Parent.prototype, 'id');
  Entity({ name: `plans_parent_${name}` })(Parent);
  restify(Parent, { app: 'types', name: `parent_${name}` });
  PrimaryGeneratedColumn()(Child.prototype, 'id');
  Column({ type: 'varchar' })(Child.prototype, 'title');
  ManyToOne(() => Parent)(Child.prototype, 'parent');
  JoinColumn({ name: 'parentId' })(Child.prototype, 'parent');
  Entity({ name: `plans_child_${name}` })(Child);
  restify(Child, {
    app: 'types',
    name: `child_${name}`,
    filterFields: { parent: ['exact'], title: ['exact', 'gte', 'icontains', 'istartswith', 'iendswith'] },
    orderingFields: ['title'],
  });
  return [Parent, Child];
}

const STATISTICS = ['without statistics', 'with statistics'] as const;

describe('on SQLite, rows of one parent', () => {
  let connected: ConnectedAdapter;
  let planner: Planner;

  beforeAll(async () => {
    connected = await connectAdapter({
      entities: Object.entries(KEYS).flatMap(([name, { column }]) => parentAndChild(name, column)),
    });
    planner = new Planner(connected);
    for (const [name, { keys }] of Object.entries(KEYS)) {
      const insert = `INSERT INTO "plans_child_${name}" ("title", "parentId") VALUES (?, ?)`;
      for (const key of keys)
        await connected.dataSource.query(`INSERT INTO "plans_parent_${name}" VALUES (?)`, [key]);
      planner.connection.exec(`CREATE INDEX "children_${name}" ON "plans_child_${name}" ("parentId")`);
      planner.connection.exec(`CREATE INDEX "titles_${name}" ON "plans_child_${name}" ("title")`);
      // Nearly all are of the first parent.
      for (let n = 0; n < 200; n++)
        await connected.dataSource.query(insert, [`t${n}`, n % 20 === 0 ? keys[1] : keys[0]]);
    }
  });
  afterAll(() => connected.close());

  describe.each(STATISTICS)('%s', (statistics) => {
    beforeAll(() => {
      if (statistics === 'with statistics') planner.connection.exec('ANALYZE');
    });

    describe.each(Object.entries(KEYS))('by a key of type %s', (name, { keys }) => {
      const child = `child_${name}`;

      test.each([0, 1, 2])('are found by the index, and each its own (%i)', async (at) => {
        const parent = keys[at] ?? '';
        const rows = await planner.rowsOf(child).list({ parent });
        expect(rows).toHaveLength([190, 10, 0][at] ?? 0);
        expect(rows.every((row: Shown) => String(row.parent) === parent)).toBe(true);
        expect(planner.planOf(await planner.readOf(child, { parent }))).toContain(
          `USING INDEX children_${name} (parentId=?)`,
        );
      });

      test('are read by a statement that is prepared once', async () => {
        expect(planner.preparationsOf(await planner.readOf(child, { parent: keys[0] ?? '' }))).toBe(0);
      });
    });

    test('in another order, or with a further filter, have a plan for their values', async () => {
      const queries: readonly Readonly<Record<string, string>>[] = [
        { ordering: 'title' },
        { title__gte: 't1' },
      ];
      for (const query of queries) {
        const read = await planner.readOf('child_integer', { parent: '1', ...query });
        expect([query, read.sql.includes('likelihood(')]).toEqual([query, false]);
        // Newer versions look at the values in any case.
        const looks = statistics === 'with statistics' || planner.version >= 54;
        expect([query, planner.preparationsOf(read)]).toEqual([query, looks ? RUNS : 0]);
      }
    });

    test.each([
      ['title__icontains', 'T1', 0],
      ['title__iendswith', 'T1', 0],
      // A collation NOCASE would let an index serve it, if the planner sees the pattern.
      ['title__istartswith', 'T1', RUNS],
    ])('%s prepares anew only for a pattern that an index can serve', async (parameter, text, prepared) => {
      expect(planner.preparationsOf(await planner.readOf('child_integer', { [parameter]: text }))).toBe(
        prepared,
      );
    });
  });
});

describe('on SQLite, an index finds a value', () => {
  const kinds = Object.entries(KINDS.sqlite).filter(([, { uncompared }]) => uncompared !== true);
  let connected: ConnectedAdapter;
  let planner: Planner;

  beforeAll(async () => {
    connected = await connectAdapter({
      entities: kinds.map(([name, kind]) =>
        kindEntity(name, kind, { table: `plans_${name}`, filterFields: { value: lookupsOf(kind) } }),
      ),
    });
    planner = new Planner(connected);
    for (const [name, { ordered }] of kinds) {
      planner.connection.exec(`CREATE INDEX "by_${name}" ON "plans_${name}" ("value")`);
      await planner.rowsOf(name).createAll(ordered.map((value) => ({ value })));
      planner.connection.exec(
        `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 200) INSERT INTO "plans_${name}" ("value") SELECT NULL FROM n`,
      );
    }
  });
  afterAll(() => connected.close());

  describe.each(STATISTICS)('%s', (statistics) => {
    beforeAll(() => {
      if (statistics === 'with statistics') planner.connection.exec('ANALYZE');
    });

    test.each(kinds)('of type %s', async (name, kind) => {
      // A comma stands between the values of a list.
      const plain = kind.ordered.map(String).filter((each) => !each.includes(','));
      const value = plain[0] ?? '';
      const asked: readonly Readonly<Record<string, string>>[] = [
        { value },
        { value__in: plain.slice(0, 2).join(',') },
        ...(lookupsOf(kind).includes('range') ? [{ value__gt: value, ordering: 'value' }] : []),
      ];
      for (const query of asked) {
        const read = await planner.readOf(name, query);
        expect([query, planner.planOf(read)]).toEqual([
          query,
          expect.stringMatching(`SEARCH t0 USING COVERING INDEX by_${name} \\(value`),
        ]);
      }
    });
  });
});
