// @tags db nest
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { Restify } from 'nestjs-restify';
import { Column, Entity, PrimaryColumn } from 'typeorm';
import { onEachDatabase } from '../support/each-database.js';
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
