// @tags db nest
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { Restify } from 'nestjs-restify';
import { AfterLoad, Column, Entity, PrimaryGeneratedColumn } from 'typeorm';
import type { DataSourceOptions } from 'typeorm';
import mysql2 from 'mysql2';
import { createConnection } from 'mysql2/promise';
import { problemsOf } from '../boot/refused-start.js';
import { onEachDatabase } from '../support/each-database.js';
import { startApp } from '../support/start-app.js';
import type { StartedApp } from '../support/start-app.js';

/** A default with all quotes. */
const NEW = '"new" || old';

@Restify({
  app: 'ss',
  filterFields: {
    name: ['exact', 'in', 'icontains', 'startswith', 'ne'],
    half: ['exact', 'gt'],
    id: ['isnull'],
  },
  ordering: ['name', 'half'],
  searchFields: ['name'],
})
@Entity('ss_note')
class SsNote {
  @PrimaryGeneratedColumn() id: number;
  @Column({ length: 40, default: NEW }) name: string;
  @Column('double precision', { default: '0.1' }) half: number;
  @Column({ type: 'date', nullable: true }) day: string | null;
}

/** With a listener, so that TypeORM loads its rows. */
@Restify({ app: 'ss', filterFields: { name: ['exact'] } })
@Entity('ss_heard')
class SsHeard {
  @PrimaryGeneratedColumn() id: number;
  @Column({ length: 40 }) name: string;
  @Column({ type: 'date', nullable: true }) day: string | null;
  heard: string;
  @AfterLoad() listen(): void {
    this.heard = this.name;
  }
}

/** Options with which each connection has the settings: of MariaDB SQL, of PostgreSQL names and values, of SQLite a pragma. */
function optionsWith(name: string, settings: string): Partial<DataSourceOptions> {
  if (name === 'mariadb') return { driver: mysqlSetting(settings) };
  if (name === 'postgres')
    return { extra: { options: settings.replaceAll(/(\w+)=/g, '-c $1=') }, synchronize: false };
  return {
    prepareDatabase: (connection: { pragma(text: string): unknown }) => connection.pragma(settings),
  } as Partial<DataSourceOptions>;
}

/** mysql2, whose connections begin with a statement. */
function mysqlSetting(settings: string): object {
  return {
    ...mysql2,
    createPool: (options: mysql2.PoolOptions) => {
      const pool = mysql2.createPool(options);
      pool.on('connection', (connection) => {
        connection.query(`SET SESSION ${settings}`);
      });
      return pool;
    },
  };
}

const REFUSED: Readonly<Record<string, readonly (readonly [settings: string, problem: string])[]>> = {
  mariadb: [
    [
      `sql_mode = 'NO_BACKSLASH_ESCAPES,STRICT_TRANS_TABLES'`,
      'the sessions of the data source: sql_mode contains NO_BACKSLASH_ESCAPES, with which a value that a client sends would become part of the SQL. Take NO_BACKSLASH_ESCAPES out of sql_mode: in the configuration of the server, or where the application sets it for its connections.',
    ],
    [`sql_mode = CONCAT(@@sql_mode, ',EMPTY_STRING_IS_NULL')`, 'sql_mode contains EMPTY_STRING_IS_NULL'],
    [`sql_mode = 'NO_AUTO_VALUE_ON_ZERO'`, 'sql_mode contains NO_AUTO_VALUE_ON_ZERO'],
    [`sql_mode = 'ORACLE'`, 'sql_mode contains ORACLE'],
    [`sql_mode = 'PAD_CHAR_TO_FULL_LENGTH'`, 'sql_mode contains PAD_CHAR_TO_FULL_LENGTH'],
    [`sql_mode = 'TIME_ROUND_FRACTIONAL'`, 'sql_mode contains TIME_ROUND_FRACTIONAL'],
    ['sql_auto_is_null = 1', 'sql_auto_is_null is on'],
  ],
  postgres: [
    [
      'standard_conforming_strings=off',
      `the sessions of the data source: standard_conforming_strings is off, with which backslashes in texts of SQL would be escapes. Set standard_conforming_strings = on: for the server, its role or database, or in extra: { options: '-c standard_conforming_strings=on' } of the data source.`,
    ],
    ['DateStyle=German', 'DateStyle is German, DMY'],
    ['DateStyle=SQL,MDY', 'DateStyle is SQL, MDY'],
    ['extra_float_digits=0', 'extra_float_digits is 0'],
    ['array_nulls=off', 'array_nulls is off'],
  ],
  sqlite: [
    [
      'case_sensitive_like = 1',
      'the sessions of the data source: LIKE is case-sensitive, so that searches would miss rows. Do not set PRAGMA case_sensitive_like, and do not replace like().',
    ],
    ['reverse_unordered_selects = 1', 'reverse_unordered_selects is on'],
  ],
};

/** With each of them, the answers are the same as without. */
const HARMLESS: Readonly<Record<string, readonly string[]>> = {
  mariadb: [
    'time_zone = @@time_zone',
    `sql_mode = 'ANSI,STRICT_TRANS_TABLES'`,
    `sql_mode = 'ANSI_QUOTES'`,
    `sql_mode = 'PIPES_AS_CONCAT,IGNORE_SPACE,HIGH_NOT_PRECEDENCE,NO_UNSIGNED_SUBTRACTION'`,
    `sql_mode = ''`,
  ],
  postgres: [
    'DateStyle=ISO',
    'DateStyle=ISO,DMY IntervalStyle=sql_standard bytea_output=escape lc_numeric=C TimeZone=Asia/Kolkata',
    'IntervalStyle=postgres_verbose transform_null_equals=on extra_float_digits=3 backslash_quote=on',
  ],
  sqlite: ['case_sensitive_like = 0', 'recursive_triggers = 1', 'short_column_names = 0'],
};

const BACKSLASH = '\\';
const TEXTS = ["' or 1=1) #", `${BACKSLASH}' or 1=1) #`, `a${BACKSLASH}`, '"q"', 'a||b', '`x`', "O'Brien"];

onEachDatabase('settings of sessions', (database) => {
  test.each(REFUSED[database.name] ?? [])('%s is refused at start', async (settings, problem) => {
    const dataSource = { synchronize: false, ...optionsWith(database.name, settings) } as object;
    const [found, ...more] = await problemsOf({ entities: [SsNote], database, dataSource });
    expect(found).toContain(problem);
    expect(more).toEqual([]);
  });

  if (database.name === 'mariadb')
    test('may be without autocommit: what is answered with 201 is stored', async () => {
      const opened = await database.open();
      const started = await startApp({
        entities: [SsNote],
        database: { ...database, open: () => Promise.resolve(opened) },
        dataSource: optionsWith(database.name, 'autocommit = 0'),
        compare: false,
      });
      const { status } = await started.client.post('/rest/v1/ss/ssnote/', { name: 'a' });
      const other = await createConnection((opened.options as { url: string }).url);
      const [rows] = await other.query('SELECT name FROM ss_note');
      await other.end();
      expect([status, rows]).toEqual([201, [{ name: 'a' }]]);
      await started.close();
    });

  if (database.name === 'postgres')
    test('are inspected on a replica, too', async () => {
      const opened = await database.open();
      const { url } = opened.options as { url: string };
      const slave = { url: `${url}?options=${encodeURIComponent('-c DateStyle=German')}` };
      const replication = { master: { url }, slaves: [slave] };
      const found = await problemsOf({
        entities: [SsNote],
        database: { ...database, open: () => Promise.resolve(opened) },
        dataSource: { replication, extra: {}, synchronize: false },
      });
      expect(found).toEqual([
        expect.stringContaining('the sessions of the replicas: DateStyle is German, DMY'),
      ]);
    });

  describe.each(HARMLESS[database.name] ?? [])('%s', (settings) => {
    let started: StartedApp;
    beforeAll(async () => {
      const own = optionsWith(database.name, settings);
      const opened = await database.open();
      const extra = { ...(opened.options.extra as object), ...(own.extra as object) } as { options?: string };
      const path = (opened.options.extra as { options?: string } | undefined)?.options ?? '';
      if (database.name === 'postgres') extra.options = `${path} ${extra.options ?? ''}`;
      const dataSource = { ...own, extra, synchronize: true } as Partial<DataSourceOptions>;
      started = await startApp({
        entities: [SsNote, SsHeard],
        database: { ...database, open: () => Promise.resolve(opened) },
        dataSource,
      });
    });
    afterAll(() => started.close());

    test('changes no answer', async () => {
      const { client } = started;
      for (const model of ['ssnote', 'ssheard'])
        for (const name of TEXTS) {
          const path = `/rest/v1/ss/${model}/`;
          const body = { name, day: '2022-10-02' };
          const created = await client.post(path, body);
          expect([created.status, created.json]).toEqual([201, expect.objectContaining(body)]);
          const found = await client.get(`${path}?name=${encodeURIComponent(name)}`);
          expect(found.json).toEqual([created.json]);
          const { id } = created.json as { id: number };
          const changed = await client.patch(`${path}${id}/`, { name: `${name}!` });
          expect(changed.json).toEqual({ ...(created.json as object), name: `${name}!` });
          expect((await client.get(`${path}?name=${encodeURIComponent(name)}`)).json).toEqual([]);
        }
      const list = '/rest/v1/ss/ssnote/';
      expect((await client.post(list, {})).json).toMatchObject({
        name: NEW,
        half: 0.1,
        day: null,
      });
      const count = async (query: string): Promise<number> =>
        ((await client.get(`${list}?${query}`)).json as unknown[]).length;
      expect(await count('half=0.1')).toBe(8);
      expect(await count('half__gt=0.1')).toBe(0);
      expect(await count('id__isnull=true')).toBe(0);
      expect(await count('name__icontains=O%27BRIEN')).toBe(1);
      expect(await count('search=OBR')).toBe(0);
      expect(await count('search=BRI')).toBe(1);
      expect(await count(`name__startswith=${encodeURIComponent(`a${BACKSLASH}`)}`)).toBe(1);
      expect(await count(`name__ne=${encodeURIComponent('a||b!')}`)).toBe(7);
      expect(await count(`name__in=${encodeURIComponent('a||b!,`x`!')}`)).toBe(2);
    });
  });
});
