// @tags http nest
// Interceptors that respond in place of the handler: maintenance, caches.
import { Injectable, UseInterceptors } from '@nestjs/common';
import type { CallHandler, ExecutionContext, INestApplication, NestInterceptor } from '@nestjs/common';
import { APP_INTERCEPTOR } from '@nestjs/core';
import { afterEach, describe, expect, test } from '@jest/globals';
import { Action, ResourceController, Restify, RestifyController } from 'nestjs-restify';
import { EMPTY, from, map, of } from 'rxjs';
import type { Observable } from 'rxjs';
import { Column, Entity, PrimaryGeneratedColumn } from 'typeorm';
import { startApp } from '../support/start-app.js';
import type { AppSettings, StartedApp } from '../support/start-app.js';

@Restify('substitute')
@Entity('substitute_book')
class Book {
  @PrimaryGeneratedColumn()
  id: number;

  @Column()
  title: string;
}

@Restify('substitute')
@Entity('substitute_film')
class Film {
  @PrimaryGeneratedColumn()
  id: number;

  @Column()
  title: string;
}

let called = 0;

/** What `X-Answer` of the request says. */
@Injectable()
class Answering implements NestInterceptor {
  intercept(context: ExecutionContext, next: CallHandler): Observable<unknown> {
    const http = context.switchToHttp();
    const { headers } = http.getRequest<{ headers: Record<string, string | undefined> }>();
    const response = http.getResponse<{ status(code: number): void }>();
    switch (headers['x-answer']) {
      case 'value':
        return of({ closed: true });
      case 'null':
        return of(null);
      case 'last':
        return from([{ first: 1 }, { last: 2 }]);
      case 'status':
        response.status(503);
        return of({ detail: 'Closed until noon.' });
      case 'undefined':
        return of(undefined);
      case 'nothing':
        return EMPTY;
      default:
        return next.handle().pipe(map((value: unknown) => value));
    }
  }
}

@RestifyController(Film)
@UseInterceptors(Answering)
class FilmController extends ResourceController<Film> {
  @Action({ detail: false, methods: ['POST'] })
  rewind(): object {
    called++;
    return { rewound: true };
  }
}

@RestifyController(Book)
class BookController extends ResourceController<Book> {
  @Action({ detail: false, methods: ['POST'] })
  burn(): object {
    called++;
    return { burnt: true };
  }
}

const errors: string[] = [];
let started: StartedApp | undefined;
afterEach(() => started?.close());

async function start(settings: Partial<AppSettings>): Promise<StartedApp> {
  called = 0;
  errors.length = 0;
  const error = (...texts: readonly unknown[]): number => errors.push(texts.map(String).join(' '));
  started = await startApp({
    entities: [Book, Film],
    controllers: [BookController, FilmController],
    compare: false,
    undescribed: 'all',
    nest: { logger: { log: () => undefined, warn: () => undefined, error } },
    ...settings,
  });
  return started;
}

const GLOBAL: readonly (readonly [string, Partial<AppSettings>])[] = [
  [
    'useGlobalInterceptors',
    { configure: (app: INestApplication) => void app.useGlobalInterceptors(new Answering()) },
  ],
  ['APP_INTERCEPTOR', { providers: [{ provide: APP_INTERCEPTOR, useClass: Answering }] }],
];
const CASES: readonly (readonly [string, 'book' | 'film', Partial<AppSettings>])[] = [
  ...GLOBAL.map(([name, settings]) => [`by ${name}`, 'book', settings] as const),
  ['of its class', 'film', {}],
];

describe.each(CASES)('an interceptor %s that does not call the handler', (_, model, settings) => {
  const LIST = `/rest/v1/substitute/${model}/`;
  const ACTION = `${LIST}${model === 'book' ? 'burn' : 'rewind'}/`;

  test('sends its value', async () => {
    const { client } = await start(settings);
    const asked = async (
      method: 'get' | 'post' | 'put' | 'patch' | 'delete',
      url: string,
      answer: string,
    ): Promise<unknown> => {
      const { status, json } = await client.send(method.toUpperCase(), url, {
        headers: { 'x-answer': answer },
        ...(method === 'get' || method === 'delete' ? {} : { body: { title: 'x' } }),
      });
      return [status, json];
    };
    expect(await asked('get', LIST, 'value')).toEqual([200, { closed: true }]);
    expect(await asked('get', `${LIST}1/`, 'null')).toEqual([200, null]);
    expect(await asked('get', LIST, 'last')).toEqual([200, { last: 2 }]);
    // Interceptors of a class change the value, not the status.
    expect(await asked('post', LIST, 'status')).toEqual([
      model === 'book' ? 503 : 201,
      { detail: 'Closed until noon.' },
    ]);
    expect(await asked('put', `${LIST}1/`, 'value')).toEqual([200, { closed: true }]);
    expect(await asked('delete', `${LIST}1/`, 'value')).toEqual([200, { closed: true }]);
    if (model === 'book')
      expect(await asked('post', ACTION, 'status')).toEqual([503, { detail: 'Closed until noon.' }]);
    expect(called).toBe(0);
    expect((await client.get(LIST)).json).toEqual([]);
    expect(errors).toEqual([]);
  });

  test('sends no body for HEAD', async () => {
    const { client } = await start(settings);
    const { status, text, headers } = await client.send('HEAD', LIST, {
      headers: { 'x-answer': 'value' },
    });
    expect([status, text, headers['content-type']]).toEqual([200, '', expect.stringContaining('json')]);
  });

  test('passes other requests on', async () => {
    const { client } = await start(settings);
    expect((await client.post(LIST, { title: 'x' })).status).toBe(201);
    expect(await client.get(LIST)).toMatchObject({ status: 200, json: [{ title: 'x' }] });
    expect(await client.post(ACTION, {})).toMatchObject({ status: 200 });
    expect(called).toBe(1);
    expect((await client.get(`${LIST}9/`)).status).toBe(404);
  });

  // In place of what its class returns, no value is 204, as of a method.
  if (model === 'film') return;
  test.each(['undefined', 'nothing'])('is a 500 with a reason in the log for %s', async (answer) => {
    const { client } = await start(settings);
    const { status, json } = await client.get(LIST, { headers: { 'x-answer': answer } });
    expect([status, json]).toEqual([500, { detail: 'A server error occurred.' }]);
    expect(errors).toEqual([expect.stringContaining('An interceptor has not called the handler')]);
  });
});
