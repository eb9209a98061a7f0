// @tags http nest
import { expect, test } from '@jest/globals';
import { Controller, Get, Injectable, UnauthorizedException, VersioningType } from '@nestjs/common';
import type { CanActivate, INestApplication } from '@nestjs/common';
import {
  Action,
  AllowAny,
  NestedAction,
  ONE_TO_MANY_LIST_ACTION,
  PageNumberPagination,
  Restify,
  RestifyController,
  RestifyModule,
  RestifyOpenApi,
  RestifyUrls,
} from 'nestjs-restify';
import { Column, Entity, ManyToOne, OneToMany, PrimaryGeneratedColumn } from 'typeorm';
import type { Relation } from 'typeorm';
import { startApp } from '../support/start-app.js';
import type { StartedApp } from '../support/start-app.js';

@Restify({ app: 'polls', pagination: new PageNumberPagination({ pageSize: 1 }) })
@Entity('gv_question')
class Question {
  @PrimaryGeneratedColumn() id: number;
  @Column() text: string;
  @OneToMany(() => Choice, (choice) => choice.question) choices: Relation<Choice[]>;
}

@Restify({ app: 'polls' })
@Entity('gv_choice')
class Choice {
  @PrimaryGeneratedColumn() id: number;
  @ManyToOne(() => Question, (question) => question.choices) question: Relation<Question>;
}

@Controller('health')
class Health {
  @Get()
  health(): object {
    return { fine: true };
  }
}

async function startedWith(
  prefixes: readonly string[],
  configure: (app: INestApplication) => void,
): Promise<StartedApp & { readonly told: readonly string[] }> {
  const told: string[] = [];
  const logger = {
    log: (text: string, context?: string) => {
      if (context === 'Restify') told.push(text);
    },
    warn: () => undefined,
    error: () => undefined,
  };
  const started = await startApp({
    entities: [Question, Choice],
    controllers: [Health],
    restifyModules: prefixes.map((prefix) => RestifyModule.forRoot(prefix, { permissions: [AllowAny] })),
    configure,
    nest: { logger },
  });
  return { ...started, told };
}

/** As many applications have it: `/api/v1/…` for all that is there. */
function apiV1(app: INestApplication): void {
  app.setGlobalPrefix('api');
  app.enableVersioning({ type: VersioningType.URI, defaultVersion: '1' });
}

test('the empty prefix is directly below a global prefix and a version in the path', async () => {
  const started = await startedWith([''], apiV1);
  const { client, told, app } = started;
  expect(told).toEqual(['2 models below /api/v1/']);
  const made = await client.post('/api/v1/polls/question/', { text: 'Up?' });
  const host = `http://127.0.0.1:${started.port}`;
  expect([made.status, made.headers.location]).toEqual([201, `${host}/api/v1/polls/question/1/`]);
  expect(made.json).toEqual({ id: 1, text: 'Up?', choices: '/api/v1/polls/question/1/choices/' });
  expect((await client.get('/api/v1/polls/question/1/choices/')).json).toEqual([]);
  await client.post('/api/v1/polls/question', { text: 'Down?' });
  expect((await client.get('/api/v1/polls/question/')).json).toMatchObject({
    count: 2,
    next: `${host}/api/v1/polls/question/?page=2`,
  });
  expect((await client.get('/api/v1/')).json).toEqual({
    'polls/question': `${host}/api/v1/polls/question/`,
    'polls/choice': `${host}/api/v1/polls/choice/`,
  });
  expect((await client.get('/api/v1/health')).json).toEqual({ fine: true });
  expect((await client.get('/api/v1/polls/question/9/')).json).toEqual({ detail: 'Not found.' });
  expect((await client.patch('/api/v1/polls/question/1/', { text: '' })).status).toBe(400);
  expect((await client.put('/api/v1/polls/question/')).status).toBe(405);
  for (const path of [
    '/polls/question/',
    '/api/polls/question/',
    '/v1/polls/question/',
    '/api/v2/polls/question/',
  ])
    expect((await client.get(path)).status).toBe(404);
  expect(app.get(RestifyUrls).reverse('polls_question-detail', { pk: 1 })).toBe('/api/v1/polls/question/1/');
  const document = app
    .get(RestifyOpenApi)
    .extend({ openapi: '3.1.0', info: { title: 'T', version: '1' }, paths: {} });
  expect(Object.keys(document.paths)).toContain('/api/v1/polls/question/{pk}');
  await started.close();
});

test('every prefix is logged at start with the path before it', async () => {
  const started = await startedWith(['rest/v1', 'admin'], apiV1);
  expect(started.told).toEqual(['2 models below /api/v1/rest/v1/, 2 models below /api/v1/admin/']);
  expect((await started.client.get('/api/v1/rest/v1/polls/choice/')).json).toEqual([]);
  await started.close();
});

test('several versions are all logged, and a version in a header is no part of a path', async () => {
  const several = await startedWith(['rest'], (app) => {
    app.enableVersioning({ type: VersioningType.URI, defaultVersion: ['1', '2'] });
  });
  expect(several.told).toEqual(['2 models below /v1/rest/ and /v2/rest/']);
  for (const version of ['v1', 'v2'])
    expect((await several.client.get(`/${version}/rest/polls/choice/`)).status).toBe(200);
  await several.close();
  const plain = await startedWith(['rest'], () => undefined);
  expect(plain.told).toEqual(['2 models below /rest/']);
  await plain.close();
});

@Entity()
class Undeclared {
  @PrimaryGeneratedColumn()
  id: number;
}

test('a prefix without a model is warned of at start, with the usual reasons', async () => {
  const warned: string[] = [];
  const started = await startApp({
    entities: [Undeclared],
    restifyModules: [RestifyModule.forRoot('rest/v1')],
    nest: {
      logger: {
        log: () => undefined,
        error: () => undefined,
        warn: (text: string, context?: string) => {
          if (context === 'Restify') warned.push(text);
        },
      },
    },
  });
  expect(warned).toEqual([
    '0 models below /rest/v1/. No entity of the data source has @Restify. With autoLoadEntities, list entities in' +
      ' TypeOrmModule.forFeature([…]); a file of which only types are imported is not loaded.',
  ]);
  expect((await started.client.get('/')).json).toEqual({});
  await started.close();
});

@Injectable()
class Nobody implements CanActivate {
  canActivate(): boolean {
    throw new UnauthorizedException();
  }
}

@Restify('hv')
@Entity('hv_open')
class HvOpen {
  @PrimaryGeneratedColumn() id: number;
  @OneToMany(() => HvGuarded, (guarded) => guarded.open) guarded: Relation<HvGuarded[]>;
}

@Restify({ app: 'hv', guards: [Nobody] })
@Entity('hv_guarded')
class HvGuarded {
  @PrimaryGeneratedColumn() id: number;
  @ManyToOne(() => HvOpen, (open) => open.guarded) open: Relation<HvOpen>;
}

@RestifyController(HvOpen)
class HvOpens {
  @Action({ detail: false })
  told(): object {
    return {};
  }

  @NestedAction(ONE_TO_MANY_LIST_ACTION, 'guarded')
  guarded(): object {
    return [];
  }
}

test('a request for another version is answered alike by every method, OPTIONS included', async () => {
  const started = await startApp({
    entities: [HvOpen, HvGuarded],
    controllers: [HvOpens],
    restifyModules: [RestifyModule.forRoot('rest', { permissions: [AllowAny] })],
    configure: (app) =>
      app.enableVersioning({ type: VersioningType.HEADER, header: 'x-version', defaultVersion: '1' }),
    undescribed: 'all',
  });
  const { client } = started;
  for (const headers of [{}, { 'x-version': '2' }] as Record<string, string>[])
    for (const method of ['GET', 'HEAD', 'OPTIONS'])
      for (const [path, status] of [
        ['/rest/hv/hvopen/told/', 404],
        ['/rest/hv/hvopen/1/', 404],
        ['/rest/hv/hvopen/1/guarded/', 401],
        ['/rest/hv/hvguarded/', 401],
      ] as const) {
        const answer = await client.send(method, path, { headers });
        expect([method, path, answer.status, answer.headers['content-type']]).toEqual([
          method,
          path,
          status,
          'application/json',
        ]);
      }
  const headers = { 'x-version': '1' };
  expect((await client.send('OPTIONS', '/rest/hv/hvopen/told/', { headers })).status).toBe(200);
  expect((await client.send('OPTIONS', '/rest/hv/hvopen/1/guarded/', { headers })).status).toBe(401);
  await started.close();
});
