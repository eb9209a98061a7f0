// @tags nest
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { All, Controller } from '@nestjs/common';
import type { ExecutionContext, INestApplication, NestApplicationOptions } from '@nestjs/common';
import { Action, NestedAction, ONE_TO_MANY_LIST_ACTION, Restify, RestifyController } from 'nestjs-restify';
import { Column, Entity, ManyToOne, OneToMany, PrimaryGeneratedColumn } from 'typeorm';
import type { Relation } from 'typeorm';
import { PLATFORM } from '../support/platform.js';
import { startApp } from '../support/start-app.js';
import type { StartedApp } from '../support/start-app.js';

@Entity()
@Restify('told')
class Shelf {
  @PrimaryGeneratedColumn() id!: number;
  @Column() name!: string;
  @OneToMany(() => Book, (book) => book.shelf) books!: Relation<Book>[];
}

@Entity()
@Restify('told')
class Book {
  @PrimaryGeneratedColumn() id!: number;
  @ManyToOne(() => Shelf, (shelf) => shelf.books) shelf!: Relation<Shelf>;
}

@Entity()
@Restify('told')
class Room {
  @PrimaryGeneratedColumn() id!: number;
  @Column() name!: string;
  @OneToMany(() => Chair, (chair) => chair.room) chairs!: Relation<Chair>[];
}

@Entity()
@Restify('told')
class Chair {
  @PrimaryGeneratedColumn() id!: number;
  @ManyToOne(() => Room, (room) => room.chairs) room!: Relation<Room>;
}

@Entity()
@Restify('told')
class Park {
  @PrimaryGeneratedColumn() id!: number;
  @Column() name!: string;
  @OneToMany(() => Tree, (tree) => tree.park) trees!: Relation<Tree>[];
}

@Entity()
@Restify('told')
class Tree {
  @PrimaryGeneratedColumn() id!: number;
  @ManyToOne(() => Park, (park) => park.trees) park!: Relation<Park>;
}

@RestifyController(Chair)
class Chairs {
  @Action({ detail: false })
  free(): object {
    return { free: true };
  }
}

@RestifyController(Tree)
class Trees {
  @Action({ detail: true })
  age(): object {
    return { age: 7 };
  }
}

@RestifyController(Park)
class Parks {
  @NestedAction()
  [ONE_TO_MANY_LIST_ACTION + 'trees'](): object {
    return { own: true };
  }
}

@Controller()
class OwnController {
  @All('mine')
  mine(): object {
    return { mine: true };
  }
}

/** Whether a request stands below the tenant that its header names, if it names one. */
function isOfTenant({
  headers,
  params,
}: {
  headers: Record<string, unknown>;
  params: Record<string, unknown>;
}): boolean {
  return headers['x-tenant'] === undefined || headers['x-tenant'] === params.tenant;
}

const VERBS = ['get', 'head', 'post', 'put', 'patch', 'delete', 'options', 'search', 'all'] as const;

/** Notes the routes that Nest registers with the HTTP library: `all book/:pk`. */
function note(app: INestApplication, told: string[]): void {
  const adapter = app.getHttpAdapter() as unknown as Record<string, (...given: unknown[]) => unknown>;
  for (const verb of VERBS) {
    const register = adapter[verb];
    adapter[verb] = (...given) => {
      const path = String(given[0]);
      if (path.includes('/told/')) told.push(`${verb} ${path.replace('/rest/v1/told/', '')}`);
      return register?.apply(adapter, given);
    };
  }
}

/** How many functions Express keeps of the routes for a path. */
function handlersAt(started: StartedApp, path: string): number {
  const { router } = started.app.getHttpAdapter().getInstance() as {
    router: { stack: { route?: { path: unknown; stack: unknown[] } }[] };
  };
  return router.stack.flatMap(({ route }) => (route?.path === path ? route.stack : [])).length;
}

describe.each([
  ['express', {}],
  ['fastify', { fastify: {} }],
])('on %s', (library, platform) => {
  const told: string[] = [];
  let started: StartedApp;
  beforeAll(async () => {
    started = await startApp({
      entities: [Shelf, Book, Room, Chair, Park, Tree],
      controllers: [Chairs, Trees, Parks, OwnController],
      configure: (app) => {
        app.setGlobalPrefix(':tenant', { exclude: ['mine'] });
        app.useGlobalGuards({
          canActivate: (context: ExecutionContext) => isOfTenant(context.switchToHttp().getRequest()),
        });
        note(app, told);
      },
      ...platform,
    });
    for (const model of ['shelf', 'room', 'park'])
      await started.client.post(`/acme/rest/v1/told/${model}/`, { name: 'a' });
  });
  afterAll(() => started.close());

  const toldOf = (model: string): readonly string[] =>
    told
      .map((each) => each.replace('/:tenant', ''))
      .filter((each) => each.split(/[ /]/)[1] === model)
      .sort();

  test('one route for all methods of a URL is registered with Nest', () => {
    expect([...toldOf('book'), ...toldOf('shelf')]).toEqual([
      'all book',
      'all book/:pk',
      'all shelf',
      'all shelf/:pk',
      'all shelf/:pk/books',
    ]);
  });

  test("each method of an action is one more route, and a nested URL in the child's class is registered like any other", () => {
    expect([...toldOf('chair'), ...toldOf('room')]).toEqual([
      'all chair',
      'all chair/:pk',
      'all chair/free',
      'get chair/free',
      'all room',
      'all room/:pk',
      'all room/:pk/chairs',
    ]);
  });

  test('Nest maps the method of an action at a URL that two classes share, and all others as one', () => {
    expect(toldOf('park')).toEqual(['all park', 'all park/:pk', 'all park/:pk/trees', 'get park/:pk/trees']);
  });

  if (library === 'express' && PLATFORM === 'express') {
    test("Express keeps one function of it, and all of the application's own", () => {
      expect(handlersAt(started, '/:tenant/rest/v1/told/book')).toBe(1);
      expect(handlersAt(started, '/mine')).toBeGreaterThan(30);
      (started.app.getHttpAdapter().getInstance() as { all(path: string, handler: () => void): void }).all(
        '/later',
        () => undefined,
      );
      expect(handlersAt(started, '/later')).toBeGreaterThan(30);
    });
  }

  test.each([
    [
      'shelf/',
      'GET, POST, HEAD, OPTIONS',
      {
        GET: 200,
        POST: 201,
        PUT: 405,
        PATCH: 405,
        DELETE: 405,
        HEAD: 200,
        OPTIONS: 200,
        PROPFIND: 405,
        TRACE: 405,
      },
    ],
    [
      'shelf/1/',
      'GET, PUT, PATCH, DELETE, HEAD, OPTIONS',
      { GET: 200, POST: 405, PUT: 200, PATCH: 200, HEAD: 200, OPTIONS: 200, PROPFIND: 405, TRACE: 405 },
    ],
    [
      'shelf/1/books/',
      'GET, HEAD, OPTIONS',
      {
        GET: 200,
        POST: 405,
        PUT: 405,
        PATCH: 405,
        DELETE: 405,
        HEAD: 200,
        OPTIONS: 200,
        PROPFIND: 405,
        TRACE: 405,
      },
    ],
    [
      'chair/free/',
      'GET, HEAD, OPTIONS',
      {
        GET: 200,
        POST: 405,
        PUT: 405,
        PATCH: 405,
        DELETE: 405,
        HEAD: 200,
        OPTIONS: 200,
        PROPFIND: 405,
        TRACE: 405,
      },
    ],
    [
      'room/1/chairs/',
      'GET, HEAD, OPTIONS',
      {
        GET: 200,
        POST: 405,
        PUT: 405,
        PATCH: 405,
        DELETE: 405,
        HEAD: 200,
        OPTIONS: 200,
        PROPFIND: 405,
        TRACE: 405,
      },
    ],
    [
      'park/1/trees/',
      'GET, HEAD, OPTIONS',
      {
        GET: 200,
        POST: 405,
        PUT: 405,
        PATCH: 405,
        DELETE: 405,
        HEAD: 200,
        OPTIONS: 200,
        PROPFIND: 405,
        TRACE: 405,
      },
    ],
  ])('each method of the URL has its response: %s', async (path, allow, statuses) => {
    for (const [method, status] of Object.entries(statuses)) {
      const answer = await started.client.send(
        method,
        `/acme/rest/v1/told/${path}`,
        method === 'TRACE' || method === 'HEAD' ? {} : { body: { name: 'b' } },
      );
      expect([method, answer.status, answer.headers.allow]).toEqual([method, status, allow]);
    }
  });

  test.each(['GET', 'POST', 'OPTIONS', 'TRACE'])(
    'global guards run before %s, and get the parameters of the path',
    async (method) => {
      const other = await started.client.send(method, '/acme/rest/v1/told/book/7/', {
        headers: { 'x-tenant': 'else' },
      });
      expect([other.status, other.json]).toEqual([
        403,
        { detail: 'You do not have permission to perform this action.' },
      ]);
      const own = await started.client.send(method, '/acme/rest/v1/told/book/7/', {
        headers: { 'x-tenant': 'acme' },
      });
      expect(own.status).toBe({ GET: 404, OPTIONS: 200 }[method] ?? 405);
    },
  );

  test("the application's own routes for all methods stay what they are", async () => {
    for (const method of ['GET', 'POST', 'DELETE'])
      expect((await started.client.send(method, '/mine')).json).toEqual({ mine: true });
  });
});

test('NestJS finds no conflict among generated routes, where it looks for them', async () => {
  const looking: NestApplicationOptions & { routeConflictPolicy?: object } = {
    routeConflictPolicy: { duplicate: 'error', shadow: 'error' },
  };
  const started = await startApp({ entities: [Shelf, Book], nest: looking });
  try {
    expect((await started.client.get('/rest/v1/told/shelf/')).json).toEqual([]);
  } finally {
    await started.close();
  }
});
