// @tags http nest
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { Body, Controller, Post, UseInterceptors } from '@nestjs/common';
import type { CallHandler, ExecutionContext, NestInterceptor } from '@nestjs/common';
import {
  Action,
  NestedAction,
  ONE_TO_MANY_LIST_ACTION,
  ResourceController,
  Restify,
  RestifyController,
} from 'nestjs-restify';
import type { Observable } from 'rxjs';
import { Column, Entity, ManyToOne, OneToMany, PrimaryGeneratedColumn } from 'typeorm';
import type { Relation } from 'typeorm';
import type { Answer } from '../support/client.js';
import { PLATFORM } from '../support/platform.js';
import { startApp } from '../support/start-app.js';
import type { AppSettings, StartedApp } from '../support/start-app.js';

@Restify('proto')
@Entity('proto_item')
class Item {
  @PrimaryGeneratedColumn() id: number;
  @Column({ default: 'x' }) name: string;
  @OneToMany(() => Sub, (sub) => sub.item) subs: Relation<Sub[]>;
}

@Restify('proto')
@Entity('proto_sub')
class Sub {
  @PrimaryGeneratedColumn() id: number;
  @ManyToOne(() => Item, (item) => item.subs) item: Relation<Item>;
}

@Restify('proto')
@Entity('proto_plain')
class Plain {
  @PrimaryGeneratedColumn() id: number;
  @Column({ default: 'x' }) name: string;
}

let ran: unknown[] = [];

function run(body: unknown): Promise<object> {
  ran.push(body);
  return Promise.resolve({ text: JSON.stringify(body) });
}

@RestifyController(Item)
class ItemController extends ResourceController<Item> {
  @Action({ detail: false, methods: ['POST'] })
  act(@Body() body: unknown): Promise<object> {
    return run(body);
  }

  @NestedAction(ONE_TO_MANY_LIST_ACTION, 'subs', { methods: ['POST'] })
  subs(request: { readonly body?: unknown }): Promise<object> {
    return run(request.body);
  }

  override create(@Body() body: unknown): Promise<object> {
    return run(body);
  }

  override async partialUpdate(request: object): Promise<object> {
    return run(await super.partialUpdate(request));
  }
}

class Passing implements NestInterceptor {
  intercept(_context: ExecutionContext, next: CallHandler): Observable<unknown> {
    return next.handle();
  }
}

@RestifyController(Plain)
@UseInterceptors(Passing)
class PlainController {}

@Controller('own')
class OwnController {
  @Post()
  own(@Body() body: unknown): Promise<object> {
    return run(body);
  }
}

const ITEM = '/rest/v1/proto/item/';
const UNSAFE = [
  '{"name":"n","__proto__":{"isAdmin":true}}',
  '{"name":"n","a":[{"__proto__":null}]}',
  '{"name":"n","\\u005f_proto__":1}',
  '{"name":"n","constructor":{"prototype":{"isAdmin":true}}}',
];
const REFUSED = {
  status: 400,
  json: { detail: 'JSON parse error - Object contains forbidden prototype property' },
};

let started: StartedApp;

async function start(settings: Partial<AppSettings> = {}): Promise<void> {
  started = await startApp({
    entities: [Item, Sub, Plain],
    controllers: [ItemController, PlainController, OwnController],
    ...settings,
  });
  await started.dataSource.manager.save(Item, { id: 1 });
}

function send(method: string, path: string, raw: string): Promise<Answer> {
  return started.client.send(method, path, { raw, headers: { 'content-type': 'application/json' } });
}

const METHODS = [
  ['POST', `${ITEM}act/`],
  ['POST', `${ITEM}1/subs/`],
  ['POST', ITEM],
  ['PATCH', `${ITEM}1/`],
] as const;

beforeEach(() => {
  ran = [];
});

describe.each<readonly [string, Partial<AppSettings>]>([
  ['as it is', {}],
  ['without a body parser', { nest: { bodyParser: false } }],
])('keys that could replace a prototype, in an application %s', (_, settings) => {
  beforeAll(() => start(settings));
  afterAll(() => started.close());

  test.each(UNSAFE)('reach no method of the application: %s', async (raw) => {
    for (const [method, path] of METHODS)
      expect([path, await send(method, path, raw)]).toMatchObject([path, REFUSED]);
    expect((await send('POST', `${ITEM}9/subs/`, raw)).status).toBe(404);
    expect((await send('PATCH', `${ITEM}9/`, raw)).status).toBe(404);
    expect(ran).toEqual([]);
  });

  test.each(UNSAFE)('are ignored by generated operations, also inside of interceptors: %s', async (raw) => {
    expect(await send('POST', '/rest/v1/proto/plain/', raw)).toMatchObject({
      status: 201,
      json: { name: 'n' },
    });
    expect((await send('POST', '/rest/v1/proto/sub/', raw)).status).toBe(201);
  });

  test.each(['{"a":"__proto__"}', '{"constructor":"x"}', '{"prototype":{}}'])(
    'are not confused with other keys: %s',
    async (raw) => {
      for (const path of [`${ITEM}act/`, ITEM]) await send('POST', path, raw);
      expect(ran.map((body) => JSON.stringify(body))).toEqual([raw, raw]);
    },
  );
});

/** The options of Fastify for such keys, which Express does not have. */
const OPTIONS = [
  ['remove', '{"name":"n","__proto__":{"a":1}}', '{"name":"n"}'],
  ['ignore', '{"name":"n","__proto__":{"a":1}}', '{"name":"n","__proto__":{"a":1}}'],
  ['remove', '{"name":"n","constructor":{"prototype":{"a":1}}}', '{"name":"n"}'],
  ['ignore', '{"name":"n","constructor":{"prototype":1}}', '{"name":"n","constructor":{"prototype":1}}'],
] as const;

if (PLATFORM === 'fastify')
  describe.each(OPTIONS)('with the option %s of Fastify', (option, raw, text) => {
    beforeAll(() => start({ fastify: { onProtoPoisoning: option, onConstructorPoisoning: option } }));
    afterAll(() => started.close());

    test(`a method gets ${raw} as that of any controller`, async () => {
      for (const path of ['/own', `${ITEM}act/`, `${ITEM}1/subs/`, ITEM])
        expect([path, (await send('POST', path, raw)).json]).toEqual([path, { text }]);
    });
  });
