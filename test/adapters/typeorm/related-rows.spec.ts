// @tags db nest
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { allow, Restify, where } from 'nestjs-restify';
import type { Grant, Permission } from 'nestjs-restify';
import {
  Column,
  DeleteDateColumn,
  Entity,
  Index,
  JoinColumn,
  JoinTable,
  ManyToMany,
  ManyToOne,
  OneToMany,
  PrimaryColumn,
  VirtualColumn,
} from 'typeorm';
import type { Relation } from 'typeorm';
import { StatementLog } from '../../faults/statement-log.js';
import { onEachDatabase } from '../../support/each-database.js';
import { startApp } from '../../support/start-app.js';
import type { StartedApp } from '../../support/start-app.js';

class NotSecret implements Permission {
  decide(): Grant {
    return allow({ rows: where('secret', false) });
  }
}

@Restify({ app: 'related', filterFields: ['name'] })
@Entity('related_region')
class Region {
  @PrimaryColumn({ type: 'varchar', length: 10 }) code: string;
  @Index() @Column({ type: 'varchar', length: 10 }) name: string;
}

@Restify({ app: 'related', filterFields: { 'region.name': ['exact'] } })
@Entity('related_customer')
class Customer {
  @PrimaryColumn() id: number;
  @Index() @ManyToOne(() => Region, { nullable: true }) region: Relation<Region> | null;
  @DeleteDateColumn() deleted: Date | null;
  @VirtualColumn({
    type: 'int',
    query: (alias) => `SELECT COUNT(*) FROM related_line l WHERE l.amount = ${alias}.id`,
  })
  lines: number;
}

@Restify({
  app: 'related',
  filterFields: {
    'customer.region.name': ['exact', 'ne', 'isnull', 'in'],
    'customer.id': ['exact'],
    'customer.lines': ['exact', 'ne'],
    'lines.item': ['exact', 'in'],
    'lines.note': ['exact'],
    'lines.amount': ['exact', 'gte'],
    items: ['exact', 'in'],
    'items.name': ['exact'],
  },
  filterGroups: true,
  orderingFields: ['id', 'customer.region.name', 'customer.lines'],
})
@Entity('related_order')
class Order {
  @PrimaryColumn() id: number;
  @Index() @ManyToOne(() => Customer, { nullable: true }) customer: Relation<Customer> | null;
  @OneToMany(() => Line, (line) => line.order) lines: Relation<Line[]>;
  @ManyToMany(() => Item, (item) => item.orders) @JoinTable() items: Relation<Item[]>;
}

@Restify({ app: 'related', filterFields: { orders: ['exact'] } })
@Entity('related_item')
class Item {
  @PrimaryColumn({ type: 'varchar', length: 10 }) code: string;
  @Index() @Column({ type: 'varchar', length: 10 }) name: string;
  @ManyToMany(() => Order, (order) => order.items) orders: Relation<Order[]>;
}

@Restify({
  app: 'related',
  permissions: [NotSecret],
  orderingFields: ['item.name', 'order.id'],
  filterFields: { 'item.name': ['ne'] },
})
@Entity('related_line')
class Line {
  @PrimaryColumn() id: number;
  @Index() @ManyToOne(() => Order, (order) => order.lines, { nullable: true }) order: Relation<Order> | null;
  @Index() @ManyToOne(() => Item, { nullable: false }) item: Relation<Item>;
  @Column({ type: 'varchar', length: 10, nullable: true }) note: string | null;
  @Column() amount: number;
  @Column({ default: false }) secret: boolean;
}

/** Its sheets refer to it by a column of another collation. */
@Restify({ app: 'related', filterFields: { 'sheets.kind': ['exact'] } })
@Entity('related_folder')
class Folder {
  @PrimaryColumn({ type: 'varchar', length: 10 }) code: string;
  @OneToMany(() => Sheet, (sheet) => sheet.folder) sheets: Relation<Sheet[]>;
}

@Restify({ app: 'related' })
@Entity('related_sheet')
class Sheet {
  @PrimaryColumn() id: number;
  @Index() @Column() kind: number;
  @Index()
  @Column({ type: 'varchar', length: 10, collation: 'NOCASE' })
  folderCode: string;
  @ManyToOne(() => Folder, (folder) => folder.sheets, { createForeignKeyConstraints: false })
  @JoinColumn({ name: 'folderCode' })
  folder: Relation<Folder>;
}

/** A composite key of texts, to which another table refers. */
@Restify({ app: 'related', filterFields: { 'parts.kind': ['exact'] } })
@Entity('related_box')
class Box {
  @PrimaryColumn({ type: 'varchar', length: 10 }) room: string;
  @PrimaryColumn({ type: 'varchar', length: 10 }) place: string;
  @OneToMany(() => Part, (part) => part.box) parts: Relation<Part[]>;
}

@Restify({ app: 'related' })
@Entity('related_part')
class Part {
  @PrimaryColumn() id: number;
  @Index() @Column() kind: number;
  @ManyToOne(() => Box, (box) => box.parts, { nullable: true, createForeignKeyConstraints: false })
  @JoinColumn([
    { name: 'room', referencedColumnName: 'room' },
    { name: 'place', referencedColumnName: 'place' },
  ])
  box: Relation<Box> | null;
}

const MODELS = [Region, Customer, Order, Item, Line, Box, Part];

onEachDatabase('conditions on related rows', (database) => {
  const log = new StatementLog();
  let started: StartedApp;
  beforeAll(async () => {
    started = await startApp({
      compare: false,
      entities: [...MODELS],
      database,
      dataSource: { logging: true, logger: log },
    });
    const { dataSource } = started;
    const insert = async (entity: new () => object, rows: readonly object[]): Promise<void> => {
      await dataSource.getRepository(entity).insert([...rows]);
    };
    await insert(Region, [
      { code: 'n', name: 'north' },
      { code: 's', name: 'south' },
    ]);
    await insert(Customer, [
      { id: 1, region: { code: 'n' } },
      { id: 2, region: { code: 's' } },
      { id: 3, region: null },
      { id: 4, region: { code: 'n' }, deleted: new Date() },
    ]);
    await insert(
      Order,
      [1, 2, 3, 4, null, 1].map((customer, at) => ({ id: at + 1, customer: customer && { id: customer } })),
    );
    await insert(Item, [
      { code: 'a', name: 'red' },
      { code: 'b', name: 'blue' },
      { code: 'c', name: 'red' },
    ]);
    const line = (id: number, order: number | null, item: string, more: object = {}): object => ({
      id,
      order: order && { id: order },
      item: { code: item },
      note: null,
      amount: id,
      ...more,
    });
    await insert(Line, [
      line(1, 1, 'a'),
      line(2, 1, 'a', { note: 'x' }),
      line(3, 2, 'b', { note: 'x' }),
      line(4, null, 'a'),
      line(5, 3, 'a', { secret: true }),
      line(6, 4, 'c'),
    ]);
    for (const [order, item] of [
      [1, 'a'],
      [1, 'c'],
      [2, 'b'],
      [5, 'a'],
    ])
      await dataSource.createQueryBuilder().relation(Order, 'items').of(order).add(item);
    await insert(Box, [
      { room: 'r', place: '1' },
      { room: 'r', place: '2' },
      { room: 'q', place: '1' },
    ]);
    const part = (id: number, kind: number, box: object | null): object => ({ id, kind, box });
    await insert(Part, [
      part(1, 1, { room: 'r', place: '1' }),
      part(2, 1, { room: 'r', place: '1' }),
      part(3, 1, { room: 'q', place: '1' }),
      part(4, 2, { room: 'r', place: '2' }),
      part(5, 1, null),
      part(6, 1, { room: 'x', place: '1' }),
    ]);
  });
  afterAll(() => started.close());

  const keysOf = async (model: string, query: string): Promise<readonly unknown[]> => {
    log.clear();
    const { status, json } = await started.client.get(`/rest/v1/related/${model}/?${query}`);
    expect(status).toBe(200);
    return (json as readonly Readonly<Record<string, unknown>>[]).map(
      ({ id, code, room, place }) => id ?? code ?? `${String(room)},${String(place)}`,
    );
  };

  const ORDERS: readonly (readonly [query: string, keys: readonly number[]])[] = [
    ['lines__item=a', [1]],
    ['lines__item__in=a,b', [1, 2]],
    ['lines__item=zz', []],
    ['lines__item=a&lines__note=x', [1]],
    ['lines__item=b&lines__amount__gte=4', []],
    ['lines__note=x', [1, 2]],
    ['items=a', [1, 5]],
    ['items__in=b,c', [1, 2]],
    ['items__name=red', [1, 5]],
    ['items__name=red&lines__item=a', [1]],
    ['items=a&customer__id=1', [1]],
    [`filter=${encodeURIComponent('or(items=b,lines__item=c)')}`, [2, 4]],
    [`filter=${encodeURIComponent('not(lines__item=a)')}`, [2, 3, 4, 5, 6]],
    [`filter=${encodeURIComponent('not(items=a)')}`, [2, 3, 4, 6]],
    [`filter=${encodeURIComponent('not(or(items=b,lines__item=c))')}`, [1, 3, 5, 6]],
    [`filter=${encodeURIComponent('not(not(lines__item=a))')}`, [1]],
    ['customer__region__name=north', [1, 6]],
    ['customer__region__name__in=north,south', [1, 2, 6]],
    ['customer__region__name__ne=north', [2, 3, 4, 5]],
    ['customer__region__name__isnull=true', [3, 4, 5]],
    ['customer__region__name__isnull=false', [1, 2, 6]],
    ['customer__region__name=north&customer__region__name__ne=south', [1, 6]],
    [`filter=${encodeURIComponent('or(customer__region__name=north,items=b)')}`, [1, 2, 6]],
    [`filter=${encodeURIComponent('not(customer__region__name=north)')}`, [2, 3, 4, 5]],
    ['customer__region__name=north&items=c', [1]],
    ['customer__lines=1', [1, 2, 3, 6]],
    ['customer__lines=0', []],
    ['customer__lines__ne=1', [4, 5]],
    [`filter=${encodeURIComponent('or(customer__lines=0,items=b)')}`, [2]],
    [`filter=${encodeURIComponent('not(customer__lines=0)')}`, [1, 2, 3, 4, 5, 6]],
  ];

  test.each(ORDERS)('select the orders with %s', async (query, keys) => {
    expect(await keysOf('order', `${query}&ordering=id`)).toEqual(keys);
    expect(await keysOf('order', `${query}&ordering=-id`)).toEqual([...keys].reverse());
  });

  test('select by composite keys, and from the other side', async () => {
    expect(await keysOf('box', 'parts__kind=1')).toEqual(['q,1', 'r,1']);
    expect(await keysOf('box', 'parts__kind=2')).toEqual(['r,2']);
    expect(await keysOf('item', 'orders=1')).toEqual(['a', 'c']);
  });

  test('join the related row only where each listed row has it', async () => {
    const joins = async (query: string): Promise<unknown> => {
      await keysOf('order', query);
      return log.statements.flatMap((sql) => sql.match(/(?:LEFT|INNER) JOIN/g) ?? []);
    };
    expect(await joins('customer__region__name=north')).toEqual(['INNER JOIN', 'INNER JOIN']);
    // On SQLite, the rows with a related one are a range of their own.
    const ofRange = database.name === 'sqlite' ? ['INNER JOIN', 'INNER JOIN'] : [];
    expect(await joins('ordering=customer__region__name')).toEqual(['LEFT JOIN', 'LEFT JOIN', ...ofRange]);
    expect(await joins('customer__region__name__ne=north')).toEqual(['LEFT JOIN', 'LEFT JOIN']);
  });

  if (database.name === 'sqlite')
    describe('start at the related rows', () => {
      const planOf = async (model: string, query: string): Promise<string> => {
        await keysOf(model, query);
        const [sql = ''] = log.statements;
        const parameters = [...sql.matchAll(/\?/g)].map(() => '1');
        const steps = await started.dataSource.query<readonly { readonly detail: string }[]>(
          `EXPLAIN QUERY PLAN ${sql}`,
          parameters,
        );
        return steps.map(({ detail }) => detail).join('\n');
      };

      test.each([
        ['order', 'lines__item=a'],
        ['order', 'items=a'],
        ['order', 'items__name=red'],
        ['order', 'customer__region__name=north'],
        ['order', `filter=${encodeURIComponent('or(items=b,lines__item=c)')}`],
        ['box', 'parts__kind=1'],
        ['item', 'orders=1'],
      ])('of %s with %s', async (model, query) => {
        expect(await planOf(model, query)).not.toMatch(/SCAN t0/);
      });

      test('but not where the values may be frequent', async () => {
        expect(await planOf('order', 'lines__note=x')).toMatch(/SCAN t0/);
      });
    });
});

onEachDatabase(
  'conditions on related rows of another collation',
  (database) => {
    let started: StartedApp;
    beforeAll(async () => {
      started = await startApp({ compare: false, entities: [Folder, Sheet], database });
      await started.dataSource.getRepository(Folder).insert([{ code: 'a' }, { code: 'A' }, { code: 'b' }]);
      await started.dataSource.getRepository(Sheet).insert([
        { id: 1, kind: 1, folderCode: 'a' },
        { id: 2, kind: 2, folderCode: 'B' },
      ]);
    });
    afterAll(() => started.close());

    // The left operand of the join condition decides, as for TypeORM.
    test.each([
      [1, ['A', 'a']],
      [2, ['b']],
    ])('compare as the join does (%i)', async (kind, keys) => {
      const { json } = await started.client.get(`/rest/v1/related/folder/?sheets__kind=${kind}`);
      expect((json as readonly Folder[]).map(({ code }) => code)).toEqual(keys);
    });
  },
  ['sqlite'],
);

onEachDatabase(
  'the join of a row to which each row refers',
  (database) => {
    let base: StartedApp;
    beforeAll(async () => {
      base = await startApp({ compare: false, entities: [...MODELS], database });
    });
    afterAll(() => base.close());

    /** The joins of lists in an application that starts with the tables as they are now. */
    const joinsOf = async (...paths: readonly string[]): Promise<readonly unknown[]> => {
      const log = new StatementLog();
      const { schema, extra } = base.dataSource.options as unknown as {
        readonly schema: string;
        readonly extra: object;
      };
      const started = await startApp({
        compare: false,
        entities: [...MODELS],
        database,
        dataSource: { schema, extra, synchronize: false, logging: true, logger: log },
      });
      const joins: unknown[] = [];
      for (const path of paths) {
        log.clear();
        const { status } = await started.client.get(`/rest/v1/related/${path}`);
        expect(status).toBe(200);
        joins.push(log.statements.flatMap((sql) => sql.match(/(?:LEFT|INNER|CROSS) JOIN/g) ?? []).join());
      }
      await started.close();
      return joins;
    };

    test('rejects no row, and need not be an outer join', async () => {
      expect(
        await joinsOf('line/?ordering=item__name', 'line/?item__name__ne=red', 'line/?ordering=order__id'),
      ).toEqual(['INNER JOIN', 'INNER JOIN', 'LEFT JOIN']);
    });

    test('is left out where only the key is compared, and is an integer', async () => {
      expect(await joinsOf('item/?orders=1', 'order/?items=a')).toEqual(['', 'CROSS JOIN']);
    });

    test.each([
      [
        'the column may be null',
        'ALTER TABLE related_line ALTER "itemCode" DROP NOT NULL',
        'ALTER TABLE related_line ALTER "itemCode" SET NOT NULL',
      ],
      [
        'the constraint is checked at the end of the transaction',
        'ALTER TABLE related_line ALTER CONSTRAINT item_key DEFERRABLE',
        'ALTER TABLE related_line ALTER CONSTRAINT item_key NOT DEFERRABLE',
      ],
      [
        'row security may hide the related row',
        'ALTER TABLE related_item ENABLE ROW LEVEL SECURITY',
        'ALTER TABLE related_item DISABLE ROW LEVEL SECURITY',
      ],
      [
        'rows of an inheriting table have no constraint',
        'CREATE TABLE related_more () INHERITS (related_line)',
        // PostgreSQL remembers until then that there was one.
        'DROP TABLE related_more; ANALYZE related_line',
      ],
      [
        'rows have not been checked',
        `ALTER TABLE related_line DROP CONSTRAINT item_key,
          ADD CONSTRAINT item_key FOREIGN KEY ("itemCode") REFERENCES related_item NOT VALID`,
        'ALTER TABLE related_line VALIDATE CONSTRAINT item_key',
      ],
      [
        'the constraint is to the table of which the related one is a partition',
        `ALTER TABLE related_line DROP CONSTRAINT item_key;
          CREATE TABLE related_items (LIKE related_item INCLUDING ALL) PARTITION BY LIST (code);
          ALTER TABLE related_items ATTACH PARTITION related_item DEFAULT;
          ALTER TABLE related_line ADD CONSTRAINT item_key FOREIGN KEY ("itemCode") REFERENCES related_items`,
        `ALTER TABLE related_line DROP CONSTRAINT item_key;
          ALTER TABLE related_items DETACH PARTITION related_item;
          DROP TABLE related_items;
          ALTER TABLE related_line ADD CONSTRAINT item_key FOREIGN KEY ("itemCode") REFERENCES related_item`,
      ],
      ['there is no constraint', 'ALTER TABLE related_line DROP CONSTRAINT item_key', 'SELECT 1'],
    ])('is an outer join if %s', async (_, change, restore) => {
      expect(await joinsOf('line/?ordering=item__name')).toEqual(['INNER JOIN']);
      const [key] = base.dataSource
        .getMetadata(Line)
        .foreignKeys.filter(({ referencedEntityMetadata }) => referencedEntityMetadata.target === Item);
      await base.dataSource.query(change.replaceAll('item_key', `"${key?.name ?? ''}"`));
      expect(await joinsOf('line/?ordering=item__name')).toEqual(['LEFT JOIN']);
      await base.dataSource.query(restore.replaceAll('item_key', `"${key?.name ?? ''}"`));
    });
  },
  ['postgres'],
);
