// @tags db nest
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { CursorPagination, Restify } from 'nestjs-restify';
import { Column, Entity, ManyToOne, PrimaryColumn } from 'typeorm';
import type { Relation } from 'typeorm';
import { onEachDatabase } from '../support/each-database.js';
import { startApp } from '../support/start-app.js';
import type { StartedApp } from '../support/start-app.js';

const LOOKUPS = ['exact', 'ne', 'in', 'range', 'gt', 'gte', 'lt', 'lte', 'isnull'] as const;
const FIELDS = ['day', 'kept', 'seen', 'made', 'touched'] as const;

/** Each row has one value in all of its columns. */
@Restify({
  app: 'zd',
  filterFields: Object.fromEntries(FIELDS.map((field) => [field, LOOKUPS])),
  filterGroups: true,
  orderingFields: [...FIELDS],
  orderingNulls: true,
})
@Entity('zd_day')
class ZdDay {
  @PrimaryColumn() id: number;
  @Column({ type: 'date', nullable: true }) day: string | null;
  @Column({ type: 'date' }) kept: string;
  @Column({ type: 'datetime', precision: 6, nullable: true }) seen: Date | null;
  @Column({ type: 'datetime' }) made: Date;
  @Column({ type: 'timestamp', nullable: true }) touched: Date | null;
}

@Restify({
  app: 'zd',
  orderingFields: [...FIELDS],
  orderingNulls: true,
  pagination: new CursorPagination({ pageSize: 1, secret: 'a secret of this spec, 32 letters or more' }),
})
@Entity('zd_day')
class ZdPaged extends ZdDay {}

@Restify({ app: 'zd', filterFields: { 'day.kept': ['isnull', 'lt', 'exact', 'ne'] } })
@Entity('zd_note')
class ZdNote {
  @PrimaryColumn() id: number;
  @ManyToOne(() => ZdDay, { nullable: true }) day: Relation<ZdDay> | null;
}

onEachDatabase(
  'zero dates',
  (database) => {
    let started: StartedApp;
    beforeAll(async () => {
      started = await startApp({ entities: [ZdDay, ZdPaged, ZdNote], database, undescribed: 'all' });
      await started.dataSource.query(`SET STATEMENT sql_mode = '' FOR INSERT INTO zd_day VALUES
        (1, '2021-01-01', '2021-01-01', '2021-01-01', '2021-01-01', '2021-01-01'),
        (2, NULL, '2022-01-01', NULL, '2022-01-01', NULL),
        (3, '0000-00-00', '0000-00-00', '0000-00-00', '0000-00-00', '0000-00-00'),
        (4, '2023-01-01', '2023-01-01', '2023-01-01', '2023-01-01', '2023-01-01')`);
      await started.dataSource.query('INSERT INTO zd_note VALUES (1, 1), (3, 3), (9, NULL)');
    });
    afterAll(() => started.close());

    const ids = async (path: string): Promise<readonly number[]> => {
      const answer = await started.client.get(`/rest/v1/zd/${path}`);
      expect([path, answer.status]).toEqual([path, 200]);
      return (answer.json as { id: number }[]).map(({ id }) => id);
    };

    test('are null', async () => {
      expect((await started.client.get('/rest/v1/zd/zdday/3/')).json).toEqual({
        id: 3,
        ...Object.fromEntries(FIELDS.map((field) => [field, null])),
      });
    });

    describe.each(FIELDS)('of %s, as null,', (field) => {
      const isNullable = field !== 'kept' && field !== 'made';
      const nulls = isNullable ? [2, 3] : [3];
      const days = isNullable ? [1, 4] : [1, 2, 4];
      const [first, last] = ['2021-01-01', '2023-01-01'].map((day) =>
        field === 'day' || field === 'kept' ? day : `${day}T00:00:00Z`,
      ) as [string, string];

      test.each<[string, readonly number[]]>([
        ['__isnull=true', nulls],
        ['__isnull=false', days],
        [`__lt=${last}`, days.slice(0, -1)],
        [`__lte=${last}`, days],
        [`__gt=${first}`, days.slice(1)],
        [`__gte=${first}`, days],
        [`=${first}`, [1]],
        [`__ne=${first}`, [2, 3, 4]],
        [`__in=${first},${last}`, [1, 4]],
        [`__range=${first},${last}`, days],
      ])(`match ?…%s`, async (query, expected) => {
        expect(await ids(`zdday/?${field}${query}`)).toEqual(expected);
        const others = [1, 2, 3, 4].filter((id) => !expected.includes(id));
        expect(await ids(`zdday/?filter=not(${field}${query.replace(/(?<==).*,.*/, '"$&"')})`)).toEqual(
          others,
        );
      });

      test.each<[string, readonly number[]]>([
        [`${field}.nullsfirst`, [...nulls, ...days]],
        [`${field}.nullslast`, [...days, ...nulls]],
        [`-${field}.nullsfirst`, [...nulls.toReversed(), ...days.toReversed()]],
        [`-${field}.nullslast`, [...days.toReversed(), ...nulls]],
        [field, [...nulls, ...days]],
        [`-${field}`, [...days.toReversed(), ...nulls]],
      ])('stand where they belong in ?ordering=%s, on pages too', async (ordering, expected) => {
        const inTurn = (listed: readonly number[]): readonly number[] => {
          // Where they stand by default, rows of NULL and of the zero date are in the order of the database.
          if (/^-.*first$|^[^-].*last$/.test(ordering)) return listed;
          return listed.map((id) => (nulls.includes(id) ? 0 : id));
        };
        expect(inTurn(await ids(`zdday/?ordering=${ordering}`))).toEqual(inTurn(expected));
        const forth: number[] = [];
        const back: number[] = [];
        let url: string | null = `/rest/v1/zd/zdpaged/?ordering=${ordering}`;
        let end: Page | undefined;
        while (url !== null && forth.length < 9) {
          end = await page(url);
          forth.push(...end.results.map(({ id }) => id));
          url = end.next;
        }
        while (end !== undefined && back.length < 9) {
          back.unshift(...end.results.map(({ id }) => id));
          end = end.previous === null ? undefined : await page(end.previous);
        }
        expect(inTurn(forth)).toEqual(inTurn(expected));
        expect(back).toEqual(forth);
      });
    });

    const page = async (url: string): Promise<Page> =>
      (await started.client.get(url.replace(/^http:\/\/[^/]+/, ''))).json as Page;

    test('of related objects are null, as those of a missing one', async () => {
      expect(await ids('zdnote/?day__kept__isnull=true')).toEqual([3, 9]);
      expect(await ids('zdnote/?day__kept__isnull=false')).toEqual([1]);
      expect(await ids('zdnote/?day__kept__lt=2022-01-01')).toEqual([1]);
      expect(await ids('zdnote/?day__kept__ne=2021-01-01')).toEqual([3, 9]);
    });

    test('keep the indexes of comparisons', async () => {
      await started.dataSource.query('CREATE INDEX zd_seen ON zd_day (seen)');
      await started.dataSource.query(
        `INSERT INTO zd_day SELECT seq, '2024-01-01', '2024-01-01', '2024-01-01' + INTERVAL seq DAY, '2024-01-01', NULL FROM seq_100_to_2000`,
      );
      for (const condition of [`seen IS NULL OR seen = 0`, `seen > 0 AND seen < '2022-01-01 00:00:00.000'`]) {
        const [plan] = await started.dataSource.query<{ key: string; rows: string }[]>(
          `EXPLAIN SELECT id FROM zd_day WHERE ${condition}`,
        );
        expect(plan).toMatchObject({ key: 'zd_seen' });
        expect(Number(plan?.rows)).toBeLessThan(10);
      }
    });
  },
  ['mariadb'],
);

interface Page {
  readonly results: readonly { readonly id: number }[];
  readonly next: string | null;
  readonly previous: string | null;
}
