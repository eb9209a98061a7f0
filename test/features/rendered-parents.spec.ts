// @tags http
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { Restify } from 'nestjs-restify';
import type { RenderedRows, Renderer } from 'nestjs-restify';
import { Column, Entity, ManyToOne, OneToMany, PrimaryGeneratedColumn } from 'typeorm';
import type { Relation } from 'typeorm';
import { startApp } from '../support/start-app.js';
import type { StartedApp } from '../support/start-app.js';

/** Yields two pieces before it reads the first page. */
class XmlRenderer implements Renderer {
  readonly format = 'xml';
  readonly mediaType = 'text/x-xml';

  async *render({ pages }: RenderedRows): AsyncGenerator<string> {
    yield '<?xml version="1.0"?>\n';
    yield '<rows>\n';
    for await (const rows of pages) for (const row of rows) yield `${JSON.stringify(row)}\n`;
    yield '</rows>';
  }
}

/** Reads no rows: their fields are all that it shows. */
class FieldsRenderer implements Renderer {
  readonly format = 'fields';
  readonly mediaType = 'text/x-fields';

  async *render({ fields }: RenderedRows): AsyncGenerator<string> {
    yield await Promise.resolve(fields.join());
  }
}

@Restify('late')
@Entity('late_shelf')
class Shelf {
  @PrimaryGeneratedColumn() id: number;
  @Column() name: string;
  @OneToMany(() => Book, (book) => book.shelf) books: Relation<Book[]>;
}

@Restify({ app: 'late', renderers: [new XmlRenderer(), new FieldsRenderer()] })
@Entity('late_book')
class Book {
  @PrimaryGeneratedColumn() id: number;
  @Column() title: string;
  @ManyToOne(() => Shelf, (shelf) => shelf.books) shelf: Relation<Shelf>;
}

let started: StartedApp;
beforeAll(async () => {
  started = await startApp({ entities: [Shelf, Book], compare: false });
});
afterAll(() => started.close());

test.each(['xml', 'fields'])(
  'a list below an object that does not exist is 404 in the format "%s", whatever the renderer yields first',
  async (format) => {
    const path = `/rest/v1/late/shelf/99/books/?format=${format}`;
    const { status } = await started.client.get(path).catch((error: unknown) => ({ status: String(error) }));
    expect(status).toBe(404);
  },
);
