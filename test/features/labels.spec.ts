// @tags db http
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import {
  allow,
  CsvRenderer,
  CursorPagination,
  deny,
  ModelSerializer,
  PageNumberPagination,
  Restify,
  where,
} from 'nestjs-restify';
import type {
  AccessContext,
  Denial,
  Grant,
  Permission,
  RepresentContext,
  Representation,
  Row,
} from 'nestjs-restify';
import { Column, Entity, JoinColumn, ManyToOne, OneToMany, OneToOne, PrimaryColumn } from 'typeorm';
import type { Relation } from 'typeorm';
import { StatementLog } from '../faults/statement-log.js';
import { onEachDatabase } from '../support/each-database.js';
import { startApp } from '../support/start-app.js';
import type { StartedApp } from '../support/start-app.js';

function nameOf({ actor }: AccessContext): string {
  return (actor as { name: string } | null)?.name ?? '';
}

/** Ann reads everything, Bob no secret rows, Carl no last names, and Eve no authors at all. */
class Authors implements Permission {
  decide(context: AccessContext): Grant | Denial {
    switch (nameOf(context)) {
      case 'eve':
        return deny();
      case 'bob':
        return allow({ rows: where('secret', false) });
      case 'carl':
        return allow({ readable: ['id', 'first'] });
      default:
        return allow();
    }
  }
}

class LoudSerializer extends ModelSerializer {
  override represent(row: Row, context: RepresentContext): Representation {
    return { loud: true, ...super.represent(row, context) };
  }
}

@Restify({ app: 'lbl', label: '{first} {last}', permissions: [Authors] })
@Entity('lbl_author')
class Author {
  @PrimaryColumn() id: number;
  @Column({ type: String, nullable: true }) first: string | null;
  @Column({ type: String, nullable: true }) last: string | null;
  @Column({ default: false }) secret: boolean;
  @OneToMany(() => Book, (book) => book.author) books: Relation<Book[]>;
}

@Restify({ app: 'lbl', label: '#{number} of {day}: {price}' })
@Entity('lbl_shelf')
class Shelf {
  @PrimaryColumn() row: string;
  @PrimaryColumn() place: number;
  @Column({ type: 'bigint' }) number: string;
  @Column({ type: 'date' }) day: string;
  @Column({ type: 'decimal', precision: 8, scale: 2 }) price: string;
}

@Restify({
  app: 'lbl',
  shape: true,
  expandable: ['author'],
  conditional: true,
  strict: true,
  renderers: [new CsvRenderer()],
})
@Entity('lbl_book')
class Book {
  @PrimaryColumn() id: number;
  @Column() title: string;
  @ManyToOne(() => Author, (author) => author.books, { nullable: true }) author: Relation<Author> | null;
  @ManyToOne(() => Shelf, { nullable: true }) shelf: Relation<Shelf> | null;
  @OneToOne(() => Cover, (cover) => cover.book) cover: Relation<Cover>;
  @ManyToOne(() => Plain, { nullable: true }) plain: Relation<Plain> | null;
}

@Restify({
  app: 'lbl',
  label: 'colour',
  pagination: new PageNumberPagination({ pageSize: 2 }),
  serializer: LoudSerializer,
})
@Entity('lbl_cover')
class Cover {
  @PrimaryColumn() id: number;
  @Column() colour: string;
  @OneToOne(() => Book, (book) => book.cover) @JoinColumn() book: Relation<Book>;
  @ManyToOne(() => Author) artist: Relation<Author>;
}

/** Has no label. */
@Restify({ app: 'lbl' })
@Entity('lbl_plain')
class Plain {
  @PrimaryColumn() id: number;
}

/** Uses the names for itself. */
@Restify({ app: 'lbl' })
@Entity('lbl_issue')
class Issue {
  @PrimaryColumn() id: number;
  @Column() labels: string;
  @ManyToOne(() => Author) author: Relation<Author>;
}

@Restify({
  app: 'lbl',
  pagination: new CursorPagination({ secret: 'x'.repeat(40), pageSize: 2 }),
  parameters: { with: 'include' },
})
@Entity('lbl_visit')
class Visit {
  @PrimaryColumn() id: number;
  @ManyToOne(() => Author) author: Relation<Author>;
}

const ENTITIES = [Author, Shelf, Book, Cover, Plain, Issue, Visit];

const BOOKS = '/rest/v1/lbl/book/';

onEachDatabase('labels', (database) => {
  let started: StartedApp;
  beforeAll(async () => {
    started = await startApp({
      database,
      entities: ENTITIES,
      configure: (app) => {
        app.use(
          (request: { user?: object; headers: Record<string, string> }, _: unknown, next: () => void) => {
            const name = request.headers['x-user'];
            if (name !== undefined) request.user = { name };
            next();
          },
        );
      },
    });
    const { manager } = started.dataSource;
    await manager.save(Author, [
      { id: 1, first: 'Ann', last: 'O"Hara', secret: false },
      { id: 2, first: 'Bea', last: null, secret: true },
      { id: 3, first: null, last: null, secret: false },
    ]);
    await manager.save(Shelf, [
      { row: 'a,b', place: 7, number: '9007199254740993', day: '2026-02-03', price: '12.50' },
    ]);
    await manager.save(Plain, [{ id: 1 }]);
    await manager.save(Book, [
      { id: 1, title: 'One', author: { id: 1 }, shelf: { row: 'a,b', place: 7 }, plain: { id: 1 } },
      { id: 2, title: 'Two', author: { id: 2 } },
      { id: 3, title: 'Three', author: { id: 3 } },
      { id: 4, title: 'Four' },
    ]);
    await manager.save(Cover, [
      { id: 1, colour: 'red', book: { id: 1 }, artist: { id: 1 } },
      { id: 2, colour: 'blue', book: { id: 2 }, artist: { id: 2 } },
      { id: 3, colour: 'green', book: { id: 3 }, artist: { id: 1 } },
    ]);
    await manager.save(Issue, [{ id: 1, labels: 'mine', author: { id: 1 } }]);
    await manager.save(
      Visit,
      [1, 2, 3].map((id) => ({ id, author: { id } })),
    );
  });
  afterAll(() => started.close());

  const read = async (path: string, user = 'ann'): Promise<unknown> => {
    const { status, json } = await started.client.get(path, { headers: { 'x-user': user } });
    expect(status).toBe(200);
    return json;
  };
  const labelsOf = async (path: string, user?: string): Promise<readonly unknown[]> =>
    ((await read(path, user)) as readonly { labels: unknown }[]).map(({ labels }) => labels);

  test('each object of a list has the labels of the objects that it refers to', async () => {
    expect(await labelsOf(`${BOOKS}?with=labels`)).toEqual([
      {
        author: 'Ann O"Hara',
        shelf: '#9007199254740993 of 2026-02-03: 12.50',
        cover: 'red',
      },
      { author: 'Bea', cover: 'blue' },
      { cover: 'green' },
      {},
    ]);
  });

  test('labels come behind the fields, which stay as they are without the parameter', async () => {
    const plain = (await read(BOOKS)) as readonly object[];
    const labelled = (await read(`${BOOKS}?with=labels`)) as readonly { labels?: unknown }[];
    expect(plain.some((each) => 'labels' in each)).toBe(false);
    expect(labelled.map(({ labels, ...others }) => (labels === undefined ? {} : others))).toEqual(plain);
    expect(await read(`${BOOKS}?with=`)).toEqual(plain);
  });

  test('a single object has labels, and no entity tag', async () => {
    const { json, headers } = await started.client.get(`${BOOKS}2/?with=labels`);
    expect(json).toMatchObject({ id: 2, labels: { author: 'Bea', cover: 'blue' } });
    expect(headers.etag).toBeUndefined();
  });

  test('an object that does not exist is 404 before a wrong value is 400', async () => {
    expect((await started.client.get(`${BOOKS}99/?with=labels`)).status).toBe(404);
    expect((await started.client.get(`${BOOKS}99/?with=others`)).status).toBe(404);
    const { status, json } = await started.client.get(`${BOOKS}?with=others`);
    expect([status, json]).toEqual([400, { with: ['"others" is not a valid choice.'] }]);
  });

  test('rows that the caller may not see have no label', async () => {
    expect(await labelsOf(`${BOOKS}?with=labels&fields=author`, 'bob')).toEqual([
      { author: 'Ann O"Hara' },
      {},
      {},
      {},
    ]);
  });

  test('a caller who may not read a field of the label gets the key', async () => {
    expect(await labelsOf(`${BOOKS}?with=labels&fields=author`, 'carl')).toEqual([
      { author: '1' },
      { author: '2' },
      { author: '3' },
      {},
    ]);
  });

  test('a caller who may not read the related model gets no label of it', async () => {
    expect(await labelsOf(`${BOOKS}?with=labels&fields=author,cover`, 'eve')).toEqual([
      { cover: 'red' },
      { cover: 'blue' },
      { cover: 'green' },
      {},
    ]);
  });

  test('labels are read in the statement of the rows', async () => {
    const log = new StatementLog();
    const single = await startApp({
      database,
      entities: ENTITIES,
      dataSource: { logging: true, logger: log },
      compare: false,
    });
    try {
      await single.dataSource.manager.save(Author, { id: 1, first: 'Ann', last: null, secret: false });
      await single.dataSource.manager.save(Book, { id: 1, title: 'One', author: { id: 1 } });
      log.clear();
      const { json } = await single.client.get(`${BOOKS}?with=labels&fields=id`);
      expect(json).toEqual([{ id: 1, labels: {} }]);
      expect(log.statements.length).toBe(1);
      log.clear();
      expect((await single.client.get(`${BOOKS}1/?with=labels&fields=author,shelf`)).json).toMatchObject({
        labels: { author: 'Ann' },
      });
      expect(log.statements.length).toBe(1);
    } finally {
      await single.close();
    }
  });

  test('labels follow the selected fields, and expanded objects keep theirs', async () => {
    expect(await read(`${BOOKS}1/?with=labels&fields=title`)).toEqual({ title: 'One', labels: {} });
    expect(await read(`${BOOKS}1/?with=labels&fields=id,author.first,author.id&expand=author`)).toEqual({
      id: 1,
      author: { id: 1, first: 'Ann' },
      labels: { author: 'Ann O"Hara' },
    });
  });

  test('filters, search and order work beside labels', async () => {
    expect(await labelsOf(`${BOOKS}?with=labels&fields=author&author=2`)).toEqual([{ author: 'Bea' }]);
    expect(await labelsOf(`${BOOKS}?with=labels&fields=author&ordering=-id&search=o`)).toEqual([
      {},
      { author: 'Bea' },
      { author: 'Ann O"Hara' },
    ]);
  });

  test('pages have labels, also of objects that the application serializes', async () => {
    expect(await read('/rest/v1/lbl/cover/?with=labels&page=2', 'bob')).toMatchObject({
      count: 3,
      results: [{ loud: true, id: 3, artist: 1, labels: { artist: 'Ann O"Hara' } }],
    });
    expect(await read('/rest/v1/lbl/cover/?with=labels', 'bob')).toMatchObject({
      results: [{ labels: { artist: 'Ann O"Hara' } }, { labels: {} }],
    });
  });

  test('the parameter can be renamed, and links of pages keep it', async () => {
    const first = (await read('/rest/v1/lbl/visit/?include=labels')) as {
      next: string;
      results: readonly unknown[];
    };
    expect(first.results).toEqual([
      { id: 1, author: 1, labels: { author: 'Ann O"Hara' } },
      { id: 2, author: 2, labels: { author: 'Bea' } },
    ]);
    const { pathname, search } = new URL(first.next);
    expect(await read(pathname + search)).toMatchObject({ results: [{ id: 3, labels: {} }] });
  });

  test('nested lists have labels', async () => {
    expect(await labelsOf('/rest/v1/lbl/author/1/books/?with=labels&fields=shelf')).toEqual([
      { shelf: '#9007199254740993 of 2026-02-03: 12.50' },
    ]);
  });

  test('other formats have them as one more member', async () => {
    const { text } = await started.client.get(`${BOOKS}?with=labels&format=csv&fields=id,author`);
    expect(text.split('\r\n').slice(0, 2)).toEqual([
      'id,author,labels',
      '1,1,"{""author"":""Ann O\\""Hara""}"',
    ]);
  });

  test('a model that uses the names for itself has no such parameter', async () => {
    expect(await read('/rest/v1/lbl/issue/?with=labels')).toEqual([{ id: 1, labels: 'mine', author: 1 }]);
  });

  describe('other operations', () => {
    test('a strict model rejects the parameter where nothing reads it', async () => {
      const { status, json } = await started.client.patch(`${BOOKS}1/?with=labels`, { title: 'One' });
      expect([status, json]).toEqual([400, { with: ['Unknown parameter.'] }]);
    });
  });
});
