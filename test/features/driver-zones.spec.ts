// @tags db nest
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { Type } from '@nestjs/common';
import { CursorPagination, IdempotencyRecord, Restify, RestifyResources } from 'nestjs-restify';
import {
  AfterLoad,
  Column,
  CreateDateColumn,
  DeleteDateColumn,
  Entity,
  JoinTable,
  ManyToMany,
  ManyToOne,
  PrimaryColumn,
  PrimaryGeneratedColumn,
  UpdateDateColumn,
  VersionColumn,
} from 'typeorm';
import type { DataSourceOptions, Relation } from 'typeorm';
import { onEachDatabase } from '../support/each-database.js';
import { startApp } from '../support/start-app.js';
import type { StartedApp } from '../support/start-app.js';

/** Columns of every type that has a day or a clock. */
abstract class ZnMoments {
  @PrimaryGeneratedColumn() id: number;
  @Column({ length: 20, unique: true }) name: string;
  @Column({ type: 'date', nullable: true }) day: string | null;
  @Column({ type: 'time', precision: 6, nullable: true }) clock: string | null;
  @Column({ type: 'datetime', precision: 6, nullable: true }) fine: Date | null;
  @Column({ type: 'datetime', nullable: true }) whole: Date | null;
  @Column({ type: 'timestamp', precision: 6, nullable: true }) stamp: Date | null;
  @CreateDateColumn() created: Date;
  @UpdateDateColumn() updated: Date;
}

const MANY = ['exact', 'gt', 'lte', 'in', 'range'] as const;

@Restify({
  app: 'zn',
  bulk: { upsert: ['name'] },
  filterFields: { fine: MANY, stamp: MANY, day: MANY },
  idempotency: true,
  ordering: ['fine'],
  pagination: new CursorPagination({ pageSize: 2, secret: 'a secret of these tests, long enough' }),
})
@Entity('zn_plain')
class ZnPlain extends ZnMoments {
  @DeleteDateColumn() deleted: Date | null;
}

/** Its version and its last change decide what a caller may write. */
@Restify({ app: 'zn', conditional: true, idempotency: true })
@Entity('zn_text')
class ZnText {
  @PrimaryGeneratedColumn() id: number;
  @Column({ type: 'datetime', nullable: true }) whole: Date | null;
  @VersionColumn() version: number;
  @UpdateDateColumn({ precision: 3 }) updated: Date;
  @DeleteDateColumn() deleted: Date | null;
}

/** Its listener sees the days and instants that TypeORM loads. */
@Restify({ app: 'zn', bulk: { upsert: ['name'] }, computed: { seen: 'seen' } })
@Entity('zn_heard')
class ZnHeard extends ZnMoments {
  heard: readonly unknown[];
  @AfterLoad() listen(): void {
    this.heard = [this.day, this.fine?.toISOString()];
  }
  seen(): readonly unknown[] {
    return this.heard;
  }
}

const HOUR = 3_600_000;
const nextYear = (day: string, step: number): string => `${Number(day.slice(0, 4)) + step}${day.slice(4)}`;

/** Its transformers see them too. */
@Restify('zn')
@Entity('zn_coded')
class ZnCoded {
  @PrimaryGeneratedColumn() id: number;
  @Column({
    type: 'date',
    transformer: { from: (day: string) => nextYear(day, 1), to: (day: string) => nextYear(day, -1) },
  })
  day: string;
  @Column({
    type: 'datetime',
    precision: 3,
    transformer: {
      from: (at: Date) => new Date(at.getTime() + HOUR),
      to: (at: Date) => new Date(at.getTime() - HOUR),
    },
  })
  at: Date;
}

/** Rows are found by days and instants. */
@Restify('zn')
@Entity('zn_slot')
class ZnSlot {
  @PrimaryColumn({ type: 'date' }) day: string;
  @PrimaryColumn({ type: 'datetime', precision: 3 }) at: Date;
  @Column({ length: 20 }) note: string;
}

@Restify({ app: 'zn', filterFields: { slot: ['exact'], 'slot.at': ['exact'] } })
@Entity('zn_booking')
class ZnBooking {
  @PrimaryGeneratedColumn() id: number;
  @ManyToOne(() => ZnSlot, { nullable: false }) slot: Relation<ZnSlot>;
}

@Restify('zn')
@Entity('zn_guest')
class ZnGuest {
  @PrimaryColumn('int') id: number;
  @ManyToMany(() => ZnRoom, (room) => room.guests)
  @JoinTable({ name: 'zn_stay', synchronize: false })
  rooms: Relation<ZnRoom[]>;
}

@Restify('zn')
@Entity('zn_room')
class ZnRoom {
  @PrimaryColumn('int') id: number;
  @ManyToMany(() => ZnGuest, (guest) => guest.rooms) guests: Relation<ZnGuest[]>;
}

@Restify('zn')
@Entity('zn_stay')
class ZnStay {
  @PrimaryGeneratedColumn() id: number;
  @Column('int') znGuestId: number;
  @Column('int') znRoomId: number;
  @Column({ type: 'date' }) day: string;
  @Column({ type: 'datetime', precision: 6 }) since: Date;
}

const ENTITIES = [
  ZnPlain,
  ZnText,
  ZnHeard,
  ZnCoded,
  ZnSlot,
  ZnBooking,
  ZnGuest,
  ZnRoom,
  ZnStay,
  IdempotencyRecord,
];

const MOMENTS = {
  day: '2022-10-02',
  clock: '23:59:59.000001',
  fine: '2022-10-02T09:23:28.297000Z',
  whole: '2022-10-02T23:23:28.000Z',
  stamp: '2022-07-02T01:02:03.123000Z',
};
/** Finer than a Date, on days that are others in most time zones. */
const FINER = {
  ...MOMENTS,
  day: '2024-02-29',
  fine: '2024-02-29T23:59:59.999999Z',
  stamp: '2024-03-01T00:00:00.000001Z',
};

/** Values of the option `timezone`, with what mysql2 makes of them. */
const ZONES: readonly (readonly [zone: string | undefined, options: object])[] = [
  [undefined, {}],
  ['local', {}],
  ['Z', {}],
  ['+00:00', {}],
  ['+08:00', {}],
  ['-05:30', {}],
  // What a `+` becomes in a URL.
  [' 03:00', {}],
  // Not one of them: mysql2 takes it as UTC, and says so.
  ['Etc/UTC', {}],
  // The driver's own options come last.
  ['Z', { extra: { timezone: '+08:00' } }],
  ['Z', { dateStrings: true }],
  ['+08:00', { dateStrings: ['DATE'] }],
  ['-11:00', { dateStrings: ['TIMESTAMP', 'DATETIME'] }],
];

/** Days of each form of an entity's property, seen by listeners and hooks. */
@Restify({ app: 'dy', bulk: { upsert: ['own'] }, computed: { seen: 'seen' } })
@Entity('dy_day')
class DyDay {
  @PrimaryGeneratedColumn() id: number;
  @Column({ type: 'date', unique: true }) own: string;
  @Column({ type: 'date' }) date: Date;
  @Column({ type: 'date', utc: true }) utc: string;
  @Column({ type: 'date', utc: true }) utcDate: Date;
  heard: readonly unknown[];
  @AfterLoad() listen(): void {
    this.heard = [this.own, this.date, this.utc, this.utcDate];
  }
  seen(): readonly unknown[] {
    return this.heard;
  }
}

/** Without a listener. */
@Restify('dy')
@Entity('dy_plain')
class DyPlain {
  @PrimaryGeneratedColumn() id: number;
  @Column({ type: 'date' }) own: string;
  @Column({ type: 'date' }) date: Date;
  @Column({ type: 'date', utc: true }) utc: string;
  @Column({ type: 'date', utc: true }) utcDate: Date;
}

/** Found by a day whose property is a Date. */
@Restify('dy')
@Entity('dy_key')
class DyKey {
  @PrimaryColumn({ type: 'date', utc: true }) day: Date;
  @Column({ length: 20 }) note: string;
}

/** A transformer whose stored form is a Date. */
@Restify('dy')
@Entity('dy_coded')
class DyCoded {
  @PrimaryGeneratedColumn() id: number;
  @Column({
    type: 'date',
    utc: true,
    transformer: {
      from: (day: string) => nextYear(day, 4),
      to: (day: string) => new Date(nextYear(day, -4)),
    },
  })
  day: string;
}

/** The day that Apia skipped, and a leap day. */
const DAYS = ['2022-10-02', '2024-02-29', '2011-12-30', '1993-08-21', '1900-01-01'];

onEachDatabase('days of entities', (database) => {
  let started: StartedApp;
  beforeAll(async () => {
    started = await startApp({ entities: [DyDay, DyPlain, DyKey, DyCoded], database });
  });
  afterAll(() => started.close());

  test.each(DAYS)('%s stays the same, whatever the property is', async (day) => {
    const { client, dataSource } = started;
    const body = { own: day, date: day, utc: day, utcDate: day };
    for (const model of ['dyday', 'dyplain']) {
      const created = await client.post(`/rest/v1/dy/${model}/`, body);
      expect([created.status, created.json]).toEqual([201, expect.objectContaining(body)]);
      const path = `/rest/v1/dy/${model}/${(created.json as { id: number }).id}/`;
      expect((await client.get(path)).text).toBe(created.text);
      expect(await client.put(path, created.json)).toMatchObject({ status: 200, text: created.text });
      expect(await client.patch(path, { utc: day })).toMatchObject({ status: 200, text: created.text });
      if (model === 'dyday') expect(created.json).toMatchObject({ seen: [day, day, day, day] });
    }
    const upserted = await client.post('/rest/v1/dy/dyday/?upsert=true', [body]);
    expect(upserted).toMatchObject({ status: 200, json: [body] });
    const driver = dataSource.options.type;
    const text = (name: string): string => {
      const column = dataSource.driver.escape(name);
      return driver === 'better-sqlite3'
        ? column
        : `CAST(${column} AS CHAR${driver === 'postgres' ? '(10)' : ''})`;
    };
    const stored: unknown = await dataSource.query(
      `SELECT ${Object.keys(body)
        .map((name) => `${text(name)} AS ${dataSource.driver.escape(name)}`)
        .join(', ')} FROM dy_day WHERE ${text('own')} = '${day}'`,
    );
    expect(stored).toEqual([body]);
  });

  test.each(DAYS)('%s is a key, and the stored form of a transformer', async (day) => {
    const { client } = started;
    const created = await client.post('/rest/v1/dy/dykey/', { day, note: 'x' });
    expect([created.status, created.json]).toEqual([201, { day, note: 'x' }]);
    const path = `/rest/v1/dy/dykey/${day}/`;
    expect((await client.patch(path, { note: 'y' })).json).toEqual({ day, note: 'y' });
    expect((await client.get(path)).json).toEqual({ day, note: 'y' });
    expect((await client.delete(path)).status).toBe(204);
    const coded = await client.post('/rest/v1/dy/dycoded/', { day });
    expect([coded.status, coded.json]).toEqual([201, { id: expect.any(Number), day }]);
    const own = `/rest/v1/dy/dycoded/${(coded.json as { id: number }).id}/`;
    expect((await client.put(own, coded.json)).text).toBe(coded.text);
  });
});

const COMPARED = ['exact', 'ne', 'gt', 'gte', 'lt', 'lte', 'in', 'range'] as const;

function endsOf(type: 'datetime' | 'timestamp'): Type {
  @Restify({ app: 'en', filterFields: { at: COMPARED } })
  @Entity('en_plain')
  class EnPlain {
    @PrimaryGeneratedColumn() id: number;
    @Column({ type, precision: 6, nullable: true }) at: Date | null;
  }
  return EnPlain;
}

function heardEndsOf(type: 'datetime' | 'timestamp'): Type {
  @Restify({ app: 'en' })
  @Entity('en_heard')
  class EnHeard {
    @PrimaryGeneratedColumn() id: number;
    @Column({ type, precision: 6 }) at: Date;
    @AfterLoad() listen(): void {
      // Its presence lets TypeORM load the instants.
    }
  }
  return EnHeard;
}

onEachDatabase('the first and the last instant', (database) => {
  const zones = database.name === 'mariadb' ? ['local', 'Z', '+08:00', '-08:00'] : [undefined];
  describe.each(zones)('%s', (timezone) => {
    let started: StartedApp;
    beforeAll(async () => {
      const type = database.name === 'postgres' ? 'timestamp' : 'datetime';
      const dataSource = (timezone === undefined ? {} : { timezone }) as Partial<DataSourceOptions>;
      const entities = [endsOf(type), heardEndsOf(type)];
      started = await startApp({ entities, database, dataSource });
    });
    afterAll(() => started.close());

    test('are compared as every other', async () => {
      const { client } = started;
      const list = '/rest/v1/en/enplain/';
      for (const at of ['2022-07-01T00:00:00Z', null, '2022-07-02T00:00:00Z'])
        await client.post(list, { at });
      const found = async (query: string): Promise<number> =>
        ((await client.get(`${list}?${query}`)).json as unknown[]).length;
      const [first, last] = ['0001-01-01T00:00:00Z', '9999-12-31T23:59:59.999999Z'];
      for (const lookup of ['lt', 'lte', 'in', 'exact'])
        expect(await found(`at__${lookup}=${first}`)).toBe(0);
      for (const lookup of ['gt', 'gte']) expect(await found(`at__${lookup}=${first}`)).toBe(2);
      for (const lookup of ['gt', 'gte', 'in', 'exact']) expect(await found(`at__${lookup}=${last}`)).toBe(0);
      for (const lookup of ['lt', 'lte']) expect(await found(`at__${lookup}=${last}`)).toBe(2);
      for (const at of [first, last]) expect(await found(`at__ne=${at}`)).toBe(3);
      expect(await found(`at__in=${last},2022-07-01T00:00:00Z`)).toBe(1);
      expect(await found(`at__range=${first},${last}`)).toBe(2);
    });

    test.each(['enplain', 'enheard'])('is stored as it is sent: the first one of an %s', async (model) => {
      const { client } = started;
      const at = `0001-01-01T00:00:00.${database.name === 'sqlite' ? '000' : '000000'}Z`;
      const created = await client.post(`/rest/v1/en/${model}/`, { at });
      expect([created.status, created.json]).toEqual([201, { id: expect.any(Number), at }]);
      const path = `/rest/v1/en/${model}/${(created.json as { id: number }).id}/`;
      expect((await client.get(path)).text).toBe(created.text);
      expect((await client.put(path, created.json)).text).toBe(created.text);
    });
  });
});

async function clear({ dataSource }: StartedApp): Promise<void> {
  for (const { tableName } of dataSource.entityMetadatas) await dataSource.query(`DELETE FROM ${tableName}`);
}

onEachDatabase(
  'the time zone of the driver',
  (database) => {
    describe.each(ZONES)('%s %j', (timezone, options) => {
      let started: StartedApp;
      beforeAll(async () => {
        const dataSource = { timezone, ...options } as Partial<DataSourceOptions>;
        started = await startApp({ entities: ENTITIES, database, dataSource });
      });
      afterAll(() => started.close());

      test.each(['znplain', 'znheard'])('keeps each day, clock and instant of a %s', async (model) => {
        const { client } = started;
        const list = `/rest/v1/zn/${model}/`;
        for (const [name, body] of Object.entries({ millis: MOMENTS, micros: FINER })) {
          const created = await client.post(list, { name, ...body });
          expect([created.status, created.json]).toEqual([201, expect.objectContaining(body)]);
          const { id } = created.json as { id: number };
          expect((await client.get(`${list}${id}/`)).text).toBe(created.text);
          const put = await client.put(`${list}${id}/`, created.json);
          expect([put.status, put.json]).toEqual([200, expect.objectContaining(body)]);
          const patched = await client.patch(`${list}${id}/`, { whole: null });
          expect(patched.json).toMatchObject({ ...body, whole: null });
          expect((await client.patch(`${list}${id}/`, { whole: body.whole })).json).toMatchObject(body);
        }
        const upserted = await client.post(`${list}?upsert=true`, [
          { name: 'millis', ...FINER },
          { name: 'micros', ...MOMENTS },
        ]);
        expect(upserted).toMatchObject({ status: 200, json: [FINER, MOMENTS] });
      });

      test('lets listeners and transformers see the stored day', async () => {
        const { client } = started;
        const { json } = await client.post('/rest/v1/zn/znheard/', { name: 'seen', ...MOMENTS });
        expect(json).toMatchObject({ day: MOMENTS.day, seen: [MOMENTS.day, '2022-10-02T09:23:28.297Z'] });
        for (const day of ['2022-10-02', '2012-12-30']) {
          const sent = { day, at: '2022-10-02T09:23:28.297Z' };
          const created = await client.post('/rest/v1/zn/zncoded/', sent);
          expect([created.status, created.json]).toEqual([201, expect.objectContaining(sent)]);
          const path = `/rest/v1/zn/zncoded/${(created.json as { id: number }).id}/`;
          expect(await client.put(path, created.json)).toMatchObject({ status: 200, text: created.text });
        }
      });

      test('finds, orders and pages by instants', async () => {
        const { client } = started;
        const list = '/rest/v1/zn/znplain/';
        await clear(started);
        const fine = [0, 1, 2, 3, 4].map((at) => `2022-10-02T0${at}:59:59.99999${at}Z`);
        for (const [at, instant] of fine.entries())
          await client.post(list, {
            name: `row ${at}`,
            fine: instant,
            stamp: instant,
            day: `2022-10-0${at + 1}`,
          });
        const found = async (query: string): Promise<unknown> =>
          (
            (await client.get(`${list}?page_size=10&${query}`)).json as { results: { fine: string }[] }
          ).results.map((each) => each.fine);
        for (const field of ['fine', 'stamp']) {
          expect(await found(`${field}=${fine[2] ?? ''}`)).toEqual([fine[2]]);
          expect(await found(`${field}__gt=${fine[2] ?? ''}`)).toEqual(fine.slice(3));
          expect(await found(`${field}__lte=${fine[2] ?? ''}`)).toEqual(fine.slice(0, 3));
          expect(await found(`${field}__in=${fine[1] ?? ''},${fine[3] ?? ''}`)).toEqual([fine[1], fine[3]]);
          expect(await found(`ordering=-${field}`)).toEqual([...fine].reverse());
        }
        expect(await found('day__range=2022-10-02,2022-10-03')).toEqual(fine.slice(1, 3));
        const paged: string[] = [];
        for (let next: string | null = list; next !== null;) {
          const page = (await client.get(next)).json as { next: string | null; results: { fine: string }[] };
          paged.push(...page.results.map((each) => each.fine));
          next = page.next === null ? null : page.next.replace(/^https?:\/\/[^/]+/, '');
        }
        expect(paged).toEqual(fine);
      });

      test('checks preconditions, and repeats what it has created', async () => {
        const { client } = started;
        await clear(started);
        const path = '/rest/v1/zn/zntext/';
        const headers = { 'idempotency-key': '0123456789abcdef' };
        const created = await client.post(path, { whole: MOMENTS.whole }, { headers });
        const again = await client.post(path, { whole: MOMENTS.whole }, { headers });
        expect([again.status, again.text, again.headers['idempotency-replayed']]).toEqual([
          201,
          created.text,
          'true',
        ]);
        const own = `${path}${(created.json as { id: number }).id}/`;
        const read = await client.get(own);
        expect([read.text, read.headers.etag]).toEqual([created.text, created.headers.etag]);
        const match = { headers: { 'if-match': read.headers.etag ?? '' } };
        expect((await client.patch(own, { whole: null }, match)).json).toMatchObject({ whole: null });
        expect((await client.patch(own, { whole: null }, match)).status).toBe(412);
        await started.dataSource.query('UPDATE zn_text SET updated = updated - INTERVAL 2 DAY');
        const old = await client.get(own);
        const modified = old.headers['last-modified'] ?? '';
        const { updated } = old.json as { updated: string };
        expect(new Date(modified).toISOString().slice(0, 19)).toBe(updated.slice(0, 19));
        const since = (seconds: number): { headers: Record<string, string> } => ({
          headers: { 'if-unmodified-since': new Date(Date.parse(modified) + seconds * 1000).toUTCString() },
        });
        expect((await client.patch(own, { whole: MOMENTS.whole }, since(-1))).status).toBe(412);
        const changed = await client.patch(own, { whole: MOMENTS.whole }, since(0));
        expect(changed).toMatchObject({ status: 200, json: { whole: MOMENTS.whole } });
        expect((await client.delete(own)).status).toBe(204);
        expect((await client.get(own)).status).toBe(404);
      });

      test('finds rows by keys of a day and an instant, and keeps those of pairs', async () => {
        const { client, app } = started;
        const key = '2024-02-29,2024-02-29T23%3A59%3A59.999Z';
        const slot = { day: '2024-02-29', at: '2024-02-29T23:59:59.999Z', note: 'x' };
        const created = await client.post('/rest/v1/zn/znslot/', slot);
        expect([created.status, created.json]).toEqual([201, expect.objectContaining(slot)]);
        const path = `/rest/v1/zn/znslot/${key}/`;
        expect((await client.get(path)).json).toEqual(created.json);
        expect((await client.patch(path, { note: 'y' })).json).toEqual({
          ...(created.json as object),
          note: 'y',
        });
        const booking = await client.post('/rest/v1/zn/znbooking/', { slot: key });
        expect([booking.status, booking.json]).toEqual([201, { id: expect.any(Number), slot: key }]);
        const { id } = booking.json as { id: number };
        expect((await client.get(`/rest/v1/zn/znbooking/?slot__at=${slot.at}`)).json).toEqual([booking.json]);
        expect((await client.get(`/rest/v1/zn/znbooking/?slot=${key}`)).json).toEqual([booking.json]);
        expect((await client.delete(`/rest/v1/zn/znbooking/${id}/`)).status).toBe(204);
        const resources = app.get(RestifyResources).of(ZnSlot).as(null);
        expect(await resources.retrieve(['2024-02-29', slot.at])).toMatchObject({ ...slot, note: 'y' });
        await resources.destroy(['2024-02-29', slot.at]);

        await client.post('/rest/v1/zn/znguest/', { id: 1 });
        await client.post('/rest/v1/zn/znroom/', { id: 1 });
        const stay = { znRoomId: 1, day: FINER.day, since: FINER.fine };
        const paired = await client.post('/rest/v1/zn/znguest/1/rooms/', stay);
        expect([paired.status, paired.json]).toEqual([
          201,
          expect.objectContaining({ day: FINER.day, since: FINER.fine }),
        ]);
        expect((await client.get('/rest/v1/zn/znguest/1/rooms/')).json).toEqual([paired.json]);
      });

      test("agrees with the application's own repository", async () => {
        const { client, dataSource } = started;
        for (const [entity, list] of [
          [ZnPlain, '/rest/v1/zn/znplain/'],
          [ZnHeard, '/rest/v1/zn/znheard/'],
        ] as const) {
          const repository = dataSource.getRepository<ZnMoments>(entity);
          const instants = { fine: new Date(MOMENTS.fine), whole: new Date(MOMENTS.whole) };
          const saved = await repository.save({ name: 'own', ...MOMENTS, ...instants, stamp: instants.fine });
          const shown = (await client.get(`${list}${saved.id}/`)).json as Record<string, string>;
          expect(shown).toMatchObject({ ...MOMENTS, stamp: MOMENTS.fine });
          const created = (await client.post(list, { name: 'theirs', ...MOMENTS })).json as { id: number };
          const [{ same }] = await dataSource.query<[{ same: unknown }]>(
            `SELECT CAST(a.fine AS CHAR) = CAST(b.fine AS CHAR) AND a.whole = b.whole AND a.day = b.day AND ABS(TIMESTAMPDIFF(SECOND, a.created, b.created)) < 60 AS same FROM ${repository.metadata.tableName} a, ${repository.metadata.tableName} b WHERE a.id = ${saved.id} AND b.id = ${created.id}`,
          );
          expect([entity.name, Number(same)]).toEqual([entity.name, 1]);
          if ('dateStrings' in options) continue;
          const loaded = await repository.findOneByOrFail({ id: created.id });
          for (const name of ['fine', 'whole', 'stamp', 'created', 'updated'] as const)
            expect([name, loaded[name]?.getTime()]).toEqual([
              name,
              new Date(String((created as Record<string, unknown>)[name])).getTime(),
            ]);
        }
      });
    });
  },
  ['mariadb'],
);
