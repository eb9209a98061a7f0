// @tags nest
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { restify } from 'nestjs-restify';
import { Column, DataSource, Entity, PrimaryColumn, PrimaryGeneratedColumn } from 'typeorm';
import type { TestDatabase } from '../support/databases.js';
import { startApp } from '../support/start-app.js';
import { problemsOf } from './refused-start.js';

@Entity('bt_view')
class BtView {
  @PrimaryGeneratedColumn() id: number;
  @Column() name: string;
}

@Entity('bt_keyed')
class BtKeyed {
  @PrimaryColumn() name: string;
}

@Entity('bt_uuid')
class BtUuid {
  @PrimaryGeneratedColumn('uuid') id: string;
  @Column() name: string;
}

@Entity('bt_tag')
class BtTag {
  @PrimaryGeneratedColumn() id: number;
  @Column() name: string;
}

@Entity('bt_read')
class BtRead {
  @PrimaryColumn() name: string;
}

@Entity('bt_note')
class BtNote {
  @PrimaryGeneratedColumn() id: number;
  @Column() name: string;
}

for (const entity of [BtView, BtKeyed, BtUuid, BtTag, BtNote]) restify<object>(entity, 'bt');
restify(BtRead, { app: 'bt', operations: ['list', 'retrieve', 'destroy'] });

let folder: string;
let database: TestDatabase;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'restify-definitions-'));
  const file = join(folder, 'a.sqlite');
  const options = { type: 'better-sqlite3', database: file } as const;
  const made = await new DataSource(options).initialize();
  for (const sql of [
    'CREATE TABLE bt_base (id integer PRIMARY KEY, name varchar)',
    'CREATE VIEW bt_view AS SELECT id, name FROM bt_base',
    'CREATE VIEW bt_keyed AS SELECT name FROM bt_base',
    'CREATE VIEW bt_uuid AS SELECT id, name FROM bt_base',
    'CREATE TABLE bt_tag (id integer PRIMARY KEY, name varchar, UNIQUE (name)  on conflict\n replace)',
    'CREATE TABLE bt_read (name varchar PRIMARY KEY ON CONFLICT REPLACE)',
    `CREATE TABLE bt_note (id integer PRIMARY KEY, name varchar NOT NULL ON CONFLICT REPLACE DEFAULT 'x')`,
  ])
    await made.query(sql);
  await made.destroy();
  const open: TestDatabase['open'] = () => Promise.resolve({ options, drop: () => Promise.resolve() });
  database = { name: 'sqlite', missing: undefined, open };
});
afterAll(() => rm(folder, { recursive: true }));

test('tables of SQLite whose writes would show or delete other rows are refused at start', async () => {
  const dataSource = { synchronize: false };
  const entities = [BtView, BtKeyed, BtUuid, BtTag, BtRead, BtNote];
  expect(await problemsOf({ entities, database, dataSource })).toEqual([
    `BtView: SQLite does not tell the key of a new row of the view "bt_view". Let the client or the process give the key: @PrimaryColumn() or @PrimaryGeneratedColumn('uuid'), or leave 'create' out of its operations.`,
    `BtTag: a write to the table "bt_tag" may delete another row, because a constraint has ON CONFLICT REPLACE. Take the clause out of the table, or serve it for reading: operations: ['list', 'retrieve'].`,
  ]);
  const started = await startApp({ entities: [BtKeyed, BtUuid, BtRead, BtNote], database, dataSource });
  await started.close();
});
