// @tags db
import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import {
  allow,
  JsonServerPagination,
  LimitOffsetPagination,
  PageNumberPagination,
  Restify,
  where,
} from 'nestjs-restify';
import type { AccessContext, Grant, Permission } from 'nestjs-restify';
import { Column, Entity, ManyToOne, OneToMany, PrimaryGeneratedColumn } from 'typeorm';
import type { Relation } from 'typeorm';
import { StatementLog } from '../faults/statement-log.js';
import { StatementCache } from '../../src/sql/statement-cache.js';
import { onEachDatabase } from '../support/each-database.js';
import { startApp } from '../support/start-app.js';
import type { StartedApp } from '../support/start-app.js';

const ROWS = 10_500;

/** With a team, its rows alone; without one, all. */
class OfTeam implements Permission {
  decide({ actor }: AccessContext): Grant {
    const { team } = (actor ?? {}) as { readonly team?: number };
    return team === undefined ? allow() : allow({ rows: where('team', 'gte', team) });
  }
}

@Restify({
  app: 'counts',
  permissions: [OfTeam],
  pagination: new LimitOffsetPagination({ pageSize: 2, count: 'estimated', countParameter: 'count' }),
  filterFields: { team: ['exact', 'gte'], 'origin.name': ['exact', 'isnull'] },
})
@Entity('counts_fact')
class Fact {
  @PrimaryGeneratedColumn()
  id: number;

  @Column()
  team: number;

  @ManyToOne(() => Origin, (origin) => origin.facts, { nullable: true })
  origin: Relation<Origin> | null;
}

@Restify({ app: 'counts' })
@Entity('counts_origin')
class Origin {
  @PrimaryGeneratedColumn()
  id: number;

  @Column()
  name: string;

  @OneToMany(() => Fact, (fact) => fact.origin)
  facts: Relation<Fact[]>;
}

/** The rows of `Fact`, where few are counted exactly. */
@Restify({
  app: 'counts',
  permissions: [OfTeam],
  pagination: new PageNumberPagination({
    pageSize: 2,
    count: 'estimated',
    countUpTo: 300,
    countKind: true,
    countParameter: 'count',
  }),
  filterFields: { team: ['exact', 'gte'] },
})
@Entity('counts_fact', { synchronize: false })
class Bounded {
  @PrimaryGeneratedColumn()
  id: number;

  @Column()
  team: number;
}

@Restify({
  app: 'counts',
  name: 'headed',
  permissions: [OfTeam],
  pagination: new JsonServerPagination({ count: 'estimated', countUpTo: 300, countKind: true }),
  filterFields: { team: ['exact', 'gte'] },
})
@Entity('counts_fact', { synchronize: false })
class Headed {
  @PrimaryGeneratedColumn()
  id: number;

  @Column()
  team: number;
}

const SERIES = {
  sqlite: `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${ROWS}) SELECT i % 100, 1 FROM n`,
  postgres: `SELECT i % 100, 1 FROM generate_series(1, ${ROWS}) i`,
  mariadb: `SELECT seq % 100, 1 FROM seq_1_to_${ROWS}`,
} as const;

onEachDatabase('a count', (database) => {
  const log = new StatementLog();
  let started: StartedApp;
  beforeAll(async () => {
    started = await startApp({
      compare: false,
      entities: [Fact, Origin, Bounded, Headed],
      database,
      restify: { browsable: true },
      dataSource: { logging: true, logger: log },
      configure: (app) => {
        app.use(
          (
            request: { headers: Record<string, string>; user?: object },
            _response: unknown,
            next: () => void,
          ) => {
            if (request.headers['x-team'] !== undefined)
              request.user = { team: Number(request.headers['x-team']) };
            next();
          },
        );
      },
    });
    const { dataSource } = started;
    await dataSource.getRepository(Origin).insert([{ name: 'here' }, { name: 'there' }]);
    const table = dataSource.driver.escape('counts_fact');
    await dataSource.query(
      `INSERT INTO ${table} (team, ${dataSource.driver.escape('originId')}) ${SERIES[database.name]}`,
    );
    await dataSource.query(database.name === 'mariadb' ? `ANALYZE TABLE ${table}` : `ANALYZE ${table}`);
  });
  beforeEach(() => {
    log.clear();
  });
  afterAll(() => started.close());
  const count = async (path: string, headers: Record<string, string> = {}): Promise<unknown> => {
    const answer = await started.client.get(`/rest/v1/counts/${path}`, { headers });
    expect([answer.status, answer.text.slice(0, 100)]).toEqual([200, expect.stringMatching(/^\{"count":/)]);
    return (answer.json as { readonly count: number | null }).count;
  };
  const asksPlanner = (): boolean => log.statements.some((each) => each.includes('EXPLAIN'));

  test('is exact on request, within the grants of the caller', async () => {
    expect(await count('fact/?count=exact')).toBe(ROWS);
    expect(await count('fact/?count=exact', { 'x-team': '99' })).toBe(ROWS / 100);
    expect(asksPlanner()).toBe(false);
  });

  test('is omitted on request', async () => {
    expect(await count('fact/?count=none')).toBe(null);
    expect(
      log.statements.filter(
        (each) => /counts_fact/.test(each) && /count\(\*\) FROM .?counts_fact/.test(each),
      ),
    ).toEqual([]);
  });

  test('is one statement together with its page, where the database writes rows itself', async () => {
    if (database.name === 'mariadb') return;
    await count('fact/?count=exact');
    expect(log.statements).toHaveLength(1);
  });

  test('leaves the rows before a page out before it writes any of them', async () => {
    if (database.name === 'mariadb') return;
    await count('fact/?offset=9000&limit=1&count=none');
    expect(log.statements).toEqual([
      expect.stringMatching(/FROM \(SELECT t0\.\* FROM .* LIMIT 2 OFFSET (\?|\$\d+)\) t0/),
    ]);
  });

  test('that is estimated is exact for few rows', async () => {
    expect(await count('fact/?team=7')).toBe(ROWS / 100);
    expect(asksPlanner()).toBe(false);
  });

  test('that is estimated is what the planner expects of many, or ends at ten thousand', async () => {
    const all = Number(await count('fact/'));
    if (database.name === 'sqlite') expect(all).toBe(10_000);
    else {
      expect(all).toBeGreaterThanOrEqual(10_000);
      expect(all).toBeLessThan(ROWS * 1.5);
      expect(asksPlanner()).toBe(true);
    }
    expect(Number(await count('fact/?team__gte=1'))).toBeGreaterThanOrEqual(10_000);
  });

  test('that is estimated is exact up to countUpTo', async () => {
    const read = async (query: string, headers: Record<string, string> = {}): Promise<unknown[]> => {
      const answer = await started.client.get(`/rest/v1/counts/bounded/${query}`, { headers });
      const { count: rows, count_kind: kind, next } = answer.json as Readonly<Record<string, unknown>>;
      expect(Object.keys(answer.json as object)).toEqual([
        'count',
        'count_kind',
        'next',
        'previous',
        'results',
      ]);
      return [answer.status, rows, kind, next === null];
    };
    expect(await read('?team=7')).toEqual([200, 105, 'exact', false]);
    expect((await started.client.get('/rest/v1/counts/bounded/?team=7&page=last')).status).toBe(404);
    expect(await read('?team__gte=98&count=exact')).toEqual([200, 210, 'exact', false]);
    expect(await read('?count=exact')).toEqual([200, ROWS, 'exact', false]);
    expect(await read('?count=none')).toEqual([200, null, null, false]);
    expect(asksPlanner()).toBe(false);
    expect(await read('', { 'x-team': '0' })).toEqual([200, 300, 'at_least', false]);
    expect(asksPlanner()).toBe(false);
    const [status, rows, kind] = await read('');
    if (database.name === 'sqlite') expect([status, rows, kind]).toEqual([200, 300, 'at_least']);
    else {
      expect([status, kind]).toEqual([200, 'estimated']);
      expect(Number(rows)).toBeGreaterThan(300);
      expect(asksPlanner()).toBe(true);
    }
    expect(log.statements.some((each) => each.includes('LIMIT 301'))).toBe(true);
  });

  test('has its kind in a header if the page is an array', async () => {
    const headers = async (query: string, team: Record<string, string>): Promise<unknown[]> => {
      const answer = await started.client.get(`/rest/v1/counts/headed/${query}`, { headers: team });
      const { link = '', 'content-range': range } = answer.headers;
      return [
        answer.headers['x-total-count'],
        answer.headers['x-total-count-kind'],
        range,
        String(link).includes('rel="last"'),
      ];
    };
    expect(await headers('?team=7', {})).toEqual(['105', 'exact', 'items 0-99/105', true]);
    expect(await headers('', { 'x-team': '0' })).toEqual(['300', 'at_least', 'items 0-99/*', false]);
  });

  test('is cheaper where the browsable page prefers that, and never more expensive', async () => {
    expect(await count('fact/?count=exact', { Prefer: 'count=none' })).toBe(null);
    expect(await count('fact/?team=7', { Prefer: 'respond-async, count=estimated' })).toBe(ROWS / 100);
    expect(await count('bounded/?count=exact', { Prefer: 'count=estimated', 'x-team': '0' })).toBe(300);
    expect(await count('bounded/', { Prefer: 'count=exact', 'x-team': '0' })).toBe(300);
    expect(await count('bounded/?count=none', { Prefer: 'count=estimated' })).toBe(null);
    const last = await started.client.get('/rest/v1/counts/bounded/?page=last&count=exact&team=7', {
      headers: { Prefer: 'count=none' },
    });
    expect(last.json).toMatchObject({ count: 105, next: null, results: [{ team: 7 }] });
    const { headers } = await started.client.get('/rest/v1/counts/fact/');
    expect(headers.vary).toBe('Prefer, Accept, Cookie');
    expect((await started.client.get('/rest/v1/counts/fact/1/')).headers.vary).toBe('Accept, Cookie');
  });

  test('that is estimated does not depend on rows that the caller may not see', async () => {
    expect(await count('fact/', { 'x-team': '98' })).toBe((ROWS / 100) * 2);
    expect(await count('fact/', { 'x-team': '0' })).toBe(10_000);
    expect(await count('origin/1/facts/')).toBe(10_000);
    expect(await count('origin/2/facts/')).toBe(0);
    expect(await count('fact/?origin__name__isnull=false')).toBe(10_000);
    expect(asksPlanner()).toBe(false);
  });
});

test('without the browsable page no header has an effect on a count', async () => {
  const started = await startApp({ compare: false, entities: [Fact, Origin] });
  try {
    const answer = await started.client.get('/rest/v1/counts/fact/', { headers: { Prefer: 'count=none' } });
    expect([answer.json, answer.headers.vary]).toEqual([
      { count: 0, next: null, previous: null, results: [] },
      'Accept, Cookie',
    ]);
  } finally {
    await started.close();
  }
});

test('statements are kept for pages of the usual size alone', async () => {
  const started = await startApp({ compare: false, entities: [Fact, Origin] });
  const methods = ['of', 'ofPosition'] as const;
  const before = methods.map((name) => ({
    name,
    ...Object.getOwnPropertyDescriptor(StatementCache.prototype, name),
  }));
  const kinds: string[] = [];
  for (const { name, value } of before)
    Object.defineProperty(StatementCache.prototype, name, {
      configurable: true,
      writable: true,
      value(this: StatementCache, kind: string, ...more: unknown[]) {
        kinds.push(kind);
        return (value as (...given: unknown[]) => unknown).call(this, kind, ...more);
      },
    });
  try {
    for (const query of ['', '?limit=2', '?limit=3', '?offset=2', '?limit=99', '?limit=3&offset=2'])
      await started.client.get(`/rest/v1/counts/fact/${query}`);
  } finally {
    for (const { name, ...descriptor } of before)
      Object.defineProperty(StatementCache.prototype, name, descriptor);
    await started.close();
  }
  expect(kinds).toHaveLength(3);
});
