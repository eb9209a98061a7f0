// @tags core
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { Restify } from 'nestjs-restify';
import { Column, Entity, JoinColumn, ManyToOne, PrimaryGeneratedColumn } from 'typeorm';
import type { Relation } from 'typeorm';
import { lintOpenApi } from '../support/lint-openapi.js';
import { startApp } from '../support/start-app.js';
import type { StartedApp } from '../support/start-app.js';
import { documentOf } from './document.js';
import type { PlainDocument } from './document.js';

@Restify('fko')
@Entity()
class Author {
  @PrimaryGeneratedColumn() id: number;
}

@Restify({ app: 'fko', strict: true, bulk: true })
@Entity()
class Book {
  @PrimaryGeneratedColumn() id: number;
  @Column() authorId: number;
  @ManyToOne(() => Author) author: Relation<Author>;
  @Column() editorId: number;
  @ManyToOne(() => Author) @JoinColumn({ name: 'editorId' }) editor: Relation<Author>;
  @Column({ nullable: true, type: 'int' }) readerId: number | null;
  @ManyToOne(() => Author) reader: Relation<Author> | null;
}

describe('a foreign key with a plain column', () => {
  let started: StartedApp;
  let document: PlainDocument;
  beforeAll(async () => {
    started = await startApp({ entities: [Author, Book] });
    document = documentOf(started.app);
  });
  afterAll(() => started.close());

  const fits = (component: string, body: unknown): boolean => {
    const ajv = new Ajv2020({ strict: false });
    addFormats.default(ajv);
    return ajv.validate({ ...document, $ref: `#/components/schemas/${component}` }, body);
  };

  test('is accepted by either name, also where unknown fields are refused', async () => {
    for (const [body, isRight] of [
      [{ author: 1, editor: 1 }, true],
      [{ authorId: 1, editor: 1 }, true],
      [{ authorId: 1, editorId: 1, readerId: null }, true],
      [{ author: 1, authorId: 1, editorId: 1, reader: 1 }, true],
      [{ author: 1 }, false],
      [{ authorId: null, editor: 1 }, false],
      [{ authorId: 'one', editor: 1 }, false],
      [{ author: 1, editor: 1, printer: 1 }, false],
    ] as const) {
      await started.client.post('/rest/v1/fko/author/', {});
      expect([body, fits('FkoBookCreate', body)]).toEqual([body, isRight]);
      expect([body, fits('FkoBookUpdate', body)]).toEqual([body, isRight]);
      const { status } = await started.client.post('/rest/v1/fko/book/', body);
      expect([body, status]).toEqual([body, isRight ? 201 : 400]);
    }
    expect(fits('FkoBookPatch', { authorId: 1 })).toBe(true);
  });

  test('is described as read-only, and as nullable where its relation is', () => {
    const { FkoBook, FkoBookCreate } = document.components.schemas as Record<string, Described>;
    expect(FkoBook?.properties).toMatchObject({
      authorId: { type: 'integer', readOnly: true },
      readerId: { type: ['integer', 'null'], readOnly: true },
      reader: { type: ['integer', 'null'] },
    });
    expect(FkoBook?.properties.author).not.toHaveProperty('readOnly');
    expect(FkoBookCreate?.properties).toMatchObject({
      author: { type: expect.anything() },
      authorId: { readOnly: true, description: 'May be sent in the place of `author`.' },
    });
  });

  test('passes the linter', async () => {
    expect(await lintOpenApi(document)).toEqual([]);
  });
});

interface Described {
  readonly properties: Readonly<Record<string, object>>;
}
