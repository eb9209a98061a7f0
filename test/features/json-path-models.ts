import { allow, CursorPagination, Restify, where } from 'nestjs-restify';
import type { AccessContext, Grant, Permission } from 'nestjs-restify';
import { Column, Entity, ManyToOne, OneToMany, PrimaryColumn } from 'typeorm';
import type { DataSource, EntityTarget, Relation } from 'typeorm';
import type { TestDatabase } from '../support/databases.js';

export type JsonColumn = 'json' | 'jsonb' | 'simple-json';

/** A type of columns with documents, on each database. */
export const DOCUMENTS: Readonly<Record<TestDatabase['name'], JsonColumn>> = {
  sqlite: 'simple-json',
  postgres: 'jsonb',
  mariadb: 'json',
};

/** `blind` reads no document, `half` sees the even rows alone. */
class ThingRules implements Permission {
  decide({ actor }: AccessContext): Grant {
    const { name } = (actor ?? {}) as { readonly name?: string };
    if (name === 'blind') return allow({ readable: ['id', 'shop'] });
    return name === 'half' ? allow({ rows: where('id', 'in', [2, 4, 6, 8]) }) : allow();
  }
}

export interface JsonModels {
  readonly entities: [new () => object, new () => object, new () => object];
  fill(dataSource: DataSource): Promise<void>;
}

export function jsonModels(type: JsonColumn): JsonModels {
  @Restify({
    app: 'docs',
    permissions: [ThingRules],
    filterFields: {
      id: ['in'],
      meta: ['isnull'],
      'meta.color': ['exact', 'ne', 'in', 'isnull', 'gt', 'icontains', 'contains', 'startswith'],
      'meta.size': { type: 'number', lookups: ['exact', 'gte', 'lte', 'range', 'ne', 'isnull'] },
      'meta.new': { type: 'boolean', lookups: ['exact', 'ne', 'in'] },
      'meta.tags': { type: 'string[]', lookups: ['contains', 'isnull'] },
      "meta.o'k.$x": ['exact'],
      'shop.info.city': ['exact', 'ne', 'isnull'],
    },
    filterGroups: true,
    orderingFields: ['id', 'meta.size', 'meta.color nulls last', 'shop.info.city'],
    orderingNulls: true,
    aggregate: { group: ['shop'] },
    bulk: true,
  })
  @Entity('jp_thing')
  class Thing {
    @PrimaryColumn({ type: 'int' }) id: number;
    @Column({ type, nullable: true }) meta: Record<string, unknown> | null;
    @ManyToOne(() => Shop, (shop) => shop.things, { nullable: true }) shop: Relation<Shop> | null;
  }

  @Restify({
    app: 'docs',
    filterFields: {
      'info.city': ['exact'],
      'things.meta.color': ['exact'],
      'things.meta.size': { type: 'number', lookups: ['gte'] },
    },
    shape: true,
    expandable: ['things'],
    expansionQueries: true,
  })
  @Entity('jp_shop')
  class Shop {
    @PrimaryColumn({ type: 'int' }) id: number;
    @Column({ type, nullable: true }) info: Record<string, unknown> | null;
    @OneToMany(() => Thing, (thing) => thing.shop) things: Relation<Thing[]>;
  }

  @Restify({
    app: 'docs',
    filterFields: { 'meta.size': { type: 'number', lookups: [] }, 'meta.color': [] },
    ordering: ['-meta.size'],
    orderingFields: ['meta.size', 'meta.color'],
    orderingNulls: true,
    pagination: new CursorPagination({
      secret: 'the secret of a test, which is long enough',
      pageSize: 2,
    }),
  })
  @Entity('jp_sheet')
  class Sheet {
    @PrimaryColumn({ type: 'int' }) id: number;
    @Column({ type, nullable: true }) meta: Record<string, unknown> | null;
  }

  return {
    entities: [Thing, Shop, Sheet],
    async fill(dataSource) {
      const insert = (entity: EntityTarget<object>, rows: readonly object[]): Promise<unknown> =>
        dataSource.getRepository(entity).insert([...rows]);
      await insert(Shop, [
        { id: 1, info: { city: 'Bonn' } },
        { id: 2, info: { city: null } },
      ]);
      await insert(
        Thing,
        THINGS.map((meta, index) => ({ id: index + 1, meta, shop: [null, { id: 1 }, { id: 2 }][index % 3] })),
      );
      await insert(
        Sheet,
        SHEETS.map((meta, index) => ({ id: index + 1, meta })),
      );
    },
  };
}

/** By their keys, from 1. Of shops: none, 1, 2, none, 1, 2, … */
const THINGS: readonly (object | null)[] = [
  { color: 'red', size: 1, new: true, tags: ['a', 'b'] },
  { color: 'Red', size: 2.5, new: false, tags: ['b', 1, ['a']] },
  { color: 'blue', size: 9007199254740991, tags: [] },
  { color: 'blue ', size: 9007199254740992, tags: 'a' },
  { color: 5, size: '1', new: 'true', tags: { a: 'a' } },
  { color: null, size: null, new: null, tags: null },
  {},
  null,
  { color: '', size: -3, new: 1, tags: ['A'], "o'k": { $x: 'v' } },
  { color: ['red'], size: [1], new: [true], tags: [['a']] },
  { color: { red: 'red' }, size: 1e300, 'color.x': 'red' },
];

const SHEETS: readonly (object | null)[] = [
  { size: 3, color: 'b' },
  { size: '9', color: 'B' },
  { size: 1.5, color: 'é' },
  null,
  { size: 3, color: 'b ' },
  { size: -1, color: 7 },
  { size: 10 },
];
