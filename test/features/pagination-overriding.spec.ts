// @tags http
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { Injectable } from '@nestjs/common';
import type { CallHandler, ExecutionContext, NestInterceptor, PipeTransform } from '@nestjs/common';
import {
  CursorPagination,
  LimitOffsetPagination,
  PageNumberPagination,
  ResourceController,
  Restify,
  RestifyController,
  RestifyResources,
} from 'nestjs-restify';
import { map } from 'rxjs';
import type { Observable } from 'rxjs';
import { Column, Entity, PrimaryGeneratedColumn } from 'typeorm';
import { startApp } from '../support/start-app.js';
import type { StartedApp } from '../support/start-app.js';

type Body = Record<string, unknown>;

@Restify({ app: 'over', pagination: new PageNumberPagination({ pageSize: 2 }) })
@Entity('over_pen')
class Pen {
  @PrimaryGeneratedColumn()
  id: number;

  @Column()
  name: string;
}

@RestifyController(Pen)
class PenController extends ResourceController<Pen> {
  override async list(request: { query: Body }): Promise<unknown> {
    if (request.query.own !== undefined) return [{ own: true }];
    const page = (await super.list(request)) as { results: Body[] };
    return { ...page, results: page.results.map((pen) => ({ ...pen, seen: true })) };
  }
}

@Restify({
  app: 'over',
  pagination: new LimitOffsetPagination({ pageSize: 2, style: 'headers', count: 'exact' }),
})
@Entity('over_cap')
class Cap {
  @PrimaryGeneratedColumn()
  id: number;

  @Column()
  name: string;
}

@RestifyController(Cap)
class CapController extends ResourceController<Cap> {
  override async list(request: object): Promise<unknown> {
    return ((await super.list(request)) as Body[]).map((cap) => ({ ...cap, seen: true }));
  }
}

const PIPED: unknown[] = [];

@Injectable()
class Told implements PipeTransform {
  transform(value: unknown): unknown {
    PIPED.push(value);
    return value;
  }
}

@Injectable()
class Wrapped implements NestInterceptor {
  intercept(_context: ExecutionContext, next: CallHandler): Observable<unknown> {
    return next.handle().pipe(map((body: unknown) => ({ body })));
  }
}

@Restify({
  app: 'over',
  pagination: new CursorPagination({
    secret: 'a secret of the tests, and of nothing else',
    pageSize: 1,
    style: 'headers',
  }),
  interceptors: [Wrapped],
  pipes: [Told],
})
@Entity('over_ink')
class Ink {
  @PrimaryGeneratedColumn()
  id: number;

  @Column()
  name: string;
}

let started: StartedApp;
beforeAll(async () => {
  started = await startApp({ entities: [Pen, Cap, Ink], controllers: [PenController, CapController] });
  for (const entity of [Pen, Cap, Ink])
    await started.dataSource.getRepository(entity).insert(['a', 'b', 'c'].map((name) => ({ name })));
});
afterAll(() => started.close());
const get = (path: string) => started.client.get(`/rest/v1/over/${path}`, { headers: { host: 'h' } });

test('super.list gives the envelope of the page, and what the method makes of it is sent', async () => {
  expect((await get('pen/?page=2')).json).toEqual({
    count: 3,
    next: null,
    previous: 'http://h/rest/v1/over/pen/',
    results: [{ id: 3, name: 'c', seen: true }],
  });
  const beyond = await get('pen/?page=3');
  expect([beyond.status, beyond.json]).toEqual([404, { detail: 'Invalid page.' }]);
});

test('a method that reads no page sends its result', async () => {
  expect((await get('pen/?own')).json).toEqual([{ own: true }]);
});

test('with headers, super.list gives the rows of the page, and the headers are sent', async () => {
  const answer = await get('cap/?offset=2');
  expect(answer.json).toEqual([{ id: 3, name: 'c', seen: true }]);
  expect([answer.headers.link, answer.headers['x-total-count'], answer.headers['content-range']]).toEqual([
    '<http://h/rest/v1/over/cap/?limit=2>; rel="first", <http://h/rest/v1/over/cap/?limit=2>; rel="prev", <http://h/rest/v1/over/cap/?limit=2&offset=2>; rel="last"',
    '3',
    'items 2-2/3',
  ]);
});

test('interceptors run around the page, and pipes run once', async () => {
  PIPED.length = 0;
  const answer = await get('ink/?page_size=2');
  expect(answer.json).toEqual({
    body: [
      { id: 1, name: 'a' },
      { id: 2, name: 'b' },
    ],
  });
  expect(answer.headers.link).toMatch(
    /^<http:\/\/h\/rest\/v1\/over\/ink\/\?page_size=2>; rel="first", <http:\/\/h\/rest\/v1\/over\/ink\/\?page_size=2&cursor=[\w-]+>; rel="next"$/,
  );
  expect(PIPED).toEqual([{ page_size: '2' }]);
});

test('the application itself reads whole lists', async () => {
  const pens = started.app.get(RestifyResources).of(Pen).as(null);
  expect(await pens.list({ page: '2' })).toHaveLength(3);
});
