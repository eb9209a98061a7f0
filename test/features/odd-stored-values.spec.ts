// @tags nest
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { Restify, restify } from 'nestjs-restify';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  Column,
  DataSource,
  Entity,
  ManyToOne,
  OneToMany,
  PrimaryColumn,
  PrimaryGeneratedColumn,
  ViewColumn,
  ViewEntity,
  VirtualColumn,
} from 'typeorm';
import type { Relation } from 'typeorm';
import { startApp } from '../support/start-app.js';
import type { StartedApp } from '../support/start-app.js';

/** What SQLite takes into a column, whatever is declared of it. */
const VALUES = [
  'NULL',
  '7',
  '-0',
  '5.0',
  '1.5',
  '-0.0',
  '1e300',
  '9e18',
  '9007199254740993',
  '9223372036854775807',
  "'5'",
  "'5.0'",
  "'seven'",
  "''",
  "' 5'",
  "x'35'",
  "x''",
  // Bytes that SQLite takes for JSON of its own making: nothing, truth, numbers, a text, an instant, a list.
  "x'00'",
  "x'01'",
  "x'1335'",
  "x'2337'",
  "x'3561'",
  "x'376f6464'",
  "x'c718323032322d31302d30325430393a32333a32382e3239375a'",
  "x'1b'",
  "x'2b1335'",
  '2',
  '-1',
  '8999999999999999',
  '9000000000000000',
  '9007199254740991',
  '9007199254740992',
  '-9007199254740991',
  '-8999999999999999',
  '1e15',
  '1e22',
  '999999999999999.0',
  "'null'",
  "'true'",
  "'\"'",
  "'\\'",
  `'a"b\\'`,
  'char(10)',
  'char(0)',
  'char(127)',
  "'2022-10-02 09:23:28.297' || char(0)",
  'char(8232)',
  '\'{"id":1}\'',
  "'2022-10-02 09:23:28.297'",
  "'2022-10-02 09:23:28'",
  "'2022-10-02T09:23:28.297'",
  "'2022-10-02T09:23:28'",
  "'2022-10-02T09:23:28.297Z'",
  "'2022-10-02T09:23:28Z'",
  "'1900-02-29 10:00:00.000'",
  "'2000-02-29 10:00:00.000'",
  "'0000-02-29 10:00:00.000'",
  "'2023-02-29 10:00:00.000'",
  "'2024-02-30 10:00:00.000'",
  "'2022-04-31 10:00:00.000'",
  "'2022-12-31 10:00:00.000'",
  "'2022-00-10 10:00:00.000'",
  "'2022-10-02 09:60:28.297'",
  "'2022-10-02 09:23:28.297Z'",
  "'2022-10-02 09:23:28.29Z'",
  "'2022-10-02 09:23:28.5'",
  "'2022-10-02 09:23:28.1234'",
  "'2022-10-02 09:23:28.999999'",
  "'2022-10-02 09:23:28 '",
  "' 2022-10-02 09:23:28.29'",
  "'2022-10-02  9:23:28.297'",
  "'2022-10-02 09:23 +05:30'",
  "'2022-10-02 09:23'",
  "'2022-10-02'",
  "'2022-02-30 10:00:00.000'",
  "'2022-02-29 10:00:00'",
  "'2024-02-29 10:00:00.000'",
  "'2022-10-02 24:00:00.000'",
  "'2022-10-02 24:00:00'",
  "'2022-10-02 23:59:60.000'",
  "'2022-13-02 10:00:00.000'",
  "'0000-05-01 00:00:00.000'",
  "'0000-05-01 00:00:00'",
  "'0001-01-01 00:00:00.000'",
  "'9999-12-31 23:59:59.999'",
  "'-001-01-01 00:00:00.00'",
  "'12022-10-02 09:23:28.29'",
  "'now'",
  "'2459000.500000000000000'",
  '2459000.5',
  '1664702608',
];

/** A table that somebody has made, with columns of each affinity that SQLite has. */
function entityOf(affinity: string): new () => object {
  const name = `odd_${affinity === '' ? 'none' : affinity.toLowerCase()}`;
  class Odd {
    readonly id: number;
  }
  PrimaryColumn({ type: 'integer' })(Odd.prototype, 'id');
  Column({ type: 'integer', nullable: true })(Odd.prototype, 'whole');
  Column({ type: 'varchar', nullable: true })(Odd.prototype, 'word');
  Column({ type: 'datetime', nullable: true })(Odd.prototype, 'moment');
  Column({ type: 'date', nullable: true })(Odd.prototype, 'day');
  Column({ type: 'boolean', nullable: true })(Odd.prototype, 'open');
  Column({ type: 'bigint', nullable: true })(Odd.prototype, 'big');
  Column({ type: 'uuid', nullable: true })(Odd.prototype, 'uuid');
  Column({ type: 'simple-enum', enum: ['odd', '5'], nullable: true })(Odd.prototype, 'kind');
  Column({ type: 'simple-json', nullable: true })(Odd.prototype, 'data');
  Column({ type: 'decimal', nullable: true })(Odd.prototype, 'price');
  Column({ type: 'float', nullable: true })(Odd.prototype, 'ratio');
  Column({ type: 'simple-array', nullable: true })(Odd.prototype, 'tags');
  Column({ type: 'time', nullable: true })(Odd.prototype, 'time');
  Column({ type: 'blob', nullable: true })(Odd.prototype, 'bytes');
  Entity({ name, synchronize: false })(Odd);
  restify(Odd, { app: 'odd', name: name.slice('odd_'.length) });
  return Odd;
}

const COLUMNS = [
  'whole',
  'word',
  'moment',
  'day',
  'open',
  'big',
  'uuid',
  'kind',
  'data',
  'price',
  'ratio',
  'tags',
  'time',
  'bytes',
];

describe.each(['', 'INTEGER', 'TEXT', 'REAL', 'NUMERIC', 'BLOB'])(
  'columns of the affinity "%s"',
  (affinity) => {
    const name = affinity === '' ? 'none' : affinity.toLowerCase();
    let started: StartedApp;
    beforeAll(async () => {
      started = await startApp({
        entities: [entityOf(affinity)],
        restify: { shape: true },
        undescribed: 'all',
      });
      await started.dataSource.query(
        `CREATE TABLE odd_${name} (id INTEGER PRIMARY KEY, ${COLUMNS.map((column) => `${column} ${affinity}`).join(', ')})`,
      );
    });
    afterAll(() => started.close());

    test.each(COLUMNS)('show each value of %s as the process would', async (column) => {
      const { client, dataSource } = started;
      await dataSource.query(`DELETE FROM odd_${name}`);
      await dataSource.query(
        `INSERT INTO odd_${name}(${column}) VALUES ${VALUES.map((value) => `(${value})`).join(', ')}`,
      );
      const before = started.compared.rows;
      // Each by itself, so that what the database writes is not written in process for the sake of a neighbour. The two are compared to the byte.
      const statuses = new Map<string, number>();
      for (let id = 1; id <= VALUES.length; id++)
        statuses.set(
          VALUES[id - 1] ?? '',
          (await client.get(`/rest/v1/odd/${name}/${id}/?fields=${column}`)).status,
        );
      expect([...statuses].filter(([, status]) => status !== 200)).toEqual([]);
      expect(started.compared.rows - before).toBe(VALUES.length);
      expect((await client.get(`/rest/v1/odd/${name}/`)).status).toBe(200);
    });
  },
);

@Restify('odd')
@Entity('odd_made')
class Made {
  @PrimaryGeneratedColumn() id: number;
  @Column() source: string;
  @Column({ type: 'text', nullable: true, asExpression: "source -> '$.text'", generatedType: 'VIRTUAL' })
  text: string | null;
  @Column({ type: 'text', nullable: true, asExpression: "source -> '$.text'", generatedType: 'STORED' })
  stored: string | null;
}

@ViewEntity({ name: 'odd_seen', expression: `SELECT id, source -> '$.text' AS text FROM odd_made` })
@Restify('odd')
class Seen {
  @PrimaryColumn({ type: 'integer' }) id: number;
  @ViewColumn() text: string;
}

@ViewEntity({ name: 'odd_through', expression: `SELECT id, text FROM odd_made WHERE id > 0` })
@Restify('odd')
class Through {
  @PrimaryColumn({ type: 'integer' }) id: number;
  @ViewColumn() text: string;
}

/** Of whose columns the entity knows nothing. */
@Restify('odd')
@Entity('Odd_Migrated', { synchronize: false })
class Migrated {
  @PrimaryColumn() id: number;
  @Column({ insert: false, update: false }) text: string;
}

@Restify('odd')
@Entity('odd_asked')
class Asked {
  @PrimaryGeneratedColumn() id: number;
  @Column() source: string;
  @VirtualColumn({
    type: 'varchar',
    query: (alias) => `SELECT m.source -> '$.text' FROM odd_asked m WHERE m.id = ${alias}.id`,
  })
  text: string;
}

/** Such a text is marked as JSON, until it is stored. Each model by itself: what one table has, views show of it. */
test.each([
  ['made', [Made]],
  ['seen', [Made, Seen]],
  ['through', [Made, Through]],
  ['migrated', [Migrated]],
  ['asked', [Asked]],
])('texts that SQLite takes for JSON, of %s', async (name, entities) => {
  const folder = mkdtempSync(join(tmpdir(), 'restify-odd-'));
  const database = join(folder, 'odd.sqlite');
  const before = new DataSource({ type: 'better-sqlite3', database });
  await before.initialize();
  if (name === 'migrated') {
    await before.query(
      `CREATE TABLE odd_migrated (id INTEGER PRIMARY KEY, source varchar, text varchar GENERATED ALWAYS AS (source -> '$.text') VIRTUAL)`,
    );
    await before.query(`INSERT INTO odd_migrated VALUES (1, '{"text":"Bob"}')`);
  }
  await before.destroy();
  const started = await startApp({ entities, dataSource: { database }, undescribed: 'all' });
  try {
    const { client } = started;
    if (name !== 'migrated')
      expect(
        (
          await client.post(`/rest/v1/odd/${name === 'asked' ? 'asked' : 'made'}/`, {
            source: '{"text":"Bob"}',
          })
        ).status,
      ).toBe(201);
    const answer = await client.get(`/rest/v1/odd/${name}/1/`);
    expect(answer).toMatchObject({ status: 200, json: { text: '"Bob"' } });
    expect((await client.get(`/rest/v1/odd/${name}/`)).json).toEqual([answer.json]);
  } finally {
    await started.close();
    rmSync(folder, { recursive: true });
  }
});

@Restify('odd')
@Entity('odd_tag')
class Tag {
  @PrimaryColumn('uuid') id: string;
  @Column() text: string;
  @OneToMany(() => Use, (use) => use.tag) uses: Relation<Use[]>;
}

@Restify('odd')
@Entity('odd_number', { synchronize: false })
class Numbered {
  @PrimaryColumn({ type: 'integer' }) id: number;
  @OneToMany(() => Use, (use) => use.numbered) uses: Relation<Use[]>;
}

@Restify('odd')
@Entity('odd_use')
class Use {
  @PrimaryGeneratedColumn() id: number;
  @ManyToOne(() => Tag, (tag) => tag.uses) tag: Relation<Tag>;
  @ManyToOne(() => Numbered, (numbered) => numbered.uses, { createForeignKeyConstraints: false })
  numbered: Relation<Numbered>;
}

test('links over keys that a path has to escape', async () => {
  const started = await startApp({
    entities: [Tag, Numbered, Use],
    restify: { shape: true },
    undescribed: 'all',
  });
  try {
    await started.dataSource.query('CREATE TABLE odd_number (id INT PRIMARY KEY)');
    for (const key of [
      'a/b',
      '../b',
      '/a',
      'a"/b',
      'a\\/b',
      'é/a',
      'a\n/b',
      'a?x/b',
      'a b',
      '',
      'plain-key_1.~',
      'x/5',
      '5',
      ' 5',
    ]) {
      const before = started.compared.pages;
      await started.dataSource.query(`DELETE FROM odd_tag`);
      await started.dataSource.query(`DELETE FROM odd_number`);
      await started.dataSource.query(`INSERT INTO odd_tag (id, text) VALUES (?, 'x')`, [key]);
      await started.dataSource.query(`INSERT INTO odd_number VALUES (?)`, [key]);
      for (const path of ['tag/', 'tag/?fields=uses', 'numbered/', 'numbered/?fields=uses'])
        expect([key, path, (await started.client.get(`/rest/v1/odd/${path}`)).status]).toEqual([
          key,
          path,
          200,
        ]);
      expect(started.compared.pages - before).toBeGreaterThanOrEqual(4);
      const [{ uses }] = (await started.client.get('/rest/v1/odd/tag/')).json as [{ uses: string }];
      expect(uses).toBe(`/rest/v1/odd/tag/${encodeURIComponent(key)}/uses/`);
    }
  } finally {
    await started.close();
  }
});
