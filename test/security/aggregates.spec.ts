// @tags db
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { allow, basic, Restify, where } from 'nestjs-restify';
import type { AccessContext, Grant, Permission } from 'nestjs-restify';
import { Column, Entity, ManyToOne, PrimaryColumn } from 'typeorm';
import type { Logger, Relation } from 'typeorm';
import { onEachDatabase } from '../support/each-database.js';
import { startApp } from '../support/start-app.js';
import type { StartedApp } from '../support/start-app.js';

/** Members see what is theirs, and no salaries. */
class OwnStaff implements Permission {
  decide({ actor }: AccessContext): Grant {
    const { name } = (actor ?? {}) as { readonly name?: string };
    return name === 'root'
      ? allow()
      : allow({ rows: where('team', 'red'), readable: ['id', 'name', 'team', 'boss'] });
  }
}

@Restify({
  app: 'safe',
  permissions: [OwnStaff],
  aggregate: {
    group: ['name', 'team', 'salary', 'boss', 'boss.name', 'boss.salary', 'boss.boss'],
    sum: ['salary'],
    avg: ['salary'],
    min: ['salary', 'name'],
    max: ['salary', 'name'],
  },
  filterFields: { team: ['exact'], salary: ['gte'] },
})
@Entity('safe_staff')
class SafeStaff {
  @PrimaryColumn({ type: 'int' }) id: number;
  @Column({ length: 20 }) name: string;
  @Column({ length: 20 }) team: string;
  @Column({ type: 'int' }) salary: number;
  @ManyToOne(() => SafeStaff, { nullable: true }) boss: Relation<SafeStaff> | null;
}

const STAFF = '/rest/v1/safe/safestaff/';
const statements: string[] = [];
const nothing = (): undefined => undefined;
const LOGGER: Logger = {
  logQuery: (query) => void statements.push(query),
  logQueryError: nothing,
  logQuerySlow: nothing,
  logSchemaBuild: nothing,
  logMigration: nothing,
  log: nothing,
};

onEachDatabase('attacks by aggregates', (database) => {
  let started: StartedApp;
  beforeAll(async () => {
    started = await startApp({
      entities: [SafeStaff],
      database: {
        ...database,
        open: async () => {
          const opened = await database.open();
          return {
            ...opened,
            options: { ...opened.options, logging: ['query'], logger: LOGGER } as typeof opened.options,
          };
        },
      },
      restify: { authentication: [basic((name) => ({ name }))] },
    });
    await started.dataSource.manager.insert(SafeStaff, [
      { id: 1, name: 'Rita', team: 'red', salary: 10 },
      { id: 2, name: 'Bert', team: 'blue', salary: 20 },
    ]);
    await started.dataSource.manager.insert(SafeStaff, [
      { id: 3, name: 'Rob', team: 'red', salary: 30, boss: { id: 1 } },
      { id: 4, name: 'Ron', team: 'red', salary: 40, boss: { id: 2 } },
    ]);
  });
  afterAll(() => started.close());

  const send = (query: string, who = 'member'): ReturnType<StartedApp['client']['get']> =>
    started.client.get(`${STAFF}?${query}`, {
      headers: { authorization: `Basic ${Buffer.from(`${who}:pw`).toString('base64')}` },
    });

  test.each([
    'aggregate=sum.salary',
    'aggregate=avg.salary',
    'aggregate=min.salary',
    'aggregate=max.salary&group=team',
    'aggregate=count&group=salary',
    'aggregate=count&group=boss.salary',
    'aggregate=count&having.max.salary__gte=1',
    'aggregate=count&having.avg.salary__gte=1',
    'aggregate=count&ordering=max.salary',
  ])('S2 no %s of a hidden column, and its error is that of an unknown one', async (query) => {
    const { status, text } = await send(query);
    expect(status).toBe(400);
    const unknown = await send(query.replaceAll('salary', 'sulphur'));
    expect(text).toBe(unknown.text.replaceAll('sulphur', 'salary'));
    expect((await send(query, 'root')).status).toBe(200);
  });

  test('S7 S13 hidden rows are in no group, count or key of a related object', async () => {
    expect((await send('aggregate=count,min.name,max.name&group=team')).json).toEqual([
      { team: 'red', count: 3, min: { name: 'Rita' }, max: { name: 'Ron' } },
    ]);
    expect((await send('aggregate=count&team=blue')).json).toEqual([{ count: 0 }]);
    // The key of a hidden boss is in the list; the name is not.
    expect((await send('aggregate=count&group=boss,boss.name')).json).toEqual([
      { boss: 1, 'boss.name': 'Rita', count: 1 },
      { boss: 2, 'boss.name': null, count: 1 },
      { boss: null, 'boss.name': null, count: 1 },
    ]);
    // As in the list, the filter is none.
    expect((await send('aggregate=count&salary__gte=35')).json).toEqual([{ count: 3 }]);
  });

  test('S15 names of JavaScript are no names of aggregates', async () => {
    for (const name of ['__proto__', 'constructor', 'toString', 'hasOwnProperty'])
      for (const query of [
        `aggregate=${name}`,
        `aggregate=sum.${name}`,
        `aggregate=count&group=${name}`,
        `aggregate=count&group=team:${name}`,
        `aggregate=count&ordering=${name}`,
        `aggregate=count&having.${name}__gte=1`,
        `aggregate=count&having.count__${name}=1`,
      ])
        expect([query, (await send(query)).status]).toEqual([query, 400]);
  });

  test.each([
    '%27',
    'UTC%27--',
    '../../etc/passwd',
    '%2B02:00',
    '-05:00',
    'Europe/Berlin%00',
    'x'.repeat(5000),
    'UTC;SELECT',
  ])('S1 S17 no zone %s', async (zone) => {
    expect((await send(`aggregate=count&group=team&tz=${zone}`)).status).toBe(400);
  });

  test('S1 no text of a request is part of a statement', async () => {
    statements.length = 0;
    const query = new URLSearchParams({
      aggregate: 'count,min.name',
      group: 'team',
      team: "red'); DROP TABLE safe_staff; --",
      'having.min.name__gte': `"'; DROP TABLE safe_staff; --`,
      tz: 'europe/berlin',
      ordering: '-min.name',
    });
    expect((await send(query.toString(), 'root')).json).toEqual([]);
    expect(statements.filter((each) => /DROP|europe/.test(each.replace(/ -- PARAMETERS.*/s, '')))).toEqual(
      [],
    );
    expect(statements.filter((each) => each.includes('restify_groups'))).toHaveLength(1);
  });

  test('S8 many wrong names cost a short answer', async () => {
    const names = Array.from({ length: 800 }, (_, index) => `sum.s${index}`).join(',');
    const having = Array.from({ length: 150 }, (_, index) => `having.h${index}__gte=1`).join('&');
    const begun = performance.now();
    const { status, text } = await send(`aggregate=${names}&${having}`);
    expect(status).toBe(400);
    expect(text.length).toBeLessThan(20_000);
    expect(performance.now() - begun).toBeLessThan(500);
  });
});
