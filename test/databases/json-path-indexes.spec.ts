// @tags db nest
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { Restify } from 'nestjs-restify';
import { readFileSync } from 'node:fs';
import { Column, Entity, Index, PrimaryColumn } from 'typeorm';
import type { ColumnOptions } from 'typeorm';
import { DOCUMENTS } from '../features/json-path-models.js';
import { onEachDatabase } from '../support/each-database.js';
import { ReadLog } from '../support/read-costs.js';
import { startApp } from '../support/start-app.js';
import type { StartedApp } from '../support/start-app.js';

const ROWS = 3000;

/** The statements of the documentation for a database: the blocks below its name in the section on indexes. */
function documented(database: string): readonly string[] {
  const text = readFileSync('docs/reference/filters.md', 'utf8');
  const section = text.slice(text.indexOf('### Indexes for values in JSON'));
  const own = section.slice(section.toLowerCase().indexOf(`**${database}`));
  const block = /```sql\n([^`]*)```/.exec(own)?.[1] ?? '';
  return block
    .split(';')
    .map((each) => each.trim())
    .filter((each) => each !== '');
}

onEachDatabase('indexes for values in JSON', (database) => {
  const isMariadb = database.name === 'mariadb';

  /** A generated column of MariaDB, by the documented expression. */
  function Generated(name: string, options: ColumnOptions): PropertyDecorator {
    if (!isMariadb) return () => undefined;
    const statement = documented('mariadb').find((each) => each.includes(`ADD COLUMN ${name} `)) ?? '';
    const asExpression = /AS \((.*)\) VIRTUAL/s.exec(statement)?.[1] ?? '';
    return (target, key) => {
      Column({ ...options, asExpression, generatedType: 'VIRTUAL', nullable: true, select: false })(
        target,
        key,
      );
      Index()(target, key);
    };
  }

  @Restify({
    app: 'docs',
    filterFields: {
      'meta.color': { lookups: ['exact', 'in', 'ne', 'isnull'], ...(isMariadb && { column: 'meta_color' }) },
      'meta.size': { type: 'number', lookups: ['exact', 'gte'], ...(isMariadb && { column: 'meta_size' }) },
      'meta.tags': { type: 'string[]', lookups: ['contains'] },
    },
    orderingFields: ['meta.size'],
  })
  @Entity('product')
  class Product {
    @PrimaryColumn({ type: 'int' }) id: number;
    @Column({ type: DOCUMENTS[database.name], nullable: true }) meta: Record<string, unknown> | null;
    @Generated('meta_color', { type: 'varchar', length: 255, collation: 'utf8mb4_nopad_bin' })
    meta_color?: string;
    @Generated('meta_size', { type: 'double' }) meta_size?: number;
  }

  const log = new ReadLog();
  let started: StartedApp;
  beforeAll(async () => {
    started = await startApp({
      entities: [Product],
      database,
      compare: false,
      dataSource: { logging: true, logger: log },
    });
    const { dataSource } = started;
    if (!isMariadb) for (const statement of documented(database.name)) await dataSource.query(statement);
    const rows = Array.from({ length: ROWS }, (_, at) => ({
      id: at + 1,
      meta: { color: at % 10 === 9 ? at : `c${at}`, size: at % 10 === 8 ? '1' : at, tags: [`t${at}`, 'all'] },
    }));
    for (let at = 0; at < ROWS; at += 200)
      await dataSource.getRepository(Product).insert(rows.slice(at, at + 200));
    await dataSource.query(isMariadb ? 'ANALYZE TABLE product' : 'ANALYZE');
  });
  afterAll(() => started.close());

  const plan = async (query: string): Promise<string> => {
    log.clear();
    const { status } = await started.client.get(`/rest/v1/docs/product/?${query}`);
    expect(status).toBe(200);
    const read = log.reads.find(({ sql }) => sql.includes('product'));
    const explain = database.name === 'sqlite' ? 'EXPLAIN QUERY PLAN' : 'EXPLAIN';
    return JSON.stringify(
      await started.dataSource.query(`${explain} ${read?.sql ?? ''}`, [...(read?.parameters ?? [])]),
    );
  };

  test.each([
    ['meta__color=c7', 'color'],
    ['meta__color__in=c7,c8', 'color'],
    ['meta__size=7', 'size'],
    ['meta__size__gte=2990', 'size'],
  ])('?%s reads the index', async (query, column) => {
    expect(await plan(query)).toMatch(new RegExp(`product_meta_${column}|IDX_|IX_`));
    expect(await plan(query)).not.toMatch(/Seq Scan|SCAN t0(?! USING)|"type":"ALL"/);
  });

  test('a list is searched by the index of PostgreSQL', async () => {
    const read = await plan('meta__tags__contains=t7');
    if (database.name === 'postgres') expect(read).toContain('product_meta_tags');
  });

  test('answers are those without it', async () => {
    const ids = async (query: string): Promise<readonly number[]> => {
      const { json } = await started.client.get(`/rest/v1/docs/product/?${query}`);
      return (json as { id: number }[]).map(({ id }) => id);
    };
    expect(await ids('meta__color=c7')).toEqual([8]);
    expect(await ids('meta__color=C7')).toEqual([]);
    expect(await ids('meta__color=c7%20')).toEqual([]);
    expect(await ids('meta__color=9')).toEqual([]);
    expect((await ids('meta__color__ne=c7')).length).toBe(ROWS * 0.9 - 1);
    expect(await ids('meta__color__isnull=true')).toEqual([]);
    expect((await ids('meta__color__isnull=false')).length).toBe(ROWS);
    expect(await ids('meta__size__gte=2995')).toEqual([2996, 2997, 2998, 3000]);
    expect(await ids('meta__tags__contains=t7')).toEqual([8]);
    expect((await ids('ordering=-meta__size')).filter((id) => id > 2997 && id % 10 !== 9)).toEqual([
      3000, 2998,
    ]);
  });
});
