// @tags db nest
import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { ResourceController, restify, RestifyController, RestifyResources } from 'nestjs-restify';
import type { Write } from 'nestjs-restify';
import {
  AfterLoad,
  AfterRemove,
  BeforeRemove,
  BeforeUpdate,
  ChildEntity,
  Column,
  DeleteDateColumn,
  Entity,
  EventSubscriber,
  JoinColumn,
  JoinTable,
  ManyToMany,
  ManyToOne,
  OneToMany,
  OneToOne,
  PrimaryColumn,
  PrimaryGeneratedColumn,
  TableInheritance,
} from 'typeorm';
import type { EntitySubscriberInterface, Relation, RemoveEvent } from 'typeorm';
import { onEachDatabase } from '../support/each-database.js';
import { startApp } from '../support/start-app.js';
import type { StartedApp } from '../support/start-app.js';
import { WORLD } from '../support/world.js';
import { DELETED, idOf, seen } from '../features/nested-answers.js';

const told: string[] = [];

@Entity('dt_product')
@TableInheritance({ column: { type: 'varchar', length: 20, name: 'kind' } })
class DtProduct {
  @PrimaryGeneratedColumn() id: number;
  @ManyToMany(() => DtOrder, (order) => order.products) orders: Relation<DtOrder[]>;
  @ManyToMany(() => DtProduct, (product) => product.wholes)
  @JoinTable({
    name: 'dt_part',
    joinColumn: { name: 'whole_id' },
    inverseJoinColumn: { name: 'part_id' },
    synchronize: false,
  })
  parts: Relation<DtProduct[]>;
  @ManyToMany(() => DtProduct, (product) => product.parts) wholes: Relation<DtProduct[]>;

  @BeforeRemove() removing(): void {
    told.push(`removing product ${String(this.id)}`);
  }
  @AfterRemove() removed(): void {
    told.push(`removed product ${String(this.id)}`);
  }
}

@ChildEntity()
class DtBundle extends DtProduct {
  @Column({ default: 0 }) discount: number;
}

class DtPlaces {
  @ManyToMany(() => DtLabel)
  @JoinTable({
    name: 'dt_place',
    synchronize: false,
    joinColumn: { name: 'order_id' },
    inverseJoinColumn: { name: 'code' },
  })
  labels: Relation<DtLabel[]>;
  @Column({ default: '' }) note: string;
}

@Entity('dt_order')
class DtOrder {
  @PrimaryGeneratedColumn() id: number;
  @Column({ default: 'o' }) name: string;
  @ManyToMany(() => DtProduct, (product) => product.orders)
  @JoinTable({
    name: 'dt_line',
    joinColumn: { name: 'order_id' },
    inverseJoinColumn: { name: 'product_id' },
    synchronize: false,
  })
  products: Relation<DtProduct[]>;
  /** The other side does not name this one. */
  @ManyToMany(() => DtLabel, (label) => label.plainOrders)
  @JoinTable()
  plain: Relation<DtLabel[]>;
  @ManyToMany(() => DtLabel, { onDelete: 'RESTRICT' })
  @JoinTable()
  kept: Relation<DtLabel[]>;
  @ManyToMany(() => DtLabel)
  @JoinTable({
    name: 'dt odd-pairs',
    joinColumn: { name: 'the-order' },
    inverseJoinColumn: { name: "label's code" },
  })
  odd: Relation<DtLabel[]>;
  @ManyToMany(() => DtLabel, { createForeignKeyConstraints: false })
  @JoinTable()
  loose: Relation<DtLabel[]>;
  @Column(() => DtPlaces) places: DtPlaces;
}

@Entity('dt_label')
class DtLabel {
  @PrimaryColumn({ length: 10 }) code: string;
  @ManyToMany(() => DtOrder) plainOrders: Relation<DtOrder[]>;
}

@Entity('dt_line')
class DtLine {
  @PrimaryGeneratedColumn() id: number;
  @Column({ default: 1 }) quantity: number;
  @ManyToOne(() => DtOrder, { nullable: false, onDelete: 'CASCADE' })
  @JoinColumn({ name: 'order_id' })
  order: Relation<DtOrder>;
  @ManyToOne(() => DtProduct, { nullable: false, onDelete: 'RESTRICT' })
  @JoinColumn({ name: 'product_id' })
  product: Relation<DtProduct>;

  @BeforeRemove() removing(): void {
    told.push('removing line');
  }
}

/** With a key of its own, so that the pair outlives one of its sides. */
@Entity('dt_place')
class DtPlace {
  @PrimaryGeneratedColumn() id: number;
  @ManyToOne(() => DtOrder, { onDelete: 'SET NULL' })
  @JoinColumn({ name: 'order_id' })
  order: Relation<DtOrder> | null;
  @ManyToOne(() => DtLabel) @JoinColumn({ name: 'code' }) label: Relation<DtLabel> | null;
}

@Entity('dt_part')
class DtPart {
  @PrimaryColumn({ name: 'whole_id' }) wholeId: number;
  @PrimaryColumn({ name: 'part_id' }) partId: number;
  @ManyToOne(() => DtProduct) @JoinColumn({ name: 'whole_id' }) whole: Relation<DtProduct>;
  @ManyToOne(() => DtProduct) @JoinColumn({ name: 'part_id' }) part: Relation<DtProduct>;
}

/** Refers to a row that is deleted together with an order. */
@Entity('dt_refund')
class DtRefund {
  @PrimaryGeneratedColumn() id: number;
  @ManyToOne(() => DtLine, { nullable: false }) line: Relation<DtLine>;
}

const ENTITIES = [DtProduct, DtBundle, DtOrder, DtLabel, DtLine, DtPlace, DtPart, DtRefund];
for (const entity of ENTITIES)
  restify<object>(entity, { app: 'dt', bulk: entity !== DtBundle, returnDeleted: entity === DtBundle });

@RestifyController(DtBundle)
class DtBundles extends ResourceController<DtBundle> {
  override destroy(...of: Parameters<ResourceController<DtBundle>['destroy']>): Promise<unknown> {
    return super.destroy(...of);
  }
}

const at = (path: string): string => `/rest/v1/dt/${path}/`;

/** The refusal to delete an object to which objects of this model refer. */
function keptBy(who: string): readonly [number, unknown] {
  return [409, { detail: `This object cannot be deleted: ${who} still refer to it.` }];
}

onEachDatabase('DELETE of an object with a many-to-many', (database) => {
  let started: StartedApp;
  let client: StartedApp['client'];

  @EventSubscriber()
  class DtSubscriber implements EntitySubscriberInterface {
    beforeRemove({ metadata, entity }: RemoveEvent<object>): void {
      told.push(`before ${metadata.tableName} ${entity === undefined ? 'nothing' : 'entity'}`);
    }
    afterRemove({ metadata, entityId, databaseEntity }: RemoveEvent<{ id: number }>): void {
      told.push(`after ${metadata.tableName} ${JSON.stringify(entityId)} ${String(databaseEntity.id)}`);
    }
  }

  beforeAll(async () => {
    const settings = { entities: ENTITIES, database, controllers: [DtBundles] };
    started = await startApp({ ...settings, dataSource: { subscribers: [DtSubscriber] } });
    client = started.client;
    for (const code of ['a', 'b', 'c', 'd', 'e']) await client.post(at('dtlabel'), { code });
  });
  beforeEach(() => {
    told.length = 0;
  });
  afterAll(() => started.close());

  const count = (entity: new () => object): Promise<number> =>
    started.dataSource.getRepository(entity).count();
  const create = async (path: string, body: object = {}): Promise<number> =>
    idOf(await client.post(at(path), body));
  /** An order with a line of a product of this model. */
  async function orderOf(model: string): Promise<{ readonly order: number; readonly product: number }> {
    const order = await create('dtorder');
    const product = await create(model);
    expect((await client.post(at(`dtorder/${order}/products`), { product })).status).toBe(201);
    told.length = 0;
    return { order, product };
  }

  test('is 409 where the foreign key of an entity on the join table restricts it, in every way', async () => {
    const { product } = await orderOf('dtproduct');
    const bundle = (await orderOf('dtbundle')).product;
    const lines = await count(DtLine);
    const kept = keptBy('objects of "dt.dtline"');
    expect(seen(await client.delete(at(`dtproduct/${product}`)))).toEqual(kept);
    expect(told).toEqual([`removing product ${product}`, 'before dt_product entity']);
    expect(seen(await client.delete(at(`dtbundle/${bundle}`)))).toEqual(kept);
    expect(seen(await client.delete(at(`dtproduct/${bundle}`)))).toEqual(kept);
    expect(seen(await client.delete(`${at('dtproduct')}?keys=${product},${bundle}`))).toEqual(kept);
    expect(seen(await client.delete(`${at('dtproduct')}?id=${bundle}`))).toEqual(kept);
    const resources = started.app.get(RestifyResources).of(DtProduct).as(null);
    await expect(resources.destroy(product)).rejects.toMatchObject({ response: { status: 409 } });
    expect([await count(DtLine), await count(DtProduct)]).toEqual([lines, 2]);
  });

  test('follows a foreign key that cascades or empties, and one behind it that restricts', async () => {
    const { order } = await orderOf('dtproduct');
    const lines = await count(DtLine);
    expect((await client.post(at(`dtorder/${order}/places.labels`), { label: 'd' })).status).toBe(201);
    expect(seen(await client.delete(at('dtlabel/d')))).toEqual(keptBy('objects of "dt.dtplace"'));
    const [line] = (await client.get(at(`dtorder/${order}/products`))).json as { id: number }[];
    const refund = await create('dtrefund', { line: line?.id });
    expect(seen(await client.delete(at(`dtorder/${order}`)))).toEqual(keptBy('other objects'));
    await client.delete(at(`dtrefund/${refund}`));
    expect(seen(await client.delete(at(`dtorder/${order}`)))).toEqual(DELETED);
    expect(await count(DtLine)).toBe(lines - 1);
    expect((await client.get(at('dtplace'))).json).toMatchObject([{ order: null, label: 'd' }]);
  });

  test('keeps the rows between a model and itself, from both sides', async () => {
    const [whole, part, alone] = [
      await create('dtproduct'),
      await create('dtproduct'),
      await create('dtproduct'),
    ];
    expect((await client.post(at(`dtproduct/${whole}/parts`), { part })).status).toBe(201);
    for (const each of [whole, part])
      expect(seen(await client.delete(at(`dtproduct/${each}`)))).toEqual(keptBy('objects of "dt.dtpart"'));
    expect(await count(DtPart)).toBe(1);
    told.length = 0;
    expect(seen(await client.delete(at(`dtproduct/${alone}`)))).toEqual(DELETED);
    expect(told).toEqual([
      `removing product ${alone}`,
      'before dt_product entity',
      'removed product undefined',
      `after dt_product ${alone} ${alone}`,
    ]);
  });

  test('deletes the pairs of a junction without an entity if they cascade or have no foreign key', async () => {
    const pairs = async (relation: string, order: number): Promise<unknown> =>
      (await client.get(at(`dtorder/${order}/${relation}`))).json;
    for (const relation of ['plain', 'odd', 'loose']) {
      const [first, second] = [await create('dtorder'), await create('dtorder')];
      for (const [order, dtlabel] of [
        [first, 'a'],
        [first, 'b'],
        [second, 'b'],
      ] as const)
        expect((await client.post(at(`dtorder/${order}/${relation}`), { dtlabel })).status).toBe(201);
      expect(seen(await client.delete(at(`dtorder/${first}`)))).toEqual(DELETED);
      expect(await pairs(relation, second)).toMatchObject([{ id: 'b' }]);
      expect(seen(await client.delete(at('dtlabel/b')))).toEqual(DELETED);
      await client.post(at('dtlabel'), { code: 'b' });
      expect(await pairs(relation, second)).toEqual([]);
      const [{ junctionEntityMetadata } = {}] = started.dataSource
        .getMetadata(DtOrder)
        .manyToManyRelations.filter(({ propertyName }) => propertyName === relation);
      const { driver } = started.dataSource;
      const table = driver.escape(junctionEntityMetadata?.tableName ?? '');
      expect(await started.dataSource.query(`SELECT * FROM ${table}`)).toEqual([]);
    }
  });

  test('is 409 where the foreign key of the pairs restricts it, and names them', async () => {
    const order = await create('dtorder');
    expect((await client.post(at(`dtorder/${order}/kept`), { dtlabel: 'a' })).status).toBe(201);
    expect(seen(await client.delete(at(`dtorder/${order}`)))).toEqual(keptBy('objects of "dt.dtorder_kept"'));
    expect((await client.get(at(`dtorder/${order}/kept`))).json).toHaveLength(1);
  });
});

/** Fills in what was not loaded, as applications do for their own code. */
@Entity('dw_post')
class DwPost {
  @PrimaryGeneratedColumn() id: number;
  @Column({ length: 20, unique: true }) title: string;
  @DeleteDateColumn() deleted: Date | null;
  @ManyToMany(() => DwTag) @JoinTable({ name: 'dw_tagging', synchronize: false }) tags?: Relation<DwTag[]>;
  @ManyToMany(() => DwTag) @JoinTable() plain?: Relation<DwTag[]>;
  @OneToMany(() => DwNote, (note) => note.post, { cascade: true }) notes?: Relation<DwNote[]>;
  @OneToOne(() => DwCover, (cover) => cover.post) cover: Relation<DwCover> | null = null;

  @AfterLoad() fill(): void {
    this.tags ??= [];
    this.plain ??= [];
    this.notes ??= [];
  }
  @BeforeUpdate() updating(): void {
    told.push(`updating ${this.title}`);
  }
}

@Entity('dw_tag')
class DwTag {
  @PrimaryGeneratedColumn() id: number;
}

@Entity('dw_tagging')
class DwTagging {
  @PrimaryColumn() dwPostId: number;
  @PrimaryColumn() dwTagId: number;
  @Column({ default: 1 }) weight: number;
  @ManyToOne(() => DwPost) @JoinColumn({ name: 'dwPostId' }) post: Relation<DwPost>;
  @ManyToOne(() => DwTag) @JoinColumn({ name: 'dwTagId' }) tag: Relation<DwTag>;
}

@Entity('dw_note')
class DwNote {
  @PrimaryGeneratedColumn() id: number;
  @Column({ default: '' }) text: string;
  @ManyToOne(() => DwPost, (post) => post.notes, { nullable: false }) post: Relation<DwPost>;
}

@Entity('dw_cover')
class DwCover {
  @PrimaryGeneratedColumn() id: number;
  @OneToOne(() => DwPost, (post) => post.cover) @JoinColumn() post: Relation<DwPost> | null;
}

@RestifyController(DwPost)
class DwPosts extends ResourceController<DwPost> {
  override async beforeWrite({ entity, manager, operation }: Write<DwPost>): Promise<void> {
    if (entity.title === 'tagged') entity.plain = await manager.find(DwTag);
    if (operation === 'destroy') told.push(`${String(entity.tags?.length)} tags`);
  }
}

const WRITTEN = [DwPost, DwTag, DwTagging, DwNote, DwCover];
restify(DwPost, { app: 'dw', bulk: { upsert: ['title'] } });
for (const entity of [DwTag, DwTagging, DwNote, DwCover]) restify<object>(entity, 'dw');

onEachDatabase('PUT, PATCH and soft deletion of an object whose class fills its relations', (database) => {
  test('change nothing but the object, unless a hook assigns related objects', async () => {
    const started = await startApp({ entities: WRITTEN, database, controllers: [DwPosts] });
    const { client } = started;
    const posts = '/rest/v1/dw/dwpost/';
    const post = (path: string, body: object): Promise<unknown> => client.post(`/rest/v1/dw/${path}/`, body);
    const related = async (): Promise<readonly unknown[]> =>
      Promise.all(
        ['dwtagging', 'dwnote', 'dwcover'].map(
          async (path) => (await client.get(`/rest/v1/dw/${path}/`)).json,
        ),
      );
    const pairs = async (): Promise<readonly unknown[]> =>
      (await client.get(`${posts}1/plain/`)).json as readonly unknown[];
    try {
      await post('dwpost', { title: 'a' });
      for (let index = 0; index < 2; index++) await post('dwtag', {});
      await post('dwtagging', { post: 1, tag: 1, weight: 5 });
      await post('dwpost/1/plain', { dwtag: 1 });
      await post('dwnote', { post: 1, text: 'n' });
      await post('dwcover', { post: 1 });
      const before = await related();
      expect(before.flat()).toHaveLength(3);
      told.length = 0;
      expect((await client.patch(`${posts}1/`, { title: 'b' })).status).toBe(200);
      expect((await client.put(`${posts}1/`, { title: 'c' })).status).toBe(200);
      expect((await client.patch(posts, [{ id: 1, title: 'd' }])).status).toBe(200);
      expect((await client.post(`${posts}?upsert=true`, { title: 'd' })).status).toBe(200);
      expect(told).toEqual(['updating b', 'updating c', 'updating d']);
      expect(await related()).toEqual(before);
      expect(await pairs()).toHaveLength(1);
      expect((await client.patch(`${posts}1/`, { title: 'tagged' })).status).toBe(200);
      expect(await pairs()).toHaveLength(2);
      expect((await client.delete(`${posts}1/`)).status).toBe(204);
      expect(told).toEqual(['updating b', 'updating c', 'updating d', 'updating tagged', '0 tags']);
      expect(await related()).toEqual(before);
    } finally {
      await started.close();
    }
  });
});

@Entity('dh_box')
class DhBox {
  @PrimaryGeneratedColumn() id: number;
  @OneToMany(() => DhItem, (item) => item.box, { cascade: ['remove'] }) items: Relation<DhItem[]>;
  @ManyToMany(() => DhItem) @JoinTable({ name: 'dh_lent', synchronize: false }) lent: Relation<DhItem[]>;
  @ManyToOne(() => DhOwner, { cascade: true }) owner: Relation<DhOwner> | null;
}

@Entity('dh_item')
class DhItem {
  @PrimaryGeneratedColumn() id: number;
  @ManyToOne(() => DhBox, (box) => box.items) box: Relation<DhBox> | null;
}

@Entity('dh_owner')
class DhOwner {
  @PrimaryGeneratedColumn() id: number;
}

/** Its foreign keys are made by the test, as by a migration. */
@Entity('dh_lent')
class DhLent {
  @PrimaryColumn() dhBoxId: number;
  @PrimaryColumn() dhItemId: number;
}

@RestifyController(DhBox)
class DhBoxes extends ResourceController<DhBox> {
  override async beforeWrite({ entity, manager, operation }: Write<DhBox>): Promise<void> {
    if (operation === 'destroy') entity.items = await manager.findBy(DhItem, { box: { id: entity.id } });
  }
}

const HELD = [DhBox, DhItem, DhOwner, DhLent];
for (const entity of HELD) restify<object>(entity, 'dh');

onEachDatabase('DELETE of an object over which TypeORM cascades', (database) => {
  test('removes what a hook assigns, as TypeORM does, and nothing of a relation that was loaded', async () => {
    const started = await startApp({ entities: HELD, database, controllers: [DhBoxes] });
    const { client } = started;
    try {
      await client.post('/rest/v1/dh/dhowner/', {});
      await client.post('/rest/v1/dh/dhbox/', { owner: 1 });
      await client.post('/rest/v1/dh/dhitem/', { box: 1 });
      const cascades = WORLD.name === 'nest-12';
      expect((await client.delete('/rest/v1/dh/dhbox/1/')).status).toBe(cascades ? 204 : 409);
      expect((await client.get('/rest/v1/dh/dhitem/')).json).toHaveLength(cascades ? 0 : 1);
      expect((await client.get('/rest/v1/dh/dhowner/')).json).toEqual([{ id: 1 }]);
    } finally {
      await started.close();
    }
  });

  test('is 409 if a foreign key restricts it that is not declared in TypeORM', async () => {
    const started = await startApp({
      ...{ entities: HELD, database, controllers: [DhBoxes] },
      dataSource: { synchronize: false },
    });
    const { client, dataSource } = started;
    try {
      const { driver } = dataSource;
      const [table, box, item] = ['dh_lent', 'dhBoxId', 'dhItemId'].map((name) => driver.escape(name));
      const keys = `FOREIGN KEY (${box}) REFERENCES dh_box (id), FOREIGN KEY (${item}) REFERENCES dh_item (id)`;
      const metadata = dataSource.getMetadata(DhLent);
      metadata.synchronize = false;
      await dataSource.synchronize();
      await dataSource.query(`CREATE TABLE ${table} (${box} integer, ${item} integer, ${keys})`);
      await client.post('/rest/v1/dh/dhbox/', {});
      await client.post('/rest/v1/dh/dhitem/', {});
      expect((await client.post('/rest/v1/dh/dhlent/', { dhBoxId: 1, dhItemId: 1 })).status).toBe(201);
      for (const path of ['dhbox', 'dhitem'])
        expect(seen(await client.delete(`/rest/v1/dh/${path}/1/`))).toEqual(keptBy('objects of "dh.dhlent"'));
      expect((await client.get('/rest/v1/dh/dhlent/')).json).toHaveLength(1);
    } finally {
      await started.close();
    }
  });
});
