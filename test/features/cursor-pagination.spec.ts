// @tags db http
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { CursorPagination, Restify, RestifyModule } from 'nestjs-restify';
import { Column, Entity, ManyToOne, OneToMany, PrimaryColumn, PrimaryGeneratedColumn } from 'typeorm';
import type { Relation } from 'typeorm';
import { familyKinds, kindEntity } from '../support/column-kinds.js';
import { onEachDatabase } from '../support/each-database.js';
import { startApp } from '../support/start-app.js';
import type { StartedApp } from '../support/start-app.js';

const SECRET = 'a secret of the tests, and of nothing else';
const BY_ONE = new CursorPagination({ secret: SECRET, pageSize: 1 });

interface Page {
  readonly next: string | null;
  readonly previous: string | null;
  readonly results: readonly Record<string, unknown>[];
}

/** The pages of a list, each from the one before, by `next` or back by `previous`. */
async function walk(
  started: StartedApp,
  url: string | null,
  by: 'next' | 'previous',
): Promise<readonly Page[]> {
  const pages: Page[] = [];
  for (let at = url; at !== null && pages.length < 100; at = pages.at(-1)?.[by] ?? null) {
    const answer = await started.client.get(at.replace(/^http:\/\/[^/]*/, ''));
    expect([at, answer.status, answer.text.slice(0, 200)]).toEqual([
      at,
      200,
      expect.stringMatching(/^\{"next":/),
    ]);
    pages.push(answer.json as Page);
  }
  return pages;
}

const keysOf = (pages: readonly Page[]): readonly unknown[] =>
  pages.map(({ results }) => results.map((row) => row.id));

/** Forth to the end by pages of any size, and back from there: all rows, each once, in the list's order. */
async function expectBothWays(
  started: StartedApp,
  path: string,
  expected: readonly unknown[],
): Promise<void> {
  const forth = await walk(started, path, 'next');
  const back = await walk(started, forth.at(-1)?.previous ?? null, 'previous');
  expect(keysOf(forth).flat()).toEqual(expected);
  expect(keysOf([...back].reverse())).toEqual(keysOf(forth).slice(0, -1));
  // Back at the beginning, and forth from there.
  if (back.length > 0)
    expect(keysOf(await walk(started, back.at(-1)?.next ?? null, 'next'))).toEqual(keysOf(forth).slice(1));
}

// One type of each family; all others at the adapter (adapters/typeorm/cursors.spec.ts).
onEachDatabase('cursors over a column of type', (database) => {
  const kinds = familyKinds(database.name).filter(([, { uncompared }]) => uncompared !== true);
  let started: StartedApp;
  beforeAll(async () => {
    const entities = kinds.map(([name, kind]) =>
      kindEntity(name, kind, { table: `cursor_${name}`, pagination: BY_ONE }),
    );
    started = await startApp({ entities, database });
  });
  afterAll(() => started.close());

  test.each(kinds)('%s lead to each row once, with nulls and ties', async (name, { ordered }) => {
    const path = `/rest/v1/types/${name}/`;
    const { client } = started;
    for (const value of [...ordered, null, ordered.at(-1), null])
      expect((await client.post(path, { value })).status).toBe(201);
    const whole = await client.get(`${path}?ordering=-value,-id&page_size=100`);
    const expected = (whole.json as Page).results.map((row) => row.id);
    expect(expected).toHaveLength(ordered.length + 3);
    await expectBothWays(started, `${path}?ordering=-value,-id&page_size=3`, expected);
    // By pages of one row, of one type.
    if (name === 'decimal')
      await expectBothWays(started, `${path}?ordering=-value,-id&page_size=1`, expected);
  });
});

@Restify({
  app: 'walks',
  pagination: new CursorPagination({ secret: SECRET, pageSize: 2, maxPageSize: 50 }),
  orderingFields: ['id', 'title', 'rank', 'amount', 'shelf.name', 'shelf'],
})
@Entity('walks_book')
class Book {
  @PrimaryColumn({ type: 'bigint' })
  id: string;

  @Column()
  title: string;

  @Column({ type: 'int', nullable: true })
  rank: number | null;

  @Column({ type: 'decimal', precision: 20, scale: 2, nullable: true })
  amount: string | null;

  @ManyToOne(() => Shelf, (shelf) => shelf.books, { nullable: true })
  shelf: Relation<Shelf> | null;
}

@Restify({ app: 'walks' })
@Entity('walks_shelf')
class Shelf {
  @PrimaryGeneratedColumn('uuid')
  id: string;

  @Column({ type: 'varchar', nullable: true })
  name: string | null;

  @OneToMany(() => Book, (book) => book.shelf)
  books: Relation<Book[]>;
}

@Restify({ app: 'walks', pagination: BY_ONE })
@Entity('walks_seat')
class Seat {
  @PrimaryColumn({ type: 'varchar', length: 20 })
  row: string;

  @PrimaryColumn()
  number: number;

  @Column({ type: 'int', nullable: true })
  price: number | null;
}

/** Written by the process, on every database. */
@Restify({
  app: 'walks',
  pagination: new CursorPagination({ secret: SECRET, pageSize: 2, style: 'headers', count: 'exact' }),
  computed: { loud: (note: object) => (note as Note).text.toUpperCase() },
})
@Entity('walks_note')
class Note {
  @PrimaryGeneratedColumn()
  id: number;

  @Column()
  text: string;
}

onEachDatabase('cursors', (database) => {
  let started: StartedApp;
  const path = '/rest/v1/walks/book/';
  beforeAll(async () => {
    started = await startApp({ entities: [Book, Shelf, Seat, Note], database });
    const { dataSource } = started;
    const shelves = await dataSource
      .getRepository(Shelf)
      .save([{ name: 'b' }, { name: 'a' }, { name: null }]);
    const books = [0, 1, 2, 3, 4, 5, 6, 7, 8].map((n) => ({
      id: String(n + 1),
      title: ['a', 'B', 'b', 'Ä', 'z'][n % 5] ?? '',
      rank: n % 3 === 0 ? null : n % 2,
      amount: n % 4 === 0 ? null : `${9007199254740993 + n}.0${n % 2}`,
      shelf: n % 4 === 3 ? null : (shelves[n % 4] ?? null),
    }));
    await dataSource.getRepository(Book).save(books);
    await dataSource
      .getRepository(Seat)
      .insert(
        ['a', 'B', 'c,d'].flatMap((row) =>
          [1, 2].map((number) => ({ row, number, price: row === 'a' ? null : number })),
        ),
      );
    await dataSource.getRepository(Note).insert(['x', 'y', 'z'].map((text) => ({ text })));
  });
  afterAll(() => started.close());

  test.each([
    '',
    'rank',
    '-rank,title',
    'title,-rank',
    '-title,rank,-amount',
    'rank,-amount,-id',
    'shelf__name,-rank',
    '-shelf__name,title',
    'shelf,-rank',
    '-amount,-shelf',
  ])('over ordering=%s lead to each row once, forth and back', async (ordering) => {
    const whole = await started.client.get(`${path}?ordering=${ordering}&page_size=50`);
    const { results, next, previous } = whole.json as Page;
    expect([next, previous, results.length]).toEqual([null, null, 9]);
    for (const size of ordering === '' ? [1, 2, 4] : [2, 4])
      await expectBothWays(
        started,
        `${path}?ordering=${ordering}&page_size=${size}`,
        results.map((row) => row.id),
      );
  });

  test('over a composite key lead to each row once', async () => {
    for (const ordering of ['', 'price', '-price', '-row', 'number,-row']) {
      const all = (
        (await started.client.get(`/rest/v1/walks/seat/?ordering=${ordering}&page_size=100`)).json as Page
      ).results;
      const forth = await walk(started, `/rest/v1/walks/seat/?ordering=${ordering}`, 'next');
      const back = await walk(started, forth.at(-1)?.previous ?? null, 'previous');
      expect(forth.flatMap(({ results }) => results)).toEqual(all);
      expect(all).toHaveLength(6);
      expect([...back].reverse().flatMap(({ results }) => results)).toEqual(all.slice(0, -1));
    }
  });

  test('of a nested list hold rows of its parent alone', async () => {
    const shelf = (await started.dataSource.getRepository(Shelf).findOneByOrFail({ name: 'b' })).id;
    const nested = `/rest/v1/walks/shelf/${shelf}/books/`;
    const all = (
      await started.dataSource
        .getRepository(Book)
        .find({ where: { shelf: { id: shelf } }, order: { id: 'ASC' } })
    )
      .map(({ id }): unknown => id)
      .map(String);
    expect(all).toHaveLength(3);
    await expectBothWays(started, `${nested}?page_size=1`, all);
    const { next } = (await started.client.get(`${nested}?page_size=1`, { headers: { host: 'h' } }))
      .json as Page;
    expect(next).toMatch(new RegExp(`^http://h${nested}\\?page_size=1&cursor=[\\w-]+$`));
  });

  test('keep filters, and go on where the page before ended though they change', async () => {
    const [first] = await walk(started, `${path}?title=a&page_size=1`, 'next');
    expect(first?.next).toContain('?title=a&page_size=1&cursor=');
    expect(keysOf(await walk(started, `${path}?title=a&page_size=1`, 'next'))).toEqual([['1'], ['6']]);
  });

  test('with headers have Link, and a count on request', async () => {
    const first = await started.client.get('/rest/v1/walks/note/', { headers: { host: 'h' } });
    expect(first.json).toEqual([
      { id: 1, text: 'x', loud: 'X' },
      { id: 2, text: 'y', loud: 'Y' },
    ]);
    const next =
      /^<http:\/\/h\/rest\/v1\/walks\/note\/>; rel="first", <http:\/\/h([^>]*)>; rel="next"$/.exec(
        String(first.headers.link),
      )?.[1] ?? '';
    const second = await started.client.get(next);
    expect([second.json, second.headers['x-total-count'], second.headers['content-range']]).toEqual([
      [{ id: 3, text: 'z', loud: 'Z' }],
      '3',
      undefined,
    ]);
    expect(second.headers.link).toMatch(/rel="prev"$/);
  });

  test('of one position are one text, so that the same page is the same answer', async () => {
    const [one, two] = [await started.client.get(path), await started.client.get(path)];
    expect(one.text).toBe(two.text);
  });

  test('read each remaining row once while rows are inserted and deleted', async () => {
    const repository = started.dataSource.getRepository(Note);
    const note = '/rest/v1/walks/note/?ordering=text&page_size=2';
    const follow = async (
      url: string,
    ): Promise<{ texts: unknown[]; next: string | undefined; previous: string | undefined }> => {
      const { json, headers } = await started.client.get(url.replace(/^http:\/\/[^/]*/, ''));
      const link = (rel: string): string | undefined =>
        new RegExp(`<([^>]*)>; rel="${rel}"`).exec(String(headers.link))?.[1];
      return {
        texts: (json as { text: string }[]).map(({ text }) => text),
        next: link('next'),
        previous: link('prev'),
      };
    };
    const first = await follow(note);
    expect(first.texts).toEqual(['x', 'y']);
    // Before the page's end, at it and behind it.
    await repository.insert([{ text: 'a' }, { text: 'y' }, { text: 'yy' }]);
    await repository.delete({ id: 2 });
    const second = await follow(first.next ?? '');
    expect(second.texts).toEqual(['y', 'yy']);
    const third = await follow(second.next ?? '');
    expect([third.texts, third.next]).toEqual([['z'], undefined]);
    // What is new stands where it belongs, on the way back too.
    expect((await follow(third.previous ?? '')).texts).toEqual(['y', 'yy']);
    expect((await follow(second.previous ?? '')).texts).toEqual(['a', 'x']);
    // Behind everything that is left: empty, and the way back begins with the row that was last.
    await repository.delete({ text: 'z' });
    const empty = await follow(second.next ?? '');
    expect([empty.texts, empty.next]).toEqual([[], undefined]);
    expect((await follow(empty.previous ?? '')).texts).toEqual(['y', 'yy']);
    await repository.createQueryBuilder().delete().execute();
    const gone = await follow(third.previous ?? '');
    expect([gone.texts, gone.previous]).toEqual([[], undefined]);
    await repository.insert([{ text: 'z' }, { text: 'zz' }]);
    expect((await follow(gone.next ?? '')).texts).toEqual(['z', 'zz']);
  });

  describe('that are none', () => {
    test.each([
      'x',
      '0',
      '=',
      'AAAA',
      'A'.repeat(60),
      'A'.repeat(4001),
      'cD0y',
      '%20',
      '%00',
      "';DROP+TABLE+walks_book;--",
      '..%2F..',
      '%F0%9F%98%80',
      '__proto__',
    ])('are 404: %s', async (cursor) => {
      const answer = await started.client.get(`${path}?cursor=${cursor}`);
      expect([answer.status, answer.json]).toEqual(
        cursor === '%00'
          ? [400, { cursor: ['Null characters are not allowed.'] }]
          : [404, { detail: 'Invalid cursor' }],
      );
    });
  });

  test('of plain models are written by the database where it can', () => {
    expect(started.compared.askedPages).toBeGreaterThan(50);
  });
});

test('a cursor of one prefix is invalid at another', async () => {
  const started = await startApp({
    entities: [Book, Shelf, Seat, Note],
    restifyModules: ['rest/v1', 'rest/v2', ''].map((prefix) =>
      RestifyModule.forRoot(prefix, { unknownEntities: 'ignore' }),
    ),
  });
  const { client, dataSource } = started;
  const shelf = await dataSource.getRepository(Shelf).save({ name: 'a' });
  await dataSource
    .getRepository(Book)
    .save([1, 2, 3].map((id) => ({ id: String(id), title: 'a', rank: 0, amount: null, shelf })));
  const bases = ['/rest/v1', '/rest/v2', ''];
  for (const list of ['/walks/book/', `/walks/shelf/${shelf.id}/books/`])
    for (const base of bases) {
      const { next } = (await client.get(`${base}${list}?page_size=1`)).json as Page;
      const { pathname, search } = new URL(next ?? '');
      expect([pathname, (await client.get(pathname + search)).status]).toEqual([`${base}${list}`, 200]);
      for (const other of bases.filter((each) => each !== base)) {
        const { status, json } = await client.get(`${other}${list}${search}`);
        expect([base, other, status, json]).toEqual([base, other, 404, { detail: 'Invalid cursor' }]);
      }
    }
  await started.close();
});

@Restify({
  app: 'walks',
  pagination: new CursorPagination({ secret: SECRET, pageSize: 2 }),
  orderingFields: ['rank'],
})
@Entity('walks_ticket')
class Ticket {
  @PrimaryColumn()
  id: number;

  @Column()
  rank: number;
}

test('a cursor made for ties of the other direction is invalid', async () => {
  const started = await startApp({ entities: [Ticket] });
  await started.dataSource.getRepository(Ticket).insert([1, 2, 3, 4].map((id) => ({ id, rank: 5 })));
  const read = (ordering: string, cursor: string): ReturnType<StartedApp['client']['get']> =>
    started.client.get(`/rest/v1/walks/ticket/?ordering=${ordering}&cursor=${cursor}`);
  // After the row of rank 5 and id 2, in the order `-rank,id`.
  const old = await read(
    '-rank',
    'D6yacTn-X24x9s3MeK8wAxExbnwy94SJsfGfStHVTVERNfipq2YTMF2BM3B0LkrKFQWtxxkXoMi3t5J93qmMkNVFtZE-BN_HQAwDBZ7Eft_LPyAprkrosWqOHgA',
  );
  expect([old.status, old.json]).toEqual([404, { detail: 'Invalid cursor' }]);
  // The same in the order `rank,id`, which has not changed.
  const same = await read(
    'rank',
    '7mpBYmOfCw3pGM9VUregfK8CIC9-ytBhCPCm7dbNmhQMZDxDXVB1ng6xmzz6VTNRtPWZD86LWI3gWbWVook2nEC-zeZ0jtZJXs2CSuzQp2jdk7n58t4C14zK_Gc',
  );
  expect(keysOf([same.json as Page])).toEqual([[3, 4]]);
  await started.close();
});

@Restify({ app: 'walks', pagination: new CursorPagination({ secret: SECRET, pageSize: 1 }) })
@Entity('walks_essay')
class Essay {
  @PrimaryGeneratedColumn()
  id: number;

  @Column({ type: 'text' })
  text: string;
}

test('an order by texts too long for a URL is refused, and by others it is not', async () => {
  const started = await startApp({ entities: [Essay] });
  await started.dataSource
    .getRepository(Essay)
    .insert(['a', 'b', 'c'].map((letter) => ({ text: letter.repeat(5000) })));
  const answer = await started.client.get('/rest/v1/walks/essay/?ordering=text');
  const other = await walk(started, '/rest/v1/walks/essay/', 'next');
  await started.close();
  expect([answer.status, answer.json]).toEqual([
    400,
    { ordering: ['The values of this order are too long for a cursor.'] },
  ]);
  expect(keysOf(other)).toEqual([[1], [2], [3]]);
});
