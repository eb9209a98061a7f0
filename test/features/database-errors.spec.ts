// @tags db nest
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { Type } from '@nestjs/common';
import { restify } from 'nestjs-restify';
import {
  AfterInsert,
  Column,
  Entity,
  JoinTable,
  ManyToMany,
  PrimaryColumn,
  PrimaryGeneratedColumn,
  ViewColumn,
  ViewEntity,
} from 'typeorm';
import type { DataSource, Relation } from 'typeorm';
import type { TestDatabase } from '../support/databases.js';
import { onEachDatabase } from '../support/each-database.js';
import { startApp } from '../support/start-app.js';
import type { StartedApp } from '../support/start-app.js';
import { DELETED, seen } from './nested-answers.js';

type Name = TestDatabase['name'];

/** Written by statements of the adapter where no trigger is in the way. */
@Entity('de_plain')
class DePlain {
  @PrimaryGeneratedColumn() id: number;
  @Column({ length: 20, unique: true }) name: string;
  @Column({ type: 'varchar', length: 20, nullable: true }) note: string | null;
}

/** Written by TypeORM. */
@Entity('de_heard')
class DeHeard {
  @PrimaryGeneratedColumn() id: number;
  @Column({ length: 20, unique: true }) name: string;
  @Column({ type: 'varchar', length: 20, nullable: true }) note: string | null;
  @ManyToMany(() => DeLabel) @JoinTable({ name: 'de_pair' }) pairs: Relation<DeLabel[]>;

  @AfterInsert() inserted(): void {
    this.isInserted = true;
  }
  isInserted?: boolean;
}

@Entity('de_label')
class DeLabel {
  @PrimaryColumn({ length: 20 }) name: string;
}

for (const entity of [DePlain, DeHeard]) restify<DePlain>(entity, { app: 'de', bulk: { upsert: ['name'] } });
restify(DeLabel, 'de');
const ENTITIES: readonly Type[] = [DePlain, DeHeard, DeLabel];

async function run(dataSource: DataSource, statements: readonly string[]): Promise<void> {
  for (const statement of statements) await dataSource.query(statement);
}

/** A trigger that runs `body` before or after each `event` where the condition holds. */
function trigger(
  name: Name,
  {
    table,
    event,
    when,
    body,
    time = 'BEFORE',
  }: {
    table: string;
    event: 'INSERT' | 'UPDATE' | 'DELETE';
    when: string;
    body: string;
    time?: 'BEFORE' | 'AFTER';
  },
): readonly string[] {
  const id = `${table}_${time}_${event}`.toLowerCase();
  if (name === 'sqlite')
    return [`CREATE TRIGGER ${id} ${time} ${event} ON ${table} WHEN ${when} BEGIN ${body}; END`];
  if (name === 'mariadb')
    return [
      `CREATE TRIGGER ${id} ${time} ${event} ON ${table} FOR EACH ROW BEGIN IF ${when} THEN ${body}; END IF; END`,
    ];
  return [
    `CREATE FUNCTION ${id}() RETURNS trigger LANGUAGE plpgsql AS $f$ BEGIN IF ${when} THEN ${body}; END IF; RETURN ${event === 'DELETE' ? 'OLD' : 'NEW'}; END $f$`,
    `CREATE TRIGGER ${id} ${time} ${event} ON ${table} FOR EACH ROW EXECUTE FUNCTION ${id}()`,
  ];
}

const RAISED: Readonly<Record<Name, string>> = {
  sqlite: `SELECT RAISE(ABORT, 'Secret 7')`,
  postgres: `RAISE EXCEPTION 'Secret 7'`,
  mariadb: `SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'Secret 7'`,
};

const BROKEN = { non_field_errors: ['These values break a rule of the database.'] };
const KEPT = { non_field_errors: ['A rule of the database forbids this deletion.'] };
const OWN = { non_field_errors: ['Secret 7'] };
const FAILED = [500, { detail: 'A server error occurred.' }];

onEachDatabase('an error that a trigger raises', (database) => {
  describe.each([
    ['is hidden behind a general text', false, BROKEN, KEPT],
    ['has its own text where this is intended for callers', true, OWN, OWN],
  ] as const)('%s', (_, triggerMessages, written, deleted) => {
    let started: StartedApp;
    let client: StartedApp['client'];
    beforeAll(async () => {
      started = await startApp({ entities: [...ENTITIES], database, restify: { triggerMessages } });
      client = started.client;
      const body = RAISED[database.name];
      for (const table of ['de_plain', 'de_heard'])
        await run(started.dataSource, [
          ...trigger(database.name, { table, event: 'INSERT', when: `NEW.name = 'bad'`, body }),
          ...trigger(database.name, { table, event: 'UPDATE', when: `NEW.name = 'bad'`, body }),
          ...trigger(database.name, { table, event: 'DELETE', when: `OLD.name = 'kept'`, body }),
        ]);
      const column = started.dataSource.driver.escape('deLabelName');
      await run(started.dataSource, [
        ...trigger(database.name, { table: 'de_pair', event: 'INSERT', when: `NEW.${column} = 'bad'`, body }),
        ...trigger(database.name, { table: 'de_pair', event: 'UPDATE', when: `NEW.${column} = 'bad'`, body }),
        ...trigger(database.name, {
          table: 'de_pair',
          event: 'DELETE',
          when: `OLD.${column} = 'kept'`,
          body,
        }),
      ]);
    });
    afterAll(() => started.close());

    test.each(['deplain', 'deheard'])('in writes of %s', async (model) => {
      const url = `/rest/v1/de/${model}/`;
      for (const name of ['a', 'kept']) expect((await client.post(url, { name })).status).toBe(201);
      expect(seen(await client.post(url, { name: 'bad' }))).toEqual([400, written]);
      expect(seen(await client.put(`${url}1/`, { name: 'bad' }))).toEqual([400, written]);
      expect(seen(await client.patch(`${url}1/`, { name: 'bad' }))).toEqual([400, written]);
      expect(seen(await client.post(url, [{ name: 'c' }, { name: 'bad' }]))).toEqual([400, [{}, written]]);
      expect(seen(await client.patch(url, [{ id: 1, name: 'bad' }]))).toEqual([400, [written]]);
      expect(seen(await client.post(`${url}?upsert=true`, [{ name: 'bad' }]))).toEqual([400, [written]]);
      expect(seen(await client.delete(`${url}2/`))).toEqual([400, deleted]);
      expect((await client.delete(`${url}?name=kept`)).status).toBe(400);
      expect(((await client.get(url)).json as { name: string }[]).map(({ name }) => name)).toEqual([
        'a',
        'kept',
      ]);
    });

    test('in pairs', async () => {
      const pairs = `/rest/v1/de/deheard/1/pairs/`;
      for (const name of ['good', 'bad', 'kept'])
        expect((await client.post('/rest/v1/de/delabel/', { name })).status).toBe(201);
      for (const delabel of ['good', 'kept'])
        expect((await client.post(pairs, { delabel })).status).toBe(201);
      expect(seen(await client.post(pairs, { delabel: 'bad' }))).toEqual([400, written]);
      expect(seen(await client.patch(`${pairs}good/`, { delabel: 'bad' }))).toEqual([400, written]);
      expect(seen(await client.delete(`${pairs}kept/`))).toEqual([400, deleted]);
      expect(seen(await client.delete(`${pairs}good/`))).toEqual(DELETED);
    });
  });
});

/** What a trigger writes, whose columns have the names of the model's. */
@Entity('de_audit')
class DeAudit {
  @PrimaryGeneratedColumn() id: number;
  @Column({ length: 20, unique: true }) name: string;
  @Column({ length: 20 }) note: string;
}

onEachDatabase('a constraint of a table that a trigger writes', (database) => {
  let started: StartedApp;
  let client: StartedApp['client'];
  beforeAll(async () => {
    started = await startApp({ entities: [...ENTITIES, DeAudit], database });
    client = started.client;
    const { name } = database;
    for (const table of ['de_plain', 'de_heard'])
      await run(started.dataSource, [
        ...trigger(name, {
          table,
          event: 'INSERT',
          time: 'AFTER',
          when: `NEW.name IN ('u', 'n')`,
          body: `INSERT INTO de_audit (name, note) VALUES (NEW.name, CASE NEW.name WHEN 'n' THEN NULL ELSE 'x' END)`,
        }),
        ...trigger(name, {
          table,
          event: 'UPDATE',
          time: 'AFTER',
          when: `NEW.name = 'u'`,
          body: `INSERT INTO de_audit (name, note) VALUES (NEW.name, 'x')`,
        }),
        ...trigger(name, {
          table,
          event: 'DELETE',
          time: 'AFTER',
          when: `OLD.name = 'a'`,
          body: `INSERT INTO de_audit (name, note) VALUES ('u', 'x')`,
        }),
      ]);
    await run(started.dataSource, [`INSERT INTO de_audit (name, note) VALUES ('u', 'x')`]);
  });
  afterAll(() => started.close());

  test.each(['deplain', 'deheard'])('is not blamed on a field of %s', async (model) => {
    const url = `/rest/v1/de/${model}/`;
    expect((await client.post(url, { name: 'a' })).status).toBe(201);
    expect(seen(await client.post(url, { name: 'u', note: 'x' }))).toEqual(FAILED);
    expect(seen(await client.post(url, { name: 'n', note: 'x' }))).toEqual(FAILED);
    expect(seen(await client.patch(`${url}1/`, { name: 'u' }))).toEqual(FAILED);
    expect(seen(await client.post(url, [{ name: 'u' }]))).toEqual(FAILED);
    expect(seen(await client.delete(`${url}1/`))).toEqual(FAILED);
    expect(seen(await client.post(url, { name: 'a' }))).toEqual([
      400,
      { name: ['This field must be unique.'] },
    ]);
  });
});

onEachDatabase(
  'a value of a table that a trigger writes',
  (database) => {
    let started: StartedApp;
    let client: StartedApp['client'];
    const logged: unknown[] = [];
    beforeAll(async () => {
      started = await startApp({
        entities: [...ENTITIES],
        database,
        nest: {
          logger: {
            log: () => undefined,
            warn: () => undefined,
            error: (...all: unknown[]) => void logged.push(all),
          },
        },
      });
      client = started.client;
      await run(started.dataSource, [
        'CREATE TABLE de_log (note varchar(20) NOT NULL, extra varchar(4) NOT NULL, size tinyint NOT NULL)',
      ]);
      for (const table of ['de_plain', 'de_heard'])
        for (const event of ['INSERT', 'UPDATE'] as const)
          await run(started.dataSource, [
            ...trigger(database.name, {
              table,
              event,
              time: 'AFTER',
              when: `NEW.name <> 'a'`,
              body: `INSERT INTO de_log (note, extra, size) VALUES (IF(NEW.name = 'null note', NULL, 'x'), CASE NEW.name WHEN 'null' THEN NULL WHEN 'long' THEN 'too long' ELSE 'x' END, CASE NEW.name WHEN 'range' THEN 1000 WHEN 'text' THEN 'text' ELSE 1 END)`,
            }),
          ]);
    });
    afterAll(() => started.close());

    test.each(['deplain', 'deheard'])('is not blamed on %s', async (model) => {
      const url = `/rest/v1/de/${model}/`;
      expect((await client.post(url, { name: 'a' })).status).toBe(201);
      for (const name of ['null', 'long', 'range', 'text', 'null note']) {
        const body = { name, note: 'x' };
        for (const answer of [
          () => client.post(url, body),
          () => client.patch(`${url}1/`, body),
          () => client.post(url, [{ name: 'b' }, body]),
        ]) {
          logged.length = 0;
          expect([name, ...seen(await answer())]).toEqual([name, ...FAILED]);
          expect(logged).toHaveLength(1);
        }
      }
      expect(seen(await client.get(`${url}1/`))).toMatchObject([200, { name: 'a' }]);
    });
  },
  ['mariadb'],
);

/** A view that fails where the divisor is 0. */
@ViewEntity({ name: 'de_view', expression: '' })
class DeView {
  @ViewColumn() @PrimaryColumn() id: number;
  @ViewColumn() share: number;
  @ViewColumn() name: string;
}
restify<DeView>(DeView, { app: 'de', operations: ['list', 'retrieve'], searchFields: ['$name'] });

onEachDatabase(
  'a read that fails in the database',
  (database) => {
    let started: StartedApp;
    let client: StartedApp['client'];
    const logged: unknown[] = [];
    beforeAll(async () => {
      started = await startApp({
        entities: [DeView],
        database,
        dataSource: { synchronize: false },
        compare: false,
        nest: {
          logger: {
            log: () => undefined,
            warn: () => undefined,
            error: (...all: unknown[]) => void logged.push(all),
          },
        },
      });
      client = started.client;
      await run(started.dataSource, [
        'CREATE TABLE de_parts (id integer PRIMARY KEY, part integer NOT NULL, name varchar(20) NOT NULL)',
        `INSERT INTO de_parts VALUES (1, 0, 'a')`,
        `CREATE VIEW de_view AS SELECT id, 1 / part AS share, name FROM de_parts`,
      ]);
    });
    afterAll(() => started.close());

    test('is 500 and logged, and an invalid pattern is that of the search', async () => {
      for (const url of ['/rest/v1/de/deview/', '/rest/v1/de/deview/1/', '/rest/v1/de/deview/?search=a']) {
        logged.length = 0;
        expect([url, ...seen(await client.get(url))]).toEqual([url, ...FAILED]);
        expect(logged).toHaveLength(1);
      }
      expect(seen(await client.get('/rest/v1/de/deview/?search=('))).toEqual([
        400,
        { search: ['Enter a valid search pattern.'] },
      ]);
    });
  },
  ['postgres'],
);

onEachDatabase('a generated key that the database cannot make', (database) => {
  let started: StartedApp;
  let client: StartedApp['client'];
  beforeAll(async () => {
    started = await startApp({ entities: [...ENTITIES], database, compare: false });
    client = started.client;
  });
  afterAll(() => started.close());

  test.each(['deplain', 'deheard'])(
    'is the error of the server in %s, and a key that exists is that of the body',
    async (model) => {
      const url = `/rest/v1/de/${model}/`;
      const table = model.replace('de', 'de_');
      const fail: Readonly<Record<Name, readonly string[]>> = {
        postgres: [`INSERT INTO ${table} (id, name) SELECT i, 'x' || i FROM generate_series(2, 20) i`],
        mariadb: [`INSERT INTO ${table} (id, name) VALUES (2147483647, 'x')`],
        sqlite: [`UPDATE sqlite_sequence SET seq = 9223372036854775807 WHERE name = '${table}'`],
      };
      expect((await client.post(url, { name: 'a' })).status).toBe(201);
      await run(started.dataSource, fail[database.name]);
      expect(seen(await client.post(url, { name: 'b' }))).toEqual(FAILED);
      expect(seen(await client.post(url, [{ name: 'b' }]))).toEqual(FAILED);
      if (database.name === 'postgres') {
        await run(started.dataSource, [`SELECT setval('${table}_id_seq', 2147483647)`]);
        expect(seen(await client.post(url, { name: 'c' }))).toEqual(FAILED);
      }
    },
  );
});

/** A table in partitions, and a view of it with a condition for writes. */
@Entity('de_whole')
class DeWhole {
  @PrimaryColumn() id: number;
  @Column({ length: 20, nullable: false }) name: string;
  @Column({ type: 'varchar', length: 20, nullable: true }) note: string | null;
}
@Entity('de_some')
class DeSome {
  @PrimaryColumn() id: number;
  @Column({ length: 20 }) name: string;
  @Column({ type: 'varchar', length: 20, nullable: true }) note: string | null;
}
restify(DeWhole, 'de');
restify(DeSome, 'de');

onEachDatabase(
  'constraints behind a view or a partitioned table',
  (database) => {
    let started: StartedApp;
    let client: StartedApp['client'];
    const isPostgres = database.name === 'postgres';
    beforeAll(async () => {
      started = await startApp({
        entities: isPostgres ? [DeWhole, DeSome] : [DeSome, DeWhole],
        database,
        dataSource: { synchronize: false },
        compare: false,
      });
      client = started.client;
      await run(started.dataSource, [
        `CREATE TABLE de_whole (id integer PRIMARY KEY, name varchar(20) NOT NULL, note varchar(20) NOT NULL)${isPostgres ? ' PARTITION BY RANGE (id)' : ''}`,
        ...(isPostgres ? ['CREATE TABLE de_part PARTITION OF de_whole FOR VALUES FROM (0) TO (100)'] : []),
        `CREATE VIEW de_some AS SELECT id, name, note FROM de_whole WHERE name <> 'hidden' WITH CASCADED CHECK OPTION`,
      ]);
    });
    afterAll(() => started.close());

    test('are those of the model', async () => {
      const object = { id: 1, name: 'a', note: 'x' };
      for (const [model, id] of [
        ['dewhole', 1],
        ['desome', 2],
      ] as const) {
        const url = `/rest/v1/de/${model}/`;
        expect((await client.post(url, { ...object, id })).status).toBe(201);
        expect((await client.post(url, { ...object, id })).status).toBe(400);
        expect(seen(await client.post(url, { id: 3, name: 'a', note: null }))).toEqual([
          400,
          { note: ['This field may not be null.'] },
        ]);
      }
      expect(seen(await client.post('/rest/v1/de/dewhole/', object))).toEqual([
        400,
        { id: ['This field must be unique.'] },
      ]);
    });

    test('WITH CHECK OPTION is a rule of the database', async () => {
      const url = '/rest/v1/de/desome/';
      expect(seen(await client.post(url, { id: 5, name: 'hidden', note: 'x' }))).toEqual([400, BROKEN]);
      expect((await client.post(url, { id: 5, name: 'seen', note: 'x' })).status).toBe(201);
      expect(seen(await client.patch(`${url}5/`, { name: 'hidden' }))).toEqual([400, BROKEN]);
    });
  },
  ['postgres', 'mariadb'],
);

onEachDatabase(
  'what the user of the database may not write',
  (database) => {
    let started: StartedApp;
    let client: StartedApp['client'];
    const DENIED = [403, { detail: 'You do not have permission to perform this action.' }];
    beforeAll(async () => {
      started = await startApp({ entities: [...ENTITIES], database, compare: false, undescribed: [403] });
      client = started.client;
      const body = `RAISE EXCEPTION USING ERRCODE = 'insufficient_privilege', MESSAGE = 'new row violates row-level security policy'`;
      for (const table of ['de_plain', 'de_heard'])
        await run(started.dataSource, [
          ...trigger('postgres', { table, event: 'INSERT', when: `NEW.name = 'bad'`, body }),
          ...trigger('postgres', { table, event: 'UPDATE', when: `NEW.name = 'bad'`, body }),
          ...trigger('postgres', { table, event: 'DELETE', when: `OLD.name = 'a'`, body }),
        ]);
    });
    afterAll(() => started.close());

    test.each(['deplain', 'deheard'])('is 403 in %s', async (model) => {
      const url = `/rest/v1/de/${model}/`;
      expect((await client.post(url, { name: 'a' })).status).toBe(201);
      expect(seen(await client.post(url, { name: 'bad' }))).toEqual(DENIED);
      expect(seen(await client.post(url, [{ name: 'bad' }]))).toEqual(DENIED);
      expect(seen(await client.patch(`${url}1/`, { name: 'bad' }))).toEqual(DENIED);
      expect(seen(await client.delete(`${url}1/`))).toEqual(DENIED);
    });
  },
  ['postgres'],
);
