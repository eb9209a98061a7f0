// @tags core
import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { Restify } from 'nestjs-restify';
import { Column, Entity, Index, PrimaryGeneratedColumn } from 'typeorm';
import { startApp } from '../support/start-app.js';
import type { StartedApp } from '../support/start-app.js';
import { StatementLog } from '../faults/statement-log.js';

@Restify({
  app: 'pages',
  orderingFields: ['title', 'note'],
  computed: { shout: (leaf: object) => (leaf as Leaf).title.toUpperCase() },
})
@Entity('pages_leaf')
class Leaf {
  @PrimaryGeneratedColumn()
  id: number;

  @Column()
  @Index('pages_by_title')
  title: string;

  @Column({ type: 'varchar', nullable: true })
  @Index('pages_by_note')
  note: string | null;
}

const log = new StatementLog();
let started: StartedApp;

beforeAll(async () => {
  started = await startApp({ compare: false, entities: [Leaf], dataSource: { logging: true, logger: log } });
  for (let at = 0; at < 2500; at += 500) {
    const leaves = Array.from({ length: 500 }, (_, index) => ({
      title: `t${(at + index) % 1250}`,
      note: index % 3 === 0 ? null : `n${(at + index) % 1250}`,
    }));
    await started.dataSource
      .createQueryBuilder()
      .insert()
      .into(Leaf)
      .values(leaves)
      .updateEntity(false)
      .execute();
  }
});
beforeEach(() => {
  log.clear();
});
afterAll(() => started.close());

/** What SQLite would do for the statement of a page behind the first one. */
async function planOfLaterPage(ordering: string): Promise<string> {
  expect((await started.client.get(`/rest/v1/pages/leaf/?ordering=${ordering}`)).status).toBe(200);
  const later = log.statements.findLast((each) => / LIMIT \d{2,}/.test(each) && each.includes('?')) ?? '';
  const plan = await started.dataSource.query<{ detail: string }[]>(
    `EXPLAIN QUERY PLAN ${later}`,
    Array<string>(later.split('?').length - 1).fill(''),
  );
  return plan.map(({ detail }) => detail).join('\n');
}

test.each([
  ['title', 'USING INDEX pages_by_title (title>?)'],
  ['-title', 'USING INDEX pages_by_title (title<?)'],
  ['title,-note', 'USING INDEX pages_by_title (title>?)'],
  ['note', 'USING INDEX pages_by_note (note>?)'],
])('ordered by %s, an index leads to where a later page begins', async (ordering, expected) => {
  expect(await planOfLaterPage(ordering)).toContain(expected);
});

test('entities behind the rows are loaded by one statement a number of rows, with other keys each time', async () => {
  const { json } = await started.client.get('/rest/v1/pages/leaf/');
  expect((json as { shout: string }[]).map(({ shout }) => shout)).toEqual(
    Array.from({ length: 2500 }, (_, index) => `T${index % 1250}`),
  );
  const loads = log.statements.filter((each) => each.includes('"entity"'));
  expect(loads.length).toBeGreaterThanOrEqual(10);
  // Pages that took long are shorter.
  expect(new Set(loads).size).toBe(new Set(loads.map((each) => each.split('?').length)).size);
});
