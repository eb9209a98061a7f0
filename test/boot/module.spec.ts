// @tags db nest
import {
  Controller,
  Get,
  Global,
  HttpException,
  Injectable,
  Module,
  NotFoundException,
  Post,
  Req,
  UnauthorizedException,
  ValidationPipe,
  VersioningType,
  Body,
  Catch,
} from '@nestjs/common';
import type {
  ArgumentsHost,
  CallHandler,
  CanActivate,
  ExceptionFilter,
  ExecutionContext,
  MiddlewareConsumer,
  NestInterceptor,
  NestMiddleware,
  NestModule,
} from '@nestjs/common';
import { APP_FILTER, APP_GUARD, APP_INTERCEPTOR, APP_PIPE, NestFactory } from '@nestjs/core';
import { ExpressAdapter } from '@nestjs/platform-express';
import { Test } from '@nestjs/testing';
import { TypeOrmModule } from '@nestjs/typeorm';
import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { FieldFilter, isRestException, Restify, RestifyModule, restify } from 'nestjs-restify';
import type * as Library from 'nestjs-restify';
import type { FilterBackend, FilterResult } from 'nestjs-restify';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { map } from 'rxjs';
import type { Observable } from 'rxjs';
import { Column, DataSource, Entity, ManyToOne, OneToMany, PrimaryGeneratedColumn } from 'typeorm';
import type { Relation } from 'typeorm';
import type { Answer } from '../support/client.js';
import { onEachDatabase } from '../support/each-database.js';
import { startApp } from '../support/start-app.js';
import { WORLD } from '../support/world.js';
import { refusal } from './refused-start.js';
import { listening, MEMORY, memory, rootModule, startModules } from './start-modules.js';
import type { RunningApp } from './start-modules.js';

@Restify()
@Entity()
class Topic {
  @PrimaryGeneratedColumn()
  id: number;

  @Column()
  title: string;

  @OneToMany(() => Reply, (reply) => reply.topic)
  replies: Relation<Reply[]>;
}

@Restify('forum')
@Entity()
class Reply {
  @PrimaryGeneratedColumn()
  id: number;

  @Column()
  text: string;

  @ManyToOne(() => Topic, (topic) => topic.replies, { nullable: false })
  topic: Relation<Topic>;
}

@Restify('stock')
@Entity()
class Crate {
  @PrimaryGeneratedColumn()
  id: number;

  @Column()
  content: string;
}

const CRATE = { id: 1, content: 'apples' };
const NOT_FOUND = { detail: 'Not found.' };

function nestNotFound(path: string, method = 'GET'): object {
  return { message: `Cannot ${method} ${path}`, error: 'Not Found', statusCode: 404 };
}

function statusAndBody({ status, json }: Answer): readonly unknown[] {
  return [status, json];
}

/** Headers of contract 7.1 as an answer has them; undefined where it has them not. */
function contractHeaders({ headers }: Answer): readonly unknown[] {
  return [
    'allow',
    'cross-origin-opener-policy',
    'referrer-policy',
    'x-content-type-options',
    'x-frame-options',
  ].map((name) => headers[name]);
}

function ourHeaders(allow: string): readonly unknown[] {
  return [allow, 'same-origin', 'same-origin', 'nosniff', 'DENY'];
}

const NO_HEADERS = [undefined, undefined, undefined, undefined, undefined];

const HANDLES = ['TCPServerWrap', 'TCPSocketWrap', 'Timeout', 'Immediate'] as const;

// The first block, so that what others leave to the garbage collector hides nothing here.
onEachDatabase('closing the application', (database) => {
  test('leaves no server, no connection and no timer behind', async () => {
    const before = openHandles();
    const started = await startApp({ entities: [Crate], database });
    const { app, client, dataSource } = started;
    const headers = { connection: 'close' };
    const created = await client.post('/rest/v1/stock/crate/', { content: 'apples' }, { headers });
    await Promise.all(Array.from({ length: 5 }, () => client.get('/rest/v1/stock/crate/', { headers })));
    await started.close();
    const left = await leftOver(before);
    expect(statusAndBody(created)).toEqual([201, CRATE]);
    expect([dataSource.isInitialized, (app.getHttpServer() as { listening: boolean }).listening]).toEqual([
      false,
      false,
    ]);
    expect(left).toEqual([]);
  });
});

/** What would keep the process alive. */
function openHandles(): readonly string[] {
  return process.getActiveResourcesInfo();
}

/** What is open beyond `before`; a socket that is closed takes a moment to go, and one that is leaked stays. */
async function leftOver(before: readonly string[]): Promise<readonly string[]> {
  const beyond = (): readonly string[] =>
    HANDLES.filter((name) => count(openHandles(), name) > count(before, name));
  for (let waits = 0; waits < 40 && beyond().length > 0; waits++) {
    // One timer of its own is open while it waits, and none when it looks.
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  return beyond();
}

function count(names: readonly string[], name: string): number {
  return names.filter((each) => each === name).length;
}

describe('the order of imports', () => {
  @Module({ imports: [TypeOrmModule.forFeature([Topic, Reply]), RestifyModule.forFeature('talk', [Topic])] })
  class ForumModule {}

  const orm = (): ReturnType<typeof TypeOrmModule.forRoot> =>
    TypeOrmModule.forRoot({ ...MEMORY, autoLoadEntities: true });
  const late = (): ReturnType<typeof TypeOrmModule.forRoot> =>
    TypeOrmModule.forRootAsync({
      useFactory: async () => {
        await new Promise((resolve) => setTimeout(resolve, 30));
        return { ...MEMORY, autoLoadEntities: true };
      },
    });

  test.each([
    ['before TypeOrmModule', () => [RestifyModule.forRoot('rest/v1'), ForumModule, orm()]],
    ['after TypeOrmModule', () => [orm(), ForumModule, RestifyModule.forRoot('rest/v1')]],
    ['before a data source that comes late', () => [RestifyModule.forRoot('rest/v1'), late(), ForumModule]],
  ])('does not matter: %s, with labels and entities of feature modules', async (_, imports) => {
    const { app, client, origin } = await startModules({ imports: imports() });
    const answers = [
      await client.post('/rest/v1/talk/topic/', { title: 'Hello' }),
      await client.post('/rest/v1/forum/reply/', { text: 'Hi', topic: 1 }),
      await client.get('/rest/v1/talk/topic/1/replies/'),
      await client.get('/'),
    ];
    await app.close();
    expect(answers.map(statusAndBody)).toEqual([
      [201, { id: 1, title: 'Hello', replies: '/rest/v1/talk/topic/1/replies/' }],
      [201, { id: 1, text: 'Hi', topic: 1 }],
      [200, [{ id: 1, text: 'Hi', topic: 1 }]],
      [
        200,
        {
          'rest/v1/talk/topic': `${origin}/rest/v1/talk/topic/`,
          'rest/v1/forum/reply': `${origin}/rest/v1/forum/reply/`,
        },
      ],
    ]);
    expect(answers[0]?.headers.location).toBe(`${origin}/rest/v1/talk/topic/1/`);
  });

  test('does not matter where RestifyModule is imported by a feature module', async () => {
    @Module({ imports: [RestifyModule.forRoot('/rest/v1/')] })
    class ApiModule {}
    const { app, client } = await startModules({ imports: [ApiModule, memory([Crate])] });
    const created = await client.post('/rest/v1/stock/crate/', { content: 'apples' });
    await app.close();
    expect(statusAndBody(created)).toEqual([201, CRATE]);
  });
});

describe('forRootAsync', () => {
  @Injectable()
  class Config {
    get(name: 'prefix' | 'index'): string {
      return { prefix: 'configured/v3', index: 'start' }[name];
    }
  }

  @Module({ providers: [Config], exports: [Config] })
  class ConfigModule {}

  test('takes prefix and options from a factory, with what is injected into it', async () => {
    const module = RestifyModule.forRootAsync({
      imports: [ConfigModule as never],
      inject: [Config],
      useFactory: async (config: Config) => {
        await Promise.resolve();
        return { prefix: config.get('prefix'), index: config.get('index'), strict: true };
      },
    });
    const { app, client, origin } = await startModules({ imports: [module, memory([Crate])] });
    const answers = [
      await client.post('/configured/v3/stock/crate/', { content: 'apples' }),
      await client.get('/configured/v3/stock/crate/?nonsense=1'),
      await client.get('/start'),
      await client.get('/configured/v3/nothing/'),
      await client.get('/'),
    ];
    await app.close();
    expect(answers.map(statusAndBody)).toEqual([
      [201, CRATE],
      [400, { nonsense: ['Unknown parameter.'] }],
      [200, { 'configured/v3/stock/crate': `${origin}/configured/v3/stock/crate/` }],
      [404, NOT_FOUND],
      [404, nestNotFound('/')],
    ]);
  });

  test('takes the prefix beside the factory, and a named data source', async () => {
    const module = RestifyModule.forRootAsync({
      prefix: 'rest/v1',
      dataSource: 'async',
      useFactory: () => ({ index: false }),
    });
    const { app, client } = await startModules({ imports: [memory([Crate], 'async'), module] });
    const answers = [
      await client.post('/rest/v1/stock/crate/', { content: 'apples' }),
      await client.get('/'),
    ];
    await app.close();
    expect(answers.map(statusAndBody)).toEqual([
      [201, CRATE],
      [404, nestNotFound('/')],
    ]);
  });

  test('fails with the error of its factory', async () => {
    const module = RestifyModule.forRootAsync({
      prefix: 'rest/v1',
      useFactory: () => {
        throw new Error('no configuration today');
      },
    });
    await expect(startModules({ imports: [memory([Crate]), module] })).rejects.toThrow(
      'no configuration today',
    );
  });
});

describe('several prefixes', () => {
  @Injectable()
  class NothingAtAll implements FilterBackend {
    filter(): FilterResult {
      return { rows: { kind: 'never' } };
    }
  }

  let running: RunningApp;
  beforeAll(async () => {
    running = await startModules({
      imports: [
        memory([Crate]),
        RestifyModule.forRoot('rest', { strict: true }),
        RestifyModule.forRoot('rest/v2', { filterBackends: [FieldFilter] }),
        RestifyModule.forRoot('empty', { filterBackends: [NothingAtAll], index: 'elsewhere' }),
      ],
    });
    await running.client.post('/empty/stock/crate/', { content: 'apples' });
    await running.client.post('/empty/stock/crate/', { content: 'pears' });
  });
  afterAll(() => running.app.close());

  test('have options of their own, selected by the requested URL', async () => {
    const { client } = running;
    expect(statusAndBody(await client.get('/rest/stock/crate/?search=app'))).toEqual([200, [CRATE]]);
    expect(statusAndBody(await client.get('/rest/stock/crate/?nonsense=1'))).toEqual([
      400,
      { nonsense: ['Unknown parameter.'] },
    ]);
    expect(statusAndBody(await client.get('/empty/stock/crate/?nonsense=1'))).toEqual([200, []]);
    expect(statusAndBody(await client.get('/empty/stock/crate/1/'))).toEqual([200, CRATE]);
  });

  test('are served where one stands below another', async () => {
    const { client, origin } = running;
    expect(
      statusAndBody(await client.get('/rest/v2/stock/crate/?search=app&nonsense=1&content=apples')),
    ).toEqual([200, [CRATE]]);
    expect(statusAndBody(await client.get('/rest/v2/stock/crate/?search=app'))).toEqual([
      200,
      [CRATE, { id: 2, content: 'pears' }],
    ]);
    const created = await client.post('/rest/v2/stock/crate/', { content: 'plums', nonsense: 1 });
    expect([created.status, created.headers.location]).toEqual([201, `${origin}/rest/v2/stock/crate/3/`]);
    await client.delete('/rest/v2/stock/crate/3/');
    expect(statusAndBody(await client.get('/rest/v2/stock/nothing/'))).toEqual([404, NOT_FOUND]);
  });

  test('are listed together in the index, wherever one of them has put it', async () => {
    const { client, origin } = running;
    const index = Object.fromEntries(
      ['rest', 'rest/v2', 'empty'].map((prefix) => [
        `${prefix}/stock/crate`,
        `${origin}/${prefix}/stock/crate/`,
      ]),
    );
    const [atRoot, elsewhere] = [await client.get('/'), await client.get('/elsewhere/')];
    expect(statusAndBody(atRoot)).toEqual([200, index]);
    expect(statusAndBody(elsewhere)).toEqual([200, index]);
    expect(contractHeaders(atRoot)).toEqual(ourHeaders('GET, HEAD, OPTIONS'));
  });
});

describe('data sources', () => {
  @Restify('stock')
  @Entity()
  class Note {
    @PrimaryGeneratedColumn()
    id: number;

    @Column()
    text: string;
  }

  @Restify()
  @Entity()
  class Archived {
    @PrimaryGeneratedColumn()
    id: number;
  }

  test('with names serve a prefix each, and an entity in both has rows in each', async () => {
    const { app, client, origin } = await startModules({
      imports: [
        RestifyModule.forRoot('live'),
        RestifyModule.forRoot('archive', { dataSource: 'archive' }),
        memory([Crate]),
        memory([Crate, Note], 'archive'),
      ],
    });
    const answers = [
      await client.post('/live/stock/crate/', { content: 'apples' }),
      await client.get('/archive/stock/crate/'),
      await client.post('/archive/stock/note/', { text: 'old' }),
      await client.get('/live/stock/note/'),
      await client.get('/'),
    ];
    await app.close();
    expect(answers.map(statusAndBody)).toEqual([
      [201, CRATE],
      [200, []],
      [201, { id: 1, text: 'old' }],
      [404, NOT_FOUND],
      [
        200,
        Object.fromEntries(
          ['live/stock/crate', 'archive/stock/crate', 'archive/stock/note'].map((path) => [
            path,
            `${origin}/${path}/`,
          ]),
        ),
      ],
    ]);
  });

  test('get labels of a feature module each for the entities that they have', async () => {
    const { app, client } = await startModules({
      imports: [
        memory([Crate]),
        memory([Archived], 'archive'),
        RestifyModule.forRoot('live'),
        RestifyModule.forRoot('archive', { dataSource: 'archive' }),
        RestifyModule.forFeature('old', [Archived]),
      ],
    });
    const answers = [
      await client.post('/archive/old/archived/', {}),
      await client.get('/live/old/archived/'),
      await client.get('/live/stock/crate/'),
    ];
    await app.close();
    expect(answers.map(statusAndBody)).toEqual([
      [201, { id: 1 }],
      [404, NOT_FOUND],
      [200, []],
    ]);
  });

  test('that are missing refuse to start, with the repair', async () => {
    await expect(startModules({ imports: [RestifyModule.forRoot('rest/v1')] })).rejects.toThrow(
      "RestifyModule.forRoot finds no data source. Import TypeOrmModule.forRoot(…) in the application, or name yours: forRoot(prefix, { dataSource: 'name' }).",
    );
    await expect(
      startModules({
        imports: [memory([Crate]), RestifyModule.forRoot('rest/v1', { dataSource: 'archiv' })],
      }),
    ).rejects.toThrow(
      'RestifyModule.forRoot finds no data source named "archiv". Import TypeOrmModule.forRoot({ name: \'archiv\', … }), or correct the name.',
    );
    await expect(
      startModules({ imports: [memory([Crate], 'only'), RestifyModule.forRoot('rest/v1')] }),
    ).rejects.toThrow('RestifyModule.forRoot finds no data source.');
  });

  test('of the application’s own making do as well', async () => {
    @Global()
    @Module({
      providers: [
        {
          provide: DataSource,
          useFactory: () =>
            new DataSource({
              type: 'better-sqlite3',
              database: ':memory:',
              synchronize: true,
              entities: [Crate],
            }).initialize(),
        },
      ],
      exports: [DataSource],
    })
    class OwnDatabaseModule {}
    const { app, client } = await startModules({
      imports: [RestifyModule.forRoot('rest/v1'), OwnDatabaseModule],
    });
    const created = await client.post('/rest/v1/stock/crate/', { content: 'apples' });
    await app.get(DataSource).destroy();
    await app.close();
    expect(statusAndBody(created)).toEqual([201, CRATE]);
  });
});

describe('a global prefix', () => {
  @Controller('health')
  class Health {
    @Get()
    check(): string {
      return 'well';
    }
  }

  let running: RunningApp;
  beforeAll(async () => {
    running = await startModules({
      imports: [
        memory([Topic, Reply]),
        RestifyModule.forRoot('rest/v1'),
        RestifyModule.forFeature('talk', [Topic]),
      ],
      controllers: [Health],
      configure: (app) => app.setGlobalPrefix('api', { exclude: ['health'] }),
    });
  });
  afterAll(() => running.app.close());

  test('is part of every link and of Location', async () => {
    const { client, origin } = running;
    const created = await client.post('/api/rest/v1/talk/topic/', { title: 'Hello' });
    expect(statusAndBody(created)).toEqual([
      201,
      { id: 1, title: 'Hello', replies: '/api/rest/v1/talk/topic/1/replies/' },
    ]);
    expect(created.headers.location).toBe(`${origin}/api/rest/v1/talk/topic/1/`);
    expect(statusAndBody(await client.get('/api/rest/v1/talk/topic/1/replies/'))).toEqual([200, []]);
  });

  test('stands above the index, whose keys are without it', async () => {
    const { client, origin } = running;
    const index = {
      'rest/v1/talk/topic': `${origin}/api/rest/v1/talk/topic/`,
      'rest/v1/forum/reply': `${origin}/api/rest/v1/forum/reply/`,
    };
    expect(statusAndBody(await client.get('/api/'))).toEqual([200, index]);
    expect(statusAndBody(await client.get('/api'))).toEqual([200, index]);
  });

  test('stands above the JSON 404s; what is beside it is left to Nest', async () => {
    const { client } = running;
    const unknown = await client.get('/api/rest/v1/talk/nothing/');
    expect(statusAndBody(unknown)).toEqual([404, NOT_FOUND]);
    expect(contractHeaders(unknown)).toEqual(ourHeaders(''));
    const bare = await startModules({ imports: [], configure: (app) => app.setGlobalPrefix('api') });
    for (const path of ['/', '/rest/v1/talk/topic/', '/api/rest/v2/', '/api/nothing']) {
      const [beside, without] = [await client.get(path), await bare.client.get(path)];
      expect([path, beside.status, beside.text, beside.headers]).toEqual([
        path,
        404,
        without.text,
        { ...without.headers, date: expect.any(String) },
      ]);
      expect(contractHeaders(beside)).toEqual(contractHeaders(without));
    }
    await bare.app.close();
    expect((await client.get('/health')).text).toBe('well');
  });
});

describe('URI versions', () => {
  test('are part of every link and stand above the index', async () => {
    const { app, client, origin } = await startModules({
      imports: [
        memory([Topic, Reply]),
        RestifyModule.forRoot('rest'),
        RestifyModule.forFeature('talk', [Topic]),
      ],
      configure: (each) => {
        each.setGlobalPrefix('api');
        each.enableVersioning({ type: VersioningType.URI, defaultVersion: ['1', '2'] });
      },
    });
    const created = await client.post('/api/v2/rest/talk/topic/', { title: 'Hello' });
    const answers = [
      created,
      await client.get('/api/v1/rest/talk/topic/1/'),
      await client.get('/api/v2'),
      await client.get('/api/v1/rest/nothing'),
      await client.get('/api/v3/rest/talk/topic/'),
    ];
    await app.close();
    expect(created.headers.location).toBe(`${origin}/api/v2/rest/talk/topic/1/`);
    expect(answers.map(statusAndBody)).toEqual([
      [201, { id: 1, title: 'Hello', replies: '/api/v2/rest/talk/topic/1/replies/' }],
      [200, { id: 1, title: 'Hello', replies: '/api/v1/rest/talk/topic/1/replies/' }],
      [
        200,
        {
          'rest/talk/topic': `${origin}/api/v2/rest/talk/topic/`,
          'rest/forum/reply': `${origin}/api/v2/rest/forum/reply/`,
        },
      ],
      [404, NOT_FOUND],
      [404, nestNotFound('/api/v3/rest/talk/topic/')],
    ]);
  });

  test('that no controller has leave the paths as they are', async () => {
    const { app, client, origin } = await startModules({
      imports: [memory([Crate]), RestifyModule.forRoot('rest/v1')],
      configure: (each) => each.enableVersioning({ type: VersioningType.URI }),
    });
    const answers = [
      await client.post('/rest/v1/stock/crate/', { content: 'apples' }),
      await client.get('/'),
    ];
    await app.close();
    expect(answers.map(statusAndBody)).toEqual([
      [201, CRATE],
      [200, { 'rest/v1/stock/crate': `${origin}/rest/v1/stock/crate/` }],
    ]);
  });
});

describe('routes of the application', () => {
  @Controller()
  class Home {
    @Get()
    home(): string {
      return 'welcome';
    }

    @Get('other')
    other(): object {
      return { other: true };
    }
  }

  @Controller('rest/v1/custom')
  class Custom {
    @Get()
    custom(): object {
      return { custom: true };
    }

    @Get('broken')
    broken(): never {
      throw new NotFoundException('nothing of this kind');
    }

    @Post()
    echo(@Body() body: unknown): object {
      return { echo: body ?? 'nothing' };
    }
  }

  let running: RunningApp;
  beforeAll(async () => {
    running = await startModules({
      imports: [memory([Crate]), RestifyModule.forRoot('rest/v1')],
      controllers: [Home, Custom],
    });
  });
  afterAll(() => running.app.close());

  test('win at GET /, with headers of their own', async () => {
    const home = await running.client.get('/');
    expect([home.status, home.text, home.headers['x-powered-by']]).toEqual([200, 'welcome', 'Express']);
    expect(contractHeaders(home)).toEqual(NO_HEADERS);
  });

  test('below the prefix are left as they are, their errors included', async () => {
    const { client } = running;
    const answers = [
      await client.get('/rest/v1/custom'),
      await client.get('/rest/v1/custom/broken'),
      await client.post('/rest/v1/custom', { a: 1 }),
    ];
    expect(answers.map(statusAndBody)).toEqual([
      [200, { custom: true }],
      [404, { message: 'nothing of this kind', error: 'Not Found', statusCode: 404 }],
      [201, { echo: { a: 1 } }],
    ]);
    for (const answer of answers) {
      expect(contractHeaders(answer)).toEqual(NO_HEADERS);
      expect([answer.headers['content-type'], answer.headers['x-powered-by'], answer.headers.vary]).toEqual([
        'application/json; charset=utf-8',
        'Express',
        undefined,
      ]);
    }
  });

  test('below the prefix refuse a body that is no JSON as Nest does', async () => {
    const answer = await running.client.send('POST', '/rest/v1/custom', {
      raw: '{"a": ',
      headers: { 'content-type': 'application/json' },
    });
    expect([answer.status, (answer.json as { statusCode?: number }).statusCode]).toEqual([400, 400]);
    expect(contractHeaders(answer)).toEqual(NO_HEADERS);
  });

  test('elsewhere are left as they are, and so are unknown paths there', async () => {
    const { client } = running;
    const [other, unknown, malformed] = [
      await client.get('/other'),
      await client.get('/nowhere'),
      await client.send('POST', '/nowhere', {
        raw: '{"a": ',
        headers: { 'content-type': 'application/json' },
      }),
    ];
    expect(statusAndBody(other)).toEqual([200, { other: true }]);
    expect(statusAndBody(unknown)).toEqual([404, nestNotFound('/nowhere')]);
    expect(malformed.status).toBe(400);
    for (const answer of [other, unknown, malformed]) {
      expect(contractHeaders(answer)).toEqual(NO_HEADERS);
      expect(answer.headers['x-powered-by']).toBe('Express');
    }
  });

  test('leave unknown paths below the prefix to a JSON 404', async () => {
    const { client } = running;
    for (const path of [
      '/rest/v1/nothing',
      '/rest/v1/custom/nothing',
      '/rest/v1/stock/',
      '/rest/v1/stock/crates/',
    ]) {
      const answer = await client.get(path);
      expect([path, ...statusAndBody(answer)]).toEqual([path, 404, NOT_FOUND]);
      expect(contractHeaders(answer)).toEqual(ourHeaders(''));
    }
  });
});

describe('what is global in the application', () => {
  const seen: string[] = [];

  @Injectable()
  class Guard implements CanActivate {
    canActivate(context: ExecutionContext): boolean {
      const { url, headers } = context.switchToHttp().getRequest<IncomingMessage>();
      seen.push(`guard ${url ?? ''}`);
      return headers['x-refuse'] === undefined;
    }
  }

  @Injectable()
  class Enveloping implements NestInterceptor {
    intercept(_context: ExecutionContext, next: CallHandler): Observable<unknown> {
      seen.push('interceptor');
      return next.handle().pipe(map((data: unknown) => ({ enveloped: data })));
    }
  }

  @Catch()
  class CatchAll implements ExceptionFilter {
    catch(error: unknown, host: ArgumentsHost): void {
      const response = host.switchToHttp().getResponse<ServerResponse>();
      response.statusCode = error instanceof HttpException ? error.getStatus() : 500;
      response.end('caught');
    }
  }

  @Injectable()
  class Marking implements NestMiddleware {
    use(_request: IncomingMessage, response: ServerResponse, next: () => void): void {
      response.setHeader('X-Marked', 'yes');
      response.setHeader('X-Frame-Options', 'SAMEORIGIN');
      response.setHeader('Vary', 'Origin');
      next();
    }
  }

  @Controller('own')
  class Own {
    @Get()
    own(@Req() request: IncomingMessage): string {
      return request.url ?? '';
    }
  }

  @Module({})
  class MiddlewareModule implements NestModule {
    configure(consumer: MiddlewareConsumer): void {
      consumer.apply(Marking).forRoutes('*path');
    }
  }

  let running: RunningApp;
  beforeAll(async () => {
    running = await startModules({
      imports: [MiddlewareModule, memory([Crate]), RestifyModule.forRoot('rest/v1')],
      controllers: [Own],
      providers: [
        { provide: APP_GUARD, useClass: Guard },
        { provide: APP_INTERCEPTOR, useClass: Enveloping },
        { provide: APP_FILTER, useClass: CatchAll },
        {
          provide: APP_PIPE,
          useFactory: () =>
            new ValidationPipe({ whitelist: true, forbidNonWhitelisted: true, transform: true }),
        },
      ],
      configure: (app) => {
        app.useGlobalPipes(new ValidationPipe({ whitelist: true, forbidUnknownValues: true }));
      },
    });
  });
  afterAll(() => running.app.close());

  test('guards and interceptors run, and change no body', async () => {
    const { client } = running;
    seen.length = 0;
    const created = await client.post('/rest/v1/stock/crate/', { content: 'apples', unknown: true });
    expect(statusAndBody(created)).toEqual([201, CRATE]);
    expect(seen).toEqual(['guard /rest/v1/stock/crate/', 'interceptor']);
    expect(statusAndBody(await client.get('/rest/v1/stock/crate/'))).toEqual([200, [CRATE]]);
    expect(statusAndBody(await client.get('/own'))).toEqual([200, { enveloped: '/own' }]);
  });

  test('a guard that refuses is answered with one field and the headers of every response', async () => {
    const refused = await running.client.get('/rest/v1/stock/crate/', { headers: { 'x-refuse': '1' } });
    expect(statusAndBody(refused)).toEqual([403, { detail: expect.any(String) }]);
    expect(Object.keys(refused.json as object)).toEqual(['detail']);
    expect([refused.headers['content-type'], refused.headers.allow]).toEqual([
      'application/json',
      'GET, POST, HEAD, OPTIONS',
    ]);
    const elsewhere = await running.client.get('/own', { headers: { 'x-refuse': '1' } });
    expect([elsewhere.status, elsewhere.text]).toEqual([403, 'caught']);
  });

  test('filters do not take the errors of generated routes, and keep their own', async () => {
    const { client } = running;
    const json = { 'content-type': 'application/json' };
    const answers = [
      await client.get('/rest/v1/stock/crate/99/'),
      await client.get('/rest/v1/nothing'),
      await client.post('/rest/v1/stock/crate/', {}),
      await client.delete('/rest/v1/stock/crate/'),
    ];
    expect(answers.map(statusAndBody)).toEqual([
      [404, NOT_FOUND],
      [404, NOT_FOUND],
      [400, { content: ['This field is required.'] }],
      [405, { detail: 'Method "DELETE" not allowed.' }],
    ]);
    const malformed = await client.send('POST', '/rest/v1/stock/crate/', { raw: '{"a": ', headers: json });
    expect(statusAndBody(malformed)).toEqual([
      400,
      { detail: expect.stringMatching(/^JSON parse error - /) },
    ]);
    const own = await client.get('/nowhere');
    expect([own.status, own.text]).toEqual([404, 'caught']);
  });

  test('middleware runs before every answer, and what it has set is kept', async () => {
    const { client } = running;
    for (const path of ['/rest/v1/stock/crate/', '/rest/v1/stock/crate/99/', '/rest/v1/nothing']) {
      const { headers } = await client.get(path);
      expect([
        path,
        headers['x-marked'],
        headers['x-frame-options'],
        headers.vary,
        headers['referrer-policy'],
      ]).toEqual([path, 'yes', 'SAMEORIGIN', 'Origin, Accept, Cookie', 'same-origin']);
    }
    expect((await client.get('/own')).headers['x-marked']).toBe('yes');
  });
});

describe('middleware that refuses', () => {
  @Injectable()
  class Stopping implements NestMiddleware {
    use(): void {
      throw new UnauthorizedException('stopped by a middleware');
    }
  }

  @Module({})
  class StoppingModule implements NestModule {
    configure(consumer: MiddlewareConsumer): void {
      consumer.apply(Stopping).forRoutes('*path');
    }
  }

  test('is answered with the headers of every error on these URLs', async () => {
    const { app, client } = await startModules({
      imports: [StoppingModule, memory([Crate]), RestifyModule.forRoot('rest/v1')],
    });
    const refused = await client.get('/rest/v1/stock/crate/');
    await app.close();
    expect([refused.status, contractHeaders(refused)]).toEqual([401, ourHeaders('GET, POST, HEAD, OPTIONS')]);
    // Nest answers for a middleware before any filter of a controller: the body is its own.
    expect(refused.json).toMatchObject({ message: 'stopped by a middleware' });
  });
});

const PARCEL_HEAD = {
  esm: `import { Restify } from 'nestjs-restify';
import { Column, Entity, PrimaryGeneratedColumn } from 'typeorm';

export class Parcel {}`,
  cjs: `const { Restify } = require('nestjs-restify');
const { Column, Entity, PrimaryGeneratedColumn } = require('typeorm');

class Parcel {}
exports.Parcel = Parcel;`,
};

describe('entities that only a pattern of files names', () => {
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'restify-glob-'));
    await symlink(join(WORLD.directory, 'node_modules'), join(folder, 'node_modules'), 'dir');
    await writeFile(
      join(folder, WORLD.format === 'esm' ? 'parcel.entity.mjs' : 'parcel.entity.cjs'),
      `${PARCEL_HEAD[WORLD.format]}
PrimaryGeneratedColumn({ type: 'integer' })(Parcel.prototype, 'id');
Column({ type: 'varchar' })(Parcel.prototype, 'content');
Entity()(Parcel);
Restify('post')(Parcel);
`,
    );
  });
  afterAll(() => rm(folder, { recursive: true }));

  const settings = (): Parameters<typeof startApp>[0] => ({
    entities: [],
    dataSource: { entities: [join(folder, '*.entity.{mjs,cjs}')] },
  });

  test('refuse to start with the repair, and start where the application has imported them', async () => {
    const error = await refusal(settings());
    expect(error.problems).toEqual([
      {
        where: 'Parcel',
        what: 'its file was loaded after the modules were scanned, as happens if the data source finds entities by a file pattern',
        repair:
          'Import Parcel from a file of the application, or list the class in TypeOrmModule.forFeature([Parcel]) with autoLoadEntities.',
      },
    ]);
    const started = await startApp(settings());
    const { client } = started;
    const created = await client.post('/rest/v1/post/parcel/', { content: 'books' });
    await started.close();
    expect(statusAndBody(created)).toEqual([201, { id: 1, content: 'books' }]);
  });
});

describe('ways to make the application', () => {
  test('include @nestjs/testing', async () => {
    const module = await Test.createTestingModule({
      imports: [RestifyModule.forRoot('rest/v1'), memory([Crate])],
    }).compile();
    const { app, client, origin } = await listening(module.createNestApplication({ logger: false }));
    const answers = [
      await client.post('/rest/v1/stock/crate/', { content: 'apples' }),
      await client.get('/'),
      await client.get('/rest/v1/nothing'),
    ];
    await app.close();
    expect(answers.map(statusAndBody)).toEqual([
      [201, CRATE],
      [200, { 'rest/v1/stock/crate': `${origin}/rest/v1/stock/crate/` }],
      [404, NOT_FOUND],
    ]);
  });

  test('include one application mounted in another, whose links name where it stands', async () => {
    const inner = (
      await Test.createTestingModule({
        imports: [
          rootModule({
            imports: [
              memory([Topic, Reply]),
              RestifyModule.forRoot('rest/v1'),
              RestifyModule.forFeature('talk', [Topic]),
            ],
          }),
        ],
      }).compile()
    ).createNestApplication({ logger: false });
    await inner.init();
    const { app, client, origin } = await startModules({
      imports: [memory([Crate]), RestifyModule.forRoot('rest/v1')],
      configure: (outer) => outer.use('/inner', inner.getHttpAdapter().getInstance() as () => void),
    });
    const created = await client.post('/inner/rest/v1/talk/topic/', { title: 'Hello' });
    const answers = [
      created,
      await client.get('/inner/'),
      await client.get('/inner/rest/v1/nothing'),
      await client.post('/rest/v1/stock/crate/', { content: 'apples' }),
      await client.get('/'),
      await client.get('/rest/v1/talk/topic/'),
    ];
    await app.close();
    await inner.close();
    expect(created.headers.location).toBe(`${origin}/inner/rest/v1/talk/topic/1/`);
    expect(answers.map(statusAndBody)).toEqual([
      [201, { id: 1, title: 'Hello', replies: '/inner/rest/v1/talk/topic/1/replies/' }],
      [
        200,
        {
          'rest/v1/talk/topic': `${origin}/inner/rest/v1/talk/topic/`,
          'rest/v1/forum/reply': `${origin}/inner/rest/v1/forum/reply/`,
        },
      ],
      [404, NOT_FOUND],
      [201, CRATE],
      [200, { 'rest/v1/stock/crate': `${origin}/rest/v1/stock/crate/` }],
      [404, NOT_FOUND],
    ]);
  });
});

test('an application on another HTTP adapter does not start, and the error names the supported ones', async () => {
  class HyperAdapter extends ExpressAdapter {
    override getType(): string {
      return 'hyper';
    }
  }
  @Module({ imports: [memory([Crate]), RestifyModule.forRoot('rest/v1')] })
  class AppModule {}
  const app = await NestFactory.create(AppModule, new HyperAdapter(), { logger: false, abortOnError: false });
  await expect(app.init()).rejects.toThrow(
    'nestjs-restify serves Express and Fastify applications, and this one has an HTTP adapter of type "hyper". Create it with @nestjs/platform-express or @nestjs/platform-fastify.',
  );
  await app.close();
});

describe('two copies of the package in one process', () => {
  test('share their declarations and recognize each other’s errors', async () => {
    let copy: typeof Library | undefined;
    await jest.isolateModulesAsync(async () => {
      copy = await import('nestjs-restify');
    });
    if (!copy) throw new Error('no copy');
    const { InvalidInput, Restify: RestifyOfCopy } = copy;
    expect(RestifyOfCopy).not.toBe(Restify);
    expect(isRestException(InvalidInput.of('content', 'no'))).toBe(true);

    @Injectable()
    class Refusing implements FilterBackend {
      filter(): FilterResult {
        throw InvalidInput.of('content', 'refused by a copy');
      }
    }

    @RestifyOfCopy({ app: 'copied', filterBackends: [Refusing] })
    @Entity()
    class Copied {
      @PrimaryGeneratedColumn()
      id: number;
    }

    const started = await startApp({ entities: [Copied] });
    const { client } = started;
    const answers = [
      await client.post('/rest/v1/copied/copied/', {}),
      await client.get('/rest/v1/copied/copied/'),
    ];
    await started.close();
    expect(answers.map(statusAndBody)).toEqual([
      [201, { id: 1 }],
      [400, { content: ['refused by a copy'] }],
    ]);
    restify(Copied, { app: 'copied' });
    const again = await startApp({ entities: [Copied] });
    const listed = await again.client.get('/rest/v1/copied/copied/');
    await again.close();
    expect(statusAndBody(listed)).toEqual([200, []]);
  });
});
