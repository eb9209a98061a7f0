// @tags db
import { expect, test } from '@jest/globals';
import { Restify } from 'nestjs-restify';
import { Column, Entity, PrimaryGeneratedColumn } from 'typeorm';
import { StatementLog } from '../faults/statement-log.js';
import { onEachDatabase } from '../support/each-database.js';
import { startApp } from '../support/start-app.js';

@Restify({ app: 'upsertraces', bulk: { upsert: ['code'] } })
@Entity('upsertraces_item')
class Item {
  @PrimaryGeneratedColumn() id: number;
  @Column({ length: 20, unique: true }) code: string;
  @Column({ type: 'int', default: 3 }) votes: number;
}

onEachDatabase(
  'an upsert of many rows',
  (database) => {
    test('succeeds where other transactions insert a further row of it during each attempt', async () => {
      let isRacing = false;
      let isFirst = false;
      let others = 0;
      const log = new StatementLog();
      log.logQuery = (sql: string): void => {
        if (sql.startsWith('START')) isFirst = true;
        if (!isRacing || !isFirst || !sql.startsWith('INSERT')) return;
        isFirst = false;
        others++;
        void started.dataSource.query(
          `/* other */ INSERT INTO upsertraces_item (code) VALUES ('other${others}')`,
        );
      };
      const started = await startApp({
        entities: [Item],
        database,
        dataSource: {
          logging: ['query'],
          logger: log,
        },
        compare: false,
      });
      const url = '/rest/v1/upsertraces/item/';
      expect((await started.client.post(url, { code: 'first' })).status).toBe(201);
      // A trigger that is added later does not change how rows are written. It makes the time for the other transaction.
      await started.dataSource.query(
        'CREATE FUNCTION wait_long() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN PERFORM pg_sleep(0.5); RETURN NEW; END $$',
      );
      await started.dataSource.query(
        `CREATE TRIGGER wait_long BEFORE INSERT ON upsertraces_item FOR EACH ROW WHEN (NEW.code = 'slow') EXECUTE FUNCTION wait_long()`,
      );
      const codes = ['slow', 'other1', 'other2', 'other3', 'other4', 'other5'];
      const body = codes.map((code) => ({ code, votes: 9 }));
      isRacing = true;
      const { status, json } = await started.client.post(`${url}?upsert=true`, body);
      expect([status, json]).toMatchObject([201, body]);
      expect(others).toBe(2);
      await started.close();
    });
  },
  ['postgres'],
);
