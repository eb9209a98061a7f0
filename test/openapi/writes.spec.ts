// @tags core
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { Restify } from 'nestjs-restify';
import {
  Column,
  Entity,
  PrimaryColumn,
  PrimaryGeneratedColumn,
  UpdateDateColumn,
  VersionColumn,
} from 'typeorm';
import { lintOpenApi } from '../support/lint-openapi.js';
import { startApp } from '../support/start-app.js';
import type { StartedApp } from '../support/start-app.js';
import { documentOf, parametersOf } from './document.js';
import type { PlainDocument } from './document.js';

@Restify({ app: 'wr', bulk: { upsert: ['code'], max: 7 }, filterFields: { code: ['exact', 'in'] } })
@Entity()
class Many {
  @PrimaryGeneratedColumn() id: number;
  @Column({ length: 10, unique: true }) code: string;
  @Column({ nullable: true, type: 'int' }) votes: number | null;
}

@Restify({ app: 'wr', bulk: true })
@Entity()
class Word {
  @PrimaryColumn({ length: 10 }) text: string;
}

@Restify({ app: 'wr', bulk: { operations: ['partialUpdate'] }, strict: true })
@Entity()
class Cell {
  @PrimaryColumn({ type: 'int' }) row: number;
  @PrimaryColumn({ type: 'int' }) col: number;
  @Column({ length: 10 }) value: string;
}

@Restify({ app: 'wr', mergePatch: true, conditional: { require: true }, cacheControl: 'private, max-age=5' })
@Entity()
class Stated {
  @PrimaryGeneratedColumn() id: number;
  @Column({ length: 10 }) text: string;
  @UpdateDateColumn() changed: Date;
  @VersionColumn() version: number;
}

describe('writes', () => {
  let started: StartedApp;
  let document: PlainDocument;
  beforeAll(async () => {
    started = await startApp({ entities: [Many, Word, Cell, Stated] });
    document = documentOf(started.app);
  });
  afterAll(() => started.close());
  const headersOf = (
    path: string,
    method: 'get' | 'post' | 'patch' | 'delete',
    status: string,
  ): readonly string[] =>
    Object.keys((document.paths[path]?.[method]?.responses[status] as { headers: object }).headers);

  test('of many objects take a list, and parameters that select the objects', () => {
    const { '/rest/v1/wr/many': item = {} } = document.paths;
    expect(item.post?.requestBody).toMatchObject({
      content: {
        'application/json': {
          schema: {
            anyOf: [
              { $ref: '#/components/schemas/WrManyCreate' },
              { type: 'array', maxItems: 7, items: { $ref: '#/components/schemas/WrManyCreate' } },
            ],
          },
        },
      },
    });
    expect(item.post && parametersOf(item.post, 'query')).toMatchObject({ upsert: { type: 'boolean' } });
    expect(Object.keys(item.post?.responses ?? {})).toEqual(
      expect.arrayContaining(['200', '201', '400', '403']),
    );
    expect(item.patch?.requestBody).toMatchObject({
      content: {
        'application/json': {
          schema: {
            anyOf: [
              { $ref: '#/components/schemas/WrManyPatch' },
              { type: 'array', maxItems: 7, items: { $ref: '#/components/schemas/WrManyPatchItem' } },
            ],
          },
        },
      },
    });
    expect(document.components.schemas?.WrManyPatchItem).toMatchObject({
      required: ['id'],
      properties: { id: { type: 'integer' }, code: { type: 'string' } },
    });
    for (const method of ['patch', 'delete'] as const) {
      const operation = item[method];
      expect(operation && parametersOf(operation, 'query')).toMatchObject({
        keys: { type: 'array', maxItems: 7 },
        code: { type: 'string', minLength: 1 },
        code__in: { type: 'array', items: { type: 'string', minLength: 1 } },
      });
      expect(operation?.responses['400']).toEqual({ $ref: '#/components/responses/RestifyInvalidItems' });
    }
    const ids = Object.values(document.paths).flatMap((each) =>
      Object.values(each).map(({ operationId }) => operationId),
    );
    expect(new Set(ids).size).toBe(ids.length);
  });

  test('of many objects describe the keys of a text, a composite key and a model without them', () => {
    const word = document.paths['/rest/v1/wr/word']?.delete;
    expect(word && parametersOf(word, 'query')).toMatchObject({ keys: { items: { pattern: '^[^,]+$' } } });
    const cell = document.paths['/rest/v1/wr/cell'];
    expect([cell?.delete, cell?.post?.responses['400']]).toEqual([
      undefined,
      { $ref: '#/components/responses/RestifyInvalidInput' },
    ]);
    expect(cell?.patch && parametersOf(cell.patch, 'query')).toMatchObject({ keys: { type: 'string' } });
    expect(document.components.schemas?.WrCellPatchItem).toMatchObject({
      required: ['row', 'col'],
      additionalProperties: false,
    });
  });

  test('of a model with `mergePatch` name its media type in PATCH of one object alone', () => {
    const typesOf = (path: string, method: 'post' | 'patch' | 'put'): readonly string[] =>
      Object.keys(document.paths[path]?.[method]?.requestBody?.content ?? {});
    const object = '/rest/v1/wr/stated/{pk}';
    expect(typesOf(object, 'patch')).toEqual(['application/json', 'application/merge-patch+json']);
    for (const types of [
      typesOf(object, 'put'),
      typesOf('/rest/v1/wr/stated', 'post'),
      typesOf('/rest/v1/wr/many/{pk}', 'patch'),
    ])
      expect(types).toEqual(['application/json']);
  });

  test('of one object, and its reads, have preconditions and cache headers', () => {
    const [list, object] = ['/rest/v1/wr/stated', '/rest/v1/wr/stated/{pk}'];
    expect(headersOf(list, 'get', '200')).toEqual(['Allow', 'Cache-Control']);
    expect(headersOf(list, 'post', '201')).toEqual(['Allow', 'Location', 'ETag', 'Last-Modified']);
    expect(headersOf(object, 'get', '200')).toEqual(['Allow', 'ETag', 'Last-Modified', 'Cache-Control']);
    expect(headersOf(object, 'patch', '200')).toEqual(['Allow', 'ETag', 'Last-Modified']);
    expect(headersOf('/rest/v1/wr/many/{pk}', 'get', '200')).toEqual(['Allow']);
    const item = document.paths[object];
    expect(item?.get && Object.keys(parametersOf(item.get, 'header'))).toEqual(['If-None-Match']);
    expect(item?.patch && Object.keys(parametersOf(item.patch, 'header'))).toEqual([
      'If-Match',
      'If-Unmodified-Since',
    ]);
  });

  test("are valid by Redocly's recommended rules", async () => {
    expect(await lintOpenApi({ ...document, security: [] })).toEqual([]);
  });
});
