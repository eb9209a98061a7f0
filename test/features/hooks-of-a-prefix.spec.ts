// @tags db http nest
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { Inject, Injectable, Scope } from '@nestjs/common';
import { REQUEST } from '@nestjs/core';
import {
  InvalidInput,
  ResourceController,
  Restify,
  RestifyController,
  RestifyModule,
  RestifyResources,
} from 'nestjs-restify';
import type { Write, WriteHooks } from 'nestjs-restify';
import {
  Column,
  DeleteDateColumn,
  Entity,
  JoinTable,
  ManyToMany,
  ManyToOne,
  OneToMany,
  PrimaryGeneratedColumn,
  UpdateDateColumn,
  VersionColumn,
} from 'typeorm';
import type { Relation } from 'typeorm';
import { onEachDatabase } from '../support/each-database.js';
import { startApp } from '../support/start-app.js';
import type { StartedApp } from '../support/start-app.js';

@Restify({ app: 'audit', bulk: { upsert: ['code'] } })
@Entity('audit_item')
class Item {
  @PrimaryGeneratedColumn()
  id: number;

  @Column({ length: 20, unique: true })
  code: string;

  @Column({ default: 3 })
  stock: number;

  @ManyToOne(() => Item, (item) => item.parts, { nullable: true })
  whole: Relation<Item> | null;

  @OneToMany(() => Item, (item) => item.whole)
  parts: Relation<Item[]>;

  @ManyToMany(() => Shelf, (shelf) => shelf.items)
  @JoinTable({
    name: 'audit_place',
    joinColumn: { name: 'itemId' },
    inverseJoinColumn: { name: 'shelfId' },
    synchronize: false,
  })
  shelves: Relation<Shelf[]>;

  @UpdateDateColumn({ precision: 3 })
  changed: Date;

  @VersionColumn()
  version: number;
}

@Restify('audit')
@Entity('audit_shelf')
class Shelf {
  @PrimaryGeneratedColumn()
  id: number;

  @Column({ length: 20 })
  name: string;

  @ManyToOne(() => Item, { nullable: true })
  main: Relation<Item> | null;

  @DeleteDateColumn()
  removed: Date | null;

  @ManyToMany(() => Item, (item) => item.shelves)
  items: Relation<Item[]>;

  @ManyToMany(() => Label, (label) => label.shelves)
  @JoinTable({ name: 'audit_labels' })
  labels: Relation<Label[]>;
}

/** On the join table of items and shelves, and not registered. */
@Entity('audit_place')
class Place {
  @PrimaryGeneratedColumn()
  id: number;

  @ManyToOne(() => Item, { nullable: false, onDelete: 'CASCADE' })
  item: Relation<Item>;

  @ManyToOne(() => Shelf, { nullable: false, onDelete: 'CASCADE' })
  shelf: Relation<Shelf>;
}

@Restify('audit')
@Entity('audit_label')
class Label {
  @PrimaryGeneratedColumn()
  id: number;

  @Column({ length: 20 })
  text: string;

  @ManyToMany(() => Shelf, (shelf) => shelf.labels)
  shelves: Relation<Shelf[]>;
}

@Entity('audit_entry')
class Entry {
  @PrimaryGeneratedColumn()
  id: number;

  @Column({ length: 200 })
  text: string;
}

/** What the hooks were called with, in order. */
const calls: string[] = [];
const seen: { readonly before: object; readonly after: object; readonly values: object }[] = [];

@Injectable()
class Journal {
  async note(text: string, { manager }: Write): Promise<void> {
    calls.push(text);
    await manager.save(Entry, { text });
  }
}

@Injectable()
class AuditHooks implements WriteHooks {
  private before: object = {};

  constructor(private readonly journal: Journal) {}

  async beforeWrite(write: Write): Promise<void> {
    const { operation, resource, entity } = write;
    this.before = entity;
    if ((entity as Partial<Item>).code === 'forbidden') throw InvalidInput.of('code', 'Not in this prefix.');
    await this.journal.note(`before ${operation} ${resource.className}`, write);
  }

  async afterWrite(write: Write): Promise<void> {
    const { operation, resource, entity, actor, request } = write;
    seen.push({ before: this.before, after: entity, values: { ...entity } });
    await this.journal.note(
      `after ${operation} ${resource.className}${actor ? ` by ${(actor as { name: string }).name}` : ''}${request ? '' : ' in process'}`,
      write,
    );
  }
}

/** One instance for each request. */
@Injectable({ scope: Scope.REQUEST })
class PerRequest implements WriteHooks {
  private written = 0;

  constructor(
    @Inject(REQUEST) private readonly request: { readonly headers?: { readonly 'x-trace'?: string } },
  ) {}

  beforeWrite(): void {
    this.written += 1;
    const { 'x-trace': trace } = this.request.headers ?? {};
    if (trace !== undefined) calls.push(`${trace} ${this.written}`);
  }
}

class NoDependencies {
  beforeWrite({ entity }: Write): void {
    if (entity instanceof Item && entity.code === 'twice') entity.code = 'once';
  }
}

@RestifyController(Item)
class ItemController extends ResourceController<Item> {
  override beforeWrite({ operation, entity }: Write<Item>): void {
    calls.push(`own ${operation} ${entity.code}`);
  }
}

const ENTITIES = [Item, Shelf, Place, Label, Entry];

onEachDatabase('hooks of a prefix', (database) => {
  let started: StartedApp;
  beforeAll(async () => {
    started = await startApp({
      entities: ENTITIES,
      database,
      restifyModules: [
        RestifyModule.forRoot('rest/v1', {
          unknownEntities: 'ignore',
          missingIndexRows: false,
          hooks: [AuditHooks, NoDependencies, PerRequest],
        }),
        RestifyModule.forRoot('rest/v2', { unknownEntities: 'ignore', missingIndexRows: false }),
      ],
      controllers: [ItemController],
      providers: [AuditHooks, Journal, PerRequest],
    });
    const { manager } = started.dataSource;
    await manager.save(Item, { code: 'first' });
    await manager.save(Shelf, { name: 'low', main: { id: 1 } });
    await manager.save(Label, { text: 'red' });
  });
  afterAll(() => started.close());
  beforeEach(async () => {
    await started.dataSource.getRepository(Entry).clear();
    calls.length = 0;
    seen.length = 0;
  });

  const send = async (method: string, path: string, body?: unknown, headers: Record<string, string> = {}) =>
    started.client.send(method, `/rest/v1/audit/${path}`, {
      headers,
      ...(body === undefined ? {} : { body }),
    });
  const entries = async (): Promise<readonly string[]> =>
    (await started.dataSource.getRepository(Entry).find({ order: { id: 'ASC' } })).map(({ text }) => text);

  test('run before those of the model, in the transaction of its write', async () => {
    const made = await send('POST', 'item/', { code: 'twice' });
    expect([made.status, made.json]).toMatchObject([201, { code: 'once', stock: 3, version: 1 }]);
    expect(calls).toEqual(['before create Item', 'own create once', 'after create Item']);
    expect(await entries()).toEqual(['before create Item', 'after create Item']);
  });

  test('reject a write with their error, and undo what they have done', async () => {
    const refused = await send('PATCH', 'item/1/', { code: 'forbidden' });
    expect([refused.status, refused.json]).toEqual([400, { code: ['Not in this prefix.'] }]);
    expect(await entries()).toEqual([]);
    expect(await started.dataSource.manager.findOneBy(Item, { id: 1 })).toMatchObject({ code: 'first' });
  });

  test.each<readonly [string, string, unknown, readonly string[]]>([
    ['POST', 'shelf/', { name: 'x' }, ['create Shelf']],
    ['PUT', 'shelf/1/', { name: 'low', main: 1 }, ['update Shelf']],
    ['PATCH', 'shelf/1/', {}, ['partialUpdate Shelf']],
    ['POST', 'item/', [{ code: 'b1' }, { code: 'b2' }], ['create Item', 'create Item']],
    ['POST', 'item/?upsert=true', [{ code: 'b1' }, { code: 'b3' }], ['update Item', 'create Item']],
    ['PATCH', 'item/?code=b1', { stock: 5 }, ['partialUpdate Item']],
    ['DELETE', 'item/?code=b3', undefined, ['destroy Item']],
    ['POST', 'item/1/shelves/', { shelf: 1 }, ['create Place']],
    ['PATCH', 'shelf/1/items/1/', { item: 2 }, ['partialUpdate Place']],
    ['DELETE', 'item/2/shelves/1/', undefined, ['destroy Place']],
  ])('see each object of %s %s', async (method, path, body, writes) => {
    const { status } = await send(method, path, body);
    expect(status).toBeLessThan(300);
    const audited = calls.filter((call) => /^(?:before|after) /.test(call)).sort();
    expect(audited).toEqual(writes.flatMap((write) => [`before ${write}`, `after ${write}`]).sort());
  });

  test('do not see the pairs of a join table without an entity', async () => {
    expect((await send('POST', 'shelf/1/labels/', { label: 1 })).status).toBe(201);
    expect((await send('DELETE', 'shelf/1/labels/1/')).status).toBe(204);
    expect(calls).toEqual([]);
  });

  test('belong to their prefix', async () => {
    const made = await started.client.send('POST', '/rest/v2/audit/item/', { body: { code: 'v2' } });
    expect(made.status).toBe(201);
    expect(calls).toEqual(['own create v2']);
  });

  test('of a request-scoped class are those of one instance for each request', async () => {
    await send('POST', 'item/', [{ code: 'r1' }, { code: 'r2' }], { 'x-trace': 'A' });
    await send('PATCH', 'shelf/1/', {}, { 'x-trace': 'B' });
    expect(calls.filter((call) => /^[AB] /.test(call))).toEqual(['A 1', 'A 2', 'B 1']);
  });

  test('run for writes without HTTP, with their actor', async () => {
    const shelves = started.app.get(RestifyResources).of(Shelf).as({ name: 'ada' });
    const { id } = await shelves.create({ name: 'by code' });
    await shelves.destroy(id as number);
    expect(calls).toEqual([
      'before create Shelf',
      'after create Shelf by ada in process',
      'before destroy Shelf',
      'after destroy Shelf by ada in process',
    ]);
  });

  describe('the entity after a write', () => {
    test('of a new object is the one before it, with what the database has set', async () => {
      const { json } = await send('POST', 'item/', { code: 'new', whole: 1 });
      const [{ before, after, values } = { before: {}, after: {}, values: {} }] = seen;
      expect(after).toBe(before);
      expect(values).toMatchObject({
        id: (json as { id: number }).id,
        stock: 3,
        version: 1,
        changed: new Date((json as { changed: string }).changed),
        whole: { id: 1 },
      });
    });

    test('of a change has the version and the date of the change', async () => {
      const { manager } = started.dataSource;
      const { id } = await manager.save(Item, { code: 'changing' });
      await manager.update(Item, id, { changed: new Date(0) });
      for (const [method, body] of [
        ['PATCH', { stock: 8, whole: 1 }],
        ['PUT', { code: 'changing', stock: 9 }],
      ] as const) {
        const { json } = await send(method, `item/${id}/`, body);
        const { version, changed } = json as { version: number; changed: string };
        const { before, after, values } = seen.at(-1) ?? { before: {}, after: {}, values: {} };
        expect(after).toBe(before);
        expect(values).toMatchObject({ ...body, version, changed: new Date(changed), whole: { id: 1 } });
        expect(version).toBe(method === 'PATCH' ? 3 : 4);
      }
    });

    test('of a deletion has its key and its forward relations by key, before and after it', async () => {
      const { manager } = started.dataSource;
      const item = await manager.save(Item, { code: 'going', whole: { id: 1 } });
      const shelf = await manager.save(Shelf, { name: 'going', main: { id: 1 } });
      const none = await manager.save(Item, { code: 'alone' });
      for (const path of [`item/${item.id}/`, `shelf/${shelf.id}/`, `item/${none.id}/`])
        expect((await send('DELETE', path)).status).toBe(204);
      expect(seen.every(({ before, after }) => before === after)).toBe(true);
      expect(seen.map(({ values }) => values)).toMatchObject([
        { id: item.id, code: 'going', whole: { id: 1 } },
        { id: shelf.id, name: 'going', main: { id: 1 }, removed: expect.any(Date) },
        { id: none.id, code: 'alone', whole: null },
      ]);
    });
  });
});
