// @tags nest
import { expect, test } from '@jest/globals';
import { ModelSerializer, ResourceController, restify, RestifyController } from 'nestjs-restify';
import type { Representation, RestifyOptions } from 'nestjs-restify';
import { AfterLoad, Column, Entity, ManyToOne, OneToMany, PrimaryGeneratedColumn } from 'typeorm';
import type { Relation } from 'typeorm';
import { declareUnchecked, problemsOf } from './refused-start.js';

class Shouting extends ModelSerializer {
  override represent(...given: Parameters<ModelSerializer['represent']>): Representation {
    return super.represent(...given);
  }
}

@Entity('boot_agg_bill')
class Bill {
  @PrimaryGeneratedColumn() id: number;
  @Column() status: string;
  @Column({ type: 'int' }) total: number;
  @Column({ type: 'simple-json' }) data: object;
  @Column({ type: 'varchar', transformer: { to: String, from: String } }) secret: string;
  @Column({ select: false }) hidden: string;
  @Column({ type: 'boolean' }) open: boolean;
  @ManyToOne(() => Payer) payer: Relation<Payer>;
  @ManyToOne(() => Writer) writer: Relation<Writer>;
  @OneToMany(() => Payer, (payer) => payer.bill) payers: Relation<Payer[]>;
}

@Entity('boot_agg_payer')
class Payer {
  @PrimaryGeneratedColumn() id: number;
  @Column() name: string;
  @ManyToOne(() => Bill, (bill) => bill.payers) bill: Relation<Bill>;
  @AfterLoad() shorten(): void {
    this.name = this.name.slice(0, 1);
  }
}

@Entity('boot_agg_writer')
class Writer {
  @PrimaryGeneratedColumn() id: number;
  @Column() name: string;
}

const STORED = 'Leave it out: aggregates are computed by the database.';

test.each<[string, RestifyOptions, string]>([
  [
    'an unknown part',
    { aggregate: { median: ['total'] } as object },
    'Bill.aggregate.median: "median" is not a part of aggregates. Known here: "group", "sum", "avg", "min", "max", "minGroup".',
  ],
  [
    'something else than an object',
    { aggregate: true as unknown as object },
    "Bill.aggregate: true is not an object. Write { group: ['status'], sum: ['total'] }, or {} for the number of rows alone.",
  ],
  [
    'a group of no rows',
    { aggregate: { minGroup: 0 } },
    'Bill.aggregate.minGroup: 0 is not a number of rows. Write a whole number above 0.',
  ],
  [
    'an unknown field',
    { aggregate: { sum: ['totals'] } },
    'Bill.aggregate.sum[0]: "totals" is not a readable field of Bill. Did you mean "total"?',
  ],
  [
    'a hidden column',
    { aggregate: { min: ['hidden'] } },
    'Bill.aggregate.min[0]: "hidden" is write-only, and would leak through a query. Take it out.',
  ],
  [
    'many objects',
    { aggregate: { group: ['payers'] } },
    'Bill.aggregate.group[0]: "payers" leads to many objects. Name a field of this model or of one that it refers to.',
  ],
  [
    'a sum of texts',
    { aggregate: { sum: ['status'] } },
    'Bill.aggregate.sum[0]: a sum of the kind string is not defined. Name a number of the model itself.',
  ],
  [
    'the least of booleans',
    { aggregate: { min: ['open'] } },
    'Bill.aggregate.min[0]: the least or greatest of the kind boolean is not defined. Name a number, a text, a date or a time of the model itself.',
  ],
  [
    'a sum of related objects',
    { aggregate: { sum: ['payer'] } },
    'Bill.aggregate.sum[0]: "payer" is not a column of the model itself. Name a number of the model itself.',
  ],
  [
    'groups of JSON',
    { aggregate: { group: ['data'] } },
    'Bill.aggregate.group[0]: rows cannot be grouped by values of the kind json. Group by a number, a text, a date, a boolean or a relation.',
  ],
  [
    'a column with a transformer',
    { aggregate: { group: ['secret'] } },
    `Bill.aggregate.group[0]: a transformer changes its values. ${STORED}`,
  ],
  [
    'a related model with a load listener',
    { aggregate: { group: ['payer', 'payer.name'] } },
    `Bill.aggregate.group[1]: the @AfterLoad method shorten changes the values of Payer once they are loaded. ${STORED}`,
  ],
  [
    'a related model that is not read',
    { aggregate: { group: ['writer', 'writer.name'] } },
    'Bill.aggregate.group[1]: Writer has no operation that reads it, or guards that do not run for Bill. Leave it out, or serve the related model in the same way.',
  ],
  [
    'a serializer',
    { aggregate: { group: ['status'] }, serializer: Shouting },
    `Bill.aggregate.group[0]: the serializer of Bill changes what is shown of its values. ${STORED}`,
  ],
  [
    'no list',
    { aggregate: {}, operations: ['retrieve'] },
    "Bill.aggregate: the model has no list, at whose URL aggregates are read. Add 'list' to its operations, or leave aggregate out.",
  ],
  [
    'a parameter with the name of a field',
    { aggregate: {}, parameters: { group: 'status' } },
    'Bill.parameters.group: "status" is a filter of the model. Give the parameter another name.',
  ],
])('a start with aggregates of %s is refused', async (_what, options, problem) => {
  declareUnchecked(Bill, { app: 'bills', ...options });
  restify(Payer, { app: 'bills' });
  restify(Writer, { app: 'bills', operations: ['create'] });
  expect(await problemsOf({ entities: [Bill, Payer, Writer] })).toEqual([problem]);
});

@Entity('boot_agg_band')
class Band {
  @PrimaryGeneratedColumn() id: number;
  @Column() group: string;
}

test('a start with a field of the name of a parameter is refused, unless the parameter is renamed', async () => {
  restify(Band, { app: 'bands', aggregate: {} });
  expect(await problemsOf({ entities: [Band] })).toEqual([
    `Band.aggregate: "group" is a query parameter of aggregates, and a field of Band. Give the parameter another name: parameters: { group: '…' }.`,
  ]);
  declareUnchecked(Band, {
    app: 'bands',
    aggregate: { sum: ['id'], group: ['nothing'] },
    parameters: { group: 'by' },
  });
  expect(await problemsOf({ entities: [Band] })).toEqual([
    'Band.aggregate.group[0]: "nothing" is not a readable field of Band. Known here: "id", "group".',
  ]);
});

@Entity('boot_agg_replaced')
class Replaced {
  @PrimaryGeneratedColumn() id: number;
}

@RestifyController(Replaced)
class ReplacedController extends ResourceController<Replaced> {
  override list(): Promise<unknown> {
    return Promise.resolve([]);
  }
}

test('a start with aggregates of a replaced list is refused', async () => {
  restify(Replaced, { app: 'replaced', aggregate: {} });
  expect(await problemsOf({ entities: [Replaced], controllers: [ReplacedController] })).toEqual([
    'Replaced.aggregate: ReplacedController.list replaces the list, whose rows aggregates would not have. Say which rows the list has by scope, or leave aggregate out.',
  ]);
});
