// @tags http nest
// Tracers and error trackers replace handlers, routes and classes by functions and classes of their own (S29).
import { Controller, Get, Inject, Injectable, Req } from '@nestjs/common';
import type { CanActivate, INestApplication, Type } from '@nestjs/common';
import { APP_GUARD } from '@nestjs/core';
import { RouterExecutionContext } from '@nestjs/core/router/router-execution-context.js';
import { afterEach, describe, expect, test } from '@jest/globals';
import {
  Action,
  allow,
  CurrentActor,
  ParentPk,
  Pk,
  ResourceController,
  Restify,
  RestifyController,
  where,
} from 'nestjs-restify';
import type { Grant, Permission, RowFilter } from 'nestjs-restify';
import { Column, Entity, PrimaryGeneratedColumn } from 'typeorm';
import { PLATFORM } from '../support/platform.js';
import { startApp } from '../support/start-app.js';
import type { AppSettings, StartedApp } from '../support/start-app.js';

class Hiding implements Permission {
  decide(): Grant {
    return allow({ rows: where('secret', false) });
  }
}

@Restify({ app: 'wrapped', permissions: [Hiding] })
@Entity('wrapped_doc')
class Doc {
  @PrimaryGeneratedColumn()
  id: number;

  @Column()
  title: string;

  @Column({ default: false })
  secret: boolean;
}

@Restify('wrapped')
@Entity('wrapped_plain')
class Plain {
  @PrimaryGeneratedColumn()
  id: number;
}

/** Another prefix serves it by the same methods. */
@Restify({ app: 'wrapped', permissions: [Hiding] })
@Entity('wrapped_scoped')
class Scoped extends Doc {}

let called: unknown[] = [];

class DocBase extends ResourceController<Doc> {
  @Action({ detail: true, methods: ['POST'] })
  burn(@Pk() pk: unknown, @CurrentActor() actor: unknown): object {
    called.push(['burn', pk, actor]);
    return { burnt: pk };
  }

  override async retrieve(
    @Req() request: object,
    @Pk() pk?: unknown,
    @ParentPk() parentPk?: unknown,
  ): Promise<unknown> {
    called.push(['retrieve', pk, parentPk]);
    return super.retrieve(request);
  }
}

@RestifyController(Doc)
class DocController extends DocBase {}

@Injectable()
class Pass implements CanActivate {
  canActivate(): boolean {
    return true;
  }
}

@Controller('plain')
class PlainController {
  @Get()
  actor(@CurrentActor() actor: unknown): object {
    called.push(['actor', actor]);
    return { actor };
  }
}

type Handler = (this: unknown, ...args: unknown[]) => unknown;
type Create = RouterExecutionContext['create'];
const create = Object.getOwnPropertyDescriptor(RouterExecutionContext.prototype, 'create')?.value as Create;
let started: StartedApp | undefined;

/** Replaces each handler of controllers, as instrumentations of Nest do. */
function wrapHandlers(wrap: (handler: Handler) => Handler): void {
  RouterExecutionContext.prototype.create = function (
    this: RouterExecutionContext,
    ...args: Parameters<Create>
  ) {
    args[1] = wrap(args[1] as Handler);
    return create.apply(this, args);
  } as Create;
}

function wrapWithMetadata(handler: Handler): Handler {
  const wrapped = wrapAlone(handler);
  for (const key of Reflect.getMetadataKeys(handler) as string[])
    Reflect.defineMetadata(key, Reflect.getMetadata(key, handler), wrapped);
  return wrapped;
}

function wrapAlone(handler: Handler): Handler {
  return async function (this: unknown, ...args: unknown[]) {
    return await handler.apply(this, args);
  };
}

async function start(settings: Partial<AppSettings> = {}): Promise<StartedApp> {
  started = await startApp({
    entities: [Doc, Plain],
    controllers: [DocController],
    restify: { permissions: [] },
    undescribed: 'all',
    ...settings,
  });
  await started.dataSource.getRepository(Doc).save([{ title: 'open' }, { title: 'hidden', secret: true }]);
  return started;
}

afterEach(async () => {
  RouterExecutionContext.prototype.create = create;
  called = [];
  await started?.close();
  started = undefined;
});

describe('handlers that are wrapped with their metadata', () => {
  test('run behind their checks, with their arguments', async () => {
    wrapHandlers(wrapWithMetadata);
    const { client } = await start();
    expect((await client.post('/rest/v1/wrapped/doc/2/burn/')).status).toBe(404);
    expect(called).toEqual([]);
    expect((await client.get('/rest/v1/wrapped/doc/2/')).status).toBe(404);
    expect(await client.post('/rest/v1/wrapped/doc/1/burn/')).toMatchObject({
      status: 200,
      json: { burnt: 1 },
    });
    expect((await client.get('/rest/v1/wrapped/doc/1/')).json).toEqual({
      id: 1,
      title: 'open',
      secret: false,
    });
    expect((await client.get('/rest/v1/wrapped/doc/1/burn/')).status).toBe(405);
    expect(called).toEqual([
      ['retrieve', 2, 2],
      ['burn', 1, null],
      ['retrieve', 1, 1],
    ]);
  });

  test('run behind a global guard', async () => {
    wrapHandlers(wrapWithMetadata);
    const { client } = await start({ providers: [{ provide: APP_GUARD, useClass: Pass }] });
    expect((await client.get('/rest/v1/wrapped/plain/')).json).toEqual([]);
    expect((await client.post('/rest/v1/wrapped/doc/2/burn/')).status).toBe(404);
    expect((await client.post('/rest/v1/wrapped/doc/1/burn/')).json).toEqual({ burnt: 1 });
  });
});

describe('handlers that have lost their metadata', () => {
  test('are not called: 500', async () => {
    wrapHandlers(wrapAlone);
    const { client } = await start({ providers: [{ provide: APP_GUARD, useClass: Pass }] });
    for (const [method, path] of [
      ['POST', 'doc/1/burn/'],
      ['POST', 'doc/2/burn/'],
      ['GET', 'doc/1/'],
      ['GET', 'plain/'],
    ] as const)
      expect(await client.send(method, `/rest/v1/wrapped/${path}`)).toMatchObject({
        status: 500,
        json: { detail: 'A server error occurred.' },
      });
    expect(called).toEqual([]);
  });
});

describe('parameters of actions', () => {
  test('have no silent undefined in a route of the application: 500', async () => {
    const { client } = await start({ controllers: [DocController, PlainController] });
    expect((await client.get('/plain')).status).toBe(500);
    expect(called).toEqual([]);
  });
});

describe('a controller class that a decorator has replaced by a subclass', () => {
  test('keeps its actions, its hooks and its dependencies', async () => {
    const traced = (type: Type): never => class extends type {} as never;
    const NAME = 'RESTIFY_TEST_NAME';
    @traced
    @RestifyController(Scoped)
    class ScopedController extends ResourceController<Scoped> {
      constructor(@Inject(NAME) private readonly name: string) {
        super();
      }

      override scope(): RowFilter {
        return where('title', this.name);
      }

      @Action({ detail: true })
      whose(@Pk() pk: unknown): object {
        return { pk, name: this.name };
      }
    }
    const { client, dataSource } = await start({
      entities: [Doc, Plain, Scoped],
      controllers: [DocController, ScopedController],
      providers: [{ provide: NAME, useValue: 'mine' }],
    });
    await dataSource.getRepository(Scoped).save([{ title: 'mine' }, { title: 'of another' }]);
    expect((await client.get('/rest/v1/wrapped/scoped/1/whose/')).json).toEqual({ pk: 1, name: 'mine' });
    expect((await client.get('/rest/v1/wrapped/scoped/2/whose/')).status).toBe(404);
    expect((await client.get('/rest/v1/wrapped/scoped/')).json).toHaveLength(1);
  });
});

interface RoutedRequest {
  readonly routeOptions: { readonly url: string; readonly config: { readonly url: string } };
}

/** Fastify's hooks, as far as they are used here. */
interface RouteHooks {
  addHook(name: 'onResponse', hook: (request: RoutedRequest, reply: unknown, done: () => void) => void): void;
  addHook(name: 'onRoute', hook: (route: { handler: Handler; url: string }) => void): void;
}

if (PLATFORM === 'fastify')
  describe('routes whose handlers an onRoute hook wraps', () => {
    const wrapRoutes = (app: INestApplication, wrap: (handler: Handler) => Handler): void => {
      (app.getHttpAdapter().getInstance() as RouteHooks).addHook('onRoute', (route) => {
        route.handler = wrap(route.handler);
      });
    };

    test('are registered once, with and without actions, and called on their instance', async () => {
      const instances = new Set<unknown>();
      const { client } = await start({
        providers: [{ provide: APP_GUARD, useClass: Pass }],
        configure: (app) => {
          wrapRoutes(
            app,
            (handler) =>
              function (this: unknown, ...args) {
                instances.add(typeof this);
                return handler.apply(this, args);
              },
          );
        },
      });
      expect((await client.get('/rest/v1/wrapped/plain/')).json).toEqual([]);
      expect((await client.get('/rest/v1/wrapped/doc/')).status).toBe(200);
      expect((await client.post('/rest/v1/wrapped/doc/1/burn/')).json).toEqual({ burnt: 1 });
      expect((await client.post('/rest/v1/wrapped/doc/2/burn/')).status).toBe(404);
      expect([...instances]).toEqual(['object']);
    });

    test('respond in place of async functions around them, once', async () => {
      const { client } = await start({
        configure: (app) => {
          wrapRoutes(
            app,
            (handler) =>
              async function (this: unknown, ...args) {
                await Promise.resolve();
                return handler.apply(this, args);
              },
          );
        },
      });
      expect((await client.get('/rest/v1/wrapped/plain/')).json).toEqual([]);
      expect((await client.get('/rest/v1/wrapped/plain/9/')).status).toBe(404);
      expect((await client.get('/rest/v1/wrapped/nothing/')).status).toBe(404);
      expect((await client.delete('/rest/v1/wrapped/plain/')).status).toBe(405);
      expect((await client.post('/rest/v1/wrapped/plain/', {})).status).toBe(201);
      expect((await client.post('/rest/v1/wrapped/doc/1/burn/')).json).toEqual({ burnt: 1 });
      expect((await client.post('/rest/v1/wrapped/doc/2/burn/')).status).toBe(404);
    });

    test('hooks behind a handler see the pattern of the URL', async () => {
      const seen: string[] = [];
      const { client } = await start({
        configure: (app) => {
          (app.getHttpAdapter().getInstance() as RouteHooks).addHook(
            'onResponse',
            ({ routeOptions: { url, config } }, _reply, done) => {
              seen.push(url, config.url);
              done();
            },
          );
        },
      });
      const patterns = ['/rest/v1/wrapped/doc', '/rest/v1/wrapped/doc/:pk', '/rest/v1/wrapped/doc/:pk/burn'];
      await client.get('/rest/v1/wrapped/doc/');
      await client.get('/rest/v1/wrapped/doc/1');
      await client.post('/rest/v1/wrapped/doc/1/burn/');
      expect(seen).toEqual(patterns.flatMap((pattern) => [pattern, pattern]));
    });
  });
