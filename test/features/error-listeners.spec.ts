// @tags http nest
import { AsyncLocalStorage } from 'node:async_hooks';
import { HttpException, Injectable, Req, Scope } from '@nestjs/common';
import type { INestApplication, LoggerService, NestInterceptor } from '@nestjs/common';
import { afterEach, describe, expect, test } from '@jest/globals';
import { Action, allow, basic, deny, Restify, RestifyController } from 'nestjs-restify';
import type { ErrorContext, ErrorListener, Permission } from 'nestjs-restify';
import { AfterLoad, Column, Entity, ManyToOne, PrimaryGeneratedColumn } from 'typeorm';
import { map } from 'rxjs';
import { problemsOf } from '../boot/refused-start.js';
import { PLATFORM } from '../support/platform.js';
import { startApp } from '../support/start-app.js';
import type { AppSettings, StartedApp } from '../support/start-app.js';

@Restify({
  app: 'listen',
  authentication: [basic((name, password) => (password === 'pw' ? { name } : null))],
  permissions: [],
})
@Entity('listen_doc')
class Doc {
  @PrimaryGeneratedColumn()
  id: number;

  @Column()
  title: string;

  @AfterLoad()
  check(): void {
    if (this.title === 'unreadable') throw new Error('This row cannot be read');
  }
}

@Injectable()
class Passing implements NestInterceptor {
  intercept: NestInterceptor['intercept'] = (_context, next) => next.handle();
}

/** Served by Nest's whole chain of handlers. */
@Restify({ app: 'listen', interceptors: [Passing] })
@Entity('listen_intercepted')
class Intercepted {
  @PrimaryGeneratedColumn()
  id: number;
}

class Deny implements Permission {
  decide = (): ReturnType<typeof deny> => deny();
}

class Failing implements Permission {
  decide(): ReturnType<typeof allow> {
    throw new Error('The permission has failed');
  }
}

@Restify({ app: 'listen', permissions: [Deny, Failing] })
@Entity('listen_denied')
class Denied {
  @PrimaryGeneratedColumn()
  id: number;
}

@Restify('listen')
@Entity('listen_naming')
class Naming {
  @PrimaryGeneratedColumn()
  id: number;

  @ManyToOne(() => Denied, { nullable: true })
  denied: Denied | null;
}

@RestifyController(Doc)
class DocController {
  @Action({ detail: true, methods: ['POST'] })
  fail(): never {
    throw new TypeError('The action has failed');
  }

  @Action({ detail: false })
  upstream(@Req() { query }: { readonly query: { readonly status?: string } }): never {
    // The status of the response of another service, which need not have one.
    throw new HttpException(
      'secret',
      query.status === undefined ? (undefined as never) : Number(query.status),
    );
  }

  @Action({ detail: false })
  sdk(): never {
    throw Object.assign(new Error('key=secret is not authorized'), { statusCode: 401, status: 401 });
  }
}

let told: (readonly [message: string, context: ErrorContext, store: unknown])[] = [];
let logged: unknown[][] = [];
const storage = new AsyncLocalStorage<string>();

@Injectable()
class Listener implements ErrorListener {
  onError(error: unknown, context: ErrorContext): void {
    told.push([(error as Error).message, context, storage.getStore()]);
  }
}

const logger: LoggerService = {
  log: () => undefined,
  warn: () => undefined,
  error: (...given: unknown[]) => {
    logged.push(given);
  },
};

let started: StartedApp | undefined;

type Middleware = (
  request: { headers: Record<string, unknown> },
  response: unknown,
  next: (error?: unknown) => void,
) => void;

async function start(settings: Partial<AppSettings> = {}): Promise<StartedApp> {
  const { configure, ...others } = settings;
  const store: Middleware = (request, _response, next) => {
    storage.run(String(request.headers['x-request-id']), next);
  };
  started = await startApp({
    entities: [Doc, Intercepted, Denied, Naming],
    controllers: [DocController],
    providers: [Listener],
    restify: { onError: Listener },
    nest: { logger },
    undescribed: 'all',
    compare: false,
    configure: (app) => {
      app.use(store);
      configure?.(app);
    },
    ...others,
  });
  return started;
}

afterEach(async () => {
  await started?.close();
  [started, told, logged] = [undefined, [], []];
});

const AS_ADA = `Basic ${Buffer.from('ada:pw').toString('base64')}`;
const headers = { 'X-Request-Id': 'r-1', Authorization: AS_ADA };
const REQUEST_ID = PLATFORM === 'fastify' ? expect.stringMatching(/^req-/) : 'r-1';

describe('onError', () => {
  test('gets the error and its request, for operations with and without Nest, actions and the index, once each', async () => {
    const { client, dataSource } = await start();
    await client.post('/rest/v1/listen/doc/', { title: 'a' });
    await dataSource.query('ALTER TABLE listen_doc RENAME TO away');
    await dataSource.query('DROP TABLE listen_intercepted');
    expect((await client.get('/rest/v1/listen/doc/1/?fields=a', { headers })).status).toBe(500);
    expect((await client.get('/rest/v1/listen/intercepted/', { headers })).status).toBe(500);
    await dataSource.query('ALTER TABLE away RENAME TO listen_doc');
    expect((await client.post('/rest/v1/listen/doc/1/fail/', undefined, { headers })).status).toBe(500);
    expect((await client.get('/rest/v1/listen/nothing/', { headers })).status).toBe(404);
    expect((await client.get('/rest/v1/listen/doc/9/', { headers })).status).toBe(404);
    expect(told).toEqual([
      [
        expect.stringContaining('no such table'),
        {
          status: 500,
          method: 'GET',
          path: '/rest/v1/listen/doc/1/',
          route: '/rest/v1/listen/doc/:pk',
          model: 'listen.doc',
          operation: 'retrieve',
          actor: { name: 'ada' },
          requestId: REQUEST_ID,
          request: expect.anything(),
        },
        'r-1',
      ],
      [
        expect.stringContaining('no such table'),
        expect.objectContaining({ operation: 'list', model: 'listen.intercepted', status: 500 }),
        'r-1',
      ],
      [
        'The action has failed',
        expect.objectContaining({
          route: '/rest/v1/listen/doc/:pk/fail',
          operation: 'fail',
          actor: { name: 'ada' },
        }),
        'r-1',
      ],
    ]);
  });

  test('the log has the error itself, its model and its operation', async () => {
    const { client } = await start();
    await client.post('/rest/v1/listen/doc/', { title: 'a' });
    await client.post('/rest/v1/listen/doc/1/fail/');
    expect(logged).toEqual([
      [expect.any(TypeError), 'POST /rest/v1/listen/doc/1/fail/ failed (listen.doc, fail)', 'Restify'],
    ]);
  });

  test('gets what breaks off a list, without a status', async () => {
    const { client, dataSource } = await start();
    const titles = [...Array.from({ length: 3000 }, () => 'a'), 'unreadable'];
    await dataSource
      .createQueryBuilder()
      .insert()
      .into(Doc)
      .values(titles.map((title) => ({ title })))
      .execute();
    await expect(client.get('/rest/v1/listen/doc/', { headers })).rejects.toThrow();
    expect(told).toEqual([
      ['This row cannot be read', expect.objectContaining({ status: undefined, operation: 'list' }), 'r-1'],
    ]);
  });

  test('gets what an interceptor throws behind the response, without a status', async () => {
    const late: NestInterceptor = {
      intercept: (_context, next) =>
        next.handle().pipe(
          map(() => {
            throw new Error('too late');
          }),
        ),
    };
    const { client } = await start({
      configure: (app) => {
        app.useGlobalInterceptors(late);
      },
    });
    expect((await client.get('/rest/v1/listen/doc/')).status).toBe(200);
    expect(told.map(([message, { status }]) => [message, status])).toEqual([['too late', undefined]]);
  });

  test('gets errors that change no response', async () => {
    const { client } = await start();
    expect((await client.post('/rest/v1/listen/naming/', { denied: 1 }, { headers })).json).toEqual({
      denied: ['Invalid pk "1" - object does not exist.'],
    });
    expect(told).toEqual([
      [
        'The permission has failed',
        expect.objectContaining({
          status: undefined,
          method: 'GET',
          route: '/rest/v1/listen/naming',
          requestId: REQUEST_ID,
        }),
        'r-1',
      ],
    ]);
    expect(logged).toEqual([
      [expect.any(Error), expect.stringMatching(/^A permission of listen.denied failed/), 'Restify'],
    ]);
  });

  test('is not awaited, and what it throws is logged', async () => {
    const failing = {
      onError: (_error: unknown, { operation }: ErrorContext): Promise<void> => {
        if (operation === 'fail') throw new Error('thrown at once');
        return Promise.reject(new Error('rejected'));
      },
    };
    const { client, dataSource } = await start({ providers: [{ provide: Listener, useValue: failing }] });
    await client.post('/rest/v1/listen/doc/', { title: 'a' });
    expect((await client.post('/rest/v1/listen/doc/1/fail/')).status).toBe(500);
    await dataSource.query('DROP TABLE listen_intercepted');
    expect((await client.get('/rest/v1/listen/intercepted/')).status).toBe(500);
    expect(logged.map(([error]) => (error as Error).message)).toEqual([
      'The action has failed',
      'thrown at once',
      expect.stringContaining('no such table'),
      'rejected',
    ]);
  });

  test('is a class of the default scope with the method', async () => {
    @Injectable({ scope: Scope.REQUEST })
    class Scoped extends Listener {}
    class Without {
      readonly name = 'without';
    }
    const settings = { entities: [Intercepted], providers: [] };
    expect(await problemsOf({ ...settings, restify: { onError: Scoped } })).toEqual([
      expect.stringMatching(/^Scoped: it is created for each request/),
    ]);
    expect(await problemsOf({ ...settings, restify: { onError: Without as never } })).toEqual([
      'onError: Without: it has no method onError. Name a class that implements ErrorListener.',
    ]);
    expect(await problemsOf({ ...settings, restify: { onError: new Listener() as never } })).toEqual([
      "RestifyModule.forRoot('rest/v1').onError: an object is not a class. Write the class itself, and no instance of it.",
    ]);
  });
});

/** Fastify's hook, as far as it is used here. */
interface Hooks {
  addHook(
    name: 'preHandler',
    hook: (request: unknown, reply: Reply, done: (error?: unknown) => void) => void,
  ): void;
}

interface Reply {
  header(name: string, value: string): void;
}

/** Throws before the routes: in middleware of Express, in a hook of Fastify. */
function throwBefore(app: INestApplication, error: object): void {
  if (PLATFORM === 'fastify')
    (app.getHttpAdapter().getInstance() as Hooks).addHook('preHandler', (_request, reply, done) => {
      reply.header('x-from', 'hook');
      done(error);
    });
  else
    app.use(((_request, response, next) => {
      (response as { setHeader: Reply['header'] }).setHeader('x-from', 'hook');
      next(error);
    }) satisfies Middleware);
}

describe('errors of others', () => {
  const cases: readonly (readonly [title: string, error: object, status: number, detail: string])[] = [
    ['a rate limit', { statusCode: 429, message: 'Rate limit exceeded' }, 429, 'Rate limit exceeded'],
    ['a status alone', { status: 402, message: 'Pay first' }, 402, 'Pay first'],
    ['a FastifyError', { statusCode: 503, code: 'FST_UNDER_PRESSURE', message: 'Busy' }, 503, 'Busy'],
    ['a text that is hidden', { statusCode: 403, expose: false, message: 'secret' }, 403, 'Forbidden'],
    ['a status from 500', { statusCode: 502, message: 'secret' }, 502, 'A server error occurred.'],
    ['no status', { message: 'secret' }, 500, 'A server error occurred.'],
    ['an odd status', { statusCode: 200, message: 'secret' }, 500, 'A server error occurred.'],
  ];

  test.each(cases)('before the routes keep their status: %s', async (_title, error, status, detail) => {
    const { client } = await start({
      configure: (app) => {
        throwBefore(
          app,
          Object.assign(new Error(), error, { headers: { 'Retry-After': 7, 'Content-Length': 1 } }),
        );
      },
    });
    const response = await client.get('/rest/v1/listen/intercepted/');
    expect(response).toMatchObject({ status, json: { detail }, headers: { 'x-from': 'hook' } });
    if (status !== 500) expect(response.headers['retry-after']).toBe('7');
    expect(told).toHaveLength(status >= 500 ? 1 : 0);
  });

  test('of services, actions and permissions are 500: their text is not for the caller', async () => {
    const { client } = await start();
    const response = await client.get('/rest/v1/listen/doc/sdk/');
    expect(response).toMatchObject({ status: 500, json: { detail: 'A server error occurred.' } });
    expect(told).toHaveLength(1);
  });

  test.each(['', '?status=NaN', '?status=100', '?status=999'])(
    'whose status ends no response are 500: %s',
    async (query) => {
      const { client } = await start();
      expect(await client.get(`/rest/v1/listen/doc/upstream/${query}`)).toMatchObject({
        status: 500,
        json: { detail: 'A server error occurred.' },
      });
      expect(told.map(([message, { status }]) => [message, status])).toEqual([['secret', 500]]);
    },
  );
});
