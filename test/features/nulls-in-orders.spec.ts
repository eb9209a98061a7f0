// @tags db
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { CursorPagination, Restify } from 'nestjs-restify';
import { Column, Entity, ManyToOne, PrimaryColumn } from 'typeorm';
import type { Relation } from 'typeorm';
import { onEachDatabase } from '../support/each-database.js';
import { startApp } from '../support/start-app.js';
import type { StartedApp } from '../support/start-app.js';

@Restify('sorts')
@Entity('sorts_shelf')
class Shelf {
  @PrimaryColumn()
  id: number;

  @Column({ type: 'varchar', length: 20, nullable: true })
  name: string | null;
}

@Restify({
  app: 'sorts',
  orderingFields: ['id', 'votes', 'seen nulls last', 'shelf.name nulls first', 'kept'],
  orderingNulls: true,
  ordering: ['-votes nulls last'],
})
@Entity('sorts_book')
class Book {
  @PrimaryColumn()
  id: number;

  @Column({ type: 'int', nullable: true })
  votes: number | null;

  @Column({ type: Date, nullable: true })
  seen: Date | null;

  @Column({ default: 1 })
  kept: number;

  @ManyToOne(() => Shelf, { nullable: true })
  shelf: Relation<Shelf> | null;
}

@Restify({ app: 'sorts', orderingFields: ['votes'] })
@Entity('sorts_page', { orderBy: { votes: 'DESC', id: 'ASC' } })
class Page {
  @PrimaryColumn()
  id: number;

  @Column({ type: 'int', nullable: true })
  votes: number | null;
}

onEachDatabase('nulls in an order', (database) => {
  let started: StartedApp;
  beforeAll(async () => {
    started = await startApp({ entities: [Shelf, Book, Page], database });
    const { manager } = started.dataSource;
    await manager.save(Shelf, [
      { id: 1, name: 'a' },
      { id: 2, name: null },
    ]);
    await manager.save(Book, [
      { id: 1, votes: 5, seen: new Date('2022-01-01T00:00:00Z'), shelf: { id: 1 } },
      { id: 2, votes: null, seen: null, shelf: { id: 2 } },
      { id: 3, votes: 9, seen: null, shelf: null },
      { id: 4, votes: null, seen: new Date('2021-01-01T00:00:00Z'), shelf: { id: 1 } },
    ]);
    await manager.save(Page, [
      { id: 1, votes: null },
      { id: 2, votes: 3 },
      { id: 3, votes: 8 },
    ]);
  });
  afterAll(() => started.close());

  const ids = async (path: string): Promise<readonly number[]> =>
    ((await started.client.get(`/rest/v1/sorts/${path}`)).json as { id: number }[]).map(({ id }) => id);

  test.each<[string, readonly number[]]>([
    ['', [3, 1, 4, 2]],
    ['ordering=votes.nullsfirst', [2, 4, 1, 3]],
    ['ordering=votes.nullslast', [1, 3, 2, 4]],
    ['ordering=-votes.nullsfirst', [4, 2, 3, 1]],
    ['ordering=-votes.nullslast', [3, 1, 4, 2]],
    ['ordering=votes.nullslast,-id', [1, 3, 4, 2]],
    ['ordering=seen', [4, 1, 2, 3]],
    ['ordering=-seen', [1, 4, 3, 2]],
    ['ordering=-seen.nullsfirst', [3, 2, 1, 4]],
    ['ordering=shelf__name', [2, 3, 1, 4]],
    ['ordering=-shelf__name', [3, 2, 4, 1]],
    ['ordering=shelf__name.nullslast', [1, 4, 2, 3]],
    ['ordering=-id.nullslast', [4, 3, 2, 1]],
    ['ordering=votes.nullsmiddle', [3, 1, 4, 2]],
    ['ordering=votes.NULLSLAST', [3, 1, 4, 2]],
    ['ordering=.nullslast', [3, 1, 4, 2]],
    ['ordering=nullslast', [3, 1, 4, 2]],
    ['ordering=votes.nullslast.nullsfirst', [3, 1, 4, 2]],
    ['ordering=votes.nullslast,votes.nullsfirst', [1, 3, 2, 4]],
  ])('?%s', async (query, expected) => {
    expect(await ids(`book/?${query}`)).toEqual(expected);
  });

  test('cannot be chosen by clients without the option of the model', async () => {
    const usual = await ids('page/');
    expect(usual).toHaveLength(3);
    expect(await ids('page/?ordering=votes.nullslast')).toEqual(usual);
    expect(await ids('page/?ordering=-votes.nullsfirst')).toEqual(usual);
  });

  test('are where they belong on every page of a long list, once each', async () => {
    const { manager } = started.dataSource;
    const rows = Array.from({ length: 2600 }, (_, index) => ({
      id: 100 + index,
      votes: index % 3 === 0 ? null : 1000 + (index % 700),
      kept: 2,
    }));
    for (let at = 0; at < rows.length; at += 650) await manager.insert(Book, rows.slice(at, at + 650));
    for (const [ordering, descending, first] of [
      ['votes.nullsfirst', false, true],
      ['votes.nullslast', false, false],
      ['-votes.nullsfirst', true, true],
      ['-votes.nullslast', true, false],
    ] as const) {
      const all = await manager.find(Book);
      const expected = all
        .sort((a, b) => {
          if (a.votes === b.votes) return descending ? b.id - a.id : a.id - b.id;
          if (a.votes === null || b.votes === null) return (a.votes === null) === first ? -1 : 1;
          return descending ? b.votes - a.votes : a.votes - b.votes;
        })
        .map(({ id }) => id);
      expect([ordering, await ids(`book/?ordering=${ordering}`)]).toEqual([ordering, expected]);
    }
  });
});

@Restify({
  app: 'sorts',
  orderingFields: ['votes'],
  orderingNulls: true,
  pagination: new CursorPagination({
    secret: 'a text that nobody else can guess, of 32 or more',
    pageSize: 2,
  }),
})
@Entity('sorts_sheet')
class Sheet {
  @PrimaryColumn()
  id: number;

  @Column({ type: 'int', nullable: true })
  votes: number | null;
}

interface CursorPage {
  readonly results: readonly { readonly id: number }[];
  readonly next: string | null;
  readonly previous: string | null;
}

onEachDatabase('nulls in pages by cursor', (database) => {
  let started: StartedApp;
  beforeAll(async () => {
    started = await startApp({ entities: [Sheet], database });
    await started.dataSource.manager.save(Sheet, [
      { id: 1, votes: null },
      { id: 2, votes: 3 },
      { id: 3, votes: 8 },
      { id: 4, votes: null },
      { id: 5, votes: null },
      { id: 6, votes: 3 },
      { id: 7, votes: 1 },
    ]);
  });
  afterAll(() => started.close());

  const page = async (url: string): Promise<CursorPage> => {
    const answer = await started.client.get(url);
    expect(answer.status).toBe(200);
    return answer.json as CursorPage;
  };
  const pathOf = (url: string): string => url.replace(/^http:\/\/[^/]+/, '');

  test.each<[string, readonly number[]]>([
    ['votes.nullsfirst', [1, 4, 5, 7, 2, 6, 3]],
    ['votes.nullslast', [7, 2, 6, 3, 1, 4, 5]],
    ['-votes.nullsfirst', [5, 4, 1, 3, 6, 2, 7]],
    ['-votes.nullslast', [3, 6, 2, 7, 5, 4, 1]],
  ])('?ordering=%s goes forth and back over each row once', async (ordering, expected) => {
    let here = await page(`/rest/v1/sorts/sheet/?ordering=${ordering}`);
    const forth = [...here.results];
    while (here.next !== null) {
      here = await page(pathOf(here.next));
      forth.push(...here.results);
    }
    expect(forth.map(({ id }) => id)).toEqual(expected);
    const back = [...here.results];
    while (here.previous !== null) {
      here = await page(pathOf(here.previous));
      back.unshift(...here.results);
    }
    expect(back.map(({ id }) => id)).toEqual(expected);
  });

  test('a cursor holds for its place of nulls alone', async () => {
    const { next } = await page('/rest/v1/sorts/sheet/?ordering=votes.nullsfirst');
    expect((await started.client.get(pathOf(next ?? '').replace('nullsfirst', 'nullslast'))).status).toBe(
      404,
    );
  });
});

@Restify('sorts')
@Entity('sorts_line', {
  orderBy: { votes: { order: 'DESC', nulls: 'NULLS LAST' }, id: { order: 'ASC', nulls: 'NULLS FIRST' } },
})
class Line {
  @PrimaryColumn()
  id: number;

  @Column({ type: 'int', nullable: true })
  votes: number | null;
}

// On MariaDB TypeORM itself writes what the server does not understand.
onEachDatabase(
  'nulls in the order of the entity',
  (database) => {
    let started: StartedApp;
    beforeAll(async () => {
      started = await startApp({ entities: [Line], database });
    });
    afterAll(() => started.close());

    test('have the declared position', async () => {
      await started.dataSource.manager.save(Line, [
        { id: 1, votes: null },
        { id: 2, votes: 3 },
        { id: 3, votes: 8 },
      ]);
      expect(
        ((await started.client.get('/rest/v1/sorts/line/')).json as { id: number }[]).map(({ id }) => id),
      ).toEqual([3, 2, 1]);
    });
  },
  ['sqlite', 'postgres'],
);
