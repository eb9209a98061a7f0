// @tags core
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { CursorPagination, LimitOffsetPagination, PageNumberPagination, Restify } from 'nestjs-restify';
import type { PageResponse, PageRequest, Pagination } from 'nestjs-restify';
import { Column, Entity, PrimaryGeneratedColumn } from 'typeorm';
import { lintOpenApi } from '../support/lint-openapi.js';
import { startApp } from '../support/start-app.js';
import type { StartedApp } from '../support/start-app.js';
import { documentOf, parametersOf } from './document.js';
import type { PlainDocument, PlainOperation } from './document.js';

class OwnPagination implements Pagination {
  parameters(): readonly string[] {
    return ['first'];
  }

  page(): PageRequest {
    return { window: { kind: 'offset', limit: 10, offset: 0 } };
  }

  present(): PageResponse {
    return { envelope: { members: {}, rows: 'rows' } };
  }
}

class Row {
  @PrimaryGeneratedColumn()
  id: number;

  @Column({ default: '' })
  name: string;
}

const NO_FILTERS = { app: 'paged', filterFields: [], searchFields: [], orderingFields: [] } as const;

@Restify({ ...NO_FILTERS, pagination: new PageNumberPagination({ pageSize: 5 }) })
@Entity()
class Numbered extends Row {}

@Restify({
  ...NO_FILTERS,
  pagination: new LimitOffsetPagination({ maxOffset: 20, style: 'headers', count: 'exact' }),
})
@Entity()
class Offset extends Row {}

@Restify({
  ...NO_FILTERS,
  pagination: new CursorPagination({
    secret: 'x'.repeat(32),
    countParameter: 'counted',
    pageSizeParameter: false,
  }),
})
@Entity()
class Walked extends Row {}

const KINDS = { countUpTo: 3, countKind: true, countParameter: 'count' } as const;

@Restify({ ...NO_FILTERS, pagination: new PageNumberPagination({ ...KINDS, pageSize: 2 }) })
@Entity()
class Kinded extends Row {}

@Restify({ ...NO_FILTERS, pagination: new LimitOffsetPagination({ ...KINDS, style: 'headers' }) })
@Entity()
class Marked extends Row {}

@Restify({ ...NO_FILTERS, pagination: new OwnPagination() })
@Entity()
class Owned extends Row {}

describe('lists that are cut into pages', () => {
  let started: StartedApp;
  let document: PlainDocument;
  beforeAll(async () => {
    started = await startApp({ entities: [Numbered, Offset, Walked, Kinded, Marked, Owned] });
    document = documentOf(started.app);
  });
  afterAll(() => started.close());

  const list = (model: string): PlainOperation => {
    const found = document.paths[`/rest/v1/paged/${model}`]?.get;
    if (!found) throw new Error(`${model} is not described`);
    return found;
  };
  const answer = (
    model: string,
  ): {
    readonly headers: Readonly<Record<string, unknown>>;
    readonly content: Readonly<Record<string, { readonly schema: unknown }>>;
  } => list(model).responses['200'] as ReturnType<typeof answer>;
  const link = { type: ['string', 'null'], format: 'uri' };

  test('have the parameters of their pagination', () => {
    expect(parametersOf(list('numbered'), 'query')).toEqual({
      page: {
        anyOf: [
          { type: 'integer', minimum: 1 },
          { type: 'string', enum: ['last'] },
        ],
      },
      page_size: { type: 'integer', minimum: 1, default: 5 },
    });
    expect(parametersOf(list('offset'), 'query')).toEqual({
      offset: { type: 'integer', minimum: 0, maximum: 20 },
      limit: { type: 'integer', minimum: 1, default: 50 },
    });
    expect(parametersOf(list('walked'), 'query')).toEqual({
      cursor: { type: 'string' },
      counted: { type: 'string', enum: ['exact', 'estimated', 'none'] },
    });
    expect(parametersOf(list('owned'), 'query')).toEqual({ first: { type: 'string' } });
  });

  test('are answered in their envelope, or as an array with headers', () => {
    const rows = (name: string): unknown => ({
      type: 'array',
      items: { $ref: `#/components/schemas/${name}` },
    });
    expect(answer('numbered').content['application/json']?.schema).toEqual({
      type: 'object',
      properties: { count: { type: 'integer' }, next: link, previous: link, results: rows('PagedNumbered') },
      required: ['count', 'next', 'previous', 'results'],
    });
    expect(answer('offset').content['application/json']?.schema).toEqual(rows('PagedOffset'));
    expect(Object.keys(answer('offset').headers)).toEqual([
      'Allow',
      'Link',
      'X-Total-Count',
      'Content-Range',
    ]);
    expect(answer('walked').content['application/json']?.schema).toEqual({
      type: 'object',
      properties: { count: { type: 'integer' }, next: link, previous: link, results: rows('PagedWalked') },
      required: ['next', 'previous', 'results'],
    });
    expect(answer('kinded').content['application/json']?.schema).toEqual({
      type: 'object',
      properties: {
        count: { type: ['integer', 'null'] },
        count_kind: { type: ['string', 'null'], enum: ['exact', 'at_least', 'estimated', null] },
        next: link,
        previous: link,
        results: rows('PagedKinded'),
      },
      required: ['count', 'count_kind', 'next', 'previous', 'results'],
    });
    expect(answer('marked').headers).toMatchObject({
      'X-Total-Count-Kind': { schema: { type: 'string', enum: ['exact', 'at_least', 'estimated'] } },
    });
    expect(answer('owned').content['application/json']?.schema).toEqual({});
  });

  test('are 404 where there may be no such page', () => {
    expect(list('numbered').responses).toHaveProperty('404');
    expect(list('offset').responses).not.toHaveProperty('404');
  });

  test('answer as they are described', async () => {
    for (const model of ['numbered', 'offset', 'walked', 'kinded', 'marked', 'owned'])
      for (let row = 0; row < 6; row++) await started.client.post(`/rest/v1/paged/${model}/`, {});
    for (const path of [
      'numbered/?page=2',
      'numbered/?page=last',
      'numbered/?page=9',
      'offset/?limit=2&offset=2',
      'offset/?limit=x',
      'walked/?counted=exact',
      'kinded/?count=estimated',
      'kinded/?count=exact&page=last',
      'kinded/?count=none',
      'marked/?count=estimated',
      'walked/',
      'owned/',
    ])
      await started.client.get(`/rest/v1/paged/${path}`);
  });

  test("are valid by Redocly's recommended rules", async () => {
    expect((await lintOpenApi(document)).filter(({ severity }) => severity === 'error')).toEqual([]);
  });
});
