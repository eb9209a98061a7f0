// @tags nest
import { describe, expect, test } from '@jest/globals';
import { UseInterceptors } from '@nestjs/common';
import {
  MANY_TO_MANY_DETAIL_ACTION,
  NestedAction,
  ResourceController,
  restify,
  RestifyController,
} from 'nestjs-restify';
import { Column, Entity, Index, JoinTable, ManyToMany, PrimaryGeneratedColumn } from 'typeorm';
import type { Relation } from 'typeorm';
import { declareUnchecked, problemsOf } from './refused-start.js';

@Entity('boot_thing')
@Index(['code', 'place'], { unique: true })
class Thing {
  @PrimaryGeneratedColumn() id: number;
  @Column({ unique: true }) name: string;
  @Column() code: string;
  @Column() place: string;
  @Column({ nullable: true, select: false, type: 'varchar' }) hidden: string | null;
}

@Entity('boot_holder')
class Holder {
  @PrimaryGeneratedColumn() id: number;
  @ManyToMany(() => Thing) @JoinTable() things: Relation<Thing[]>;
}

@Entity('boot_keyed')
class Keyed {
  @PrimaryGeneratedColumn() id: number;
  @Column() keys: string;
}

@Entity('boot_replaced')
class Replaced {
  @PrimaryGeneratedColumn() id: number;
}

@RestifyController(Replaced)
class ReplacedController extends ResourceController<Replaced> {
  override destroy(): Promise<undefined> {
    return Promise.resolve(undefined);
  }
}

@Entity('boot_wrapped')
class Wrapped {
  @PrimaryGeneratedColumn() id: number;
}

@RestifyController(Wrapped)
@UseInterceptors({ intercept: (_, next) => next.handle() })
class WrappedController {}

@Entity('boot_put')
class Put {
  @PrimaryGeneratedColumn() id: number;
  @Column({ unique: true }) code: string;
}

@RestifyController(Put)
class PutController extends ResourceController<Put> {
  override update(): Promise<undefined> {
    return Promise.resolve(undefined);
  }
}

@Entity('boot_keeper')
class Keeper {
  @PrimaryGeneratedColumn() id: number;
  @ManyToMany(() => Thing) @JoinTable() things: Relation<Thing[]>;
}

@RestifyController(Keeper)
class KeeperController {
  @NestedAction(MANY_TO_MANY_DETAIL_ACTION, 'things', { methods: ['DELETE'] })
  leave(): undefined {
    return undefined;
  }
}

const NONE =
  'Thing.bulk: the model has none of these operations. Add them to its operations, or leave bulk out.';
const REPAIR =
  "Write true, false or { operations: ['create', 'partialUpdate', 'destroy'], upsert: ['code'], max: 100 }, with any of the three.";

describe('bulk writes refuse to start', () => {
  test.each([
    ['a text', 'yes', [`Thing.bulk: this does not configure bulk writes. ${REPAIR}`]],
    ['null', null, [`Thing.bulk: this does not configure bulk writes. ${REPAIR}`]],
    [
      'an unknown option',
      { maximum: 5 },
      [`Thing.bulk.maximum: "maximum" is not an option of bulk writes. ${REPAIR}`],
    ],
    [
      'no bound',
      { max: 0 },
      [
        'Thing.bulk.max: 0 is not a valid maximum of objects for one request. Give a whole number from 1 to 10000.',
      ],
    ],
    [
      'too high a bound',
      { max: 1e9 },
      [
        'Thing.bulk.max: 1000000000 is not a valid maximum of objects for one request. Give a whole number from 1 to 10000.',
      ],
    ],
    [
      'an operation of one object',
      { operations: ['update'] },
      [
        'Thing.bulk.operations[0]: "update" is not an operation that can be done to many objects. Known here: "create", "partialUpdate", "destroy".',
      ],
    ],
    ['no operation', { operations: [] }, [`Thing.bulk.operations: this is not a list of names. ${REPAIR}`]],
    [
      'an unknown field',
      { upsert: ['nme'] },
      [
        'Thing.bulk.upsert: "nme" is neither a column nor a relation that bodies may write. Did you mean "name"?',
      ],
    ],
    [
      'a field that is not shown',
      { upsert: ['hidden'] },
      [
        'Thing.bulk.upsert: "hidden" is neither a column nor a relation that bodies may write. Known here: "id", "name", "code", "place".',
      ],
    ],
    [
      'fields that are not unique',
      { upsert: ['code'] },
      [
        "Thing.bulk.upsert: the database lets several rows have the same code. Give the entity a unique index of just these: @Unique(['code']).",
      ],
    ],
    [
      'more fields than are unique together',
      { upsert: ['name', 'code'] },
      [
        "Thing.bulk.upsert: the database lets several rows have the same name and code. Give the entity a unique index of just these: @Unique(['name', 'code']).",
      ],
    ],
    [
      'an upsert of what is not created',
      { operations: ['destroy'], upsert: ['name'] },
      [
        "Thing.bulk.upsert: the model does not create lists of objects. Add 'create' to bulk.operations, or leave upsert out.",
      ],
    ],
  ])('with %s', async (_, bulk, problems) => {
    declareUnchecked(Thing, { app: 'boot', bulk });
    expect(await problemsOf({ entities: [Thing] })).toEqual(problems);
  });

  test.each([
    true,
    false,
    {},
    { max: 10_000 },
    { upsert: ['name'] as const },
    { upsert: ['place', 'code'] as const, operations: ['create'] as const },
  ])('and not with %j', async (bulk) => {
    restify(Thing, { app: 'boot', bulk });
    await expect(problemsOf({ entities: [Thing] })).rejects.toThrow('The application has started.');
  });

  test('for a junction, and where the model has none of the operations', async () => {
    restify(Thing, { app: 'boot', operations: ['list', 'retrieve'], bulk: true });
    declareUnchecked(Holder, { app: 'boot', through: { things: { bulk: 7 } } });
    expect(await problemsOf({ entities: [Thing, Holder] })).toEqual([
      `Holder.through.things.bulk: this does not configure bulk writes. ${REPAIR}`,
      NONE,
    ]);
    restify(Holder, { app: 'boot' });
    expect(await problemsOf({ entities: [Thing, Holder] })).toEqual([NONE]);
  });

  test('and not where a field has the name of their parameter', async () => {
    restify(Keyed, { app: 'boot', bulk: true });
    await expect(problemsOf({ entities: [Keyed] })).rejects.toThrow('The application has started.');
  });

  test('where they would go around the application', async () => {
    restify(Replaced, { app: 'boot', bulk: true });
    expect(await problemsOf({ entities: [Replaced], controllers: [ReplacedController] })).toEqual([
      "Replaced.bulk: bulk writes would bypass ReplacedController.destroy. Leave 'destroy' out: bulk: { operations: ['create', 'partialUpdate'] }; or put what the method does into beforeWrite and afterWrite, which are called for each object.",
    ]);
    restify(Wrapped, { app: 'boot', bulk: true });
    expect(await problemsOf({ entities: [Wrapped], controllers: [WrappedController] })).toEqual([
      'Wrapped.bulk: bulk writes would bypass the interceptors of WrappedController. Give them as interceptors of @Restify, or leave bulk out.',
    ]);
    restify(Put, { app: 'boot', bulk: { operations: ['create'], upsert: ['code'] } });
    expect(await problemsOf({ entities: [Put], controllers: [PutController] })).toEqual([
      'Put.bulk.upsert: upserts would bypass PutController.update. Leave upsert out; or put what the method does into beforeWrite and afterWrite, which are called for each object.',
    ]);
    restify(Thing, { app: 'boot' });
    restify(Keeper, { app: 'boot', through: { things: { bulk: true } } });
    expect(await problemsOf({ entities: [Thing, Keeper], controllers: [KeeperController] })).toEqual([
      "keeper_things.bulk: bulk writes would bypass KeeperController.leave. Leave 'destroy' out: bulk: { operations: ['create', 'partialUpdate'] }.",
    ]);
    restify(Thing, { app: 'boot', operations: ['list', 'create'], bulk: { upsert: ['name'] } });
    expect(await problemsOf({ entities: [Thing] })).toEqual([
      "Thing.bulk.upsert: the model does not serve changes. Add 'update' to its operations, or leave upsert out.",
    ]);
    restify(Thing, {
      app: 'boot',
      bulk: { operations: ['create'], upsert: ['name'] },
      conditional: { require: true },
    });
    expect(await problemsOf({ entities: [Thing] })).toEqual([
      'Thing.bulk.upsert: the model requires If-Match, which an upsert cannot send. Leave upsert out.',
    ]);
    restify(Thing, { app: 'boot', bulk: true, conditional: { require: true } });
    expect(await problemsOf({ entities: [Thing] })).toEqual([
      "Thing.bulk: the model requires If-Match, which a change of many objects cannot send. Leave 'partialUpdate' and 'destroy' out: bulk: { operations: ['create'] }.",
    ]);
  });
});
