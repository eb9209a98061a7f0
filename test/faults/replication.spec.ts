import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { Action, Restify, RestifyController } from 'nestjs-restify';
import { Column, DataSource, Entity, ManyToOne, OneToMany, ManyToMany, JoinTable, PrimaryGeneratedColumn } from 'typeorm';
import type { DataSourceOptions, Relation } from 'typeorm';
import { withoutComparing } from '../support/compare-paths.js';
import { breakableLine } from '../support/breakable-line.js';
import type { BreakableLine } from '../support/breakable-line.js';
import type { TestDatabase } from '../support/databases.js';
import { onEachServer } from '../support/each-database.js';
import { startApp } from '../support/start-app.js';
import type { StartedApp } from '../support/start-app.js';
import { AWAY } from './domain.js';
import { until } from './faulty-server.js';

withoutComparing();

@Restify({ app: 'copies', searchFields: ['title'] })
@Entity('copies_book')
class Book {
  @PrimaryGeneratedColumn()
  id: number;

  @Column({ unique: true })
  title: string;

  /** Which server it was read from. */
  @Column({ default: 'primary' })
  server: string;

  @ManyToOne(() => Author, (author) => author.books, { nullable: true, onDelete: 'RESTRICT' })
  author: Relation<Author> | null;

  @ManyToMany(() => Label)
  @JoinTable({ name: 'copies_book_labels' })
  labels: Relation<Label[]>;
}

@Restify({ app: 'copies', computed: { told: (author: object) => (author as Author).server } })
@Entity('copies_author')
class Author {
  @PrimaryGeneratedColumn()
  id: number;

  @Column({ default: 'primary' })
  server: string;

  @OneToMany(() => Book, (book) => book.author)
  books: Relation<Book[]>;
}

@Restify('copies')
@Entity('copies_label')
class Label {
  @PrimaryGeneratedColumn()
  id: number;
}

@RestifyController(Book)
class BookController {
  @Action({ detail: true, path: 'look' })
  look(): object {
    return { looked: true };
  }
}

const ENTITIES = [Book, Author, Label];
const BOOKS = '/rest/v1/copies/book/';
const AUTHORS = '/rest/v1/copies/author/';

/** An application whose data source writes to one database and reads from another, which nothing copies to. */
class Replicated {
  readonly primaryLine: BreakableLine;
  readonly replicaLine: BreakableLine;
  primary: DataSource;
  replica: DataSource;
  started: StartedApp;

  /** `more` is added to the options of replication. */
  constructor(
    private readonly database: TestDatabase,
    private readonly more: object = { restoreNodeTimeout: 100 },
  ) {
    this.primaryLine = breakableLine(database);
    this.replicaLine = breakableLine(database);
  }

  async start(): Promise<void> {
    let dropReplica = (): Promise<void> => Promise.resolve();
    const open = async (): ReturnType<TestDatabase['open']> => {
      const [master, slave] = [await this.primaryLine.database.open(), await this.replicaLine.database.open()];
      dropReplica = () => slave.drop();
      [this.primary, this.replica] = [await this.observe(this.primaryLine), await this.observe(this.replicaLine)];
      return { options: replicated(master.options, slave.options, this.more), drop: async () => { await master.drop(); } };
    };
    this.started = await startApp({
      entities: ENTITIES,
      database: { ...this.database, open },
      controllers: [BookController],
      dataSource: { synchronize: false },
      nest: { logger: { log: () => undefined, error: () => undefined, warn: (text: string) => this.warnings.push(text) } },
      restify: { acquireTimeout: 3000 },
    });
    this.dropReplica = () => dropReplica();
  }

  readonly warnings: string[] = [];
  private dropReplica = (): Promise<void> => Promise.resolve();

  private observe(line: BreakableLine): Promise<DataSource> {
    return new DataSource({ ...line.direct(), entities: ENTITIES, synchronize: true }).initialize();
  }

  /** With the key that it says, which TypeORM would leave to the sequence. */
  async put(server: 'primary' | 'replica', table: string, values: Readonly<Record<string, string | number>>): Promise<void> {
    const quote = (name: string): string => this[server].driver.escape(name);
    const literals = Object.values(values).map((value) => (typeof value === 'number' ? String(value) : `'${value}'`));
    await this[server].query(`INSERT INTO ${quote(table)} (${Object.keys(values).map(quote).join(', ')}) VALUES (${literals.join(', ')})`);
  }

  async clear(): Promise<void> {
    for (const server of [this.primary, this.replica]) {
      for (const table of ['copies_book_labels', 'copies_book', 'copies_author', 'copies_label']) await server.query(`DELETE FROM ${table}`);
    }
  }

  async stop(): Promise<void> {
    await this.primary.destroy();
    await this.replica.destroy();
    await this.started.close();
    await this.dropReplica();
  }
}

/** TypeORM's options for both. A schema of PostgreSQL stands in each URL, because it is another one on each. */
function replicated(master: DataSourceOptions, slave: DataSourceOptions, more: object): DataSourceOptions {
  if (master.type !== 'postgres') {
    const { url, ...common } = master as { url: string } & DataSourceOptions;
    return { ...common, replication: { master: { url }, slaves: [{ url: (slave as { url: string }).url }], ...more } } as DataSourceOptions;
  }
  const located = (options: DataSourceOptions): { url: string } => {
    const { url, schema } = options as { url: string; schema: string };
    const place = new URL(url);
    place.searchParams.set('options', `-c search_path=${schema},public`);
    return { url: place.href };
  };
  return { type: 'postgres', installExtensions: false, uuidExtension: 'pgcrypto', extra: { max: 4 }, replication: { master: located(master), slaves: [located(slave)] } };
}

onEachServer('replication', (database) => {
  const copies = new Replicated(database);
  beforeAll(() => copies.start());
  beforeEach(() => copies.clear());
  afterAll(() => copies.stop());

  const get = async (path: string): Promise<readonly [number, unknown]> => {
    const { status, json } = await copies.started.client.get(path);
    return [status, json];
  };
  const book = (id: number, title: string, server: string, author: number | null = null): object => ({ id, title, server, author, labels: `${BOOKS}${id}/labels/` });

  test('reads lists, objects, searches, nested lists and entities of a replica', async () => {
    await copies.put('primary', 'copies_author', { id: 1, server: 'primary' });
    await copies.put('replica', 'copies_author', { id: 1, server: 'replica' });
    await copies.put('primary', 'copies_book', { id: 1, title: 'a', server: 'primary', authorId: 1 });
    await copies.put('replica', 'copies_book', { id: 1, title: 'a', server: 'replica', authorId: 1 });
    const seen = book(1, 'a', 'replica', 1);
    expect(await get(BOOKS)).toEqual([200, [seen]]);
    expect(await get(`${BOOKS}1/`)).toEqual([200, seen]);
    expect(await get(`${BOOKS}?search=A&title=a&author=1`)).toEqual([200, [seen]]);
    expect(await get(`${AUTHORS}1/books/`)).toEqual([200, [seen]]);
    const author = { id: 1, server: 'replica', books: `${AUTHORS}1/books/`, told: 'replica' };
    expect(await get(`${AUTHORS}1/`)).toEqual([200, author]);
    expect(await get(AUTHORS)).toEqual([200, [author]]);
  });

  test('writes to the primary, and answers with what it has written', async () => {
    const { client } = copies.started;
    const made = await client.post(BOOKS, { title: 'new' });
    const { id } = made.json as { id: number };
    expect([made.status, made.json]).toEqual([201, book(id, 'new', 'primary')]);
    expect(await get(`${BOOKS}${id}/`)).toEqual([404, { detail: 'Not found.' }]);
    const changed = await client.patch(`${BOOKS}${id}/`, { title: 'newer' });
    expect([changed.status, changed.json]).toEqual([200, book(id, 'newer', 'primary')]);
    const put = await client.put(`${BOOKS}${id}/`, { title: 'newest' });
    expect([put.status, put.json]).toEqual([200, book(id, 'newest', 'primary')]);
    expect(await copies.primary.getRepository(Book).find()).toEqual([{ id, title: 'newest', server: 'primary' }]);
    expect((await client.delete(`${BOOKS}${id}/`)).status).toBe(204);
    expect(await copies.primary.getRepository(Book).count()).toBe(0);
    expect(await copies.replica.getRepository(Book).count()).toBe(0);
  });

  test('finds what the client has just written: keys in a body, parents, objects behind a wrong body, what restricts a deletion', async () => {
    const { client } = copies.started;
    const author = (await client.post(AUTHORS, {})).json as { id: number; told: string };
    expect(author.told).toBe('primary');
    const label = (await client.post('/rest/v1/copies/label/', {})).json as { id: number };
    const made = await client.post(BOOKS, { title: 't', author: author.id });
    expect([made.status, (made.json as { author: number }).author]).toEqual([201, author.id]);
    const { id } = made.json as { id: number };
    expect((await client.patch(`${BOOKS}${id}/`, { author: author.id })).status).toBe(200);
    const through = `${BOOKS}${id}/labels/`;
    const pair = await client.post(through, { label: label.id });
    expect([pair.status, pair.json]).toEqual([201, { id: label.id, book: id, label: label.id }]);
    expect((await client.patch(`${through}${label.id}/`, { label: label.id })).status).toBe(200);
    expect((await client.delete(`${through}${label.id}/`)).status).toBe(204);
    const wrong = await client.patch(`${BOOKS}${id}/`, undefined, { raw: '{', headers: { 'content-type': 'application/json' } });
    expect(wrong.status).toBe(400);
    const restricted = await client.delete(`${AUTHORS}${author.id}/`);
    expect([restricted.status, restricted.json]).toEqual([409, { detail: 'This object cannot be deleted: objects of "copies.book" still refer to it.' }]);
    const twice = await client.post(BOOKS, { title: 't' });
    expect([twice.status, twice.json]).toEqual([400, { title: ['This field must be unique.'] }]);
  });

  test('does not take rows of a replica for rows of the primary when it writes', async () => {
    await copies.put('replica', 'copies_author', { id: 5, server: 'replica' });
    await copies.put('replica', 'copies_book', { id: 7, title: 'gone', server: 'replica' });
    const { client } = copies.started;
    expect((await client.post(BOOKS, { title: 'x', author: 5 })).json).toEqual({ author: ['Invalid pk "5" - object does not exist.'] });
    expect((await client.patch(`${BOOKS}7/`, { title: 'y' })).status).toBe(404);
    expect((await client.delete(`${BOOKS}7/`)).status).toBe(404);
    expect((await client.post(`${BOOKS}7/labels/`, { label: 1 })).status).toBe(404);
  });

  test('looks for the object of an action where the method says: GET at a replica', async () => {
    await copies.put('replica', 'copies_book', { id: 7, title: 'there', server: 'replica' });
    expect(await get(`${BOOKS}7/look/`)).toEqual([200, { looked: true }]);
  });

  test('goes on with the half that is there, and recovers by itself', async () => {
    await copies.put('replica', 'copies_book', { id: 1, title: 'a', server: 'replica' });
    const { client } = copies.started;
    await copies.primaryLine.cut();
    for (let round = 0; round < 8; round += 1) {
      const refused = await client.post(BOOKS, { title: `lost${round}` });
      expect([refused.status, refused.json]).toEqual([503, AWAY]);
      expect(await get(`${BOOKS}1/`)).toEqual([200, book(1, 'a', 'replica')]);
    }
    await copies.primaryLine.mend();
    await until(async () => (await client.post(BOOKS, { title: `back${Math.random()}` })).status === 201);
    await copies.replicaLine.cut();
    for (let round = 0; round < 8; round += 1) {
      expect(await get(`${BOOKS}1/`)).toEqual([503, AWAY]);
      expect((await client.post(BOOKS, { title: `kept${round}` })).status).toBe(201);
    }
    await copies.replicaLine.mend();
    await until(async () => (await get(`${BOOKS}1/`))[0] === 200);
    expect(copies.warnings.filter((text) => text.includes('replication'))).toEqual([]);
  });

  test('that would not recover by itself is warned of at start', async () => {
    const bare = new Replicated(database, {});
    await bare.start();
    try {
      const warned = bare.warnings.filter((text) => text.includes('without `restoreNodeTimeout`'));
      expect(warned).toHaveLength(database.name === 'mariadb' ? 1 : 0);
      const { client } = bare.started;
      const post = async (): Promise<number> => (await client.post(BOOKS, { title: `t${Math.random()}` })).status;
      await bare.primaryLine.cut();
      expect(await post()).toBe(503);
      await bare.primaryLine.mend();
      // That is so: a warning that is not true any more should go.
      if (database.name === 'mariadb') for (let round = 0; round < 5; round += 1) expect(await post()).toBe(503);
      else await until(async () => (await post()) === 201);
    } finally {
      await bare.stop();
    }
  });
});
