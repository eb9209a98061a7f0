// @tags db nest
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { restify } from 'nestjs-restify';
import { BeforeInsert, Column, Entity, PrimaryGeneratedColumn } from 'typeorm';
import { onEachDatabase } from '../support/each-database.js';
import { startApp } from '../support/start-app.js';
import type { StartedApp } from '../support/start-app.js';

@Entity()
class RkPlain {
  @PrimaryGeneratedColumn() id: number;
  @Column({ type: 'varchar', length: 20 }) name: string;
}

@Entity()
class RkHeard {
  @PrimaryGeneratedColumn() id: number;
  @Column({ type: 'varchar', length: 20 }) name: string;

  @BeforeInsert() trim(): void {
    this.name = this.name.trim();
  }
}

restify(RkPlain, { app: 'rk', bulk: true });
restify(RkHeard, { app: 'rk', bulk: true });

const LAST_EXACT = 9007199254740991n;

onEachDatabase(
  'a generated key beyond the integers that JSON holds exactly',
  (database) => {
    let started: StartedApp;
    const logged: string[] = [];
    beforeAll(async () => {
      started = await startApp({
        undescribed: 'all',
        database,
        entities: [RkPlain, RkHeard],
        nest: {
          logger: {
            log: () => undefined,
            warn: () => undefined,
            error: (...all: unknown[]) => void logged.push(String(all[0])),
          },
        },
      });
    });
    afterAll(() => started.close());

    test.each(['rk_plain', 'rk_heard'])('%s: the last exact one is given, no other is', async (table) => {
      const { client, dataSource } = started;
      const path = `/rest/v1/rk/${table.replace('_', '')}/`;
      const first = await client.post(path, { name: 'a' });
      expect(first.status).toBe(201);
      await dataSource.query(`UPDATE sqlite_sequence SET seq = ${LAST_EXACT - 1n} WHERE name = '${table}'`);
      const last = await client.post(path, { name: 'b' });
      expect([last.status, last.json]).toEqual([201, { id: Number(LAST_EXACT), name: 'b' }]);
      for (const body of [{ name: 'c' }, [{ name: 'c' }, { name: 'd' }]]) {
        const refused = await client.post(path, body);
        expect([body, refused.status, refused.text]).toEqual([body, 500, expect.any(String)]);
        expect(refused.text).not.toContain('key');
      }
      expect(logged.join()).toContain('generated a key beyond 9007199254740991 for rk.');
      expect(await dataSource.query(`SELECT count(*) AS n FROM ${table}`)).toEqual([{ n: 2 }]);
    });
  },
  ['sqlite'],
);
