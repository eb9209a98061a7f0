// @tags db http nest
import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { Injectable } from '@nestjs/common';
import type { LoggerService } from '@nestjs/common';
import { IdempotencyRecord, ModelSerializer, restify, RestifyResources } from 'nestjs-restify';
import type { ErrorContext, ErrorListener, Representation } from 'nestjs-restify';
import {
  AfterLoad,
  Column,
  Entity,
  EventSubscriber,
  JoinTable,
  ManyToMany,
  ManyToOne,
  OneToMany,
  PrimaryColumn,
  PrimaryGeneratedColumn,
} from 'typeorm';
import type { EntitySubscriberInterface, Relation } from 'typeorm';
import { onEachDatabase } from '../support/each-database.js';
import { startApp } from '../support/start-app.js';
import type { StartedApp } from '../support/start-app.js';
import { seen } from './nested-answers.js';

/** What fails: `commit`, or the names of rows that cannot be represented. */
const failing = new Set<string>();
let told: (readonly [message: string, context: ErrorContext])[] = [];
let logged: unknown[][] = [];
let represented = 0;

function failOn(name: string): void {
  represented++;
  if (failing.has(name)) throw new Error(`${name} has no representation`);
}

@EventSubscriber()
class FailingAfterCommit implements EntitySubscriberInterface {
  afterTransactionCommit(): Promise<void> {
    return failing.has('commit') ? Promise.reject(new Error('The mail server is away')) : Promise.resolve();
  }
}

class ShoutingSerializer extends ModelSerializer {
  override represent(...of: Parameters<ModelSerializer['represent']>): Representation {
    const body = super.represent(...of);
    failOn(String(body.name));
    return { ...body, shout: String(body.name).toUpperCase() };
  }
}

/** A value without JSON, if this name fails. */
function unsendable(name: string): unknown[] {
  represented++;
  const self: unknown[] = [];
  if (failing.has(name)) self.push(self);
  return self;
}

abstract class Named {
  @PrimaryGeneratedColumn() id: number;
  @Column({ length: 20, unique: true }) name: string;
}

@Entity('fa_plain')
class FaPlain extends Named {
  @ManyToMany(() => FaTag) @JoinTable({ name: 'fa_tagging' }) tags: Relation<FaTag[]>;
}

@Entity('fa_computed')
class FaComputed extends Named {}

@Entity('fa_cyclic')
class FaCyclic extends Named {}

@Entity('fa_own')
class FaOwn extends Named {}

@Entity('fa_loaded')
class FaLoaded extends Named {
  @AfterLoad() loaded(): void {
    failOn(this.name);
  }
}

@Entity('fa_transformed')
class FaTransformed {
  @PrimaryGeneratedColumn() id: number;
  @Column({
    length: 20,
    unique: true,
    transformer: {
      to: (value: string) => value,
      from: (value: string) => {
        failOn(value);
        return value;
      },
    },
  })
  name: string;
}

/** Its listener replaces a value. */
@Entity('fa_attached')
class FaAttached extends Named {
  @Column('simple-json', { nullable: true }) extra: unknown;
  @AfterLoad() loaded(): void {
    this.extra = unsendable(this.name);
  }
}

@Entity('fa_wrapped')
class FaWrapped {
  @PrimaryGeneratedColumn() id: number;
  @Column({
    type: 'varchar',
    length: 20,
    unique: true,
    transformer: {
      to: (value: unknown) => value,
      from: (value: string) => ({
        toJSON: () => {
          failOn(value);
          return value;
        },
      }),
    },
  })
  name: unknown;
}

@Entity('fa_returned')
class FaReturned extends Named {}

@Entity('fa_expanded')
class FaExpanded extends Named {
  @ManyToOne(() => FaComputed) other: Relation<FaComputed> | null;
  @OneToMany(() => FaChild, (child) => child.parent) children: Relation<FaChild[]>;
}

@Entity('fa_child')
class FaChild extends Named {
  @ManyToOne(() => FaExpanded, (parent) => parent.children) parent: Relation<FaExpanded> | null;
}

@Entity('fa_tag')
class FaTag {
  @PrimaryColumn({ length: 20 }) name: string;
}

const common = { app: 'fa', bulk: { upsert: ['name'] }, idempotency: true } as const;
restify(FaPlain, common);
restify(FaComputed, {
  ...common,
  computed: {
    size: ({ name }) => {
      failOn(name);
      return name.length;
    },
  },
});
restify(FaCyclic, {
  ...common,
  computed: {
    self: ({ name }) => unsendable(name),
  },
});
restify(FaOwn, { ...common, serializer: ShoutingSerializer });
restify(FaLoaded, common);
restify(FaTransformed, common);
restify(FaAttached, common);
restify(FaReturned, { ...common, returnDeleted: true, computed: { self: ({ name }) => unsendable(name) } });
restify(FaWrapped, { ...common, type: { name: 'string' } });
restify(FaExpanded, { ...common, shape: { maxObjects: 3 }, expandable: ['other', 'children'] });
restify(FaChild, { app: 'fa' });
restify(FaTag, { app: 'fa', serializer: ShoutingSerializer });

const ENTITIES = [
  ...[FaPlain, FaComputed, FaCyclic, FaOwn, FaLoaded, FaTransformed, FaAttached, FaWrapped, FaReturned],
  ...[FaExpanded, FaChild, FaTag],
  IdempotencyRecord,
];

@Injectable()
class Listener implements ErrorListener {
  onError(error: unknown, context: ErrorContext): void {
    told.push([(error as Error).message, context]);
  }
}

const logger: LoggerService = {
  log: () => undefined,
  warn: () => undefined,
  error: (...given: unknown[]) => {
    logged.push(given);
  },
};

const SERVER_ERROR = [500, { detail: 'A server error occurred.' }];

onEachDatabase('a write', (database) => {
  let started: StartedApp;
  let client: StartedApp['client'];
  beforeAll(async () => {
    started = await startApp({
      ...{ entities: ENTITIES, database, nest: { logger } },
      dataSource: { subscribers: [FailingAfterCommit] },
      restify: { unknownEntities: 'ignore', onError: Listener },
      providers: [Listener],
    });
    client = started.client;
  });
  beforeEach(() => {
    failing.clear();
    told = [];
    logged = [];
    represented = 0;
  });
  afterAll(async () => {
    failing.clear();
    await started.close();
  });

  const namesOf = async (model: string): Promise<readonly string[]> => {
    failing.clear();
    return ((await client.get(`/rest/v1/fa/${model}/`)).json as { name: string }[]).map(({ name }) => name);
  };

  test('whose subscriber fails after the commit is answered, and the failure is logged', async () => {
    const url = '/rest/v1/fa/faplain/';
    failing.add('commit');
    const answers = [
      await client.post(url, { name: 'a' }),
      await client.put(`${url}1/`, { name: 'b' }),
      await client.patch(`${url}1/`, { name: 'c' }),
      await client.post(url, [{ name: 'd' }, { name: 'e' }]),
      await client.patch(url, [{ id: 1, name: 'f' }]),
      await client.post(`${url}?upsert=true`, { name: 'f' }),
      await client.post('/rest/v1/fa/fatag/', { name: 't' }),
      await client.post('/rest/v1/fa/fatag/', { name: 'u' }),
      await client.post(`${url}1/tags/`, { fatag: 't' }),
      await client.patch(`${url}1/tags/t/`, { fatag: 'u' }),
      await client.delete(`${url}1/tags/u/`),
      await client.send('POST', url, { body: { name: 'k' }, headers: { 'Idempotency-Key': 'k' } }),
      await client.send('POST', url, { body: { name: 'k' }, headers: { 'Idempotency-Key': 'k' } }),
      await client.delete(`${url}1/`),
      await client.delete(`${url}?name=d`),
    ];
    expect(answers.map(({ status }) => status)).toEqual([
      ...[201, 200, 200, 201, 200, 200, 201, 201, 201, 200, 204, 201, 201, 204, 204],
    ]);
    expect(answers[2]?.json).toMatchObject({ id: 1, name: 'c' });
    expect(told.length).toBeGreaterThanOrEqual(answers.length - 1);
    const [message, context] = told[0] ?? [];
    expect([message, context]).toMatchObject([
      'The mail server is away',
      { method: 'POST', path: url, model: 'fa.faplain', operation: 'create', status: undefined },
    ]);
    const [error, text] = logged[0] ?? [];
    expect(error).toMatchObject({ message: 'The mail server is away' });
    expect(text).toMatch(/^A write is committed, and afterTransactionCommit of a subscriber has failed/);
    const resources = started.app.get(RestifyResources).of(FaPlain).as(null);
    expect(await resources.create({ name: 'z' })).toMatchObject({ name: 'z' });
    expect(await namesOf('faplain')).toEqual(['e', 'k', 'z']);
  });

  test.each([
    ...['facomputed', 'facyclic', 'faown', 'faloaded', 'fatransformed'],
    ...['faattached', 'fawrapped'],
  ])('whose answer fails stores nothing: %s', async (model) => {
    const url = `/rest/v1/fa/${model}/`;
    for (const name of ['a', 'b']) expect((await client.post(url, { name })).status).toBe(201);
    const headers = { 'Idempotency-Key': model };
    for (const write of [
      () => client.post(url, { name: 'bad' }),
      () => client.put(`${url}1/`, { name: 'bad' }),
      () => client.patch(`${url}1/`, { name: 'bad' }),
      () => client.post(url, [{ name: 'c' }, { name: 'bad' }]),
      () =>
        client.patch(url, [
          { id: 1, name: 'c' },
          { id: 2, name: 'bad' },
        ]),
      () => client.patch(`${url}?keys=1`, { name: 'bad' }),
      () => client.post(`${url}?upsert=true`, [{ name: 'a' }, { name: 'bad' }]),
      () => client.send('POST', url, { body: { name: 'bad' }, headers }),
    ]) {
      failing.add('bad');
      const { status } = await write();
      // What a transformer throws on the written value is the value's error.
      expect(model === 'fatransformed' ? [400, 500] : [500]).toContain(status);
      expect(await namesOf(model)).toEqual(['a', 'b']);
    }
    failing.add('bad');
    const entity = ENTITIES.find(({ name }) => name.toLowerCase() === model) ?? FaPlain;
    const resources = started.app.get(RestifyResources).of(entity).as(null);
    await expect(resources.create({ name: 'bad' })).rejects.toThrow();
    expect(await namesOf(model)).toEqual(['a', 'b']);
    // The key of a failed request is free.
    expect((await client.send('POST', url, { body: { name: 'bad' }, headers })).status).toBe(201);
  });

  test('whose returned object has no JSON form deletes nothing', async () => {
    const url = '/rest/v1/fa/fareturned/';
    await client.post(url, { name: 'a' });
    failing.add('a');
    expect(seen(await client.delete(`${url}1/`))).toEqual(SERVER_ERROR);
    expect(await namesOf('fareturned')).toEqual(['a']);
  });

  test('of an own serializer is represented once', async () => {
    const url = '/rest/v1/fa/faown/';
    for (const write of [
      () => client.post(url, { name: 'once' }),
      () => client.patch(`${url}1/`, { name: 'once more' }),
      () => client.post(url, [{ name: 'twice' }]),
      () => client.send('POST', url, { body: { name: 'keyed' }, headers: { 'Idempotency-Key': 'once' } }),
    ]) {
      represented = 0;
      expect((await write()).json).toMatchObject({});
      expect(represented).toBe(1);
    }
  });

  test('whose expanded objects fail, or are too many, stores nothing', async () => {
    const url = '/rest/v1/fa/faexpanded/';
    const other = ((await client.post('/rest/v1/fa/facomputed/', { name: 'other' })).json as { id: number })
      .id;
    expect((await client.post(`${url}?expand=other`, { name: 'a', other })).json).toMatchObject({
      other: { name: 'other', size: 5 },
    });
    failing.add('other');
    expect(seen(await client.post(`${url}?expand=other`, { name: 'b', other }))).toEqual(SERVER_ERROR);
    expect(seen(await client.post(`${url}?expand=other`, [{ name: 'b', other }]))).toEqual(SERVER_ERROR);
    expect(seen(await client.patch(`${url}1/?expand=other`, { name: 'b' }))).toEqual(SERVER_ERROR);
    failing.clear();
    for (const name of ['x', 'y', 'z']) await client.post('/rest/v1/fa/fachild/', { name, parent: 1 });
    const tooMany = [400, { expand: [expect.stringContaining('more than 3 objects')] }];
    expect(seen(await client.patch(`${url}1/?expand=children`, { name: 'b' }))).toEqual(tooMany);
    const list = [{ id: 1, name: 'b' }];
    expect(seen(await client.patch(`${url}?expand=children`, list))).toEqual(tooMany);
    const headers = { 'Idempotency-Key': 'expanded' };
    failing.add('other');
    const keyed = { body: { name: 'k', other }, headers };
    expect(seen(await client.send('POST', `${url}?expand=other`, keyed))).toEqual(SERVER_ERROR);
    expect(await namesOf('faexpanded')).toEqual(['a']);
    for (const replayed of [undefined, 'true']) {
      const answer = await client.send('POST', `${url}?expand=other`, keyed);
      expect([answer.status, answer.headers['idempotency-replayed']]).toEqual([201, replayed]);
      expect(answer.json).toMatchObject({ name: 'k', other: { name: 'other' } });
    }
  });
});

test('a savepoint whose subscriber fails after its release fails, with the transaction around it', async () => {
  const started = await startApp({
    ...{ entities: ENTITIES, nest: { logger } },
    dataSource: { subscribers: [FailingAfterCommit] },
  });
  const { client, dataSource, app } = started;
  const url = '/rest/v1/fa/faplain/';
  const plain = app.get(RestifyResources).of(FaPlain).as(null);
  try {
    failing.clear();
    failing.add('commit');
    logged = [];
    const around = dataSource.transaction(async () => {
      await plain.create({ name: 'a' });
    });
    await expect(around).rejects.toThrow('The mail server is away');
    await dataSource.query('BEGIN');
    await expect(plain.create({ name: 'b' })).rejects.toThrow('The mail server is away');
    await dataSource.query('ROLLBACK');
    expect(logged).toEqual([]);
    failing.clear();
    expect((await client.get(url)).json).toEqual([]);
    expect((await client.post(url, { name: 'c' })).status).toBe(201);
    expect((await client.get(url)).json).toHaveLength(1);
  } finally {
    failing.clear();
    await started.close();
  }
});
