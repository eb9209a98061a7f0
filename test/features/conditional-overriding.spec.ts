// @tags db http
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { Injectable } from '@nestjs/common';
import type { CallHandler, ExecutionContext, NestInterceptor } from '@nestjs/common';
import {
  Action,
  CsvRenderer,
  ParentPk,
  ModelSerializer,
  ResourceController,
  Restify,
  RestifyController,
  RestifyResources,
} from 'nestjs-restify';
import type { Representation, RepresentContext, Row } from 'nestjs-restify';
import { map } from 'rxjs';
import type { Observable } from 'rxjs';
import { Column, Entity, PrimaryGeneratedColumn, VersionColumn } from 'typeorm';
import type { Client } from '../support/client.js';
import { onEachDatabase } from '../support/each-database.js';
import { startApp } from '../support/start-app.js';
import type { StartedApp } from '../support/start-app.js';

let weather = 'sun';

@Injectable()
class Weather implements NestInterceptor {
  intercept(_context: ExecutionContext, next: CallHandler): Observable<unknown> {
    return next
      .handle()
      .pipe(
        map((value: unknown) =>
          typeof value === 'object' && value !== null && !Array.isArray(value)
            ? { ...value, weather }
            : value,
        ),
      );
  }
}

@Restify({ app: 'over', conditional: true, interceptors: [Weather] })
@Entity('over_counted')
class Counted {
  @PrimaryGeneratedColumn() id: number;
  @Column() title: string;
  @VersionColumn() version: number;
}

@Restify({ app: 'over', conditional: true, interceptors: [Weather], renderers: [new CsvRenderer()] })
@Entity('over_plain')
class Plain {
  @PrimaryGeneratedColumn() id: number;
  @Column() title: string;
}

@Restify({ app: 'over', conditional: true })
@Entity('over_replaced')
class Replaced {
  @PrimaryGeneratedColumn() id: number;
  @Column() title: string;
}

@RestifyController(Replaced)
class ReplacedController extends ResourceController<Replaced> {
  override async retrieve(request: object): Promise<object> {
    return { ...((await super.retrieve(request)) as object), weather };
  }

  override async partialUpdate(request: object): Promise<unknown> {
    await super.partialUpdate(request, { title: 'first' });
    return super.partialUpdate(request, { title: 'second' });
  }

  /** Without the generated one. */
  override destroy(): Promise<object> {
    destroyed++;
    return Promise.resolve({ kept: true });
  }

  @Action({ detail: true })
  look(@ParentPk() pk: unknown): object {
    return { pk };
  }
}

let destroyed = 0;

@Injectable()
class Loud extends ModelSerializer {
  override represent(row: Row, context: RepresentContext): Representation {
    return { ...super.represent(row, context), loud: weather };
  }
}

@Restify({ app: 'over', conditional: true, renderers: [new CsvRenderer()] })
@Entity('over_formed')
class Formed {
  @PrimaryGeneratedColumn() id: number;
  @Column() title: string;
  @VersionColumn() version: number;
}

@Restify({ app: 'over', conditional: { require: true }, serializer: Loud })
@Entity('over_serialised')
class Serialised {
  @PrimaryGeneratedColumn() id: number;
  @Column() title: string;
  @VersionColumn() version: number;
}

onEachDatabase('conditional requests beside what the application changes', (database) => {
  let started: StartedApp;
  let client: Client;

  beforeAll(async () => {
    started = await startApp({
      entities: [Counted, Plain, Replaced, Formed, Serialised],
      controllers: [ReplacedController],
      providers: [Loud],
      database,
    });
    ({ client } = started);
  });

  afterAll(() => started.close());

  const made = async (model: string): Promise<string> =>
    `/rest/v1/over/${model}/${String(((await client.post(`/rest/v1/over/${model}/`, { title: 'one' })).json as { id: number }).id)}/`;
  const tagOf = async (url: string): Promise<string> => (await client.get(url)).headers.etag ?? '';

  for (const model of ['counted', 'plain', 'replaced']) {
    test(`an interceptor of "${model}" that changes the response changes its ETag, but not If-Match`, async () => {
      weather = 'sun';
      const url = await made(model);
      const tag = await tagOf(url);
      const known = await client.get(url, { headers: { 'if-none-match': tag } });
      expect([known.status, known.text, known.headers.etag, known.headers['cache-control']]).toEqual([
        304,
        '',
        tag,
        'private, no-cache',
      ]);
      expect((await client.send('HEAD', url, { headers: { 'if-none-match': tag } })).status).toBe(304);
      weather = 'rain';
      const rain = await client.get(url, { headers: { 'if-none-match': tag } });
      expect([rain.status, (rain.json as { weather: string }).weather]).toEqual([200, 'rain']);
      expect(rain.headers.etag).not.toBe(tag);
      expect((await client.put(url, { title: 'two' }, { headers: { 'if-match': '"x"' } })).status).toBe(412);
      expect((await client.put(url, { title: 'two' }, { headers: { 'if-match': tag } })).status).toBe(200);
      expect((await client.put(url, { title: 'three' }, { headers: { 'if-match': tag } })).status).toBe(412);
      expect(
        (await client.put(url, { title: 'three' }, { headers: { 'if-match': await tagOf(url) } })).status,
      ).toBe(200);
      expect(
        (await client.put('/rest/v1/over/replaced/9999/', { title: 'x' }, { headers: { 'if-match': tag } }))
          .status,
      ).toBe(404);
    });
  }

  for (const model of ['plain', 'formed']) {
    test(`the tag of "${model}" is that of its JSON, and other forms have none`, async () => {
      const url = await made(model);
      const tag = await tagOf(url);
      for (const headers of [
        {},
        { 'if-none-match': tag },
        { 'if-none-match': '*', 'if-match': '"x"' },
      ] as readonly Readonly<Record<string, string>>[]) {
        for (const [path, accept] of [
          [url, 'text/csv'],
          [`${url}?format=csv`, '*/*'],
        ] as const) {
          const answer = await client.get(path, { headers: { accept, ...headers } });
          expect([
            answer.status,
            answer.headers.etag,
            answer.headers['cache-control'],
            answer.headers['content-type'],
          ]).toEqual([200, undefined, 'private, no-cache', expect.stringContaining('text/csv')]);
        }
      }
      expect((await client.get(url, { headers: { accept: 'text/csv, */*;q=0.1' } })).text).toContain('title');
      expect((await client.get(url, { headers: { 'if-none-match': tag } })).status).toBe(304);
    });
  }

  test('a method that writes twice by super is checked once', async () => {
    const url = await made('replaced');
    const tag = await tagOf(url);
    expect((await client.patch(url, {}, { headers: { 'if-match': '"x"' } })).status).toBe(412);
    const { status, json, headers } = await client.patch(url, {}, { headers: { 'if-match': tag } });
    expect([status, json]).toEqual([200, { id: expect.any(Number) as unknown, title: 'second' }]);
    expect((await client.patch(url, {}, { headers: { 'if-match': headers.etag ?? '' } })).status).toBe(200);
  });

  test('a method that does without super stands behind the look at the row', async () => {
    const url = await made('replaced');
    const before = destroyed;
    expect((await client.delete(url, { headers: { 'if-match': '"x"' } })).status).toBe(412);
    expect(
      (await client.delete('/rest/v1/over/replaced/9999/', { headers: { 'if-match': '*' } })).status,
    ).toBe(404);
    expect(destroyed).toBe(before);
    const { status, json, headers } = await client.delete(url, { headers: { 'if-match': await tagOf(url) } });
    expect([status, json, headers.etag, destroyed]).toEqual([200, { kept: true }, undefined, before + 1]);
    const looked = await client.get(`${url}look/`, { headers: { 'if-none-match': '*' } });
    expect([looked.status, looked.headers.etag, looked.headers['cache-control']]).toEqual([
      200,
      undefined,
      undefined,
    ]);
  });

  test('with a serializer of the application the tag depends on the content, not on the version', async () => {
    weather = 'sun';
    const url = await made('serialised');
    const tag = await tagOf(url);
    weather = 'rain';
    expect((await client.get(url, { headers: { 'if-none-match': tag } })).status).toBe(200);
    expect((await client.patch(url, { title: 'x' }, { headers: { 'if-match': tag } })).status).toBe(412);
    expect(
      (await client.patch(url, { title: 'x' }, { headers: { 'if-match': await tagOf(url) } })).status,
    ).toBe(200);
  });

  test('the application itself writes without a precondition', async () => {
    const url = await made('serialised');
    const resources = started.app.get(RestifyResources).of(Serialised).as(null);
    expect(
      await resources.partialUpdate(Number(url.split('/').at(-2)), { title: 'by itself' }),
    ).toMatchObject({ title: 'by itself' });
  });

  test('with a subscriber that changes loaded values the tag depends on the content', async () => {
    weather = 'sun';
    const url = await made('counted');
    const tag = await tagOf(url);
    const subscriber = {
      listenTo: () => Counted,
      afterLoad: (entity: Counted): void => {
        entity.title = `${entity.title} ${weather}`;
      },
    };
    started.dataSource.subscribers.push(subscriber);
    try {
      const sun = await tagOf(url);
      expect(sun).not.toBe(tag);
      expect((await client.put(url, { title: 'two' }, { headers: { 'if-match': tag } })).status).toBe(412);
      expect((await client.get(url, { headers: { 'if-none-match': sun } })).status).toBe(304);
      expect((await client.put(url, { title: 'two' }, { headers: { 'if-match': sun } })).status).toBe(200);
    } finally {
      started.dataSource.subscribers.splice(started.dataSource.subscribers.indexOf(subscriber), 1);
    }
  });
});
