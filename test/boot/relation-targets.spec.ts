// @tags db nest
import { afterAll, describe, expect, test } from '@jest/globals';
import { TypeOrmModule } from '@nestjs/typeorm';
import { AllowAny, DeclarationError, restify, RestifyModule } from 'nestjs-restify';
import {
  Column,
  Entity,
  EntitySchema,
  JoinTable,
  ManyToMany,
  ManyToOne,
  OneToMany,
  PrimaryGeneratedColumn,
} from 'typeorm';
import { onEachDatabase } from '../support/each-database.js';
import { startApp } from '../support/start-app.js';
import type { StartedApp } from '../support/start-app.js';
import { linesOf } from './refused-start.js';
import { MEMORY, startModules } from './start-modules.js';

@Entity('rt_users')
class User {
  @PrimaryGeneratedColumn() id: number;
  @Column() name: string;
  @OneToMany('rt_articles', 'author') articles: Article[];
}

@Entity({ name: 'rt_articles' })
class Article {
  @PrimaryGeneratedColumn() id: number;
  @ManyToOne('rt_users', 'articles') author: User;
  @ManyToMany('rt_users') @JoinTable() readers: User[];
}

const TopicSchema = new EntitySchema<{ id: number; parent: object | null }>({
  name: 'Topic',
  tableName: 'rt_topics',
  columns: { id: { type: Number, primary: true, generated: true } },
  relations: { parent: { type: 'many-to-one', target: 'rt_topics', nullable: true } },
});

onEachDatabase('a relation that names its target by the table', (database) => {
  let app: StartedApp | undefined;
  afterAll(() => app?.close());

  test('is served as one that names the class', async () => {
    for (const each of [User, Article, TopicSchema]) restify(each, 'rt');
    app = await startApp({
      entities: [User, Article, TopicSchema],
      database,
      restify: { permissions: [AllowAny] },
    });
    const { client } = app;
    await client.post('/rest/v1/rt/user/', { name: 'Ada' });
    await client.post('/rest/v1/rt/topic/', { parent: null });
    expect((await client.post('/rest/v1/rt/topic/', { parent: 1 })).json).toEqual({ id: 2, parent: 1 });
    const made = await client.post('/rest/v1/rt/article/', { author: 1 });
    expect([made.status, made.json]).toEqual([
      201,
      { id: 1, author: 1, readers: '/rest/v1/rt/article/1/readers/' },
    ]);
    expect((await client.get('/rest/v1/rt/user/1/articles/')).json).toEqual([made.json]);
    expect((await client.post('/rest/v1/rt/article/', { author: 7 })).status).toBe(400);
  });
});

describe('a relation whose target is no entity', () => {
  @Entity('rt_author')
  class Author {
    @PrimaryGeneratedColumn() id: number;
  }

  @Entity('rt_book')
  class Book {
    @PrimaryGeneratedColumn() id: number;
    @ManyToOne('rt_auther') slip: Author;
    @ManyToOne('Autor') misspelt: Author;
    @ManyToOne(() => 'publishing_house' as never) foreign: Author;
    @ManyToOne(Author as never) direct: Author;
    @ManyToOne('Shelf') schema: object;
    @ManyToOne({ name: 'Author' } as never) named: Author;
  }

  const Shelf = new EntitySchema<{ id: number; books: object }>({
    name: 'Shelf',
    tableName: 'rt_shelf',
    columns: { id: { type: Number, primary: true, generated: true } },
    relations: { books: { type: 'many-to-one', target: 'rt_shel' } },
  });

  // The retries of the connection log their errors, which must not be those of the next file of tests.
  afterAll(() => new Promise((resolve) => setTimeout(resolve, 300)));

  test('is reported with its repair, before the data source connects', async () => {
    for (const each of [Author, Book, Shelf]) restify(each, 'rt');
    const error: unknown = await startModules({
      imports: [
        TypeOrmModule.forRoot({
          ...MEMORY,
          entities: [Author, Book, Shelf],
          retryAttempts: 2,
          retryDelay: 50,
        }),
        RestifyModule.forRoot('rest/v1', { permissions: [AllowAny] }),
      ],
    }).catch((reason: unknown) => reason);
    if (!(error instanceof DeclarationError)) throw error as Error;
    const what = 'which is the name of no entity of the data source, nor of its table';
    const clear = 'The clearest is a function that returns the class: () => Author.';
    expect(linesOf(error)).toEqual([
      `Book.slip: it leads to "rt_auther", ${what}. Did you mean "rt_author"? ${clear}`,
      `Book.misspelt: it leads to "Autor", ${what}. Did you mean "Author"? ${clear}`,
      `Book.foreign: it leads to "publishing_house", ${what}. Known here: "Author", "Book", "rt_author", "rt_book". ${clear}`,
      'Book.direct: its target is Author, in place of a function that returns the class. Write () => Author.',
      `Book.schema: it leads to "Shelf", ${what}. Known here: "Author", "Book", "rt_author", "rt_book". ${clear}`,
      `Shelf.books: it leads to "rt_shel", ${what}. Did you mean "rt_shelf"? ${clear}`,
    ]);
  });
});
