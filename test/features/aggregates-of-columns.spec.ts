// @tags db
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { Restify } from 'nestjs-restify';
import { Column, Entity, PrimaryColumn } from 'typeorm';
import { onEachDatabase } from '../support/each-database.js';
import { startApp } from '../support/start-app.js';
import type { StartedApp } from '../support/start-app.js';

@Restify({
  app: 'kinds',
  aggregate: {
    group: ['uuid', 'state', 'time', 'padded', 'long', 'small', 'real', 'amount', 'yes'],
    sum: ['small', 'real', 'amount', 'free'],
    avg: ['small', 'real', 'amount', 'free'],
    min: ['time', 'padded', 'long', 'real', 'amount', 'free'],
    max: ['time', 'padded', 'long', 'real', 'amount', 'free'],
  },
})
@Entity('agg_kinds')
class AggKinds {
  @PrimaryColumn({ type: 'int' }) id: number;
  @Column('uuid') uuid: string;
  @Column({ type: 'simple-enum', enum: ['open', 'done', 'Archived'] }) state: string;
  @Column({ type: 'time', precision: 3 }) time: string;
  @Column({ length: 5 }) padded: string;
  @Column({ type: 'text' }) long: string;
  @Column({ type: 'smallint' }) small: number;
  @Column({ type: 'real' }) real: number;
  @Column({ type: 'decimal', precision: 18, scale: 6 }) amount: string;
  @Column({ type: 'decimal', precision: 15, scale: 3, nullable: true }) free: string | null;
  @Column({ type: 'boolean' }) yes: boolean;
}

const UUIDS = ['0b9bd6c1-52c7-4f1c-9a39-16bb0b5ac2b2', 'f3f10d3b-2f0c-4a56-8a3d-5b9c7a1f0e77'];

onEachDatabase('aggregates of columns of every kind', (database) => {
  let started: StartedApp;
  beforeAll(async () => {
    started = await startApp({ entities: [AggKinds], database });
    const row = (id: number, rest: Partial<AggKinds>): Partial<AggKinds> => ({
      id,
      uuid: UUIDS[id % 2],
      state: 'open',
      time: '09:30:00',
      padded: 'ab',
      long: 'x'.repeat(3000),
      small: id,
      real: 0.5,
      amount: '0.000001',
      free: null,
      yes: id % 2 === 0,
      ...rest,
    });
    await started.dataSource.manager.insert(AggKinds, [
      row(1, { state: 'done', amount: '-999999999.999999', free: '123456789012.125' }),
      row(2, { time: '23:59:59', padded: 'AB', long: `${'x'.repeat(2999)}Y`, real: -2.25 }),
      row(3, { state: 'Archived', padded: '', amount: '999999999.999998', free: '-0.001' }),
    ]);
  });
  afterAll(() => started.close());

  const get = async (query: string): Promise<unknown> =>
    (await started.client.get(`/rest/v1/kinds/aggkinds/?${query}`)).json;

  test('are grouped, and ordered by their bytes', async () => {
    expect(await get('aggregate=count&group=uuid')).toEqual([
      { uuid: UUIDS[0], count: 1 },
      { uuid: UUIDS[1], count: 2 },
    ]);
    expect(await get('aggregate=count&group=state')).toEqual([
      { state: 'Archived', count: 1 },
      { state: 'done', count: 1 },
      { state: 'open', count: 1 },
    ]);
    expect(await get('aggregate=count&group=time')).toEqual([
      { time: '09:30:00', count: 2 },
      { time: '23:59:59', count: 1 },
    ]);
    expect(await get('aggregate=count&group=padded')).toEqual([
      { padded: '', count: 1 },
      { padded: 'AB', count: 1 },
      { padded: 'ab', count: 1 },
    ]);
    expect(await get('aggregate=count&group=real,yes')).toEqual([
      { real: -2.25, yes: true, count: 1 },
      { real: 0.5, yes: false, count: 2 },
    ]);
    expect(await get('aggregate=count&group=long&ordering=-long')).toEqual([
      { long: 'x'.repeat(3000), count: 2 },
      { long: `${'x'.repeat(2999)}Y`, count: 1 },
    ]);
    expect(await get('aggregate=count&group=amount')).toEqual([
      { amount: '-999999999.999999', count: 1 },
      { amount: '0.000001', count: 1 },
      { amount: '999999999.999998', count: 1 },
    ]);
  });

  test('are added, and compared', async () => {
    expect(
      await get('aggregate=sum.small,sum.amount,sum.free,sum.real,avg.small,avg.amount,avg.free'),
    ).toEqual([
      {
        sum: { small: 6, amount: '0.000000', free: '123456789012.124', real: -1.25 },
        avg: { small: '2.000000', amount: '0.000000', free: '61728394506.062000' },
      },
    ]);
    expect(
      await get('aggregate=min.time,max.time,min.padded,max.padded,min.real,max.real,min.amount,max.free'),
    ).toEqual([
      {
        min: { time: '09:30:00', padded: '', real: -2.25, amount: '-999999999.999999' },
        max: { time: '23:59:59', padded: 'ab', real: 0.5, free: '123456789012.125' },
      },
    ]);
    expect(await get('aggregate=count&group=yes&having.max.time__gt=10:00&having.min.real__lt=0')).toEqual([
      { yes: true, count: 1 },
    ]);
    expect(
      await get('aggregate=count&group=yes&having.avg.amount__lt=0.000001&having.sum.free__gte=5'),
    ).toEqual([{ yes: false, count: 2 }]);
  });
});
