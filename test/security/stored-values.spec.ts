// @tags db
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { allow, and, not, Restify, where } from 'nestjs-restify';
import type { Grant, Permission, RowFilter } from 'nestjs-restify';
import { BeforeInsert, Column, Entity, PrimaryGeneratedColumn } from 'typeorm';
import type { TestDatabase } from '../support/databases.js';
import { onEachDatabase } from '../support/each-database.js';
import { startApp } from '../support/start-app.js';
import type { StartedApp } from '../support/start-app.js';

/** What the caller may have; the test says it. */
let granted: RowFilter = where('id', 'gt', 0);

class Granted implements Permission {
  decide(): Grant {
    return allow({ rows: granted });
  }
}

function sampleOf({ name }: TestDatabase): new () => { id: number; single: number; padded: string } {
  const single = name === 'postgres' ? 'real' : 'float';
  @Restify({ app: 'sv', permissions: [Granted], bulk: { upsert: ['title'] }, trim: { padded: false } })
  @Entity('sv_sample')
  class SvSample {
    @PrimaryGeneratedColumn() id: number;
    @Column({ length: 20, unique: true }) title: string;
    @Column({ type: single, default: 1 }) single: number;
    @Column({ type: name === 'sqlite' ? 'varchar' : 'char', length: 8, default: 'a' }) padded: string;
    @Column({ type: 'decimal', precision: 8, scale: 2, default: '1.00' }) price: string;
    @Column({
      type: name === 'postgres' ? 'timestamp' : 'datetime',
      precision: name === 'sqlite' ? undefined : 0,
      nullable: true,
    })
    at: Date | null;
    @Column({ length: 10, default: 'ann' }) owner: string;
  }
  return SvSample;
}

@Restify({ app: 'sv', permissions: [Granted], bulk: { upsert: ['title'] } })
@Entity('sv_heard')
class SvHeard {
  @PrimaryGeneratedColumn() id: number;
  @Column({ length: 20, unique: true }) title: string;
  @Column({ length: 10, default: 'ann' }) owner: string;
  @BeforeInsert() fold(): void {
    if (this.owner) this.owner = this.owner.toLowerCase();
  }
}

const SV = '/rest/v1/sv';

onEachDatabase('S25 what is stored is what must fit the grant', (database) => {
  let started: StartedApp;
  const Sample = sampleOf(database);
  beforeAll(async () => {
    started = await startApp({ entities: [Sample, SvHeard], database });
  });
  afterAll(() => started.close());

  async function outside(model: string, body: object): Promise<void> {
    const { client } = started;
    const url = `${SV}/${model}/`;
    const stored = (): Promise<readonly { readonly id: number; readonly title: string }[]> =>
      started.dataSource.query(`SELECT * FROM sv_${model.slice(2)} ORDER BY id`);
    const before = await stored();
    for (const [way, sent] of [
      ['POST', body],
      ['bulk', [body]],
      ['upsert', [body]],
    ] as const) {
      expect([way, (await client.post(way === 'upsert' ? `${url}?upsert=true` : url, sent)).status]).toEqual([
        way,
        403,
      ]);
    }
    const rest = Object.fromEntries(Object.entries(body).filter(([name]) => name !== 'title'));
    for (const row of before) {
      expect(['PATCH', (await client.patch(`${url}${row.id}/`, rest)).status]).toEqual(['PATCH', 403]);
      expect(['list', (await client.patch(url, [{ id: row.id, ...rest }])).status]).toEqual(['list', 403]);
      expect([
        'change',
        (await client.post(`${url}?upsert=true`, [{ ...body, title: row.title }])).status,
      ]).toEqual(['change', 403]);
    }
    expect(await stored()).toEqual(before);
  }

  test('a number that the column rounds', async () => {
    granted = where('id', 'gt', 0);
    expect((await started.client.post(`${SV}/svsample/`, { title: 'own' })).status).toBe(201);
    if (database.name !== 'sqlite') {
      granted = where('single', 'ne', 0.1);
      await outside('svsample', { title: 'n', single: 0.10000000149 });
    }
    granted = not(where('price', '2.50'));
    await outside('svsample', { title: 'n', price: '2.5' });
  });

  test('a text that the column pads or cuts', async () => {
    granted = where('padded', 'ne', 'b');
    if (database.name !== 'sqlite') await outside('svsample', { title: 'n', padded: 'b  ' });
    await outside('svsample', { title: 'n', padded: 'b' });
    granted = not(where('padded', 'in', ['b', 'c']));
    if (database.name !== 'sqlite') await outside('svsample', { title: 'n', padded: 'b  ' });
    await outside('svsample', { title: 'n', padded: 'c' });
  });

  test('an instant that the column rounds', async () => {
    granted = not(where('at', 'exact', '2030-01-01T00:00:01Z'));
    await outside('svsample', { title: 'n', at: '2030-01-01T00:00:01.000Z' });
    if (database.name !== 'sqlite') await outside('svsample', { title: 'n', at: '2030-01-01T00:00:01.4Z' });
  });

  test('what the database fills in', async () => {
    granted = where('owner', 'bob');
    await expect(started.client.post(`${SV}/svsample/`, { title: 'filled' })).resolves.toMatchObject({
      status: 403,
    });
    granted = and(where('owner', 'ann'), where('price', 'gte', '1.00'));
    await expect(started.client.post(`${SV}/svsample/`, { title: 'filled' })).resolves.toMatchObject({
      status: 201,
    });
    granted = where('owner', 'ann');
    await expect(
      started.client.post(`${SV}/svsample/`, { title: 'foreign', owner: 'bob' }),
    ).resolves.toMatchObject({ status: 403 });
  });

  test('what a listener makes of it', async () => {
    granted = where('owner', 'ANN');
    await expect(started.client.post(`${SV}/svheard/`, { title: 'a', owner: 'ANN' })).resolves.toMatchObject({
      status: 403,
    });
    granted = where('owner', 'ann');
    await expect(started.client.post(`${SV}/svheard/`, { title: 'a', owner: 'ANN' })).resolves.toMatchObject({
      status: 201,
      json: { owner: 'ann' },
    });
  });

  test('what a trigger makes of it', async () => {
    const { dataSource, client } = started;
    granted = where('owner', 'ann');
    if (database.name === 'sqlite')
      await dataSource.query(
        `CREATE TRIGGER sv_steal AFTER INSERT ON sv_heard WHEN NEW.title = 'stolen' BEGIN UPDATE sv_heard SET owner = 'bob' WHERE id = NEW.id; END`,
      );
    if (database.name === 'mariadb')
      await dataSource.query(
        `CREATE TRIGGER sv_steal BEFORE INSERT ON sv_heard FOR EACH ROW SET NEW.owner = IF(NEW.title = 'stolen', 'bob', NEW.owner)`,
      );
    if (database.name === 'postgres') {
      await dataSource.query(
        `CREATE FUNCTION sv_steal() RETURNS trigger AS $$ BEGIN IF NEW.title = 'stolen' THEN NEW.owner := 'bob'; END IF; RETURN NEW; END $$ LANGUAGE plpgsql`,
      );
      await dataSource.query(
        `CREATE TRIGGER sv_steal BEFORE INSERT ON sv_heard FOR EACH ROW EXECUTE FUNCTION sv_steal()`,
      );
    }
    for (const sent of [{ title: 'stolen', owner: 'ann' }, [{ title: 'stolen', owner: 'ann' }]])
      await expect(client.post(`${SV}/svheard/`, sent)).resolves.toMatchObject({ status: 403 });
    expect(await dataSource.manager.countBy(SvHeard, { title: 'stolen' })).toBe(0);
  });
});
