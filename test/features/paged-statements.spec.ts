// @tags db
import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { CursorPagination, LimitOffsetPagination, Restify } from 'nestjs-restify';
import { Column, Entity, PrimaryGeneratedColumn } from 'typeorm';
import { StatementLog } from '../faults/statement-log.js';
import { onEachDatabase } from '../support/each-database.js';
import { startApp } from '../support/start-app.js';
import type { StartedApp } from '../support/start-app.js';

abstract class Note {
  @PrimaryGeneratedColumn()
  id: number;

  @Column()
  team: number;

  @Column({ type: 'varchar', nullable: true })
  text: string | null;
}

@Restify({
  app: 'stated',
  pagination: new CursorPagination({ secret: 'x'.repeat(40), pageSize: 2, count: 'exact' }),
  orderingFields: ['text', 'team'],
})
@Entity('stated_by_cursor')
class ByCursor extends Note {}

@Restify({ app: 'stated', pagination: new LimitOffsetPagination({ pageSize: 2 }) })
@Entity('stated_by_offset')
class ByOffset extends Note {}

interface PageOfNotes {
  readonly count: number;
  readonly next: string | null;
  readonly previous: string | null;
  readonly results: readonly { readonly id: number }[];
}

const ROWS = Array.from({ length: 9 }, (_, at) => ({
  team: at % 2,
  text: at % 3 === 0 ? null : `t${String(at % 4)}`,
}));

onEachDatabase('the statements of pages', (database) => {
  const log = new StatementLog();
  let started: StartedApp;
  beforeAll(async () => {
    started = await startApp({
      compare: false,
      entities: [ByCursor, ByOffset],
      database,
      dataSource: { logging: true, logger: log },
    });
    for (const entity of [ByCursor, ByOffset]) await started.dataSource.getRepository(entity).insert(ROWS);
  });
  beforeEach(() => {
    log.clear();
  });
  afterAll(() => started.close());

  const read = async (path: string): Promise<PageOfNotes> => {
    const { status, json } = await started.client.get(path);
    expect(status).toBe(200);
    return json as PageOfNotes;
  };

  /** The keys of all pages from a URL on, in the direction of `next` or `previous`. */
  const walk = async (path: string, link: 'next' | 'previous'): Promise<readonly number[]> => {
    const keys: number[] = [];
    for (let url: string | null = path; url !== null;) {
      const page: PageOfNotes = await read(url);
      keys.push(...page.results.map(({ id }) => id));
      url = page[link] === null ? null : new URL(page[link]).pathname + new URL(page[link]).search;
    }
    return keys;
  };
  const statements = (): ReadonlySet<string> => new Set(log.statements);

  test('with the same filter and order differ by values alone', async () => {
    await walk('/rest/v1/stated/bycursor/?team=1&ordering=team', 'next');
    const first = statements();
    log.clear();
    await walk('/rest/v1/stated/bycursor/?team=0&ordering=team', 'next');
    expect([...statements()].filter((each) => !first.has(each))).toEqual([]);
  });

  test.each([
    ['text', 'a null at the start of a page has a statement of its own'],
    ['-text', 'so it has in the inverse order'],
  ])('ordered by %s return every row once: %s', async (ordering) => {
    const path = `/rest/v1/stated/bycursor/?ordering=${ordering}`;
    // Twice: the second time, each statement is known.
    const keys = [await walk(path, 'next'), await walk(path, 'next')];
    expect(keys[0]).toHaveLength(ROWS.length);
    expect(new Set(keys[0]).size).toBe(ROWS.length);
    expect(keys[1]).toEqual(keys[0]);
    const all = await started.dataSource.getRepository(ByCursor).find();
    const textOf = new Map(all.map(({ id, text }) => [id, text]));
    const shown = (keys[0] ?? []).map((id) => textOf.get(id) ?? null).filter((text) => text !== null);
    expect(shown).toEqual(ordering === 'text' ? [...shown].sort() : [...shown].sort().reverse());
  });

  test('before a row are those of the pages after it, inverted', async () => {
    const path = '/rest/v1/stated/bycursor/?ordering=text&team=0';
    const keys = await walk(path, 'next');
    let page = await read(path);
    while (page.next !== null) page = await read(new URL(page.next).pathname + new URL(page.next).search);
    const last = page.results.length;
    const url = new URL(page.previous ?? '');
    const backward: number[][] = [];
    for (let next: string | null = url.pathname + url.search; next !== null;) {
      const previous: PageOfNotes = await read(next);
      backward.unshift(previous.results.map(({ id }) => id));
      next =
        previous.previous === null
          ? null
          : new URL(previous.previous).pathname + new URL(previous.previous).search;
    }
    expect(backward.flat()).toEqual(keys.slice(0, -last));
  });

  test('at another offset have the same text', async () => {
    expect((await read('/rest/v1/stated/byoffset/?offset=2')).results.map(({ id }) => id)).toEqual([3, 4]);
    const first = statements();
    log.clear();
    expect((await read('/rest/v1/stated/byoffset/?offset=7')).results.map(({ id }) => id)).toEqual([8, 9]);
    expect(statements()).toEqual(first);
  });
});
