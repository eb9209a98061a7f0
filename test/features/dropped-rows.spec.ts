// @tags db nest
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { IdempotencyRecord, restify, RestifyResources } from 'nestjs-restify';
import {
  AfterInsert,
  AfterRemove,
  AfterUpdate,
  Column,
  Entity,
  JoinTable,
  ManyToMany,
  PrimaryColumn,
  PrimaryGeneratedColumn,
  Tree,
  TreeChildren,
  TreeParent,
} from 'typeorm';
import type { DataSource, Relation } from 'typeorm';
import { onEachDatabase } from '../support/each-database.js';
import { startApp } from '../support/start-app.js';
import type { StartedApp } from '../support/start-app.js';
import { DELETED, seen } from './nested-answers.js';

const told: string[] = [];

/** Written by statements of the adapter where no trigger is in the way. */
@Entity('dd_plain')
class DdPlain {
  @PrimaryGeneratedColumn() id: number;
  @Column({ length: 20, unique: true }) name: string;
  @Column({ default: false }) archived: boolean;
}

/** Written by TypeORM. */
@Entity('dd_heard')
class DdHeard {
  @PrimaryGeneratedColumn() id: number;
  @Column({ length: 20, unique: true }) name: string;
  @Column({ default: false }) archived: boolean;
  @ManyToMany(() => DdLabel) @JoinTable({ name: 'dd_pair' }) pairs: Relation<DdLabel[]>;

  @AfterInsert() inserted(): void {
    told.push(`inserted ${this.name}`);
  }
  @AfterUpdate() updated(): void {
    told.push(`updated ${this.name}`);
  }
  @AfterRemove() removed(): void {
    told.push(`removed ${this.name}`);
  }
}

@Entity('dd_label')
class DdLabel {
  @PrimaryColumn({ length: 20 }) name: string;
}

const ENTITIES = [DdPlain, DdHeard, DdLabel, IdempotencyRecord];
for (const entity of [DdPlain, DdHeard])
  restify<DdPlain>(entity, { app: 'dd', bulk: { upsert: ['name'] }, idempotency: true });
restify(DdLabel, 'dd');

/** Triggers that drop rows by their name. */
function droppingTriggers(name: 'sqlite' | 'postgres', table: string, column: string): readonly string[] {
  if (name === 'sqlite')
    return [
      `CREATE TRIGGER ${table}_i BEFORE INSERT ON ${table} WHEN NEW.${column} LIKE 'drop%' BEGIN SELECT RAISE(IGNORE); END`,
      `CREATE TRIGGER ${table}_u BEFORE UPDATE ON ${table} WHEN NEW.${column} LIKE 'drop%' BEGIN SELECT RAISE(IGNORE); END`,
      `CREATE TRIGGER ${table}_d BEFORE DELETE ON ${table} WHEN OLD.${column} LIKE 'keep%' BEGIN SELECT RAISE(IGNORE); END`,
    ];
  return [
    `CREATE FUNCTION ${table}_f() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
      IF TG_OP = 'DELETE' THEN
        IF OLD.${column} LIKE 'keep%' THEN RETURN NULL; END IF;
        RETURN OLD;
      END IF;
      IF NEW.${column} LIKE 'drop%' THEN RETURN NULL; END IF;
      RETURN NEW;
    END $$`,
    `CREATE TRIGGER ${table}_t BEFORE INSERT OR UPDATE OR DELETE ON ${table} FOR EACH ROW EXECUTE FUNCTION ${table}_f()`,
  ];
}

/** Triggers that archive rows in place of deleting them. */
function archivingTriggers(name: 'sqlite' | 'postgres', table: string): readonly string[] {
  if (name === 'sqlite')
    return [
      `CREATE TRIGGER ${table}_a BEFORE DELETE ON ${table} WHEN OLD.name LIKE 'soft%' BEGIN UPDATE ${table} SET archived = 1 WHERE id = OLD.id; SELECT RAISE(IGNORE); END`,
    ];
  return [
    `CREATE FUNCTION ${table}_a() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
      UPDATE ${table} SET archived = true WHERE id = OLD.id;
      RETURN NULL;
    END $$`,
    `CREATE TRIGGER ${table}_a BEFORE DELETE ON ${table} FOR EACH ROW WHEN (OLD.name LIKE 'soft%') EXECUTE FUNCTION ${table}_a()`,
  ];
}

async function run(dataSource: DataSource, statements: readonly string[]): Promise<void> {
  for (const statement of statements) await dataSource.query(statement);
}

const NOT_STORED = { non_field_errors: ['The database has not stored this object.'] };
const KEPT = [409, { detail: 'This object cannot be deleted: the database has kept it.' }];

onEachDatabase(
  'a row that a trigger drops',
  (database) => {
    let started: StartedApp;
    let client: StartedApp['client'];
    const name = database.name as 'sqlite' | 'postgres';
    beforeAll(async () => {
      started = await startApp({ entities: ENTITIES, database });
      client = started.client;
      for (const table of ['dd_plain', 'dd_heard'])
        await run(started.dataSource, [
          ...droppingTriggers(name, table, 'name'),
          ...archivingTriggers(name, table),
        ]);
      await run(started.dataSource, droppingTriggers(name, 'dd_pair', quoted('ddLabelName')));
    });
    afterAll(() => started.close());
    const quoted = (column: string): string => `"${column}"`;

    describe.each([
      ['plain', DdPlain],
      ['heard', DdHeard],
    ] as const)('of the model %s', (model, entity) => {
      const url = `/rest/v1/dd/dd${model}/`;
      const names = async (): Promise<readonly string[]> => {
        const rows = await started.dataSource.getRepository<DdPlain>(entity).find({ order: { id: 1 } });
        return rows.map((row) => row.name);
      };

      test('is 400 in POST, PUT and PATCH, also in lists, and nothing of a list is stored', async () => {
        for (const body of [{ name: 'a' }, { name: 'b' }])
          expect((await client.post(url, body)).status).toBe(201);
        told.length = 0;
        expect(seen(await client.post(url, { name: 'drop' }))).toEqual([400, NOT_STORED]);
        expect(seen(await client.put(`${url}1/`, { name: 'drop' }))).toEqual([400, NOT_STORED]);
        expect(seen(await client.patch(`${url}1/`, { name: 'drop' }))).toEqual([400, NOT_STORED]);
        expect(seen(await client.post(url, [{ name: 'c' }, { name: 'drop' }]))).toEqual([
          400,
          [{}, NOT_STORED],
        ]);
        const changes = [
          { id: 1, name: 'c' },
          { id: 2, name: 'drop' },
        ];
        expect(seen(await client.patch(url, changes))).toEqual([400, [{}, NOT_STORED]]);
        expect(seen(await client.post(`${url}?upsert=true`, [{ name: 'a' }, { name: 'drop' }]))).toEqual([
          400,
          [{}, NOT_STORED],
        ]);
        expect(told.filter((each) => each.endsWith('drop'))).toEqual([]);
        expect(await names()).toEqual(['a', 'b']);
        const headers = { 'Idempotency-Key': 'k' };
        expect(seen(await client.send('POST', url, { body: { name: 'drop' }, headers }))).toEqual([
          400,
          NOT_STORED,
        ]);
        expect((await client.send('POST', url, { body: { name: 'c' }, headers })).status).toBe(201);
        const resources = started.app.get(RestifyResources).of(entity).as(null);
        await expect(resources.create({ name: 'drop' })).rejects.toMatchObject({ response: { status: 400 } });
      });

      test('is 409 where it should be deleted, unless it has changed', async () => {
        const ids = new Map<string, number>();
        for (const each of ['keep', 'soft', 'gone'])
          ids.set(each, ((await client.post(url, { name: each })).json as { id: number }).id);
        const of = (each: string): string => `${url}${String(ids.get(each))}/`;
        told.length = 0;
        expect(seen(await client.delete(of('keep')))).toEqual(KEPT);
        expect(
          seen(await client.delete(`${url}?keys=${String(ids.get('gone'))},${String(ids.get('keep'))}`)),
        ).toEqual(KEPT);
        expect(told.filter((each) => each.endsWith('keep'))).toEqual([]);
        expect((await client.get(of('gone'))).status).toBe(200);
        expect(seen(await client.delete(of('soft')))).toEqual(DELETED);
        expect((await client.get(of('soft'))).json).toMatchObject({ archived: true });
        expect(seen(await client.delete(of('gone')))).toEqual(DELETED);
        expect((await client.get(of('gone'))).status).toBe(404);
      });
    });

    test('is 400 and 409 for pairs, too', async () => {
      for (const each of ['drop', 'keep', 'free']) await client.post('/rest/v1/dd/ddlabel/', { name: each });
      const url = '/rest/v1/dd/ddheard/1/pairs/';
      expect(seen(await client.post(url, { ddlabel: 'drop' }))).toEqual([400, NOT_STORED]);
      expect((await client.post(url, { ddlabel: 'keep' })).status).toBe(201);
      expect(seen(await client.delete(`${url}keep/`))).toEqual(KEPT);
      expect((await client.post(url, { ddlabel: 'free' })).status).toBe(201);
      expect(seen(await client.patch(`${url}free/`, { ddlabel: 'drop' }))).toEqual([400, NOT_STORED]);
      expect((await client.get(url)).json).toMatchObject([{ id: 'free' }, { id: 'keep' }]);
    });
  },
  ['sqlite', 'postgres'],
);

/** In trees, which TypeORM maintains by further statements on the same table. */
@Entity('dt_path')
@Tree('materialized-path')
class DtPath {
  @PrimaryGeneratedColumn() id: number;
  @Column({ length: 20 }) name: string;
  @TreeParent() parent: Relation<DtPath> | null;
  @TreeChildren() children: Relation<DtPath[]>;
}

@Entity('dt_nested')
@Tree('nested-set')
class DtNested {
  @PrimaryGeneratedColumn() id: number;
  @Column({ length: 20 }) name: string;
  @TreeParent() parent: Relation<DtNested> | null;
  @TreeChildren() children: Relation<DtNested[]>;
}

@Entity('dt_closure')
@Tree('closure-table')
class DtClosure {
  @PrimaryGeneratedColumn() id: number;
  @Column({ length: 20 }) name: string;
  @TreeParent() parent: Relation<DtClosure> | null;
  @TreeChildren() children: Relation<DtClosure[]>;
}

const TREES = [DtPath, DtNested, DtClosure];
for (const entity of TREES) restify<DtPath>(entity, { app: 'dt', bulk: true });

onEachDatabase(
  'a row of a tree that a trigger drops',
  (database) => {
    let started: StartedApp;
    beforeAll(async () => {
      started = await startApp({ entities: TREES, database });
      for (const { tableName } of started.dataSource.entityMetadatas.filter(({ target }) =>
        TREES.some((each) => each === target),
      ))
        await run(
          started.dataSource,
          droppingTriggers(database.name as 'sqlite' | 'postgres', tableName, 'name'),
        );
    });
    afterAll(() => started.close());

    test.each(['dtpath', 'dtnested', 'dtclosure'])('is 400 in a %s, and rows can be moved', async (model) => {
      const { client } = started;
      const url = `/rest/v1/dt/${model}/`;
      const root = (await client.post(url, { name: 'root' })).json as { id: number };
      const ids: number[] = [];
      for (const name of ['a', 'b'])
        ids.push(((await client.post(url, { name, parent: root.id })).json as { id: number }).id);
      const [a, b] = ids;
      expect(seen(await client.post(url, { name: 'drop', parent: root.id }))).toEqual([400, NOT_STORED]);
      for (const id of [root.id, a]) {
        const own = `${url}${String(id)}/`;
        expect(seen(await client.patch(own, { name: 'drop' }))).toEqual([400, NOT_STORED]);
        expect(seen(await client.patch(url, [{ id, name: 'drop' }]))).toEqual([400, [NOT_STORED]]);
      }
      const moved = await client.patch(`${url}${String(a)}/`, { parent: b });
      expect([moved.status, moved.json]).toMatchObject([200, { name: 'a', parent: b }]);
      const dropped = await client.patch(`${url}${String(a)}/`, { parent: root.id, name: 'drop' });
      expect(seen(dropped)).toEqual([400, NOT_STORED]);
      expect((await client.get(`${url}${String(a)}/`)).json).toMatchObject({ name: 'a', parent: b });
    });
  },
  ['sqlite', 'postgres'],
);

/** On a table with conflict clauses. */
@Entity('dd_once')
class DdOnce {
  @PrimaryColumn({ length: 20 }) code: string;
  @Column({ length: 20 }) name: string;
}

test('a row that a conflict clause of SQLite ignores is 400, and the other row stays', async () => {
  restify(DdOnce, { app: 'dd', bulk: true });
  const started = await startApp({ entities: [DdOnce], dataSource: { synchronize: false } });
  const { client, dataSource } = started;
  const url = '/rest/v1/dd/ddonce/';
  try {
    await dataSource.query(
      'CREATE TABLE dd_once (code varchar(20) PRIMARY KEY ON CONFLICT IGNORE NOT NULL, name varchar(20) UNIQUE ON CONFLICT IGNORE)',
    );
    for (const code of ['a', 'b']) expect((await client.post(url, { code, name: code })).status).toBe(201);
    expect(seen(await client.post(url, { code: 'a', name: 'c' }))).toEqual([400, NOT_STORED]);
    expect(seen(await client.post(url, { code: 'c', name: 'a' }))).toEqual([400, NOT_STORED]);
    const list = [
      { code: 'c', name: 'c' },
      { code: 'd', name: 'a' },
    ];
    expect(seen(await client.post(url, list))).toEqual([400, [{}, NOT_STORED]]);
    expect(seen(await client.patch(`${url}b/`, { name: 'a' }))).toEqual([400, NOT_STORED]);
    expect((await client.get(url)).json).toEqual(['a', 'b'].map((code) => ({ code, name: code })));
  } finally {
    await started.close();
  }
});

/** On a view whose rows are written by triggers. */
@Entity('dv_card')
class DvCard {
  @PrimaryColumn({ length: 20 }) code: string;
  @Column({ length: 20 }) name: string;
}

@Entity('dv_note')
class DvNote {
  @PrimaryGeneratedColumn('uuid') id: string;
  @Column({ length: 20 }) name: string;
}

/** Deleted by a rule, which marks its rows. */
@Entity('dv_ruled')
class DvRuled {
  @PrimaryGeneratedColumn() id: number;
  @Column({ default: '' }) name: string;
}

const VIEWED = [DvCard, DvNote, DvRuled];
for (const entity of VIEWED) restify<object>(entity, { app: 'dv', bulk: entity === DvCard });

/** A view of a table, from which it hides deleted rows. What is called `drop` is not written. */
function viewOf(
  name: 'sqlite' | 'postgres',
  { view, key, type }: { view: string; key: string; type: string },
): readonly string[] {
  const base = `CREATE TABLE ${view}_base (${key} ${type} PRIMARY KEY, name varchar(20), gone integer DEFAULT 0)`;
  const rows = `CREATE VIEW ${view} AS SELECT ${key}, name FROM ${view}_base WHERE gone = 0`;
  const insert = `INSERT INTO ${view}_base (${key}, name) VALUES (NEW.${key}, NEW.name)`;
  const update = `UPDATE ${view}_base SET name = NEW.name WHERE ${key} = OLD.${key}`;
  const remove = `UPDATE ${view}_base SET gone = 1 WHERE ${key} = OLD.${key}`;
  if (name === 'sqlite')
    return [
      base,
      rows,
      `CREATE TRIGGER ${view}_i INSTEAD OF INSERT ON ${view} WHEN NEW.name <> 'drop' BEGIN ${insert}; END`,
      `CREATE TRIGGER ${view}_u INSTEAD OF UPDATE ON ${view} WHEN NEW.name <> 'drop' BEGIN ${update}; END`,
      `CREATE TRIGGER ${view}_d INSTEAD OF DELETE ON ${view} WHEN OLD.name <> 'keep' BEGIN ${remove}; END`,
    ];
  return [
    base,
    rows,
    `CREATE FUNCTION ${view}_f() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
      IF TG_OP = 'DELETE' THEN
        IF OLD.name = 'keep' THEN RETURN NULL; END IF;
        ${remove}; RETURN NULL;
      END IF;
      IF NEW.name = 'drop' THEN RETURN NULL; END IF;
      IF TG_OP = 'INSERT' THEN ${insert}; ELSE ${update}; END IF;
      RETURN NEW;
    END $$`,
    `CREATE TRIGGER ${view}_t INSTEAD OF INSERT OR UPDATE OR DELETE ON ${view} FOR EACH ROW EXECUTE FUNCTION ${view}_f()`,
  ];
}

onEachDatabase(
  'a row of a view',
  (database) => {
    let started: StartedApp;
    let client: StartedApp['client'];
    const name = database.name as 'sqlite' | 'postgres';
    beforeAll(async () => {
      const entities = name === 'sqlite' ? [DvCard, DvNote] : VIEWED;
      started = await startApp({ entities, database, dataSource: { synchronize: false } });
      client = started.client;
      await run(started.dataSource, viewOf(name, { view: 'dv_card', key: 'code', type: 'varchar(20)' }));
      if (name === 'sqlite')
        await run(started.dataSource, viewOf(name, { view: 'dv_note', key: 'id', type: 'varchar' }));
      else
        await run(started.dataSource, [
          'CREATE TABLE dv_ruled (id serial PRIMARY KEY, name varchar DEFAULT $$$$, gone integer DEFAULT 0)',
          'CREATE RULE dv_ruled_gone AS ON DELETE TO dv_ruled DO INSTEAD UPDATE dv_ruled SET gone = 1 WHERE id = OLD.id',
        ]);
    });
    afterAll(() => started.close());

    test('is written by its triggers, and answered as it is stored', async () => {
      const url = '/rest/v1/dv/dvcard/';
      for (const code of ['a', 'b', 'keep'])
        expect(seen(await client.post(url, { code, name: code }))).toEqual([201, { code, name: code }]);
      expect((await client.post(url, { code: 'a', name: 'x' })).status).toBe(400);
      expect(seen(await client.post(url, { code: 'c', name: 'drop' }))).toEqual([400, NOT_STORED]);
      expect(seen(await client.post(url, { code: 'b', name: 'drop' }))).toEqual([400, NOT_STORED]);
      expect(seen(await client.patch(`${url}a/`, { name: 'z' }))).toEqual([200, { code: 'a', name: 'z' }]);
      expect(seen(await client.patch(`${url}a/`, { name: 'drop' }))).toEqual([400, NOT_STORED]);
      expect(seen(await client.delete(`${url}b/`))).toEqual(DELETED);
      expect(seen(await client.delete(`${url}keep/`))).toEqual(KEPT);
      expect((await client.get(url)).json).toEqual([
        { code: 'a', name: 'z' },
        { code: 'keep', name: 'keep' },
      ]);
    });

    if (name === 'sqlite')
      test('has the key that the process has generated', async () => {
        for (const each of ['a', 'b']) {
          const { status, json } = await client.post('/rest/v1/dv/dvnote/', { name: each });
          expect([status, json]).toMatchObject([201, { name: each }]);
        }
        expect((await client.post('/rest/v1/dv/dvnote/', { name: 'drop' })).status).toBe(400);
      });
    else
      test('that a rule of PostgreSQL marks in place of deleting it is deleted', async () => {
        expect((await client.post('/rest/v1/dv/dvruled/', {})).status).toBe(201);
        expect(seen(await client.delete('/rest/v1/dv/dvruled/1/'))).toEqual(DELETED);
        expect(await started.dataSource.query('SELECT id, gone FROM dv_ruled')).toEqual([{ id: 1, gone: 1 }]);
      });
  },
  ['sqlite', 'postgres'],
);
