// @tags db http nest
import { AsyncLocalStorage } from 'node:async_hooks';
import { Inject, Injectable, Scope } from '@nestjs/common';
import { REQUEST } from '@nestjs/core';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import {
  IdempotencyRecord,
  InvalidInput,
  ResourceController,
  Restify,
  RestifyController,
  RestifyModule,
  RestifyResources,
} from 'nestjs-restify';
import type { AfterCommit, CommitContext, CommittedWrite, Write } from 'nestjs-restify';
import {
  Column,
  DeleteDateColumn,
  Entity,
  JoinTable,
  ManyToMany,
  ManyToOne,
  OneToMany,
  PrimaryGeneratedColumn,
  VersionColumn,
} from 'typeorm';
import type { EntityManager, Relation } from 'typeorm';
import { onEachDatabase } from '../support/each-database.js';
import { startApp } from '../support/start-app.js';
import type { StartedApp } from '../support/start-app.js';

/** Written by single statements. */
@Restify({
  app: 'post',
  bulk: { upsert: ['code'] },
  filterFields: { code: ['exact', 'in'], stamps: ['exact'] },
  exclude: ['secret'],
  idempotency: true,
})
@Entity('post_letter')
class Letter {
  @PrimaryGeneratedColumn()
  id: number;

  @Column({ length: 20, unique: true })
  code: string;

  @Column({ default: 3 })
  stamps: number;

  @Column({ length: 20, default: 'hidden', select: false })
  secret: string;

  @ManyToOne(() => Letter, (letter) => letter.replies, { nullable: true })
  repliesTo: Relation<Letter> | null;

  @OneToMany(() => Letter, (letter) => letter.repliesTo)
  replies: Relation<Letter[]>;

  @ManyToMany(() => Box, (box) => box.letters)
  @JoinTable({
    name: 'post_place',
    joinColumn: { name: 'letterId' },
    inverseJoinColumn: { name: 'boxId' },
    synchronize: false,
  })
  boxes: Relation<Box[]>;

  @VersionColumn()
  version: number;
}

@Restify({ app: 'post', trash: true })
@Entity('post_box')
class Box {
  @PrimaryGeneratedColumn()
  id: number;

  @Column({ length: 20 })
  name: string;

  @DeleteDateColumn()
  removed: Date | null;

  @ManyToMany(() => Letter, (letter) => letter.boxes)
  letters: Relation<Letter[]>;

  @ManyToMany(() => Label, (label) => label.boxes)
  @JoinTable({ name: 'post_labels' })
  labels: Relation<Label[]>;
}

/** On the join table of letters and boxes, and not registered. */
@Entity('post_place')
class Place {
  @PrimaryGeneratedColumn()
  id: number;

  @ManyToOne(() => Letter, { nullable: false, onDelete: 'CASCADE' })
  letter: Relation<Letter>;

  @ManyToOne(() => Box, { nullable: false, onDelete: 'CASCADE' })
  box: Relation<Box>;
}

@Restify('post')
@Entity('post_label')
class Label {
  @PrimaryGeneratedColumn()
  id: number;

  @Column({ length: 20 })
  text: string;

  @ManyToMany(() => Box, (box) => box.labels)
  boxes: Relation<Box[]>;
}

interface Call extends CommitContext {
  readonly by: string;
  readonly writes: readonly CommittedWrite[];
  readonly trace: string | undefined;
}

const calls: Call[] = [];
const context = new AsyncLocalStorage<string>();

function record(by: string, writes: readonly CommittedWrite[], { resource }: CommitContext): void {
  calls.push({ by, writes, resource, trace: context.getStore() });
}

@Injectable()
class Journal {
  readonly record = record;
}

@Injectable()
class Mailer implements AfterCommit {
  constructor(private readonly journal: Journal) {}

  async afterCommit(writes: readonly CommittedWrite[], context: CommitContext): Promise<void> {
    // Whatever it does is outside of the transaction.
    await Promise.resolve();
    this.journal.record('prefix', writes, context);
  }
}

/** One instance for each request. */
@RestifyController(Label)
@Injectable({ scope: Scope.REQUEST })
class LabelController extends ResourceController<Label> {
  constructor(@Inject(REQUEST) private readonly request: object) {
    super();
  }

  override beforeWrite({ entity }: Write<Label>): void {
    if (entity.text === 'forbidden') throw InvalidInput.of('text', 'Not this one.');
  }

  override afterCommit(writes: readonly CommittedWrite[], context: CommitContext): void {
    record(this.request === writes[0]?.request ? 'own of the request' : 'own', writes, context);
  }
}

/** The calls of the prefix, as texts. */
function texts(): readonly string[] {
  return calls
    .filter(({ by }) => by === 'prefix')
    .map(
      ({ resource, writes }) =>
        `${resource.className}: ${writes.map(({ operation }) => operation).join(', ')}`,
    );
}

const ENTITIES = [Letter, Box, Place, Label, IdempotencyRecord];

interface Incoming {
  user?: object;
  readonly headers: Readonly<Record<string, string | undefined>>;
}

onEachDatabase('afterCommit', (database) => {
  let started: StartedApp;
  let resources: RestifyResources;
  beforeAll(async () => {
    started = await startApp({
      entities: ENTITIES,
      database,
      // On MariaDB, the comparison ends the transaction of the application.
      compare: false,
      restifyModules: [
        RestifyModule.forRoot('rest/v1', {
          unknownEntities: 'ignore',
          missingIndexRows: false,
          afterCommit: Mailer,
        }),
        RestifyModule.forRoot('rest/v2', { unknownEntities: 'ignore', missingIndexRows: false }),
      ],
      controllers: [LabelController],
      providers: [Mailer, Journal],
      configure: (app) => {
        app.use((request: Incoming, _response: object, next: () => void) => {
          request.user = { name: 'ada' };
          context.run(request.headers['x-trace'] ?? 'none', next);
        });
      },
    });
    resources = started.app.get(RestifyResources);
    const { manager } = started.dataSource;
    await manager.save(Letter, { code: 'first' });
    await manager.save(Box, { name: 'low' });
    await manager.save(Label, { text: 'red' });
  });
  afterAll(() => started.close());
  beforeEach(async () => {
    await resources.afterCommitEnded();
    calls.length = 0;
  });

  const send = async (method: string, path: string, body?: unknown, headers: Record<string, string> = {}) => {
    const response = await started.client.send(method, `/rest/v1/post/${path}`, {
      headers,
      ...(body === undefined ? {} : { body }),
    });
    await resources.afterCommitEnded();
    return response;
  };
  const keyOf = (json: unknown): number => (json as { id: number }).id;

  describe('is called once for each model', () => {
    test('of a new object, with its values', async () => {
      const made = await send('POST', 'letter/', { code: 'new', repliesTo: 1 });
      expect(made.status).toBe(201);
      expect(calls).toMatchObject([
        {
          resource: { className: 'Letter', id: 'post.letter' },
          writes: [
            {
              operation: 'create',
              actor: { name: 'ada' },
              stored: undefined,
              values: {
                id: keyOf(made.json),
                code: 'new',
                stamps: 3,
                secret: 'hidden',
                repliesTo: 1,
                version: 1,
              },
            },
          ],
        },
      ]);
      expect(calls[0]?.writes[0]?.request).toMatchObject({ headers: { host: expect.any(String) } });
    });

    test.each(['PUT', 'PATCH'] as const)('of %s, with the values before and after it', async (method) => {
      const made = await send('POST', 'letter/', { code: `by ${method}`, repliesTo: 1 });
      calls.length = 0;
      const body = { code: `by ${method}!`, stamps: 5, repliesTo: null };
      expect((await send(method, `letter/${keyOf(made.json)}/`, body)).status).toBe(200);
      const same = { id: keyOf(made.json), secret: 'hidden' };
      expect(calls.map(({ writes }) => writes)).toMatchObject([
        [
          {
            operation: method === 'PUT' ? 'update' : 'partialUpdate',
            stored: { ...same, code: `by ${method}`, stamps: 3, repliesTo: 1, version: 1 },
            values: { ...same, code: `by ${method}!`, stamps: 5, repliesTo: null, version: 2 },
          },
        ],
      ]);
      const [write] = calls[0]?.writes ?? [];
      expect([write, write?.stored, write?.values].every(Object.isFrozen)).toBe(true);
    });

    test('of a deletion, with the values before it', async () => {
      const made = await send('POST', 'letter/', { code: 'going', repliesTo: 1 });
      calls.length = 0;
      expect((await send('DELETE', `letter/${keyOf(made.json)}/`)).status).toBe(204);
      expect(calls.map(({ writes }) => writes)).toMatchObject([
        [{ operation: 'destroy', stored: { code: 'going', repliesTo: 1 }, values: undefined }],
      ]);
    });

    test('of the deletion, the restoration and the purge of an object with a trash', async () => {
      const { json } = await send('POST', 'box/', { name: 'kept' });
      const path = `box/${keyOf(json)}/`;
      calls.length = 0;
      expect((await send('DELETE', path)).status).toBe(204);
      expect((await send('POST', `${path}restore/`)).status).toBe(200);
      expect((await send('DELETE', path)).status).toBe(204);
      expect((await send('POST', `${path}purge/`)).status).toBe(204);
      const deleted = { id: keyOf(json), name: 'kept', removed: expect.any(String) };
      expect(calls.map(({ writes }) => writes[0])).toMatchObject([
        { operation: 'destroy', stored: { name: 'kept', removed: null }, values: undefined },
        { operation: 'restore', stored: deleted, values: { name: 'kept', removed: null } },
        { operation: 'destroy', stored: { name: 'kept', removed: null }, values: undefined },
        { operation: 'purge', stored: deleted, values: undefined },
      ]);
      expect(new Set(calls.map(({ resource }) => resource)).size).toBe(1);
    });

    test('of bulk writes and upserts, in the order of the writes', async () => {
      const { json } = await send('POST', 'letter/', [{ code: 'b1' }, { code: 'b2' }]);
      const [first, second] = json as readonly { readonly id: number }[];
      await send('POST', 'letter/?upsert=true', [{ code: 'b2', stamps: 7 }, { code: 'b3' }]);
      await send('PATCH', 'letter/', [
        { id: second?.id, stamps: 8 },
        { id: first?.id, stamps: 9 },
      ]);
      await send('PATCH', 'letter/?stamps=9', { stamps: 1 });
      await send('DELETE', 'letter/?code__in=b1,b2,b3');
      expect(texts()).toEqual([
        'Letter: create, create',
        'Letter: update, create',
        'Letter: partialUpdate, partialUpdate',
        'Letter: partialUpdate',
        'Letter: destroy, destroy, destroy',
      ]);
      expect(
        calls.map(({ writes }) => writes.map(({ stored, values }) => [stored?.stamps, values?.stamps])),
      ).toEqual([
        [
          [undefined, 3],
          [undefined, 3],
        ],
        [
          [3, 7],
          [undefined, 3],
        ],
        [
          [7, 8],
          [3, 9],
        ],
        [[9, 1]],
        [
          [1, undefined],
          [8, undefined],
          [3, undefined],
        ],
      ]);
    });

    test('of through objects, with an entity and without one', async () => {
      const { json } = await send('POST', 'box/', { name: 'paired' });
      const box = keyOf(json);
      calls.length = 0;
      const place = await send('POST', 'letter/1/boxes/', { box });
      expect(place.status).toBe(201);
      expect((await send('DELETE', `letter/1/boxes/${keyOf(place.json)}/`)).status).toBe(204);
      expect((await send('POST', `box/${box}/letters/`, { letter: 1 })).status).toBe(201);
      expect((await send('POST', `box/${box}/labels/`, { label: 1 })).status).toBe(201);
      expect((await send('DELETE', `box/${box}/labels/1/`)).status).toBe(204);
      expect(texts()).toEqual([
        'Place: create',
        'Place: destroy',
        'Place: create',
        expect.stringMatching(/: create$/),
        expect.stringMatching(/: destroy$/),
      ]);
      expect(calls.map(({ writes }) => writes[0]?.values ?? writes[0]?.stored)).toMatchObject([
        { letter: 1, box },
        { letter: 1, box },
        { letter: 1, box },
        { box, label: 1 },
        { box, label: 1 },
      ]);
    });

    test('of objects below a parent', async () => {
      expect((await send('POST', 'letter/', { code: 'nested', repliesTo: 1 })).status).toBe(201);
      calls.length = 0;
      const { dataSource } = started;
      const { id } = await dataSource.manager.findOneByOrFail(Letter, { code: 'nested' });
      await resources.of(Letter).as(null).nested(1, 'replies').list();
      expect(calls).toEqual([]);
      await resources.of(Letter).as(null).destroy(id);
      await resources.afterCommitEnded();
      expect(texts()).toEqual(['Letter: destroy']);
    });
  });

  test('is called for the prefix and then for the model, on the instance of the request', async () => {
    expect((await send('POST', 'label/', { text: 'green' })).status).toBe(201);
    expect(calls.map(({ by }) => by)).toEqual(['prefix', 'own of the request']);
    await resources.of(Label).as({ name: 'kay' }).create({ text: 'blue' });
    await resources.afterCommitEnded();
    expect(calls[2]?.writes).toMatchObject([
      { actor: { name: 'kay' }, request: undefined, values: { text: 'blue' } },
    ]);
    expect(calls.map(({ by }) => by)).toEqual(['prefix', 'own of the request', 'prefix', 'own']);
  });

  test('of a controller class is called in every prefix, and of a prefix in that one', async () => {
    const made = await started.client.send('POST', '/rest/v2/post/label/', { body: { text: 'v2' } });
    expect(made.status).toBe(201);
    await resources.afterCommitEnded();
    expect(calls.map(({ by }) => by)).toEqual(['own of the request']);
  });

  test('is not called for what is not written', async () => {
    expect((await send('POST', 'letter/', { code: 'first' })).status).toBe(400);
    expect((await send('POST', 'letter/', [{ code: 'x' }, { code: 'first' }])).status).toBe(400);
    expect((await send('POST', 'label/', { text: 'forbidden' })).status).toBe(400);
    expect((await send('DELETE', 'letter/999/')).status).toBe(404);
    expect((await send('PATCH', 'letter/?code=none', { stamps: 1 })).status).toBe(200);
    expect(calls).toEqual([]);
  });

  test('is called once for a request that is repeated with its Idempotency-Key', async () => {
    const key = { 'idempotency-key': 'once' };
    expect((await send('POST', 'letter/', { code: 'once' }, key)).status).toBe(201);
    expect((await send('POST', 'letter/', { code: 'once' }, key)).status).toBe(201);
    expect(texts()).toEqual(['Letter: create']);
  });

  test('keeps the asynchronous context of the application', async () => {
    const numbers = Array.from({ length: 25 }, (_, index) => String(index));
    const headers = (trace: string): Record<string, string> => ({ 'x-trace': trace });
    await Promise.all(
      numbers.map((each) => send('POST', 'letter/', { code: `trace ${each}` }, headers(each))),
    );
    expect(calls.map(({ trace, writes }) => [`trace ${trace ?? ''}`, writes[0]?.values?.code])).toEqual(
      calls.map(({ writes }) => [writes[0]?.values?.code, writes[0]?.values?.code]),
    );
    expect(calls).toHaveLength(25);
  });

  describe('in a transaction of the application', () => {
    const letters = (manager: EntityManager) => resources.of(Letter).as({ name: 'kay' }, { manager });
    const boxes = (manager: EntityManager) => resources.of(Box).as({ name: 'lin' }, { manager });

    test('waits for its COMMIT, and is called once for each model', async () => {
      await context.run('job', () =>
        started.dataSource.transaction(async (manager) => {
          await letters(manager).create({ code: 't1' });
          await boxes(manager).create({ name: 't1' });
          await letters(manager).create({ code: 't2' });
          await expect(letters(manager).create({ code: 'first' })).rejects.toMatchObject({
            response: { status: 400 },
          });
          await manager
            .transaction(async (inner) => {
              await letters(inner).create({ code: 't3' });
              throw new Error('Undone');
            })
            .catch(() => undefined);
          await resources.afterCommitEnded();
          expect(calls).toEqual([]);
        }),
      );
      await resources.afterCommitEnded();
      expect(texts()).toEqual(['Letter: create, create', 'Box: create']);
      expect(calls.map(({ trace }) => trace)).toEqual(['job', 'job']);
      expect(calls[0]?.writes.map(({ actor, values }) => [actor, values?.code])).toEqual([
        [{ name: 'kay' }, 't1'],
        [{ name: 'kay' }, 't2'],
      ]);
    });

    test('is not called if it is rolled back', async () => {
      await started.dataSource
        .transaction(async (manager) => {
          await letters(manager).create({ code: 'never' });
          throw new Error('Undone');
        })
        .catch(() => undefined);
      await resources.afterCommitEnded();
      expect(calls).toEqual([]);
    });
  });
});
