// @tags db nest
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { restify, Restify } from 'nestjs-restify';
import {
  Column,
  DefaultNamingStrategy,
  Entity,
  EntitySchema,
  JoinColumn,
  JoinTable,
  ManyToMany,
  ManyToOne,
  OneToMany,
  OneToOne,
  PrimaryColumn,
  PrimaryGeneratedColumn,
  Tree,
  TreeChildren,
  TreeParent,
  Unique,
  ViewColumn,
  ViewEntity,
} from 'typeorm';
import type { EntitySchemaOptions, NamingStrategyInterface, ObjectLiteral, Relation } from 'typeorm';
import type { OpenedDatabase } from '../support/databases.js';
import { onEachDatabase } from '../support/each-database.js';
import { startApp } from '../support/start-app.js';
import type { StartedApp } from '../support/start-app.js';
import { idOf, isRefusedPair, NOT_FOUND, notAllowed, READ_ALLOW, seen } from './nested-answers.js';

class MadeIn {
  @Column({ length: 20, default: '' })
  cityName: string;
}

@Restify({
  app: 'shop',
  filterFields: {
    'mainShelf.shelfName': ['exact'],
    mainShelf: ['exact'],
    'madeIn.cityName': ['exact', 'icontains'],
  },
  orderingFields: ['madeIn.cityName', 'mainShelf'],
  searchFields: ['itemName'],
})
@Entity()
@Unique(['itemName', 'serialNo'])
class ShopItem {
  @PrimaryGeneratedColumn()
  itemId: number;

  @Column({ length: 20 })
  itemName: string;

  @Column({ default: 0 })
  serialNo: number;

  @Column({ length: 20, nullable: true, unique: true })
  barCode: string;

  @Column(() => MadeIn)
  madeIn: MadeIn;

  @ManyToOne(() => ShopShelf, (shelf) => shelf.shelfItems)
  mainShelf: Relation<ShopShelf> | null;

  @ManyToOne(() => ShopShelf, (shelf) => shelf.spareItems)
  spareShelf: Relation<ShopShelf> | null;

  @OneToOne(() => ShopItem, (item) => item.replacedBy)
  @JoinColumn()
  replacementOf: Relation<ShopItem> | null;

  @OneToOne(() => ShopItem, (item) => item.replacementOf)
  replacedBy: Relation<ShopItem>;

  @ManyToMany(() => ShopShelf, (shelf) => shelf.seenItems)
  @JoinTable()
  seenOn: Relation<ShopShelf[]>;
}

@Restify('shop')
@Entity()
class ShopShelf {
  @PrimaryGeneratedColumn()
  shelfId: number;

  @Column({ length: 20, default: '' })
  shelfName: string;

  @OneToMany(() => ShopItem, (item) => item.mainShelf)
  shelfItems: Relation<ShopItem[]>;

  @OneToMany(() => ShopItem, (item) => item.spareShelf)
  spareItems: Relation<ShopItem[]>;

  @ManyToMany(() => ShopItem, (item) => item.seenOn)
  seenItems: Relation<ShopItem[]>;
}

@Restify('shop')
@Entity()
@Tree('closure-table')
class ShopGroup {
  @PrimaryGeneratedColumn()
  groupId: number;

  @TreeParent()
  upperGroup: Relation<ShopGroup> | null;

  @TreeChildren()
  lowerGroups: Relation<ShopGroup[]>;
}

@Restify('shop')
@Entity()
@Tree('materialized-path')
class ShopPath {
  @PrimaryGeneratedColumn()
  pathId: number;

  @TreeParent()
  upperPath: Relation<ShopPath> | null;

  @TreeChildren()
  lowerPaths: Relation<ShopPath[]>;
}

const ENTITIES = [ShopItem, ShopShelf, ShopGroup, ShopPath];

/** Names with underscores, as many applications have them. */
class SnakeNames extends DefaultNamingStrategy implements NamingStrategyInterface {
  override tableName(className: string, customName?: string): string {
    return customName ?? snake(className);
  }

  override columnName(propertyName: string, customName: string | undefined, prefixes: string[]): string {
    return snake([...prefixes, customName ?? propertyName].join('_'));
  }

  override relationName(propertyName: string): string {
    return snake(propertyName);
  }

  override joinColumnName(relationName: string, referenced: string): string {
    return snake(`${relationName}_${referenced}`);
  }

  override joinTableName(first: string, second: string, property: string): string {
    return snake(`${first}_${property}_${second}`);
  }

  override joinTableColumnName(table: string, property: string, column?: string): string {
    return snake(`${table}_${column ?? property}`);
  }
}

function snake(name: string): string {
  return name
    .replace(/([a-z])([A-Z])/g, '$1_$2')
    .replaceAll('.', '_')
    .toLowerCase();
}

onEachDatabase('names of tables and columns', (database) => {
  describe.each([
    ['by a naming strategy', { namingStrategy: new SnakeNames() }],
    ['with a prefix', { entityPrefix: 'app_' }],
    ['by a naming strategy, with a prefix', { namingStrategy: new SnakeNames(), entityPrefix: 'Odd-' }],
  ])('%s', (_title, dataSource) => {
    let started: StartedApp;
    let client: StartedApp['client'];
    beforeAll(async () => {
      started = await startApp({ entities: ENTITIES, database, dataSource });
      client = started.client;
    });
    afterAll(() => started.close());

    test('are shown in no response', async () => {
      const shelf = (await client.post('/rest/v1/shop/shopshelf/', { shelfName: 'low' })).json as {
        shelfId: number;
      };
      const made = await client.post('/rest/v1/shop/shopitem/', {
        itemName: 'pen',
        barCode: 'x',
        madeIn: { cityName: 'Bern' },
        mainShelf: shelf.shelfId,
      });
      const { itemId } = made.json as { itemId: number };
      const url = `/rest/v1/shop/shopitem/${itemId}`;
      const item = {
        itemId,
        itemName: 'pen',
        serialNo: 0,
        barCode: 'x',
        madeIn: { cityName: 'Bern' },
        mainShelf: shelf.shelfId,
        spareShelf: null,
        replacementOf: null,
        replacedBy: null,
        seenOn: `${url}/seenOn/`,
      };
      expect(seen(made)).toEqual([201, item]);
      for (const query of [
        'mainShelf__shelfName=low',
        `mainShelf=${shelf.shelfId}`,
        'madeIn__cityName=Bern',
        'search=PEN',
        'ordering=-madeIn__cityName',
      ])
        expect(seen(await client.get(`/rest/v1/shop/shopitem/?${query}`))).toEqual([200, [item]]);
      expect(seen(await client.get(`/rest/v1/shop/shopshelf/${shelf.shelfId}/shelfItems/`))).toEqual([
        200,
        [item],
      ]);
      expect(seen(await client.get(`/rest/v1/shop/shopshelf/${shelf.shelfId}/spareItems/`))).toEqual([
        200,
        [],
      ]);
      expect(seen(await client.post('/rest/v1/shop/shopitem/', { itemName: 'other', barCode: 'x' }))).toEqual(
        [400, { barCode: ['This field must be unique.'] }],
      );
      expect(seen(await client.post('/rest/v1/shop/shopitem/', { itemName: 'pen' }))).toEqual([
        400,
        { non_field_errors: ['The fields itemName, serialNo must make a unique set.'] },
      ]);
      expect(
        (await client.patch(`${url}/`, { replacementOf: itemId, madeIn: { cityName: 'Basel' } })).json,
      ).toMatchObject({ replacementOf: itemId, replacedBy: itemId, madeIn: { cityName: 'Basel' } });
      expect(seen(await client.post(`${url}/seenOn/`, { shopshelf: shelf.shelfId }))).toEqual([
        201,
        { id: shelf.shelfId, shopitem: itemId, shopshelf: shelf.shelfId },
      ]);
      expect(
        isRefusedPair(
          await client.post(`/rest/v1/shop/shopshelf/${shelf.shelfId}/seenItems/`, { shopitem: itemId }),
        ),
      ).toBe(true);
      expect(seen(await client.delete(`/rest/v1/shop/shopshelf/${shelf.shelfId}/`))).toEqual([
        409,
        { detail: expect.stringContaining('shop.shopitem') },
      ]);
    });

    test('of trees neither', async () => {
      for (const [model, key, upper] of [
        ['shopgroup', 'groupId', 'upperGroup'],
        ['shoppath', 'pathId', 'upperPath'],
      ] as const) {
        const made = async (parent: number | null): Promise<number> =>
          (
            (await client.post(`/rest/v1/shop/${model}/`, { [upper]: parent })).json as Record<string, number>
          )[key] ?? 0;
        const a = await made(null);
        const b = await made(a);
        const c = await made(b);
        expect((await client.patch(`/rest/v1/shop/${model}/${c}/`, { [upper]: a })).json).toMatchObject({
          [upper]: a,
        });
        expect((await client.patch(`/rest/v1/shop/${model}/${b}/`, { [upper]: c })).json).toMatchObject({
          [upper]: c,
        });
        const { driver } = started.dataSource;
        const quoted = (path: string): string =>
          path
            .split('.')
            .map((part) => driver.escape(part))
            .join('.');
        if (model === 'shopgroup') {
          const rows = await started.dataSource.query<Record<string, number>[]>(
            `SELECT * FROM ${quoted(started.dataSource.getMetadata(ShopGroup).closureJunctionTable.tablePath)}`,
          );
          expect(rows.map((row) => Object.values(row).join('>')).sort()).toEqual(
            [`${a}>${a}`, `${a}>${b}`, `${a}>${c}`, `${b}>${b}`, `${c}>${b}`, `${c}>${c}`].sort(),
          );
        } else {
          const rows = await started.dataSource.query<{ mpath: string }[]>(
            `SELECT mpath FROM ${quoted(started.dataSource.getMetadata(ShopPath).tablePath)}`,
          );
          expect(rows.map(({ mpath }) => mpath).sort()).toEqual([`${a}.`, `${a}.${c}.`, `${a}.${c}.${b}.`]);
        }
      }
    });
  });
});

// Views.
@Restify('view')
@Entity()
class Author {
  @PrimaryGeneratedColumn()
  id: number;

  @Column({ length: 20 })
  name: string;

  @OneToMany(() => Work, (work) => work.author)
  works: Relation<Work[]>;

  @OneToMany(() => WorkView, (view) => view.author)
  shown: Relation<WorkView[]>;
}

@Restify('view')
@Entity()
class Work {
  @PrimaryGeneratedColumn()
  id: number;

  @Column({ length: 20 })
  title: string;

  @Column({ default: true })
  done: boolean;

  @Column({ nullable: true })
  begun: Date;

  @ManyToOne(() => Author, (author) => author.works, { nullable: false })
  author: Relation<Author>;
}

/** Columns without a type of their own: TypeScript's says what they are. */
@Restify({
  app: 'view',
  filterFields: {
    words: ['exact', 'gt'],
    'author.name': ['exact'],
    author: ['exact'],
    done: ['exact'],
    title: ['exact'],
  },
  searchFields: ['title'],
})
@ViewEntity({
  expression: (source) =>
    source
      .createQueryBuilder()
      .select('w.id', 'id')
      .addSelect('w.title', 'title')
      .addSelect('w.done', 'done')
      .addSelect('LENGTH(w.title)', 'words')
      .addSelect('(SELECT COUNT(*) FROM author)', 'total')
      .addSelect('w.id / 2.0', 'half')
      .addSelect('w.author', 'author_id')
      .from(Work, 'w')
      .where("w.title <> 'hidden'"),
})
class WorkView {
  @PrimaryColumn()
  id: number;

  @ViewColumn()
  title: string;

  @ViewColumn()
  done: boolean;

  @ViewColumn()
  words: number;

  @ViewColumn()
  total: number;

  @ViewColumn()
  half: number;

  @ManyToOne(() => Author, (author) => author.shown)
  @JoinColumn({ name: 'author_id' })
  author: Relation<Author>;
}

/** An instant, which on PostgreSQL may be with a zone or without one. */
@Restify('view')
@ViewEntity({ expression: 'SELECT id, begun FROM work' })
class WhenView {
  @PrimaryColumn()
  id: number;

  @ViewColumn()
  begun: Date;
}

@Restify({ app: 'view', name: 'whenview' })
@ViewEntity({ expression: 'SELECT id, begun FROM work' })
class TypedView {
  @PrimaryColumn()
  id: number;

  @Column({ type: 'timestamp' })
  begun: Date;
}

@Restify('view')
@ViewEntity({ expression: 'SELECT name FROM author' })
class Keyless {
  @ViewColumn()
  name: string;
}

onEachDatabase('a view', (database) => {
  let started: StartedApp;
  let client: StartedApp['client'];
  beforeAll(async () => {
    started = await startApp({
      entities: [Author, Work, WorkView, database.name === 'postgres' ? TypedView : WhenView],
      database,
    });
    client = started.client;
  });
  afterAll(() => started.close());

  test('is read like a table, and written by nothing', async () => {
    const [a, b] = [
      idOf(await client.post('/rest/v1/view/author/', { name: 'A' })),
      idOf(await client.post('/rest/v1/view/author/', { name: 'B' })),
    ];
    const one = idOf(
      await client.post('/rest/v1/view/work/', { title: 'one', author: a, begun: '2024-02-29T12:00:00Z' }),
    );
    const three = idOf(await client.post('/rest/v1/view/work/', { title: 'three', author: b, done: false }));
    await client.post('/rest/v1/view/work/', { title: 'hidden', author: b });
    const first = { id: one, title: 'one', done: true, words: 3, total: 2, half: one / 2, author: a };
    const second = { id: three, title: 'three', done: false, words: 5, total: 2, half: three / 2, author: b };
    expect(seen(await client.get('/rest/v1/view/workview/'))).toEqual([200, [first, second]]);
    for (const query of [
      'words__gt=3',
      'author__name=B',
      `author=${b}`,
      'done=false',
      'search=THREE',
      'title=three',
    ])
      expect(seen(await client.get(`/rest/v1/view/workview/?${query}`))).toEqual([200, [second]]);
    const { begun } = (await client.get(`/rest/v1/view/whenview/${one}/`)).json as { begun: string };
    expect(new Date(begun).toISOString()).toBe('2024-02-29T12:00:00.000Z');
    expect((await client.get('/rest/v1/view/whenview/?begun=2024-02-29T12:00:00Z')).json).toEqual([
      { id: one, begun },
    ]);
    expect(seen(await client.get('/rest/v1/view/workview/?ordering=-words'))).toEqual([200, [second, first]]);
    expect(seen(await client.get(`/rest/v1/view/author/${b}/shown/`))).toEqual([200, [second]]);
    expect(seen(await client.get('/rest/v1/view/workview/999/'))).toEqual(NOT_FOUND);
    expect((await client.get('/rest/v1/view/workview/')).headers.allow).toBe(READ_ALLOW);
    expect(seen(await client.post('/rest/v1/view/workview/', {}))).toEqual(notAllowed('POST'));
    for (const method of ['PUT', 'PATCH', 'DELETE'])
      expect(seen(await client.send(method, `/rest/v1/view/workview/${one}/`, { body: {} }))).toEqual(
        notAllowed(method),
      );
  });
});

test('a view without a key refuses to start', async () => {
  await expect(startApp({ entities: [Author, Work, WorkView, Keyless] })).rejects.toThrow(
    'Keyless: it has no primary key, so its rows have no URL. Mark the columns that name a row with @PrimaryColumn(), in place of @ViewColumn(), or leave the entity out: do not register it.',
  );
});

onEachDatabase('an instant of a view without a type', (database) => {
  test('is refused on PostgreSQL alone, which has two types', async () => {
    const start = async (): Promise<string> => {
      const started = await startApp({ entities: [Author, Work, WorkView, WhenView], database });
      await started.close();
      return 'started';
    };
    const refused =
      "nestjs-restify does not start, because a declaration is wrong:\n  - WhenView.begun: the type of its column is unknown. Write @Column({ type: … }) in place of @ViewColumn(), or leave it out: exclude: ['begun'].";
    expect(await start().catch((error: unknown) => (error as Error).message)).toBe(
      database.name === 'postgres' ? refused : 'started',
    );
  });
});

// Tables in several schemas or databases.
function placedSchemas(place: Partial<EntitySchemaOptions<ObjectLiteral>>): readonly EntitySchema[] {
  const room = new EntitySchema<ObjectLiteral>({
    name: 'Room',
    ...place,
    columns: {
      id: { type: Number, primary: true, generated: true },
      code: { type: 'varchar', length: 20, unique: true },
      gone: { type: Date, deleteDate: true, nullable: true, select: false },
    },
    relations: {
      desks: { type: 'one-to-many', target: 'Desk', inverseSide: 'room' },
      users: { type: 'many-to-many', target: 'Desk', inverseSide: 'rooms' },
    },
  });
  const desk = new EntitySchema<ObjectLiteral>({
    name: 'Desk',
    columns: { id: { type: Number, primary: true, generated: true } },
    relations: {
      room: { type: 'many-to-one', target: 'Room', inverseSide: 'desks', nullable: true },
      rooms: {
        type: 'many-to-many',
        target: 'Room',
        inverseSide: 'users',
        joinTable: { name: 'room_users', ...('schema' in place ? place : {}) },
      },
    },
  });
  const group = new EntitySchema<ObjectLiteral>({
    name: 'Section',
    ...place,
    columns: { id: { type: Number, primary: true, generated: true } },
    trees: [{ type: 'closure-table' }],
    relations: {
      parent: {
        type: 'many-to-one',
        target: 'Section',
        treeParent: true,
        inverseSide: 'children',
        nullable: true,
      },
      children: { type: 'one-to-many', target: 'Section', treeChildren: true, inverseSide: 'parent' },
    },
  });
  restify<ObjectLiteral>(room, { app: 'place', filterFields: { code: ['exact'] } });
  restify<ObjectLiteral>(desk, { app: 'place', filterFields: { 'room.code': ['exact'] } as never });
  restify<ObjectLiteral>(group, { app: 'place' });
  return [room, desk, group];
}

onEachDatabase('tables elsewhere than in the default schema or database', (database) => {
  // SQLite has no schemas, and no foreign keys between files.
  if (database.name === 'sqlite') return;
  let started: StartedApp;
  let other: OpenedDatabase;
  beforeAll(async () => {
    other = await database.open();
    const { options } = other;
    const place =
      options.type === 'postgres'
        ? { schema: options.schema ?? '' }
        : { database: new URL((options as { url?: string }).url ?? '').pathname.slice(1) };
    started = await startApp({ entities: [...placedSchemas(place)], database });
  });
  afterAll(async () => {
    await started.close();
    await other.drop();
  });

  test('are read and written as any other, and join those of the default', async () => {
    const { client } = started;
    const room = idOf(await client.post('/rest/v1/place/room/', { code: 'r1' }));
    const made = await client.post('/rest/v1/place/desk/', { room });
    const desk = idOf(made);
    expect(seen(made)).toEqual([201, { id: desk, room, rooms: `/rest/v1/place/desk/${desk}/rooms/` }]);
    expect(seen(await client.get(`/rest/v1/place/room/${room}/desks/`))).toEqual([200, [made.json]]);
    expect(seen(await client.get('/rest/v1/place/desk/?room__code=r1'))).toEqual([200, [made.json]]);
    expect(seen(await client.post('/rest/v1/place/room/', { code: 'r1' }))).toEqual([
      400,
      { code: ['This field must be unique.'] },
    ]);
    expect(seen(await client.post(`/rest/v1/place/desk/${desk}/rooms/`, { room }))).toEqual([
      201,
      { id: room, desk, room },
    ]);
    expect(seen(await client.get(`/rest/v1/place/room/${room}/users/${desk}/`))).toEqual([
      200,
      { id: desk, desk, room },
    ]);
    expect(seen(await client.delete(`/rest/v1/place/room/${room}/users/${desk}/`))).toEqual([204, undefined]);
    const top = idOf(await client.post('/rest/v1/place/section/', {}));
    const low = idOf(await client.post('/rest/v1/place/section/', { parent: top }));
    expect((await client.patch(`/rest/v1/place/section/${low}/`, { parent: null })).json).toMatchObject({
      parent: null,
    });
    expect((await client.patch(`/rest/v1/place/section/${low}/`, { parent: top })).json).toMatchObject({
      parent: top,
    });
    expect((await client.get(`/rest/v1/place/section/${top}/children/`)).json).toMatchObject([{ id: low }]);
    expect(seen(await client.delete(`/rest/v1/place/room/${room}/`))).toEqual([204, undefined]);
    expect(seen(await client.get('/rest/v1/place/room/'))).toEqual([200, []]);
  });
});

/** Named as statements of the package name things inside themselves. */
@Restify('short')
@Entity('p')
class P {
  @PrimaryGeneratedColumn()
  id: number;

  @OneToMany(() => T0, (t0) => t0.p)
  t0s: Relation<T0[]>;
}

@Restify({ app: 'short', filterFields: ['p'], orderingFields: ['text', 'p'] })
@Entity('T0')
class T0 {
  @PrimaryGeneratedColumn()
  id: number;

  @Column({ name: 'c0', default: '' })
  text: string;

  @ManyToOne(() => P, (p) => p.t0s, { nullable: true })
  p: Relation<P> | null;
}

onEachDatabase('tables named as aliases', (database) => {
  let started: StartedApp;
  beforeAll(async () => {
    started = await startApp({
      entities: [P, T0],
      database,
      ...(database.name === 'postgres' ? { dataSource: { schema: undefined } } : {}),
    });
  });
  afterAll(() => started.close());

  test('are read and written like all others', async () => {
    const { client } = started;
    expect((await client.post('/rest/v1/short/p/', {})).json).toEqual({
      id: 1,
      t0s: '/rest/v1/short/p/1/t0s/',
    });
    expect((await client.post('/rest/v1/short/t0/', { p: 1 })).json).toEqual({ id: 1, text: '', p: 1 });
    const row = { id: 1, text: 'a', p: 1 };
    expect((await client.patch('/rest/v1/short/t0/1/', { text: 'a', p: 1 })).json).toEqual(row);
    expect((await client.get('/rest/v1/short/p/')).json).toHaveLength(1);
    for (const path of ['t0/', 't0/?p=1', 't0/?ordering=-p', 'p/1/t0s/', 'p/1/t0s/?ordering=text'])
      expect([path, (await client.get(`/rest/v1/short/${path}`)).json]).toEqual([path, [row]]);
    expect((await client.get('/rest/v1/short/p/2/t0s/')).status).toBe(404);
  });
});
