// @tags core
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { Restify } from 'nestjs-restify';
import { Column, Entity, JoinTable, ManyToMany, PrimaryColumn, PrimaryGeneratedColumn } from 'typeorm';
import type { Relation } from 'typeorm';
import { startApp } from '../support/start-app.js';
import type { StartedApp } from '../support/start-app.js';
import { documentOf } from './document.js';

@Restify({ app: 'shop', name: 'order-line' })
@Entity('nd_order_line')
class OrderLine {
  @PrimaryGeneratedColumn() id: number;
  @Column() amount: number;
}

@Restify({ app: 'shop', name: 'orderline' })
@Entity('nd_orderline')
class Orderline {
  @PrimaryColumn({ length: 2 }) code: string;
  @ManyToMany(() => Cell) @JoinTable() cells: Relation<Cell[]>;
}

@Restify({ app: 'shop', name: 'cell' })
@Entity('nd_cell')
class Cell {
  @PrimaryColumn('int') row: number;
  @PrimaryColumn({ length: 20 }) column: string;
}

let started: StartedApp;
beforeAll(async () => {
  started = await startApp({ entities: [OrderLine, Orderline, Cell] });
});
afterAll(() => started.close());

const lowered = (names: readonly string[]): readonly string[] => names.map((name) => name.toLowerCase());

test('schemas and operations differ in more than case, and none is called as the file that exports all', () => {
  const { components, paths } = documentOf(started.app);
  const schemas = Object.keys(components.schemas ?? {});
  expect(schemas).toEqual(
    expect.arrayContaining(['ShopOrderLine', 'ShopOrderline2', 'ShopOrderlineCreate2']),
  );
  const operations = Object.values(paths).flatMap((item) =>
    Object.values(item).map(({ operationId }) => operationId),
  );
  for (const names of [schemas, operations]) expect(new Set(lowered(names)).size).toBe(names.length);
  expect(operations).not.toContain('index');
  expect(operations).toContain('api_index');
});

test('each parameter of a path has an example', () => {
  const examples = (path: string): unknown =>
    documentOf(started.app)
      .paths[path]?.get?.parameters.filter((each) => each.in === 'path')
      .map(({ name, example }) => [name, example]);
  expect(examples('/rest/v1/shop/order-line/{pk}')).toEqual([['pk', 1]]);
  expect(examples('/rest/v1/shop/orderline/{pk}/cells/{childId}')).toEqual([
    ['pk', 'ke'],
    ['childId', '1,key'],
  ]);
});
