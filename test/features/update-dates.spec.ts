// @tags db nest
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { Restify } from 'nestjs-restify';
import {
  AfterUpdate,
  Column,
  CreateDateColumn,
  DeleteDateColumn,
  Entity,
  PrimaryGeneratedColumn,
  UpdateDateColumn,
} from 'typeorm';
import { onEachDatabase } from '../support/each-database.js';
import { startApp } from '../support/start-app.js';
import type { StartedApp } from '../support/start-app.js';

abstract class UdDated {
  @PrimaryGeneratedColumn() id: number;
  @Column({ length: 20, unique: true }) name: string;
  @Column('int', { default: 0 }) votes: number;
  @CreateDateColumn() created: Date;
  @UpdateDateColumn() updated: Date;
  @DeleteDateColumn({ select: false }) removed: Date | null;
}

const OPTIONS = { app: 'ud', bulk: { upsert: ['name'] }, filterFields: { updated: ['gt'] } } as const;

@Restify({ ...OPTIONS })
@Entity('ud_plain')
class UdPlain extends UdDated {}

@Restify({ ...OPTIONS })
@Entity('ud_heard')
class UdHeard extends UdDated {
  @AfterUpdate() listen(): void {
    this.votes += 0;
  }
}

/** Columns with other digits of a second, and names that need quotes. */
@Restify('ud')
@Entity('ud odd SET')
class UdOdd {
  @PrimaryGeneratedColumn() id: number;
  @Column('int', { default: 0 }) votes: number;
  @Column({ type: 'simple-json', nullable: true }) data: unknown;
  @UpdateDateColumn({ precision: 3, name: 'last change = CURRENT_TIMESTAMP' }) updated: Date;
}

interface Dated {
  readonly id: number;
  readonly created: string;
  readonly updated: string;
}

onEachDatabase('the date of the last change', (database) => {
  let started: StartedApp;
  beforeAll(async () => {
    started = await startApp({
      entities: [UdPlain, UdHeard, UdOdd],
      database,
    });
  });
  afterAll(() => started.close());

  test.each(['udplain', 'udheard'])(
    'has the digits of the column after each kind of change of a %s',
    async (model) => {
      const { client } = started;
      const list = `/rest/v1/ud/${model}/`;
      const created = (await client.post(list, { name: 'a' })).json as Dated;
      const path = `${list}${created.id}/`;
      const changes: readonly (() => Promise<{ readonly json: unknown }>)[] = [
        () => client.patch(path, { votes: 1 }),
        () => client.put(path, { name: 'a', votes: 2 }),
        () => client.patch(list, [{ id: created.id, votes: 3 }]),
        () => client.post(`${list}?upsert=true`, [{ name: 'a', votes: 4 }]),
        () => client.patch(path, { votes: 5 }),
      ];
      let last = created;
      let whole = 0;
      for (const change of changes) {
        const answered = (await change()).json as Dated | readonly Dated[];
        const changed = ([answered].flat() as readonly Dated[])[0] ?? last;
        expect(Date.parse(changed.updated)).toBeGreaterThanOrEqual(Date.parse(last.updated));
        expect(changed.created).toBe(created.created);
        if (database.name !== 'sqlite') {
          // A client that has seen the last change finds this one.
          expect((await client.get(`${list}?updated__gt=${last.updated}`)).json).toEqual([changed]);
          if (/\.0+Z$/.test(changed.updated)) whole++;
        }
        last = changed;
      }
      expect(whole).toBeLessThan(2);
      // Without a change, the date stays.
      expect((await client.patch(path, { votes: 5 })).json).toEqual(last);
      expect((await client.delete(path)).status).toBe(204);
      if (database.name === 'sqlite') return;
      const driver = started.dataSource.driver;
      const rows = await started.dataSource.query<{ removed: Date; created: Date; updated: Date }[]>(
        `SELECT removed, created, updated FROM ${driver.escape(`ud_${model.slice(2)}`)}`,
      );
      for (const { removed, updated, created: begun } of rows) {
        expect(removed.getTime()).toBeGreaterThanOrEqual(begun.getTime());
        expect(updated.getTime()).toBeGreaterThanOrEqual(Date.parse(last.updated));
      }
    },
  );

  test.each([
    ['a number', (count: number) => `{"votes":${count}}`],
    // TypeORM sees no change of it.
    ['digits of a number in JSON', (count: number) => `{"data":{"n":1234567890123456789${count}}}`],
  ])('has as many digits as its column after a change of %s', async (_, bodyOf) => {
    const { client } = started;
    const created = (await client.post('/rest/v1/ud/udodd/', { data: { n: 1e19 } })).json as Dated;
    const seen = new Set<string>();
    for (let count = 1; count < 5; count++) {
      const { json } = await client.send('PATCH', `/rest/v1/ud/udodd/${created.id}/`, {
        raw: bodyOf(count),
        headers: { 'content-type': 'application/json' },
      });
      expect(json).toMatchObject({ updated: expect.stringMatching(/\.\d{3}Z$/) });
      seen.add((json as Dated).updated.slice(-4));
    }
    if (database.name !== 'sqlite') expect([...seen].some((digits) => digits !== '000Z')).toBe(true);
  });
});
