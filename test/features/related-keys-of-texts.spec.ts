// @tags db
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { Restify } from 'nestjs-restify';
import {
  Column,
  Entity,
  JoinColumn,
  JoinTable,
  ManyToMany,
  ManyToOne,
  PrimaryColumn,
  PrimaryGeneratedColumn,
  Unique,
} from 'typeorm';
import type { Relation } from 'typeorm';
import { onEachDatabase } from '../support/each-database.js';
import { startApp } from '../support/start-app.js';
import type { StartedApp } from '../support/start-app.js';

@Restify('texts')
@Entity('texts_word')
class Word {
  @PrimaryColumn({ length: 20 })
  id: string;

  @ManyToMany(() => Book, (book) => book.words)
  books: Relation<Book[]>;
}

@Restify({ app: 'texts', relatedKeys: ['words'] })
@Entity('texts_book')
class Book {
  @PrimaryGeneratedColumn()
  id: number;

  @ManyToMany(() => Word, (word) => word.books)
  @JoinTable({
    name: 'texts_use',
    joinColumn: { name: 'bookId' },
    inverseJoinColumn: { name: 'wordId' },
    synchronize: false,
  })
  words: Relation<Word[]>;
}

@Restify('texts')
@Entity('texts_use')
@Unique('texts_use_pair', ['book', 'word'])
class Use {
  @PrimaryGeneratedColumn()
  id: number;

  @ManyToOne(() => Book, { nullable: false })
  @JoinColumn({ name: 'bookId' })
  book: Relation<Book>;

  @ManyToOne(() => Word, { nullable: false })
  @JoinColumn({ name: 'wordId' })
  word: Relation<Word>;

  @Column({ default: 0 })
  count: number;
}

onEachDatabase('related keys that are texts', (database) => {
  let started: StartedApp;
  beforeAll(async () => {
    started = await startApp({ entities: [Word, Book, Use], database });
    const { manager } = started.dataSource;
    await manager.save(Word, [{ id: 'a' }, { id: 'b' }]);
    await manager.save(Book, {});
    await manager.save(Use, { book: { id: 1 }, word: { id: 'a' }, count: 7 });
  });
  afterAll(() => started.close());

  // The database may take both texts for the same key, and would create the pair again, without its own columns.
  test('name a row by exactly its text', async () => {
    const path = '/rest/v1/texts/book/1/';
    const wrong = (at: number): string => `Item ${at}: Invalid pk "A" - object does not exist.`;
    const patch = async (words: unknown): Promise<unknown> =>
      (await started.client.patch(path, { words })).json;
    expect(await patch(['A'])).toEqual({ words: [wrong(0)] });
    expect(await patch(['a', 'A'])).toEqual({ words: [wrong(1)] });
    expect(await patch({ add: ['A'] })).toEqual({ words: { add: [wrong(0)] } });
    expect(await patch({ remove: ['A'] })).toMatchObject({ words: ['a'] });
    expect(await patch(['b', 'a'])).toMatchObject({ words: ['a', 'b'] });
    expect((await started.client.get(`${path}words/?word=a`)).json).toMatchObject([{ id: 1, count: 7 }]);
  });

  test('are not shown where the database cuts the list', async () => {
    if (database.name !== 'mariadb') return;
    const one = await startApp({
      entities: [Word, Book, Use],
      database,
      dataSource: { poolSize: 1 },
      undescribed: 'all',
    });
    const { client, dataSource } = one;
    const long = ['a', 'b', 'c'].map((letter) => letter.repeat(20));
    await dataSource.manager.save(
      Word,
      long.map((id) => ({ id })),
    );
    expect((await client.post('/rest/v1/texts/book/', { words: long })).status).toBe(201);
    const path = '/rest/v1/texts/book/1/';
    for (const [limit, status] of [
      [50, 500],
      [64, 500],
      [100, 200],
    ] as const) {
      await dataSource.query(`SET SESSION group_concat_max_len = ${limit}`);
      const answer = await client.get(path);
      expect([limit, answer.status]).toEqual([limit, status]);
      if (status === 200) expect(answer.json).toMatchObject({ words: long });
    }
    await one.close();
  });
});
