// @tags http nest
import { Injectable, Scope, VersioningType } from '@nestjs/common';
import type {
  CallHandler,
  CanActivate,
  ExecutionContext,
  INestApplication,
  NestInterceptor,
  Type,
} from '@nestjs/common';
import { APP_GUARD, APP_INTERCEPTOR } from '@nestjs/core';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { Restify, RestifyController } from 'nestjs-restify';
import { Column, Entity, ManyToOne, OneToMany, PrimaryGeneratedColumn } from 'typeorm';
import type { Relation } from 'typeorm';
import type { Observable } from 'rxjs';
import { RestifyGuard } from '../../src/nest/controller-enhancers.js';
import { startApp } from '../support/start-app.js';
import type { AppSettings, StartedApp } from '../support/start-app.js';

/** What has run, in its order. */
let ran: string[] = [];

@Injectable()
class GlobalGuard implements CanActivate {
  canActivate(context: ExecutionContext): boolean {
    ran.push('guard');
    return !context.switchToHttp().getRequest<{ url: string }>().url.includes('refused');
  }
}

@Injectable({ scope: Scope.REQUEST })
class RequestGuard extends GlobalGuard {}

@Injectable()
class Noted implements NestInterceptor {
  intercept(_context: ExecutionContext, next: CallHandler): Observable<unknown> {
    ran.push('interceptor');
    return next.handle();
  }
}

@Injectable({ scope: Scope.REQUEST })
class NotedOnRequest extends Noted {}

@Restify('around')
@Entity('around_shelf')
class Shelf {
  @PrimaryGeneratedColumn()
  id: number;

  @Column()
  name: string;

  @OneToMany(() => Book, (book) => book.shelf)
  books: Relation<Book[]>;
}

@Restify('around')
@Entity('around_book')
class Book {
  @PrimaryGeneratedColumn()
  id: number;

  @Column()
  title: string;

  @ManyToOne(() => Shelf, (shelf) => shelf.books)
  shelf: Relation<Shelf>;
}

@Restify({ app: 'around', guards: [GlobalGuard] })
@Entity('around_guarded')
class Guarded {
  @PrimaryGeneratedColumn()
  id: number;
}

@Restify({ app: 'around', interceptors: [Noted] })
@Entity('around_noted')
class NotedModel {
  @PrimaryGeneratedColumn()
  id: number;
}

@Restify('around')
@Entity('around_joined')
class Joined {
  @PrimaryGeneratedColumn()
  id: number;
}

@RestifyController(Joined)
class JoinedController {}

const canActivate = Object.getOwnPropertyDescriptor(RestifyGuard.prototype, 'canActivate')
  ?.value as RestifyGuard['canActivate'];

/** How often Nest has gone its whole way to a generated handler. */
let throughNest = 0;
let started: StartedApp | undefined;

beforeEach(() => {
  [ran, throughNest] = [[], 0];
  RestifyGuard.prototype.canActivate = function (this: RestifyGuard, context) {
    throughNest++;
    return canActivate.call(this, context);
  };
});

afterEach(async () => {
  RestifyGuard.prototype.canActivate = canActivate;
  await started?.close();
  started = undefined;
});

async function begin(
  settings: Partial<AppSettings> = {},
  models: readonly Type[] = [Shelf, Book],
): Promise<StartedApp> {
  started = await startApp({ entities: [...models], undescribed: 'all', ...settings });
  return started;
}

const SHELVES = '/rest/v1/around/shelf/';

/** Every kind of URL and method. */
async function useAll({ client }: StartedApp): Promise<readonly number[]> {
  const statuses: number[] = [];
  const note = ({ status }: { status: number }): void => void statuses.push(status);
  note(await client.post(SHELVES, { name: 'a' }));
  note(await client.get(SHELVES));
  note(await client.get(`${SHELVES}1/`));
  note(await client.patch(`${SHELVES}1/`, { name: 'b' }));
  note(await client.put(`${SHELVES}1/`, { name: 'c' }));
  note(await client.post('/rest/v1/around/book/', { title: 't', shelf: 1 }));
  note(await client.get(`${SHELVES}1/books/`));
  note(await client.send('HEAD', SHELVES));
  note(await client.send('OPTIONS', SHELVES));
  note(await client.delete('/rest/v1/around/book/1/'));
  note(await client.delete(`${SHELVES}1/`));
  note(await client.get(`${SHELVES}1/`));
  note(await client.delete(SHELVES));
  return statuses;
}

const ALL = [201, 200, 200, 200, 200, 201, 200, 200, 200, 204, 204, 404, 405];

describe('around generated answers', () => {
  test("without enhancers, Nest's handler chain is bypassed", async () => {
    expect(await useAll(await begin())).toEqual(ALL);
    expect(throughNest).toBe(0);
  });

  test.each<[name: string, settings: Partial<AppSettings>, each: string]>([
    [
      'a global guard',
      { configure: (app: INestApplication) => void app.useGlobalGuards(new GlobalGuard()) },
      'guard',
    ],
    [
      'a global interceptor',
      { configure: (app: INestApplication) => void app.useGlobalInterceptors(new Noted()) },
      'interceptor',
    ],
    ['APP_GUARD', { providers: [{ provide: APP_GUARD, useClass: GlobalGuard }] }, 'guard'],
    ['APP_INTERCEPTOR', { providers: [{ provide: APP_INTERCEPTOR, useClass: Noted }] }, 'interceptor'],
    ['APP_GUARD of a request', { providers: [{ provide: APP_GUARD, useClass: RequestGuard }] }, 'guard'],
    [
      'APP_INTERCEPTOR of a request',
      { providers: [{ provide: APP_INTERCEPTOR, useClass: NotedOnRequest }] },
      'interceptor',
    ],
  ])('%s runs for each request', async (_name, settings, each) => {
    expect(await useAll(await begin(settings))).toEqual(ALL);
    expect([ran, throughNest]).toEqual([ALL.map(() => each), ALL.length]);
  });

  test('what a global guard refuses is refused', async () => {
    const { client } = await begin({ configure: (app) => void app.useGlobalGuards(new GlobalGuard()) });
    expect((await client.get(`${SHELVES}?refused=1`)).status).toBe(403);
    expect((await client.post(`${SHELVES}?refused=1`, { name: 'a' })).status).toBe(403);
    expect((await client.get(SHELVES)).json).toEqual([]);
  });

  test('guards that authenticate run without the handlers of Nest, and interceptors of a model within them', async () => {
    const { client } = await begin({}, [Shelf, Book, Guarded, NotedModel]);
    expect((await client.get('/rest/v1/around/guarded/')).status).toBe(200);
    expect((await client.get('/rest/v1/around/guarded/?refused')).status).toBe(403);
    expect((await client.get('/rest/v1/around/notedmodel/')).status).toBe(200);
    expect((await client.get(SHELVES)).status).toBe(200);
    expect([ran, throughNest]).toEqual([['guard', 'guard', 'interceptor'], 1]);
  });

  test('enhancers of the application run', async () => {
    const { client } = await begin({ controllers: [JoinedController] }, [Joined]);
    expect((await client.get('/rest/v1/around/joined/')).status).toBe(200);
    expect(throughNest).toBe(1);
  });

  test('versions in the path are found alone, and those in a header by Nest', async () => {
    const byPath = await begin({
      configure: (app) => void app.enableVersioning({ type: VersioningType.URI, defaultVersion: '2' }),
    });
    expect([
      (await byPath.client.get(`/v2${SHELVES}`)).status,
      (await byPath.client.get(SHELVES)).status,
      throughNest,
    ]).toEqual([200, 404, 0]);
    await byPath.close();
    started = undefined;
    const byHeader = await begin({
      configure: (app) =>
        void app.enableVersioning({ type: VersioningType.HEADER, header: 'x-version', defaultVersion: '2' }),
    });
    const statuses = [];
    for (const version of ['2', '1'])
      statuses.push((await byHeader.client.get(SHELVES, { headers: { 'x-version': version } })).status);
    expect([statuses, throughNest]).toEqual([[200, 404], 1]);
  });

  test('middleware may do something behind its next()', async () => {
    const { client } = await begin({
      configure: (app) => {
        app.use(
          (
            _request: unknown,
            response: { setHeader(name: string, value: string): void },
            next: () => void,
          ) => {
            next();
            response.setHeader('x-behind', 'yes');
          },
        );
      },
    });
    const answer = await client.get(SHELVES);
    expect([answer.status, answer.headers['x-behind'], throughNest]).toEqual([200, 'yes', 0]);
  });

  test('a global prefix and middleware stay where they are', async () => {
    const { client } = await begin({
      configure: (app) => {
        app.setGlobalPrefix('api');
        app.use(
          (
            _request: unknown,
            response: { setHeader(name: string, value: string): void },
            next: () => void,
          ) => {
            response.setHeader('x-seen', 'yes');
            next();
          },
        );
      },
    });
    const answer = await client.get(`/api${SHELVES}`);
    expect([answer.status, answer.headers['x-seen'], throughNest]).toEqual([200, 'yes', 0]);
  });
});
