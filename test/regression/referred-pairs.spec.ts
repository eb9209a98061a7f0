// @tags db nest
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { deny, restify, RestifyOpenApi } from 'nestjs-restify';
import type { Denial, Permission } from 'nestjs-restify';
import {
  Column,
  Entity,
  JoinColumn,
  JoinTable,
  ManyToMany,
  ManyToOne,
  PrimaryColumn,
  PrimaryGeneratedColumn,
} from 'typeorm';
import type { Relation } from 'typeorm';
import { onEachDatabase } from '../support/each-database.js';
import { startApp } from '../support/start-app.js';
import type { StartedApp } from '../support/start-app.js';

@Entity('rp_order')
class RpOrder {
  @PrimaryGeneratedColumn() id: number;
  @Column({ length: 10, unique: true }) code: string;
  @ManyToMany(() => RpProduct)
  @JoinTable({
    name: 'rp_line',
    joinColumn: { name: 'order_id' },
    inverseJoinColumn: { name: 'product_id' },
  })
  products: Relation<RpProduct[]>;
  @ManyToMany(() => RpProduct)
  @JoinTable({ name: 'rp_gift', joinColumn: { name: 'order_id' }, inverseJoinColumn: { name: 'product_id' } })
  gifts: Relation<RpProduct[]>;
}

@Entity('rp_product')
class RpProduct {
  @PrimaryGeneratedColumn() id: number;
  @Column() name: string;
}

/** A through model with a composite key. */
@Entity('rp_line')
class RpLine {
  @PrimaryColumn({ name: 'order_id' }) orderId: number;
  @PrimaryColumn({ name: 'product_id' }) productId: number;
  @ManyToOne(() => RpOrder, { onDelete: 'CASCADE' })
  @JoinColumn({ name: 'order_id' })
  order: Relation<RpOrder>;
  @ManyToOne(() => RpProduct, { onDelete: 'CASCADE' })
  @JoinColumn({ name: 'product_id' })
  product: Relation<RpProduct>;
  @Column({ default: 1 }) count: number;
}

@Entity('rp_shipment')
class RpShipment {
  @PrimaryGeneratedColumn() id: number;
  @ManyToOne(() => RpLine)
  @JoinColumn([
    { name: 'order_id', referencedColumnName: 'orderId' },
    { name: 'product_id', referencedColumnName: 'productId' },
  ])
  line: Relation<RpLine>;
}

/** Refers to orders by their code. */
@Entity('rp_invoice')
class RpInvoice {
  @PrimaryGeneratedColumn() id: number;
  @ManyToOne(() => RpOrder)
  @JoinColumn({ name: 'order_code', referencedColumnName: 'code' })
  order: Relation<RpOrder>;
}

/** Nobody may view invoices. */
class Never implements Permission {
  decide(): Denial {
    return deny();
  }
}

restify(RpOrder, { app: 'rp', bulk: true });
for (const entity of [RpProduct, RpLine, RpShipment]) restify(entity, 'rp');
restify(RpInvoice, { app: 'rp', permissions: [Never] });

onEachDatabase('rows to which others refer', (database) => {
  let started: StartedApp;
  beforeAll(async () => {
    started = await startApp({
      entities: [RpOrder, RpProduct, RpLine, RpShipment, RpInvoice],
      database,
      // TypeORM does not know who refers to pairs of rp_gift.
      undescribed: [409],
    });
    const { dataSource } = started;
    await dataSource.query(
      `CREATE TABLE rp_card (id int PRIMARY KEY, order_id int, product_id int, FOREIGN KEY (order_id, product_id) REFERENCES rp_gift (order_id, product_id))`,
    );
    await dataSource.query(
      'CREATE TABLE rp_label (id int PRIMARY KEY, order_id int, product_id int, FOREIGN KEY (order_id, product_id) REFERENCES rp_gift (order_id, product_id) ON DELETE CASCADE)',
    );
    await dataSource.getRepository(RpOrder).save([{ code: 'a' }, { code: 'b' }]);
    await dataSource.getRepository(RpProduct).save([{ name: 'x' }, { name: 'y' }, { name: 'z' }]);
    for (const [orderId, productId] of [
      [1, 1],
      [1, 2],
    ])
      await dataSource.query(
        `INSERT INTO rp_gift (order_id, product_id) VALUES (${String(orderId)}, ${String(productId)})`,
      );
    await dataSource.getRepository(RpLine).save([
      { orderId: 1, productId: 1 },
      { orderId: 1, productId: 2 },
    ]);
    await dataSource.getRepository(RpShipment).save({ line: { orderId: 1, productId: 1 } });
    await dataSource.getRepository(RpInvoice).save({ order: { id: 1, code: 'a' } });
    await dataSource.query(`INSERT INTO rp_card VALUES (1, 1, 1)`);
  });
  afterAll(async () => {
    for (const table of ['rp_card', 'rp_label']) await started.dataSource.query(`DROP TABLE ${table}`);
    await started.close();
  });

  const send = async (
    method: string,
    path: string,
    body?: unknown,
  ): Promise<{ readonly status: number; readonly json: unknown }> => {
    const { status, json } = await started.client.send(method, `/rest/v1/rp/${path}`, { body });
    return { status, json };
  };
  const referred = (change: 'changed' | 'deleted', by: string): unknown => ({
    status: 409,
    json: { detail: `This object cannot be ${change}: ${by} still refer to it.` },
  });

  test('through objects are not changed, and the error names the model that refers to them', async () => {
    const refusal = referred('changed', 'objects of "rp.rpshipment"');
    expect(await send('PATCH', 'rporder/1/products/1/', { product: 3 })).toEqual(refusal);
    expect(await send('PUT', 'rporder/1/products/1/', { product: 3, count: 4 })).toEqual(refusal);
    expect(await send('DELETE', 'rporder/1/products/1/')).toEqual(
      referred('deleted', 'objects of "rp.rpshipment"'),
    );
    expect(await send('GET', 'rporder/1/products/1/')).toMatchObject({ json: { product: 1, count: 1 } });
    expect(await send('PATCH', 'rporder/1/products/1/', { count: 2 })).toMatchObject({ status: 200 });
    expect(await send('PATCH', 'rporder/1/products/2/', { product: 3 })).toMatchObject({ status: 200 });
    expect(await send('PATCH', 'rporder/1/products/3/', { product: 99 })).toEqual({
      status: 400,
      json: { product: ['Invalid pk "99" - object does not exist.'] },
    });
  });

  test('pairs of a junction without an entity are neither changed nor deleted', async () => {
    const before = await send('GET', 'rporder/1/gifts/');
    expect(await send('PATCH', 'rporder/1/gifts/1/', { rpproduct: 3 })).toEqual(
      referred('changed', 'other objects'),
    );
    expect(await send('DELETE', 'rporder/1/gifts/1/')).toEqual(referred('deleted', 'other objects'));
    expect(await send('GET', 'rporder/1/gifts/')).toEqual(before);
    expect(await send('PATCH', 'rporder/1/gifts/2/', { rpproduct: 3 })).toMatchObject({
      status: 200,
      json: { id: 3 },
    });
  });

  test('pairs are not changed where a deletion would take what refers to them along', async () => {
    const { dataSource } = started;
    await dataSource.query('INSERT INTO rp_gift (order_id, product_id) VALUES (2, 1)');
    await dataSource.query('INSERT INTO rp_label VALUES (1, 2, 1)');
    expect(await send('PATCH', 'rporder/2/gifts/1/', { rpproduct: 3 })).toEqual(
      referred('changed', 'other objects'),
    );
    expect(await dataSource.query('SELECT id FROM rp_label')).toHaveLength(1);
    expect(await send('DELETE', 'rporder/2/gifts/1/')).toMatchObject({ status: 204 });
    expect(await dataSource.query('SELECT id FROM rp_label')).toHaveLength(0);
  });

  test('other columns to which rows refer are not changed, and a model that the caller may not view is not named', async () => {
    const refusal = referred('changed', 'other objects');
    expect(await send('PATCH', 'rporder/1/', { code: 'c' })).toEqual(refusal);
    expect(
      await send('PATCH', 'rporder/', [
        { id: 2, code: 'x' },
        { id: 1, code: 'c' },
      ]),
    ).toEqual(refusal);
    expect(await send('PATCH', 'rporder/1/', { code: 'a' })).toMatchObject({ status: 200 });
    expect(await send('PATCH', 'rporder/2/', { code: 'c' })).toMatchObject({ status: 200 });
  });

  test('the document has the error where entities refer to a column that can be changed', () => {
    const { paths } = started.app
      .get(RestifyOpenApi)
      .extend({ openapi: '3.1.0', info: { title: 'T', version: '1' }, paths: {} });
    const conflicts = Object.entries(
      paths as Readonly<Record<string, { readonly patch?: { readonly responses: object } }>>,
    )
      .filter(([, { patch }]) => '409' in (patch?.responses ?? {}))
      .map(([path]) => path);
    expect(conflicts.sort()).toEqual([
      '/rest/v1/rp/rporder',
      '/rest/v1/rp/rporder/{pk}',
      '/rest/v1/rp/rporder/{pk}/products/{childId}',
    ]);
  });
});
