// @tags db nest
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { Restify } from 'nestjs-restify';
import { Column, Entity, PrimaryColumn } from 'typeorm';
import { onEachDatabase } from '../support/each-database.js';
import { ReadLog } from '../support/read-costs.js';
import { startApp } from '../support/start-app.js';
import type { StartedApp } from '../support/start-app.js';

@Restify({
  app: 'log',
  aggregate: { group: ['at', 'day'], min: ['at', 'day'], max: ['at'] },
  filterFields: { at: ['gte', 'lt'] },
})
@Entity('agg_event')
class AggEvent {
  @PrimaryColumn({ type: 'int' }) id: number;
  @Column({ nullable: true, precision: 3 }) at: Date;
  @Column({ type: 'date', nullable: true }) day: string | null;
}

const EVENTS = '/rest/v1/log/aggevent/';

const TIMES = [
  // In Berlin these are 02:30 twice, and 03:30.
  '2026-10-25T00:30:00.000Z',
  '2026-10-25T01:30:00.500Z',
  '2026-10-25T02:30:00.000Z',
  // The year ends in Berlin before it does in UTC.
  '2026-12-31T22:59:59.999Z',
  '2026-12-31T23:00:00.000Z',
  '2027-01-03T23:30:00.000Z',
  '2024-02-29T12:00:00.000Z',
];

onEachDatabase('aggregates by time', (database) => {
  let started: StartedApp;
  beforeAll(async () => {
    started = await startApp({ entities: [AggEvent], database });
    await started.dataSource.manager.insert(AggEvent, [
      ...TIMES.map((at, id) => ({ id, at: new Date(at), day: at.slice(0, 10) })),
      { id: 90 },
    ]);
  });
  afterAll(() => started.close());

  const groups = async (query: string): Promise<unknown> => {
    const { status, json } = await started.client.get(`${EVENTS}?aggregate=count&${query}`);
    if (status !== 200) return { status, json };
    return (json as Record<string, unknown>[]).map(({ count, ...key }) => [Object.values(key)[0], count]);
  };

  test('are grouped by units of UTC', async () => {
    expect(await groups('group=at:year')).toEqual([
      ['2024-01-01', 1],
      ['2026-01-01', 5],
      ['2027-01-01', 1],
      [null, 1],
    ]);
    expect(await groups('group=at:quarter')).toEqual([
      ['2024-01-01', 1],
      ['2026-10-01', 5],
      ['2027-01-01', 1],
      [null, 1],
    ]);
    expect(await groups('group=at:month')).toEqual([
      ['2024-02-01', 1],
      ['2026-10-01', 3],
      ['2026-12-01', 2],
      ['2027-01-01', 1],
      [null, 1],
    ]);
    expect(await groups('group=at:week')).toEqual([
      ['2024-02-26', 1],
      ['2026-10-19', 3],
      ['2026-12-28', 3],
      [null, 1],
    ]);
    expect(await groups('group=at:day&ordering=-at')).toEqual([
      [null, 1],
      ['2027-01-03', 1],
      ['2026-12-31', 2],
      ['2026-10-25', 3],
      ['2024-02-29', 1],
    ]);
    expect(await groups('group=at:hour&at__lt=2026-12-01')).toMatchObject({ status: 400 });
    expect(await groups('group=at:hour&at__lt=2026-12-01T00:00Z')).toEqual([
      ['2024-02-29T12:00:00Z', 1],
      ['2026-10-25T00:00:00Z', 1],
      ['2026-10-25T01:00:00Z', 1],
      ['2026-10-25T02:00:00Z', 1],
    ]);
  });

  test('are grouped by units of a time zone, whose hours carry their offset', async () => {
    expect(
      await groups('tz=Europe/Berlin&group=at:hour&at__gte=2026-10-01T00:00Z&at__lt=2026-12-01T00:00Z'),
    ).toEqual([
      ['2026-10-25T02:00:00+02:00', 1],
      ['2026-10-25T02:00:00+01:00', 1],
      ['2026-10-25T03:00:00+01:00', 1],
    ]);
    expect(
      await groups(
        'tz=Europe/Berlin&group=at:hour&ordering=-at&at__gte=2026-10-01T00:00Z&at__lt=2026-12-01T00:00Z',
      ),
    ).toEqual([
      ['2026-10-25T03:00:00+01:00', 1],
      ['2026-10-25T02:00:00+01:00', 1],
      ['2026-10-25T02:00:00+02:00', 1],
    ]);
    expect(await groups('tz=Europe/Berlin&group=at:day&at__gte=2026-12-01T00:00Z')).toEqual([
      ['2026-12-31', 1],
      ['2027-01-01', 1],
      ['2027-01-04', 1],
    ]);
    expect(await groups('tz=europe/berlin&group=at:week&at__gte=2026-12-01T00:00Z')).toEqual([
      ['2026-12-28', 2],
      ['2027-01-04', 1],
    ]);
    expect(await groups('tz=America/New_York&group=at:year')).toEqual([
      ['2024-01-01', 1],
      ['2026-01-01', 5],
      ['2027-01-01', 1],
      [null, 1],
    ]);
    expect(
      await groups('tz=Asia/Kathmandu&group=at:hour&at__gte=2026-10-01T00:00Z&at__lt=2026-12-01T00:00Z'),
    ).toEqual([
      ['2026-10-25T06:00:00+05:45', 1],
      ['2026-10-25T07:00:00+05:45', 1],
      ['2026-10-25T08:00:00+05:45', 1],
    ]);
    expect(await groups('tz=Etc/GMT-14&group=at:day&at__gte=2026-12-01T00:00Z')).toEqual([
      ['2027-01-01', 2],
      ['2027-01-04', 1],
    ]);
  });

  test('are grouped by days, which have no zone', async () => {
    expect(await groups('group=day:week&tz=Asia/Tokyo')).toEqual([
      ['2024-02-26', 1],
      ['2026-10-19', 3],
      ['2026-12-28', 3],
      [null, 1],
    ]);
    expect(await groups('group=day')).toEqual([
      ['2024-02-29', 1],
      ['2026-10-25', 3],
      ['2026-12-31', 2],
      ['2027-01-03', 1],
      [null, 1],
    ]);
    expect(await groups('group=day:hour')).toMatchObject({ status: 400 });
  });

  test('are grouped by instants, and have the first and the last one', async () => {
    const { json } = await started.client.get(
      `${EVENTS}?aggregate=min.at,max.at,min.day&group=at&at__gte=2027-01-01T00:00Z`,
    );
    const at = TIMES[5];
    expect(json).toEqual([{ at, min: { at, day: '2027-01-03' }, max: { at } }]);
    const all = await started.client.get(
      `${EVENTS}?aggregate=min.at,max.at&having.max.at__gt=2027-01-01T00:00Z`,
    );
    expect(all.json).toEqual([{ min: { at: TIMES[6] }, max: { at } }]);
  });

  test('are 400 outside of the years of a zone, and not in UTC', async () => {
    const { manager } = started.dataSource;
    await manager.insert(AggEvent, { id: 99, at: new Date('2150-06-01T00:00:00Z') });
    try {
      expect(await groups('tz=Europe/Berlin&group=at:year')).toEqual({
        status: 400,
        json: { group: [expect.stringContaining('"at" has dates outside of the years 1900 to 2099')] },
      });
      expect(await groups('group=at:year&at__gte=2100-01-01T00:00Z')).toEqual([['2150-01-01', 1]]);
    } finally {
      await manager.delete(AggEvent, 99);
    }
  });

  test('agree with Intl in every zone', async () => {
    for (const zone of [
      'Europe/Berlin',
      'America/New_York',
      'Australia/Lord_Howe',
      'Africa/Casablanca',
      'Asia/Kolkata',
      'Pacific/Apia',
    ]) {
      const format = new Intl.DateTimeFormat('en-CA', {
        timeZone: zone,
        year: 'numeric',
        month: '2-digit',
        day: '2-digit',
      });
      const expected = new Map<string | null, number>();
      for (const at of TIMES) {
        const day = format.format(new Date(at));
        expected.set(day, (expected.get(day) ?? 0) + 1);
      }
      expect([zone, await groups(`tz=${zone}&group=at:day`)]).toEqual([
        zone,
        [...[...expected].sort(([a], [b]) => (String(a) < String(b) ? -1 : 1)), [null, 1]],
      ]);
    }
  });
});

@Restify({ app: 'log', aggregate: { group: ['at', 'day'] } })
@Entity('agg_moment')
class AggMoment {
  @PrimaryColumn({ type: 'int' }) id: number;
  @Column({ precision: 3 }) at: Date;
  @Column({ type: 'date' }) day: string;
}

const MOMENTS = [
  // The clock of Monrovia was 44 minutes and 30 seconds behind UTC until 1972.
  '1900-01-01T12:00:00.000Z',
  '1945-05-24T00:30:00.000Z',
  '1969-12-31T23:59:59.999Z',
  '1972-01-07T00:44:29.999Z',
  '1972-01-07T00:44:30.000Z',
  '2000-02-29T23:00:00.000Z',
  '2011-12-30T09:59:59.000Z',
  '2011-12-30T10:00:00.000Z',
  ...['2026-03-29', '2026-10-25'].flatMap((day) => [
    `${day}T00:59:59.999Z`,
    `${day}T01:00:00.000Z`,
    `${day}T23:30:00.000Z`,
  ]),
  '2026-11-01T05:30:00.000Z',
  '2026-11-01T06:30:00.000Z',
  '2099-12-31T12:00:00.000Z',
];
const ZONES = [
  'UTC',
  'Europe/Berlin',
  'Europe/Athens',
  'America/New_York',
  'Africa/Monrovia',
  'Pacific/Apia',
  'Asia/Tokyo',
];
const UNITS = ['year', 'quarter', 'month', 'week', 'day', 'hour'] as const;

/** The time on a clock of the zone, as if it were one of UTC. */
function clockIn(timeZone: string, at: string): Date {
  const parts = new Intl.DateTimeFormat('en-US', {
    ...{ timeZone, hourCycle: 'h23', year: 'numeric', month: 'numeric', day: 'numeric' },
    ...{ hour: 'numeric', minute: 'numeric', second: 'numeric' },
  }).formatToParts(new Date(at));
  const of = (type: string): number => Number(parts.find((part) => part.type === type)?.value);
  return new Date(Date.UTC(of('year'), of('month') - 1, of('day'), of('hour'), of('minute'), of('second')));
}

function beginOf(unit: (typeof UNITS)[number], clock: Date, at: string): string {
  const [year, month] = [clock.getUTCFullYear(), clock.getUTCMonth()];
  const dayText = (date: number | Date): string => new Date(date).toISOString().slice(0, 10);
  switch (unit) {
    case 'year':
      return dayText(Date.UTC(year, 0, 1));
    case 'quarter':
      return dayText(Date.UTC(year, month - (month % 3), 1));
    case 'month':
      return dayText(Date.UTC(year, month, 1));
    case 'week':
      return dayText(Date.UTC(year, month, clock.getUTCDate() - ((clock.getUTCDay() + 6) % 7)));
    case 'day':
      return dayText(clock);
    case 'hour': {
      const seconds = (clock.getTime() - Math.floor(Date.parse(at) / 1000) * 1000) / 1000;
      const all = Math.abs(seconds);
      const parts = [Math.floor(all / 3600), Math.floor(all / 60) % 60, ...(all % 60 ? [all % 60] : [])];
      const offset = parts.map((part) => String(part).padStart(2, '0')).join(':');
      return `${clock.toISOString().slice(0, 13)}:00:00${seconds === 0 ? 'Z' : (seconds < 0 ? '-' : '+') + offset}`;
    }
    default:
      return unit satisfies never;
  }
}

function countOf(keys: readonly string[]): readonly { readonly at: string; readonly count: number }[] {
  return [...new Set(keys)].map((at) => ({ at, count: keys.filter((key) => key === at).length }));
}

onEachDatabase('moments at the ends of units', (database) => {
  const log = new ReadLog();
  let started: StartedApp;
  beforeAll(async () => {
    started = await startApp({
      ...{ entities: [AggMoment], database, dataSource: { logging: ['query'], logger: log } },
    });
    const days = ['1000-01-01', '9999-12-31', '2024-02-29'];
    await started.dataSource.manager.insert(
      AggMoment,
      MOMENTS.map((at, id) => ({ id, at: new Date(at), day: days[id % days.length] })),
    );
  });
  afterAll(() => started.close());

  const get = async (query: string): Promise<unknown> =>
    (await started.client.get(`/rest/v1/log/aggmoment/?aggregate=count&${query}`)).json;

  test.each(ZONES.flatMap((zone) => UNITS.map((unit) => [zone, unit] as const)))(
    'in %s are of the same %s as by Intl, and in its order',
    async (zone, unit) => {
      // The clock goes back, and the offset tells the hours apart.
      const expected = countOf(MOMENTS.map((at) => beginOf(unit, clockIn(zone, at), at)));
      expect(await get(`group=at:${unit}&tz=${zone}`)).toEqual(expected);
    },
  );

  test('of days are of the first and of the last year', async () => {
    const keys = async (unit: string): Promise<unknown> =>
      ((await get(`group=day:${unit}`)) as { day: string }[]).map(({ day }) => day);
    expect(await keys('year')).toEqual(['1000-01-01', '2024-01-01', '9999-01-01']);
    expect(await keys('quarter')).toEqual(['1000-01-01', '2024-01-01', '9999-10-01']);
    expect(await keys('month')).toEqual(['1000-01-01', '2024-02-01', '9999-12-01']);
    expect(await keys('week')).toEqual(['0999-12-30', '2024-02-26', '9999-12-27']);
    expect(await keys('day')).toEqual(['1000-01-01', '2024-02-29', '9999-12-31']);
  });

  if (database.name === 'sqlite')
    test('are of the same hour in every form of their text', async () => {
      await started.dataSource.query(
        `INSERT INTO agg_moment (id, at, day) VALUES (100, '2026-03-29T00:30:00.000Z', '2026-03-29'), (101, '2026-03-29T01:30:00Z', '2026-03-29'), (102, '2026-03-29 01:30', '2026-03-29')`,
      );
      try {
        const found = (await get('group=at:hour&tz=Europe/Berlin')) as { readonly at: string }[];
        expect(found.filter(({ at }) => at.startsWith('2026-03-29'))).toEqual([
          { at: '2026-03-29T01:00:00+01:00', count: 2 },
          { at: '2026-03-29T03:00:00+02:00', count: 3 },
        ]);
      } finally {
        await started.dataSource.query('DELETE FROM agg_moment WHERE id >= 100');
      }
    });

  if (database.name === 'postgres')
    test('are no more work to the planner in a zone that changes its clock', async () => {
      const costOf = async (query: string): Promise<number> => {
        log.clear();
        await get(query);
        const { sql = '', parameters = [] } = log.reads.find((read) => read.sql.includes('agg_moment')) ?? {};
        const [{ 'QUERY PLAN': plan }] = await started.dataSource.query<[{ 'QUERY PLAN': string }]>(
          `EXPLAIN ${sql}`,
          [...parameters],
        );
        return Number(/\.\.([\d.]+)/.exec(plan)?.[1]);
      };
      const utc = await costOf('group=at:hour&tz=UTC');
      expect(utc).toBeGreaterThan(0);
      expect(await costOf('group=at:hour&tz=Europe/Berlin')).toBeLessThan(1.5 * utc);
    });
});

@Restify({ app: 'log', aggregate: { group: ['at'] } })
@Entity('agg_zoned')
class AggZoned {
  @PrimaryColumn({ type: 'int' }) id: number;
  @Column({ type: 'timestamp with time zone', precision: 6 }) at: Date;
}

onEachDatabase(
  'aggregates by instants with a time zone',
  (database) => {
    test('distinguish the repeated hour in each time zone of the session', async () => {
      const started = await startApp({ entities: [AggZoned], database });
      try {
        await started.dataSource.manager.insert(
          AggZoned,
          TIMES.map((at, id) => ({ id, at: new Date(at) })),
        );
        await started.dataSource.query("SET TIME ZONE 'Asia/Tokyo'");
        const get = async (query: string): Promise<unknown> =>
          (await started.client.get(`/rest/v1/log/aggzoned/?aggregate=count&${query}`)).json;
        expect(await get('group=at:hour&tz=Europe/Berlin&ordering=at')).toEqual([
          { at: '2024-02-29T13:00:00+01:00', count: 1 },
          { at: '2026-10-25T02:00:00+02:00', count: 1 },
          { at: '2026-10-25T02:00:00+01:00', count: 1 },
          { at: '2026-10-25T03:00:00+01:00', count: 1 },
          { at: '2026-12-31T23:00:00+01:00', count: 1 },
          { at: '2027-01-01T00:00:00+01:00', count: 1 },
          { at: '2027-01-04T00:00:00+01:00', count: 1 },
        ]);
        expect(await get('group=at:year')).toEqual([
          { at: '2024-01-01', count: 1 },
          { at: '2026-01-01', count: 5 },
          { at: '2027-01-01', count: 1 },
        ]);
        await started.client.get('/rest/v1/log/aggzoned/');
      } finally {
        await started.close();
      }
    });
  },
  ['postgres'],
);
