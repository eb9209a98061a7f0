// @tags nest
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { Restify } from 'nestjs-restify';
import {
  Column,
  DeleteDateColumn,
  Entity,
  ManyToMany,
  JoinTable,
  ManyToOne,
  OneToMany,
  PrimaryGeneratedColumn,
  Unique,
} from 'typeorm';
import type { Relation } from 'typeorm';
import { startApp } from '../support/start-app.js';
import type { StartedApp } from '../support/start-app.js';

@Restify({
  app: 'wasm',
  filterFields: { title: ['exact', 'icontains'], votes: ['gte', 'in'], 'shelf.name': ['exact'] },
  orderingFields: ['votes', 'title', 'due'],
})
@Entity('wasm_book')
@Unique(['title'])
class Book {
  @PrimaryGeneratedColumn()
  id: number;

  @Column({ length: 75 })
  title: string;

  @Column({ default: 0 })
  votes: number;

  @Column({ type: 'datetime', nullable: true })
  due: Date | null;

  @Column({ type: 'bigint', nullable: true })
  big: string | null;

  @Column({ default: false })
  lent: boolean;

  @Column({ type: 'simple-json', nullable: true })
  meta: unknown;

  @ManyToOne(() => Shelf, (shelf) => shelf.books, { nullable: false, onDelete: 'CASCADE' })
  shelf: Relation<Shelf>;

  @DeleteDateColumn({ select: false })
  gone: Date | null;
}

@Restify('wasm')
@Entity('wasm_shelf')
class Shelf {
  @PrimaryGeneratedColumn('uuid')
  id: string;

  @Column({ length: 75 })
  name: string;

  @OneToMany(() => Book, (book) => book.shelf)
  books: Relation<Book[]>;

  @ManyToMany(() => Tag)
  @JoinTable()
  tags: Relation<Tag[]>;
}

@Restify('wasm')
@Entity('wasm_tag')
class Tag {
  @PrimaryGeneratedColumn()
  id: number;
}

let started: StartedApp;
let shelf: string;
beforeAll(async () => {
  started = await startApp({
    entities: [Book, Shelf, Tag],
    dataSource: { type: 'sqljs', database: undefined, location: undefined },
  });
  const made = await started.client.post('/rest/v1/wasm/shelf/', { name: 'top' });
  ({ id: shelf } = made.json as { id: string });
});
afterAll(() => started.close());

test('values keep their form both ways', async () => {
  const made = await started.client.post('/rest/v1/wasm/book/', {
    title: 'Émile',
    due: '2026-01-02T03:04:05.678Z',
    big: '9007199254740993',
    lent: true,
    meta: { a: [1, null] },
    shelf,
  });
  const body = {
    id: 1,
    title: 'Émile',
    votes: 0,
    due: '2026-01-02T03:04:05.678Z',
    big: '9007199254740993',
    lent: true,
    meta: { a: [1, null] },
    shelf,
  };
  expect([made.status, made.json]).toEqual([201, body]);
  expect((await started.client.get('/rest/v1/wasm/book/1/')).json).toEqual(body);
  expect((await started.client.patch('/rest/v1/wasm/book/1/', { votes: 7, due: null })).json).toEqual({
    ...body,
    votes: 7,
    due: null,
  });
});

test('filters, search, ordering and relations do what they do on SQLite', async () => {
  await started.client.post('/rest/v1/wasm/book/', { title: 'Second', votes: 3, shelf });
  const titles = async (path: string): Promise<unknown> =>
    ((await started.client.get(`/rest/v1/wasm/${path}`)).json as { title: string }[]).map(
      ({ title }) => title,
    );
  expect(await titles('book/?votes__gte=4')).toEqual(['Émile']);
  expect(await titles('book/?title__icontains=SEC')).toEqual(['Second']);
  expect(await titles('book/?votes__in=3,7&ordering=votes')).toEqual(['Second', 'Émile']);
  expect(await titles('book/?shelf__name=top&ordering=-title')).toEqual(['Émile', 'Second']);
  expect(await titles(`shelf/${shelf}/books/?search=sec`)).toEqual(['Second']);
});

test('through objects, constraints and soft deletion hold', async () => {
  await started.client.post('/rest/v1/wasm/tag/', {});
  expect((await started.client.post(`/rest/v1/wasm/shelf/${shelf}/tags/`, { tag: 1 })).status).toBe(201);
  const again = await started.client.post(`/rest/v1/wasm/shelf/${shelf}/tags/`, { tag: 1 });
  expect([again.status, again.json]).toEqual([
    400,
    { non_field_errors: ['The fields shelf, tag must make a unique set.'] },
  ]);
  const double = await started.client.post('/rest/v1/wasm/book/', { title: 'Second', shelf });
  expect([double.status, double.json]).toEqual([400, { title: ['This field must be unique.'] }]);
  expect(
    (
      await started.client.post('/rest/v1/wasm/book/', {
        title: 'x',
        shelf: '00000000-0000-4000-8000-000000000000',
      })
    ).status,
  ).toBe(400);
  expect((await started.client.delete('/rest/v1/wasm/book/2/')).status).toBe(204);
  expect((await started.client.get('/rest/v1/wasm/book/2/')).status).toBe(404);
  expect(await started.dataSource.getRepository(Book).count({ withDeleted: true })).toBe(2);
});

test('writes at once wait for each other', async () => {
  const answers = await Promise.all(
    Array.from({ length: 20 }, (_, index) =>
      started.client.post('/rest/v1/wasm/book/', { title: `at once ${index % 10}`, shelf }),
    ),
  );
  expect(answers.map(({ status }) => status).sort()).toEqual([
    ...Array.from({ length: 10 }, () => 201),
    ...Array.from({ length: 10 }, () => 400),
  ]);
});

test('a full database refuses writes with 503, and is in no transaction then', async () => {
  const { client, dataSource } = started;
  const titles = async (): Promise<unknown> =>
    ((await client.get('/rest/v1/wasm/book/')).json as { title: string }[]).map(({ title }) => title);
  const [{ page_count: pages }] = await dataSource.query<[{ page_count: number }]>('PRAGMA page_count');
  const before = await titles();
  await dataSource.query(`PRAGMA max_page_count = ${pages}`);
  expect((await client.patch('/rest/v1/wasm/book/1/', { meta: 'x'.repeat(20_000) })).status).toBe(503);
  await dataSource.query('PRAGMA max_page_count = 100000');
  expect((await client.post('/rest/v1/wasm/book/', { title: 'with room', shelf })).status).toBe(201);
  expect((await client.post('/rest/v1/wasm/book/', { title: 'with room', shelf })).status).toBe(400);
  expect(await titles()).toEqual([...(before as unknown[]), 'with room']);
  await dataSource.query('BEGIN');
  await dataSource.query('ROLLBACK');
});
