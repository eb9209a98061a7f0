// @tags db http
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { Injectable } from '@nestjs/common';
import type { CallHandler, INestApplication, NestInterceptor } from '@nestjs/common';
import { MinLength } from 'class-validator';
import { request } from 'node:http';
import {
  allow,
  deny,
  IdempotencyRecord,
  ModelSerializer,
  ResourceController,
  Restify,
  RestifyController,
  RestifyModule,
  where,
} from 'nestjs-restify';
import type {
  AccessContext,
  Grant,
  Permission,
  Denial,
  RepresentContext,
  Representation,
  Row,
  Write,
} from 'nestjs-restify';
import { map } from 'rxjs';
import type { Observable } from 'rxjs';
import {
  Column,
  Entity,
  EventSubscriber,
  JoinColumn,
  JoinTable,
  ManyToMany,
  ManyToOne,
  OneToMany,
  PrimaryGeneratedColumn,
  VersionColumn,
} from 'typeorm';
import type { EntitySubscriberInterface, InsertEvent, Relation } from 'typeorm';
import { documentOf } from '../openapi/document.js';
import type { PlainOperation } from '../openapi/document.js';
import type { Answer, Client, RequestOptions } from '../support/client.js';
import { onEachDatabase } from '../support/each-database.js';
import { startApp } from '../support/start-app.js';
import type { StartedApp } from '../support/start-app.js';
import { lintOpenApi } from '../support/lint-openapi.js';

type Body = Readonly<Record<string, unknown>>;

/** What permissions answer, and what hooks do; made anew before each test. */
let rules = freshRules();

interface Rules {
  grant: (question: AccessContext) => Grant | Denial;
  before: (write: Write<Order>) => Promise<unknown>;
  values: () => Promise<void>;
  readonly ran: string[];
}

function freshRules(): Rules {
  return {
    grant: () => allow(),
    before: () => Promise.resolve(),
    values: () => Promise.resolve(),
    ran: [],
  };
}

class Changing implements Permission {
  decide(question: AccessContext): Grant | Denial {
    return rules.grant(question);
  }
}

@Restify({ app: 'idem', idempotency: true, permissions: [Changing], strict: true })
@Entity('idem_order')
class Order {
  @PrimaryGeneratedColumn() id: number;
  @Column({ type: 'text' }) text: string;
  @Column({ default: 'all' }) team: string;
  @Column({ type: 'varchar', default: 'none', nullable: true }) secret: string | null;
  @ManyToOne(() => Shop, (shop) => shop.orders, { nullable: true }) shop: Relation<Shop> | null;
}

@RestifyController(Order)
class OrderController extends ResourceController<Order> {
  override async beforeWrite(write: Write<Order>): Promise<void> {
    rules.ran.push('hook');
    await rules.before(write);
  }
}

@EventSubscriber()
class Listener implements EntitySubscriberInterface {
  afterInsert({ metadata }: InsertEvent<object>): void {
    rules.ran.push(`inserted ${metadata.tableName}`);
  }

  afterLoad(entity: object): void {
    if (entity instanceof IdempotencyRecord) throw new Error('A record was loaded.');
  }
}

/** Nothing of the application has a say in it; its rows are written by one statement without a key. */
@Restify({
  app: 'idem',
  idempotency: { require: true, life: 100 },
  conditional: true,
  shape: true,
  expandable: ['shop'],
})
@Entity('idem_plain')
class Plain {
  @PrimaryGeneratedColumn() id: number;
  @Column() title: string;
  @ManyToOne(() => Shop, { nullable: true }) @JoinColumn() shop: Relation<Shop> | null;
  @VersionColumn() version: number;
}

@Restify({ app: 'idem', through: { tags: { idempotency: true } } })
@Entity('idem_shop')
class Shop {
  @PrimaryGeneratedColumn() id: number;
  @Column() name: string;
  @OneToMany(() => Order, (order) => order.shop) orders: Relation<Order[]>;
  @ManyToMany(() => Tag) @JoinTable({ name: 'idem_shop_tag' }) tags: Relation<Tag[]>;
  @ManyToMany(() => Ware)
  @JoinTable({
    name: 'idem_offer',
    joinColumn: { name: 'shopId' },
    inverseJoinColumn: { name: 'wareId' },
    synchronize: false,
  })
  wares: Relation<Ware[]>;
}

@Restify('idem')
@Entity('idem_tag')
class Tag {
  @PrimaryGeneratedColumn() id: number;
  @Column() name: string;
}

@Restify('idem')
@Entity('idem_ware')
class Ware {
  @PrimaryGeneratedColumn() id: number;
  @Column() name: string;
}

@Restify({ app: 'idem', idempotency: true })
@Entity('idem_offer')
class Offer {
  @PrimaryGeneratedColumn() id: number;
  @ManyToOne(() => Shop, { nullable: false }) shop: Relation<Shop>;
  @ManyToOne(() => Ware, { nullable: false }) ware: Relation<Ware>;
  @Column({ default: 1 }) price: number;
}

class Stamping extends ModelSerializer {
  override represent(row: Row, context: RepresentContext): Representation {
    return { ...super.represent(row, context), shownBy: rules.ran.push('represented') };
  }
}

/** What it shows is computed, and each time another one. */
@Restify({
  app: 'idem',
  idempotency: true,
  serializer: Stamping,
  computed: { loud: (note: Note) => note.text.toUpperCase() },
})
@Entity('idem_note')
class Note {
  @PrimaryGeneratedColumn() id: number;
  @MinLength(3) @Column() text: string;
}

@Injectable()
class Wrapping implements NestInterceptor {
  intercept(_: unknown, next: CallHandler): Observable<unknown> {
    rules.ran.push('around');
    return next.handle().pipe(map((value: unknown) => ({ wrapped: value })));
  }
}

@Restify({ app: 'idem', idempotency: true, interceptors: [Wrapping] })
@Entity('idem_wrapped')
class Wrapped {
  @PrimaryGeneratedColumn() id: number;
  @Column() text: string;
}

@Restify({ app: 'idem', idempotency: true })
@Entity('idem_double')
class Double {
  @PrimaryGeneratedColumn() id: number;
  @Column() text: string;
}

@RestifyController(Double)
class DoubleController extends ResourceController<Double> {
  override async create(request: object): Promise<unknown> {
    rules.ran.push('method');
    const first: unknown = await super.create(request);
    const second: unknown = await super.create(request, { text: `copy ${rules.ran.length}` });
    return [first, second];
  }
}

@Restify({ app: 'idem', idempotency: true })
@Entity('idem_slow')
class Slow {
  @PrimaryGeneratedColumn() id: number;
  @Column() text: string;
}

@RestifyController(Slow)
class SlowController extends ResourceController<Slow> {
  override async valuesOnCreate(): Promise<Record<string, never>> {
    await rules.values();
    return {};
  }
}

@Restify('idem')
@Entity('idem_off')
class Off {
  @PrimaryGeneratedColumn() id: number;
  @Column() text: string;
}

const ENTITIES = [Order, Plain, Shop, Tag, Ware, Offer, Note, Wrapped, Double, Slow, Off, IdempotencyRecord];
const ORDER = '/rest/v1/idem/order/';
const USED = { detail: 'This Idempotency-Key was sent with another request. Send a new one.' };
const RUNNING = { detail: 'A request with this Idempotency-Key has not ended yet. Try again later.' };

/** The caller is who the header says. */
function configure(app: INestApplication): void {
  const hook = (
    request: { headers: Record<string, string | undefined>; user?: object },
    _: unknown,
    next: () => void,
  ): void => {
    const name = request.headers['x-user'];
    if (name === 'nameless') request.user = { roles: [] };
    else if (name !== undefined) request.user = { username: name };
    next();
  };
  app.use(hook);
}

let keys = 0;

function freshKey(): string {
  return `key-${++keys}`;
}

function withKey(key: string, headers: Readonly<Record<string, string>> = {}): RequestOptions {
  return { headers: { 'idempotency-key': key, ...headers } };
}

beforeEach(() => {
  rules = freshRules();
});

onEachDatabase('a POST with an Idempotency-Key', (database) => {
  let started: StartedApp;
  let client: Client;
  beforeAll(async () => {
    started = await startApp({
      entities: ENTITIES,
      database,
      controllers: [OrderController, DoubleController, SlowController],
      providers: [Wrapping],
      dataSource: { subscribers: [Listener] },
      configure,
      restifyModules: [
        RestifyModule.forRoot('rest/v1'),
        RestifyModule.forRoot('other', { errorFormat: 'problem', index: false }),
      ],
    });
    ({ client } = started);
  });
  afterAll(() => started.close());

  const count = async (entity: new () => object, by: Body = {}): Promise<number> =>
    started.dataSource.getRepository(entity).countBy(by);
  const records = (): Promise<number> => started.dataSource.getRepository(IdempotencyRecord).count();
  /** Changes the claims that there are, as time would. */
  const change = async (values: Partial<IdempotencyRecord>): Promise<void> => {
    await started.dataSource
      .createQueryBuilder()
      .update(IdempotencyRecord)
      .set(values)
      .where('part >= 0')
      .callListeners(false)
      .execute();
  };
  const made = async (path: string, body: Body): Promise<number> =>
    ((await client.post(path, body)).json as { id: number }).id;
  const told = ({ status, text, headers }: Answer): readonly unknown[] => [
    status,
    text,
    headers.location,
    headers['idempotency-replayed'],
  ];
  beforeEach(async () => {
    await started.dataSource.createQueryBuilder().delete().from(IdempotencyRecord).execute();
  });

  test('is done once, and its answer given again', async () => {
    const key = freshKey();
    const first = await client.post(ORDER, { text: 'one' }, withKey(key));
    expect([first.status, first.headers['idempotency-replayed']]).toEqual([201, undefined]);
    const { id } = first.json as { id: number };
    await client.patch(`${ORDER}${id}/`, { text: 'changed' });
    for (const path of [ORDER, ORDER.slice(0, -1)])
      expect(told(await client.post(path, { text: 'one' }, withKey(key)))).toEqual([
        201,
        first.text,
        first.headers.location,
        'true',
      ]);
    await client.delete(`${ORDER}${id}/`);
    expect(told(await client.post(ORDER, { text: 'one' }, withKey(key)))).toEqual([
      201,
      first.text,
      first.headers.location,
      'true',
    ]);
    expect(await count(Order, { id })).toBe(0);
    // Nothing of the application ran for the answers that were there, nor for the table that holds them.
    expect(rules.ran.filter((each) => each.startsWith('inserted'))).toEqual(['inserted idem_order']);
  });

  test('is another request with another key, or without one', async () => {
    const answers = [
      await client.post(ORDER, { text: 'each' }, withKey(freshKey())),
      await client.post(ORDER, { text: 'each' }, withKey(freshKey())),
      await client.post(ORDER, { text: 'each' }),
      await client.post(ORDER, { text: 'each' }),
    ];
    expect(new Set(answers.map(({ json }) => (json as { id: number }).id)).size).toBe(4);
    expect(answers.map(({ status }) => status)).toEqual([201, 201, 201, 201]);
  });

  test('is done once when it comes eight times at once', async () => {
    for (const [path, entity, body] of [
      [ORDER, Order, { text: 'at once' }],
      ['/rest/v1/idem/plain/', Plain, { title: 'at once' }],
    ] as const) {
      for (let round = 0; round < 3; round++) {
        const before = await count(entity);
        const key = freshKey();
        const send = (): Promise<Answer> => client.post(path, body, withKey(key));
        const answers = await Promise.all(Array.from({ length: 8 }, send));
        const done = answers.filter(({ status }) => status === 201);
        const others = answers.filter(({ status }) => status !== 201);
        expect(new Set(done.map(({ text }) => text)).size).toBe(1);
        expect(done.filter(({ headers }) => headers['idempotency-replayed'] === undefined).length).toBe(1);
        for (const { status, json, headers } of others)
          expect([status, json, headers['retry-after']]).toEqual([409, RUNNING, '1']);
        expect((await send()).text).toBe(done[0]?.text);
        expect((await count(entity)) - before).toBe(1);
      }
    }
  });

  test('is refused with another body, and with another query', async () => {
    const key = freshKey();
    await client.post(ORDER, { text: 'one', team: 'all' }, withKey(key));
    for (const body of [{ text: 'two', team: 'all' }, { text: 'one' }, { text: ['one'], team: 'all' }, {}]) {
      const { status, json } = await client.post(ORDER, body, withKey(key));
      expect([status, json]).toEqual([422, USED]);
    }
    expect(
      (await client.post(ORDER, { team: 'all', text: 'one' }, withKey(key))).headers['idempotency-replayed'],
    ).toBe('true');
    const shaped = freshKey();
    await client.post('/rest/v1/idem/plain/', { title: 'one' }, withKey(shaped));
    expect(
      (await client.post('/rest/v1/idem/plain/?fields=id', { title: 'one' }, withKey(shaped))).status,
    ).toBe(422);
    expect(await count(Order, { text: 'two' })).toBe(0);
  });

  test('is a problem with a type of its own where the prefix has that error format', async () => {
    const key = freshKey();
    const here = await client.post(ORDER, { text: 'p' }, withKey(key));
    const there = await client.post('/other/idem/order/', { text: 'p' }, withKey(key));
    expect([there.status, there.headers['idempotency-replayed'], there.json]).toEqual([
      201,
      undefined,
      { ...(here.json as object), id: (here.json as { id: number }).id + 1 },
    ]);
    const used = await client.post('/other/idem/order/', { text: 'q' }, withKey(key));
    expect([used.status, used.headers['content-type'], used.json]).toEqual([
      422,
      'application/problem+json',
      { type: 'about:blank', title: 'Unprocessable Entity', status: 422, ...USED },
    ]);
    await change({ token: 'other', lease: Date.now() + 1000_000 });
    const running = await client.post('/other/idem/order/', { text: 'p' }, withKey(key));
    expect([running.status, running.json, running.headers['retry-after']]).toEqual([
      409,
      { type: 'about:blank', title: 'Conflict', status: 409, ...RUNNING },
      '1',
    ]);
  });

  test('S12 belongs to its caller: two users with one key have a row and an answer each', async () => {
    const key = freshKey();
    const bodies: string[] = [];
    for (const user of ['ann', 'bob', undefined]) {
      const asked = withKey(key, user === undefined ? {} : { 'x-user': user });
      const first = await client.post(ORDER, { text: 'ours' }, asked);
      expect([first.status, first.headers['idempotency-replayed']]).toEqual([201, undefined]);
      expect((await client.post(ORDER, { text: 'ours' }, asked)).text).toBe(first.text);
      bodies.push(first.text);
    }
    expect(new Set(bodies).size).toBe(3);
    // Nor does another body tell of the other's.
    expect((await client.post(ORDER, { text: 'else' }, withKey(key, { 'x-user': 'cid' }))).status).toBe(201);
  });

  test('is rejected for a caller who cannot be identified', async () => {
    const asked = withKey(freshKey(), { 'x-user': 'nameless' });
    const { status, json } = await client.post(ORDER, { text: 'x' }, asked);
    expect([status, json]).toEqual([
      400,
      { detail: 'Idempotency-Key cannot be used: nothing tells this caller from others.' },
    ]);
    expect((await client.post(ORDER, { text: 'x' }, { headers: { 'x-user': 'nameless' } })).status).toBe(201);
  });

  test('S7 is not answered again without the permission', async () => {
    const key = freshKey();
    const asked = withKey(key, { 'x-user': 'ann' });
    const body = { text: 'mine', team: 'red', secret: 'deep' };
    const first = await client.post(ORDER, body, asked);
    const again = (): Promise<Answer> => client.post(ORDER, body, asked);
    for (const grant of [
      deny(),
      allow({ rows: where('team', 'blue') }),
      allow({ rows: where('shop.name', 'none') }),
    ]) {
      rules.grant = () => grant;
      expect([(await again()).status, (await again()).text.includes('deep')]).toEqual([403, false]);
    }
    rules.grant = () => allow({ readable: ['text', 'team', 'shop'] });
    const { secret, ...left } = first.json as Record<string, unknown>;
    const narrow = await again();
    expect([secret, narrow.status, Object.keys(narrow.json as object)]).toEqual([
      'deep',
      201,
      Object.keys(left).filter((name) => ['id', 'text', 'team', 'shop'].includes(name)),
    ]);
    expect(left).toMatchObject(narrow.json as object);
    for (const grant of [
      allow({ rows: where('team', 'red') }),
      allow({ rows: where('text', 'startswith', 'min') }),
      allow(),
    ]) {
      rules.grant = () => grant;
      expect(told(await again())).toEqual([201, first.text, first.headers.location, 'true']);
    }
  });

  test('is 404 if the parent was deleted, and is separate for each parent', async () => {
    const [one, two] = [
      await made('/rest/v1/idem/shop/', { name: 'one' }),
      await made('/rest/v1/idem/shop/', { name: 'two' }),
    ];
    const ware = await made('/rest/v1/idem/ware/', { name: 'ware' });
    const key = freshKey();
    const list = (shop: number): string => `/rest/v1/idem/shop/${shop}/wares/`;
    const first = await client.post(list(one), { ware, price: 3 }, withKey(key));
    expect(first.json).toEqual({ id: expect.any(Number), shop: one, ware, price: 3 });
    expect(told(await client.post(list(one), { ware, price: 3 }, withKey(key)))).toEqual([
      201,
      first.text,
      first.headers.location,
      'true',
    ]);
    expect(first.headers.location).toContain(list(one));
    const other = await client.post(list(two), { ware, price: 3 }, withKey(key));
    expect([other.status, other.headers['idempotency-replayed']]).toEqual([201, undefined]);
    await client.delete(`/rest/v1/idem/offer/${String((first.json as { id: number }).id)}/`);
    expect((await client.delete(`/rest/v1/idem/shop/${one}/`)).status).toBe(204);
    expect((await client.post(list(one), { ware, price: 3 }, withKey(key))).status).toBe(404);
  });

  test('makes a pair of a plain many-to-many once', async () => {
    const shop = await made('/rest/v1/idem/shop/', { name: 'tagged' });
    const tag = await made('/rest/v1/idem/tag/', { name: 'tag' });
    const list = `/rest/v1/idem/shop/${shop}/tags/`;
    const key = freshKey();
    const answers = await Promise.all(
      Array.from({ length: 6 }, () => client.post(list, { tag }, withKey(key))),
    );
    expect(
      answers.filter(({ status, headers }) => status === 201 && headers['idempotency-replayed'] === undefined)
        .length,
    ).toBe(1);
    expect(answers.every(({ status }) => status === 201 || status === 409)).toBe(true);
    const again = await client.post(list, { tag }, withKey(key));
    expect([again.status, again.json, again.headers['idempotency-replayed']]).toEqual([
      201,
      { id: tag, shop, tag },
      'true',
    ]);
    // Without the key it is there already.
    expect((await client.post(list, { tag })).status).toBe(400);
    const failed = freshKey();
    expect((await client.post(list, { tag }, withKey(failed))).status).toBe(400);
    await client.delete(`${list}${tag}/`);
    expect((await client.post(list, { tag }, withKey(failed))).status).toBe(201);
  });

  test('is done anew when its time is over', async () => {
    const key = freshKey();
    const first = await client.post(ORDER, { text: 'x'.repeat(60_000) }, withKey(key));
    await change({ ends: Date.now() - 1 });
    const second = await client.post(ORDER, { text: 'short' }, withKey(key));
    expect([second.status, second.headers['idempotency-replayed']]).toEqual([201, undefined]);
    expect((second.json as { id: number }).id).toBeGreaterThan((first.json as { id: number }).id);
    expect(told(await client.post(ORDER, { text: 'short' }, withKey(key)))).toEqual([
      201,
      second.text,
      second.headers.location,
      'true',
    ]);
    expect(await records()).toBe(1);
    expect((await client.post('/rest/v1/idem/plain/', { title: 'x' }, withKey(key))).status).toBe(201);
    const [shortest] = await started.dataSource
      .createQueryBuilder()
      .select('MIN(record.ends)', 'least')
      .from(IdempotencyRecord, 'record')
      .getRawMany<{ readonly least: string }>();
    expect(Math.round((Number(shortest?.least) - Date.now()) / 10_000)).toBe(10);
  });

  test('is done by another one when its lease is over, and the late one is undone', async () => {
    const key = freshKey();
    const send = (text: string): Promise<Answer> =>
      client.post('/rest/v1/idem/slow/', { text }, withKey(key));
    let leave = (): void => undefined;
    const entered = new Promise<void>((resolve) => {
      rules.values = () =>
        new Promise((left) => {
          leave = left;
          resolve();
        });
    });
    const first = send('late');
    await entered;
    rules.values = () => Promise.resolve();
    expect([(await send('late')).status, (await send('other')).status]).toEqual([409, 422]);
    await change({ lease: Date.now() - 1 });
    // Nothing was written under it, so that it may be another request now.
    const second = await send('other');
    expect([second.status, second.headers['idempotency-replayed'], second.json]).toEqual([
      201,
      undefined,
      { id: expect.any(Number), text: 'other' },
    ]);
    leave();
    const undone = await first;
    expect([undone.status, undone.json]).toEqual([409, RUNNING]);
    expect([await count(Slow, { text: 'late' }), await count(Slow, { text: 'other' })]).toEqual([0, 1]);
    expect(told(await send('other'))).toEqual([201, second.text, second.headers.location, 'true']);
  });

  test('may be sent again when it has failed, corrected or as it was', async () => {
    const key = freshKey();
    const post = (path: string, body: unknown): Promise<Answer> => client.post(path, body, withKey(key));
    const tried = await Promise.all([
      post('/rest/v1/idem/note/', { text: 'no' }),
      post(ORDER, { text: null, shop: 99_999 }),
    ]);
    expect(tried.map(({ status }) => status)).toEqual([400, 400]);
    rules.before = () => Promise.reject(new Error('The hook fails.'));
    expect((await post(ORDER, { text: 'hooked' })).status).toBe(500);
    rules.before = ({ manager }) => manager.query('INSERT INTO nowhere VALUES (1)');
    expect((await post(ORDER, { text: 'hooked' })).status).toBe(500);
    rules.before = () => Promise.resolve();
    rules.grant = () => allow({ rows: where('team', 'blue') });
    expect((await post(ORDER, { text: 'hooked' })).status).toBe(403);
    rules.grant = () => allow();
    expect([await records(), await count(Order, { text: 'hooked' })]).toEqual([0, 0]);
    for (const [path, body] of [
      [ORDER, { text: 'hooked' }],
      ['/rest/v1/idem/note/', { text: 'yes' }],
    ] as const) {
      const first = await post(path, body);
      expect([
        first.status,
        first.headers['idempotency-replayed'],
        (await post(path, body)).headers['idempotency-replayed'],
      ]).toEqual([201, undefined, 'true']);
    }
    expect(await count(Order, { text: 'hooked' })).toBe(1);
  });

  test('is answered when the outcome of the first request is unknown', async () => {
    const key = freshKey();
    const { subscribers } = started.dataSource;
    subscribers.push({
      afterInsert: ({ metadata, queryRunner: runner }) => {
        if (metadata.tableName !== 'idem_order') return;
        const before = runner.query.bind(runner);
        const query = before as (...given: unknown[]) => Promise<unknown>;
        runner.query = (async (...given: unknown[]): Promise<unknown> => {
          const result = await query(...given);
          if (given[0] !== 'COMMIT') return result;
          runner.query = before;
          throw new Error('The answer of COMMIT is lost.');
        }) as typeof runner.query;
      },
    });
    expect((await client.post(ORDER, { text: 'committed' }, withKey(key))).status).toBe(500);
    subscribers.pop();
    const again = await client.post(ORDER, { text: 'committed' }, withKey(key));
    expect([again.status, again.json, again.headers['idempotency-replayed']]).toEqual([
      201,
      expect.objectContaining({ text: 'committed' }),
      'true',
    ]);
    expect(await count(Order, { text: 'committed' })).toBe(1);
  });

  test('is done once when it comes to several processes', async () => {
    // SQLite in memory is one process's own.
    if (database.name === 'sqlite') return;
    const options = started.dataSource.options;
    const other = await startApp({
      entities: ENTITIES,
      database,
      dataSource: { ...options, subscribers: [] },
      controllers: [OrderController, DoubleController, SlowController],
      providers: [Wrapping],
    });
    try {
      for (let round = 0; round < 5; round++) {
        const key = freshKey();
        const text = `processes ${round}`;
        const answers = await Promise.all(
          [client, other.client, client, other.client, client, other.client].map((each) =>
            each.post(ORDER, { text }, withKey(key)),
          ),
        );
        expect(
          answers.filter(
            ({ status, headers }) => status === 201 && headers['idempotency-replayed'] === undefined,
          ).length,
        ).toBe(1);
        expect(answers.every(({ status }) => status === 201 || status === 409)).toBe(true);
        expect(await count(Order, { text })).toBe(1);
        expect((await other.client.post(ORDER, { text }, withKey(key))).json).toEqual(
          answers.find(({ status }) => status === 201)?.json,
        );
      }
    } finally {
      await other.close();
    }
  });

  test('is answered as it was, whatever is computed and represented', async () => {
    const key = freshKey();
    const first = await client.post('/rest/v1/idem/note/', { text: 'grüße' }, withKey(key));
    expect(first.json).toMatchObject({ text: 'grüße', loud: 'GRÜSSE' });
    const again = await client.post('/rest/v1/idem/note/', { text: 'grüße' }, withKey(key));
    expect(told(again)).toEqual([201, first.text, first.headers.location, 'true']);
  });

  test('has an answer of any length and in any script', async () => {
    const key = freshKey();
    const text = `é${'😀'.repeat(15_000)}\u2028\u0001"\\`;
    const first = await client.post(ORDER, { text }, withKey(key));
    expect([first.status, (first.json as { text: string }).text === text]).toEqual([201, true]);
    const again = await client.post(ORDER, { text }, withKey(key));
    expect([again.status, again.text === first.text, again.headers['idempotency-replayed']]).toEqual([
      201,
      true,
      'true',
    ]);
    expect(await records()).toBeGreaterThan(2);
  });

  test('keeps nothing of keys, callers and bodies', async () => {
    await client.post(
      ORDER,
      { text: 'kept', secret: null },
      withKey('a-key-of-mine', { 'x-user': 'ann-of-mine' }),
    );
    const kept = await started.dataSource
      .createQueryBuilder()
      .select('record')
      .from(IdempotencyRecord, 'record')
      .getRawMany();
    expect(kept.length).toBe(1);
    const text = JSON.stringify(kept);
    expect(text).toContain('kept');
    expect(text).not.toMatch(/of-mine|username/);
  });

  test('leaves no records behind when their time is over', async () => {
    // Each application looks once a minute: this one has not yet.
    const other = await startApp({
      entities: ENTITIES,
      database,
      controllers: [OrderController, DoubleController, SlowController],
      providers: [Wrapping],
      undescribed: 'all',
    });
    try {
      const insert = (from: number, ends: number): Promise<unknown> =>
        other.dataSource
          .createQueryBuilder()
          .insert()
          .into(IdempotencyRecord)
          .values(
            Array.from({ length: 150 }, (_, index) => ({ id: `old-${from + index}`, part: index % 2, ends })),
          )
          .updateEntity(false)
          .execute();
      await insert(0, Date.now() - 1000);
      await insert(1000, Date.now() + 1000_000);
      for (let index = 0; index < 3; index++)
        expect((await other.client.post(ORDER, { text: 'new' }, withKey(freshKey()))).status).toBe(201);
      // Parts without a claim are nobody's.
      const left = await other.dataSource.getRepository(IdempotencyRecord).count();
      expect(left).toBe(75 + 150 + 3);
    } finally {
      await other.close();
    }
  });

  test('has the validators of its answer, and is expanded anew', async () => {
    const shop = await made('/rest/v1/idem/shop/', { name: 'before' });
    const path = '/rest/v1/idem/plain/?expand=shop&fields=id,shop.name';
    const key = freshKey();
    const first = await client.post(path, { title: 'one', shop }, withKey(key));
    expect(first.json).toEqual({ id: expect.any(Number), shop: { name: 'before' } });
    await client.patch(`/rest/v1/idem/shop/${shop}/`, { name: 'after' });
    const again = await client.post(path, { title: 'one', shop }, withKey(key));
    expect([again.status, again.headers['idempotency-replayed'], again.json]).toEqual([
      201,
      'true',
      { ...(first.json as object), shop: { name: 'after' } },
    ]);
    const whole = freshKey();
    const tagged = await client.post('/rest/v1/idem/plain/', { title: 'two' }, withKey(whole));
    await client.patch(tagged.headers.location?.replace(/^http:..[^/]*/, '') ?? '', { title: 'three' });
    const retried = await client.post('/rest/v1/idem/plain/', { title: 'two' }, withKey(whole));
    expect([retried.text, retried.headers.etag, tagged.headers.etag]).toEqual([
      tagged.text,
      tagged.headers.etag,
      expect.any(String),
    ]);
    expect(
      (
        await client.patch(
          retried.headers.location?.replace(/^http:..[^/]*/, '') ?? '',
          { title: 'four' },
          { headers: { 'if-match': retried.headers.etag ?? '' } },
        )
      ).status,
    ).toBe(412);
  });
});

describe('on any database', () => {
  let started: StartedApp;
  let client: Client;
  beforeAll(async () => {
    started = await startApp({
      entities: ENTITIES,
      controllers: [OrderController, DoubleController, SlowController],
      providers: [Wrapping],
      configure,
    });
    ({ client } = started);
  });
  afterAll(() => started.close());

  test.each([
    ['abc', '"abc"'],
    ['a,b;c=%F0', '"a,b;c=%F0"'],
    ["\\'", '"\\\\\'"'],
    ['x'.repeat(255), `"${'x'.repeat(255)}"`],
    ['8e03978e-40d5-43dd-bc93-6894a57f9324', '"8e03978e-40d5-43dd-bc93-6894a57f9324"'],
  ])('the key %j is the same as %j', async (bare, quoted) => {
    const first = await client.post(ORDER, { text: 'form' }, withKey(bare));
    expect(first.status).toBe(201);
    expect((await client.post(ORDER, { text: 'form' }, withKey(quoted))).text).toBe(first.text);
  });

  test.each([
    '',
    '""',
    'a b',
    '"a b"',
    '"abc',
    'abc"',
    'a"b',
    '"a"b"',
    '"a\\b"',
    '"abc";a=1',
    '"a", "b"',
    'é',
    'a\tb',
    'x'.repeat(256),
    `"${'x'.repeat(256)}"`,
  ])('%j is no key', async (key) => {
    const { status, json } = await client.post(ORDER, { text: 'no' }, withKey(key));
    expect([status, json]).toEqual([
      400,
      { detail: 'Idempotency-Key must be 1 to 255 visible ASCII characters, in quotes or without.' },
    ]);
  });

  test('a repeated header is rejected', async () => {
    const status = await new Promise((resolve, reject) => {
      const headers = { 'content-type': 'application/json', 'idempotency-key': ['a', 'b'] };
      request({ port: started.port, path: ORDER, method: 'POST', headers }, (incoming) => {
        incoming.resume();
        resolve(incoming.statusCode);
      })
        .on('error', reject)
        .end('{"text": "twice"}');
    });
    expect(status).toBe(400);
    expect((await client.post(ORDER, { text: 'twice' }, withKey('a, b'))).status).toBe(400);
  });

  test('a model can ask for a key', async () => {
    const plain = '/rest/v1/idem/plain/';
    const { status, json } = await client.post(plain, { title: 'x' });
    expect([status, json]).toEqual([
      400,
      { detail: 'Send an Idempotency-Key, a new one for each new object.' },
    ]);
    expect((await client.post(plain, { title: 'x' }, withKey(freshKey()))).status).toBe(201);
    expect((await client.get(plain)).status).toBe(200);
  });

  test('the key comes last in the order of checks', async () => {
    const bad = { 'idempotency-key': '' };
    const post = async (raw: string, headers: Record<string, string>, path = ORDER): Promise<number> =>
      (
        await client.send('POST', path, {
          raw,
          headers: { 'content-type': 'application/json', ...bad, ...headers },
        })
      ).status;
    rules.grant = () => deny();
    expect(await post('{}', {})).toBe(403);
    rules.grant = () => allow();
    expect(await post('{}', { accept: 'text/html' })).toBe(406);
    expect(await post('{}', {}, '/rest/v1/idem/shop/99999/wares/')).toBe(404);
    expect(await post(`{"text": "${'x'.repeat(200_000)}"}`, {})).toBe(413);
    expect(await post('{}', { 'content-type': 'text/plain' })).toBe(415);
    expect(
      (
        await client.send('POST', ORDER, {
          raw: '{',
          headers: { 'content-type': 'application/json', ...bad },
        })
      ).json,
    ).toMatchObject({ detail: expect.stringMatching(/^JSON/) });
    expect((await client.post(`${ORDER}?what=1`, {}, withKey(''))).json).toEqual({
      what: ['Unknown parameter.'],
    });
    expect((await client.post(ORDER, {}, withKey(''))).json).toMatchObject({
      detail: expect.stringMatching(/^Idempotency-Key/),
    });
  });

  test('other methods, and models without the option, pay no heed to it', async () => {
    const asked = withKey('');
    const { json } = await client.post('/rest/v1/idem/off/', { text: 'a' }, asked);
    const { id } = json as { id: number };
    expect((await client.post('/rest/v1/idem/off/', { text: 'a' }, asked)).json).toEqual({
      id: id + 1,
      text: 'a',
    });
    const order =
      (await client.post(ORDER, { text: 'a' })).headers.location?.replace(/^http:..[^/]*/, '') ?? '';
    for (const [method, path, status] of [
      ['GET', ORDER, 200],
      ['OPTIONS', ORDER, 200],
      ['PATCH', order, 200],
      ['DELETE', order, 204],
    ] as const) {
      expect([method, (await client.send(method, path, asked)).status]).toEqual([method, status]);
    }
  });

  test('is described, where a model takes it', async () => {
    const document = documentOf(started.app);
    const post = (path: string): PlainOperation | undefined => document.paths[path]?.post;
    const header = (path: string): unknown => post(path)?.parameters.find((each) => each.in === 'header');
    expect(header('/rest/v1/idem/order')).toMatchObject({
      name: 'Idempotency-Key',
      required: false,
      schema: { type: 'string' },
    });
    expect(header('/rest/v1/idem/plain')).toMatchObject({ name: 'Idempotency-Key', required: true });
    expect(header('/rest/v1/idem/off')).toBeUndefined();
    expect(post('/rest/v1/idem/shop/{pk}/tags')?.responses).toMatchObject({
      201: { headers: { 'Idempotency-Replayed': expect.anything() } },
      409: { $ref: '#/components/responses/RestifyKeyInUse' },
      422: { $ref: '#/components/responses/RestifyKeyReused' },
    });
    expect(Object.keys(post('/rest/v1/idem/off')?.responses ?? {})).not.toContain('422');
    expect(Object.keys(document.components.responses ?? {})).toEqual(
      expect.arrayContaining(['RestifyKeyInUse', 'RestifyKeyReused', 'RestifyRestricted']),
    );
    expect((await lintOpenApi(document)).filter(({ severity }) => severity === 'error')).toEqual([]);
  });

  test('interceptors stand around the answer that is given again', async () => {
    const key = freshKey();
    const first = await client.post('/rest/v1/idem/wrapped/', { text: 'a' }, withKey(key));
    expect(first.json).toEqual({ wrapped: { id: expect.any(Number), text: 'a' } });
    const again = await client.post('/rest/v1/idem/wrapped/', { text: 'a' }, withKey(key));
    expect([again.status, again.text, again.headers.location, again.headers['idempotency-replayed']]).toEqual(
      [201, first.text, first.headers.location, 'true'],
    );
    expect(rules.ran).toEqual(['around', 'around']);
    expect((await client.post('/rest/v1/idem/wrapped/', { text: 'b' }, withKey(key))).status).toBe(422);
  });

  test('a method that replaces POST runs again, and each object that it makes is made once', async () => {
    const key = freshKey();
    const first = await client.post('/rest/v1/idem/double/', { text: 'a' }, withKey(key));
    expect(first.json).toEqual([
      { id: expect.any(Number), text: 'a' },
      { id: expect.any(Number), text: 'copy 1' },
    ]);
    const again = await client.post('/rest/v1/idem/double/', { text: 'a' }, withKey(key));
    expect([again.status, again.text, again.headers['idempotency-replayed']]).toEqual([
      201,
      first.text,
      'true',
    ]);
    expect(rules.ran).toEqual(['method', 'method']);
    expect((await client.post('/rest/v1/idem/double/', { text: 'b' }, withKey(key))).status).toBe(422);
    expect((await client.post('/rest/v1/idem/double/', { text: 'b' }, withKey(''))).status).toBe(400);
    expect(await started.dataSource.getRepository(Double).count()).toBe(2);
  });
});
