// @tags db nest
// Rows that are stored otherwise than they were written: by a trigger that changes the key, by a view that does not show them.
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { Restify } from 'nestjs-restify';
import { AfterInsert, AfterUpdate, Column, Entity, PrimaryColumn } from 'typeorm';
import { onEachDatabase } from '../support/each-database.js';
import { startApp } from '../support/start-app.js';
import type { StartedApp } from '../support/start-app.js';
import { seen } from './nested-answers.js';

@Entity('uw_note')
class Note {
  @PrimaryColumn() id: number;
  @Column({ length: 20 }) title: string;
  @Column({ type: 'int' }) shown: number;
}

/** A view that does not show all rows. */
@Restify({ app: 'uw', bulk: true })
@Entity('uw_shown', { synchronize: false })
class Shown {
  @PrimaryColumn() id: number;
  @Column({ length: 20 }) title: string;
  @Column({ type: 'int' }) shown: number;

  // Written by TypeORM.
  @AfterInsert() inserted(): void {}
  @AfterUpdate() updated(): void {}
}

@Restify('uw')
@Entity('uw_moved')
class Moved {
  @PrimaryColumn() id: number;
  @Column({ length: 20 }) title: string;

  @AfterInsert() inserted(): void {}
}

const TRIGGERS: Readonly<Record<'postgres' | 'mariadb', readonly string[]>> = {
  postgres: [
    'CREATE FUNCTION uw_move() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN NEW.id := NEW.id + 100; RETURN NEW; END $$',
    'CREATE TRIGGER uw_moves BEFORE INSERT ON uw_moved FOR EACH ROW EXECUTE FUNCTION uw_move()',
  ],
  mariadb: ['CREATE TRIGGER uw_moves BEFORE INSERT ON uw_moved FOR EACH ROW SET NEW.id = NEW.id + 100'],
};
const NOT_STORED = { non_field_errors: ['The database has not stored this object.'] };

onEachDatabase(
  'an object that cannot be read back',
  (database) => {
    let started: StartedApp;
    beforeAll(async () => {
      started = await startApp({ entities: [Note, Shown, Moved], database, compare: false });
      const statements = TRIGGERS[database.name as 'postgres' | 'mariadb'];
      for (const statement of [
        'CREATE VIEW uw_shown AS SELECT id, title, shown FROM uw_note WHERE shown = 1',
        ...statements,
      ])
        await started.dataSource.query(statement);
    });
    afterAll(async () => {
      await started.dataSource.query('DROP VIEW uw_shown');
      await started.close();
    });

    test('is 400 where a view does not show it, and nothing is stored', async () => {
      const { client, dataSource } = started;
      const url = '/rest/v1/uw/shown/';
      const hidden = { id: 2, title: 'b', shown: 0 };
      expect((await client.post(url, { id: 1, title: 'a', shown: 1 })).status).toBe(201);
      expect(seen(await client.post(url, hidden))).toEqual([400, NOT_STORED]);
      expect(seen(await client.patch(`${url}1/`, { shown: 0 }))).toEqual([400, NOT_STORED]);
      expect(seen(await client.post(url, [{ id: 3, title: 'c', shown: 1 }, hidden]))).toEqual([
        400,
        [{}, NOT_STORED],
      ]);
      expect(await dataSource.getRepository(Note).find()).toEqual([{ id: 1, title: 'a', shown: 1 }]);
    });

    test('is 400 where a trigger changes the key that the body gives', async () => {
      const { client, dataSource } = started;
      expect(seen(await client.post('/rest/v1/uw/moved/', { id: 1, title: 'a' }))).toEqual([400, NOT_STORED]);
      expect(await dataSource.getRepository(Moved).count()).toBe(0);
    });
  },
  ['postgres', 'mariadb'],
);
