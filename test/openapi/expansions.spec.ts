// @tags core
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { Injectable } from '@nestjs/common';
import { ModelSerializer, Restify } from 'nestjs-restify';
import type { Representation, RepresentContext, Row } from 'nestjs-restify';
import { Column, Entity, JoinTable, ManyToMany, ManyToOne, OneToMany, PrimaryGeneratedColumn } from 'typeorm';
import type { Relation } from 'typeorm';
import { lintOpenApi } from '../support/lint-openapi.js';
import { startApp } from '../support/start-app.js';
import type { StartedApp } from '../support/start-app.js';
import { documentOf } from './document.js';
import type { PlainDocument } from './document.js';

@Injectable()
class Free extends ModelSerializer {
  override represent(row: Row, context: RepresentContext): Representation {
    return { ...super.represent(row, context), more: true };
  }
}

@Restify({ app: 'ex', expandable: ['pages.book', 'writer', 'tags'] })
@Entity()
class Book {
  @PrimaryGeneratedColumn() id: number;
  @OneToMany(() => Page, (page) => page.book) pages: Relation<Page[]>;
  @ManyToOne(() => Writer, { nullable: true }) writer: Relation<Writer> | null;
  @ManyToMany(() => Tag) @JoinTable() tags: Relation<Tag[]>;
}

@Restify({ app: 'ex' })
@Entity()
class Page {
  @PrimaryGeneratedColumn() id: number;
  @Column() text: string;
  @ManyToOne(() => Book, (book) => book.pages, { nullable: false }) book: Relation<Book>;
}

@Restify({ app: 'ex', serializer: Free })
@Entity()
class Writer {
  @PrimaryGeneratedColumn() id: number;
}

@Restify({ app: 'ex' })
@Entity()
class Tag {
  @PrimaryGeneratedColumn() id: number;
}

describe('what can be expanded', () => {
  let started: StartedApp;
  let document: PlainDocument;
  beforeAll(async () => {
    started = await startApp({ entities: [Book, Page, Writer, Tag] });
    document = documentOf(started.app);
  });
  afterAll(() => started.close());

  test('is described as what stands in its place, as deep as it goes', () => {
    const { properties, required } = document.components.schemas?.ExBook as {
      readonly properties: Readonly<Record<string, { readonly anyOf: readonly unknown[] }>>;
      readonly required: readonly string[];
    };
    expect(required).toEqual(['id', 'pages', 'writer', 'tags']);
    const [link, pages] = properties.pages?.anyOf ?? [];
    expect(link).toMatchObject({ type: 'string' });
    expect(pages).toMatchObject({
      type: 'array',
      items: {
        type: 'object',
        properties: {
          id: { type: 'integer' },
          text: { type: 'string' },
          book: {
            anyOf: [
              { type: 'integer' },
              { type: 'object', properties: { id: { type: 'integer' }, pages: { type: 'string' } } },
            ],
          },
        },
      },
    });
    expect(pages).not.toHaveProperty('items.required');
    // Behind a many-to-many stand its through objects; what the application writes itself is any object.
    expect(properties.tags?.anyOf[1]).toMatchObject({
      type: 'array',
      items: { properties: { id: { type: 'integer' }, book: { type: 'integer' }, tag: { type: 'integer' } } },
    });
    expect(properties.writer?.anyOf[1]).toEqual({ type: 'object' });
    const page = (
      document.components.schemas?.ExPage as { readonly properties: Readonly<Record<string, object>> }
    ).properties.book;
    expect(page).not.toHaveProperty('anyOf');
  });

  test('is answered so', async () => {
    const writer = ((await started.client.post('/rest/v1/ex/writer/', {})).json as { id: number }).id;
    await started.client.post('/rest/v1/ex/book/', { writer });
    await started.client.post('/rest/v1/ex/tag/', {});
    await started.client.post('/rest/v1/ex/book/1/tags/', { tag: 1 });
    await started.client.post('/rest/v1/ex/page/', { text: 'a', book: 1 });
    expect(
      (await started.client.get('/rest/v1/ex/book/1/?expand=pages.book,writer,tags')).json,
    ).toMatchObject({ pages: [{ text: 'a', book: { id: 1 } }], writer: { more: true }, tags: [{ tag: 1 }] });
  });

  test("is valid by Redocly's recommended rules", async () => {
    expect(await lintOpenApi({ ...document, security: [] })).toEqual([]);
  });
});
