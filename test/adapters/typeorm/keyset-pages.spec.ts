// @tags db nest
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { Restify } from 'nestjs-restify';
import { Column, Entity, ManyToOne, PrimaryColumn, PrimaryGeneratedColumn } from 'typeorm';
import type { Relation } from 'typeorm';
import { connectAdapter } from '../../support/connect-adapter.js';
import type { ConnectedAdapter } from '../../support/connect-adapter.js';
import { onEachDatabase } from '../../support/each-database.js';
import { ModelRows } from '../../support/model-rows.js';
import type { Shown } from '../../support/model-rows.js';

const TERMS = ['state', 'rank.nullsfirst', 'rank.nullslast', 'other'];
/** Each term up and down, alone and before each other one. */
const ORDERS = [
  ...TERMS.flatMap((first) => [first, ...TERMS.map((second) => `${first},${second}`)]),
  'state,other,rank.nullsfirst',
]
  .filter(
    (order) => new Set(order.split(',').map((term) => term.split('.')[0])).size === order.split(',').length,
  )
  .flatMap((order) => directionsOf(order.split(',')));

/** All combinations of directions. */
function directionsOf(terms: readonly string[]): readonly string[] {
  return Array.from({ length: 2 ** terms.length }, (_, bits) =>
    terms.map((term, index) => ((bits >> index) % 2 === 1 ? `-${term}` : term)).join(','),
  );
}

const OPTIONS = {
  app: 'keyset',
  orderingFields: ['state', 'other', 'rank', 'place.name'],
  orderingNulls: true,
} as const;

@Restify('keyset')
@Entity('keyset_place')
class Place {
  @PrimaryColumn() id: number;
  @Column() name: number;
}

abstract class Sorted {
  @Column() state: number;
  @Column() other: number;
  @Column({ type: 'int', nullable: true }) rank: number | null;
  @ManyToOne(() => Place, { nullable: true }) place: Relation<Place> | null;
}

@Restify(OPTIONS)
@Entity('keyset_numbered')
class Numbered extends Sorted {
  @PrimaryGeneratedColumn() id: number;
}

@Restify(OPTIONS)
@Entity('keyset_named')
class Named extends Sorted {
  @PrimaryColumn({ type: 'varchar', length: 20 }) part: string;
  @PrimaryColumn() number: number;
}

const ROWS = Array.from({ length: 30 }, (_, at) => ({
  state: at % 2,
  other: (at * 7) % 3,
  rank: [null, 1, 2][(at * 5) % 3] ?? null,
  place: at % 4 === 0 ? null : { id: at % 3 },
}));

/** The order of two values, of which NULL is first or last whatever the direction. */
function compareTerm(one: Shown, other: Shown, term: string): number {
  const [, minus, name = '', place] = /^(-?)(\w+)(?:\.(\w+))?$/.exec(term) ?? [];
  const [a, b] = [one[name] as number | string | null, other[name] as number | string | null];
  if (a === b) return 0;
  if (a === null || b === null) return (a === null) === (place === 'nullsfirst') ? -1 : 1;
  return (a < b ? -1 : 1) * (minus === '-' ? -1 : 1);
}

function sorted(rows: readonly Shown[], order: string, key: readonly string[]): readonly Shown[] {
  const terms = order.split(',');
  const minus = terms.at(-1)?.startsWith('-') === true ? '-' : '';
  const all = [...terms, ...key.map((name) => `${minus}${name}`)];
  return [...rows].sort((one, other) => {
    for (const term of all) {
      const difference = compareTerm(one, other, term);
      if (difference !== 0) return difference;
    }
    return 0;
  });
}

onEachDatabase('keyset pages', (database) => {
  let connected: ConnectedAdapter;
  const models: { readonly model: ModelRows; readonly key: readonly string[] }[] = [];
  beforeAll(async () => {
    connected = await connectAdapter({ entities: [Place, Numbered, Named], database });
    const { adapter, dataSource } = connected;
    await dataSource.getRepository(Place).insert([2, 0, 1].map((id) => ({ id, name: id % 2 })));
    await dataSource.getRepository(Numbered).insert(ROWS);
    await dataSource
      .getRepository(Named)
      .insert(ROWS.map((row, at) => ({ ...row, part: `p${at % 5}`, number: at })));
    models.push(
      { model: new ModelRows(adapter, connected.resource('keyset.numbered')), key: ['id'] },
      { model: new ModelRows(adapter, connected.resource('keyset.named')), key: ['part', 'number'] },
    );
  });
  afterAll(() => connected.close());

  /** The rows of all pages in one direction, each page from the end of the one before. */
  const walk = async (
    model: ModelRows,
    ordering: string,
    start: { readonly values: readonly unknown[]; readonly backward: boolean; readonly inclusive: boolean },
  ): Promise<readonly Shown[]> => {
    const rows: Shown[] = [];
    for (let from = start; ;) {
      const page = await model.page({ ordering }, { limit: 5, from });
      rows.splice(start.backward ? 0 : rows.length, 0, ...page.rows);
      if (!page.more) return rows;
      from = { ...start, values: page.last, inclusive: false };
    }
  };

  /** From one row in the middle on, and back from there, without the row and with it, all rows of the list. */
  const expectAllPages = async (model: ModelRows, ordering: string, all: readonly Shown[]): Promise<void> => {
    const middle = (await model.page({ ordering }, { limit: all.length >> 1 })).last;
    for (const backward of [false, true])
      for (const inclusive of [false, true])
        expect([ordering, await walk(model, ordering, { values: middle, backward, inclusive })]).toEqual([
          ordering,
          backward
            ? all.slice(0, (all.length >> 1) - (inclusive ? 0 : 1))
            : all.slice((all.length >> 1) - (inclusive ? 1 : 0)),
        ]);
  };

  test.each(ORDERS)(
    'in the order %s are together the list, whose ties have the last direction',
    async (ordering) => {
      for (const { model, key } of models) {
        const rows = await model.list();
        expect(rows).toHaveLength(ROWS.length);
        const all = sorted(rows, ordering, key);
        expect(await model.list({ ordering })).toEqual(all);
        await expectAllPages(model, ordering, all);
      }
    },
  );

  test.each(['place__name', '-place__name', 'state,-place__name', '-place__name.nullslast,state'])(
    'in the order %s are together the list, over a relation',
    async (ordering) => {
      for (const { model } of models) await expectAllPages(model, ordering, await model.list({ ordering }));
    },
  );
});
