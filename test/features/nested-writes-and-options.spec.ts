// @tags db nest
import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { IsDefined, Validate, ValidatorConstraint } from 'class-validator';
import type { ValidationArguments, ValidatorConstraintInterface } from 'class-validator';
import {
  IdempotencyRecord,
  ResourceController,
  Restify,
  RestifyController,
  RestifyResources,
  where,
} from 'nestjs-restify';
import type { CommittedWrite, Write, WriteHooks } from 'nestjs-restify';
import {
  BeforeInsert,
  Column,
  DeleteDateColumn,
  Entity,
  JoinColumn,
  JoinTable,
  ManyToMany,
  ManyToOne,
  OneToMany,
  PrimaryColumn,
  PrimaryGeneratedColumn,
  Tree,
  TreeChildren,
  TreeParent,
  UpdateDateColumn,
} from 'typeorm';
import type { Relation } from 'typeorm';
import type { Answer } from '../support/client.js';
import { onEachDatabase } from '../support/each-database.js';
import { startApp } from '../support/start-app.js';
import type { StartedApp } from '../support/start-app.js';

/** Compares a child with its parent, which is not stored yet. */
@ValidatorConstraint()
class WithinBudget implements ValidatorConstraintInterface {
  validate(cost: number, { object }: ValidationArguments): boolean {
    return cost <= (object as Task).plan.budget;
  }

  defaultMessage({ object }: ValidationArguments): string {
    return `More than the ${(object as Task).plan.budget} of "${(object as Task).plan.name}".`;
  }
}

@Restify({
  app: 'work',
  nested: ['tasks'],
  mergePatch: true,
  strict: true,
  shape: true,
  expandable: ['tasks'],
  bulk: true,
  trash: true,
})
@Entity('nested_plan')
class Plan {
  @PrimaryGeneratedColumn() id: number;
  @Column({ length: 20 }) name: string;
  @Column({ type: 'int', default: 10 }) budget: number;
  @UpdateDateColumn({ precision: 3 }) changed: Date;
  @DeleteDateColumn({ precision: 3 }) gone: Date | null;
  @OneToMany(() => Task, (task) => task.plan) tasks: Relation<Task[]>;
}

@Restify({ app: 'work', relatedKeys: ['labels'], trash: true, strict: true })
@Entity('nested_task')
class Task {
  @PrimaryGeneratedColumn() id: number;
  @Column({ length: 20 }) name: string;
  @Column({ type: 'int', default: 1 }) @Validate(WithinBudget) cost: number;
  @Column({ type: 'simple-json', nullable: true }) data: unknown;
  @Column({ length: 20, default: '' }) heard: string;
  @DeleteDateColumn({ precision: 3 }) gone: Date | null;
  @ManyToOne(() => Plan, (plan) => plan.tasks, { nullable: false, cascade: true })
  @IsDefined()
  plan: Relation<Plan>;
  @ManyToMany(() => Label) @JoinTable({ name: 'nested_task_label' }) labels: Relation<Label[]>;
  @ManyToOne(() => Aide, { nullable: true }) aide: Relation<Aide> | null;

  @BeforeInsert()
  hear(): void {
    this.heard = 'by a listener';
  }
}

@Restify({ app: 'work', trash: true })
@Entity('nested_aide')
class Aide {
  @PrimaryColumn({ type: 'int' }) id: number;
  @DeleteDateColumn({ precision: 3 }) gone: Date | null;
}

@Restify('work')
@Entity('nested_label')
class Label {
  @PrimaryColumn({ length: 10 }) word: string;
}

@Restify({ app: 'work', nested: ['books'] })
@Entity('nested_shelf')
class Shelf {
  @PrimaryColumn({ type: 'int' }) id: number;
  @OneToMany(() => Book, (book) => book.shelf) books: Relation<Book[]>;
}

@Restify({ app: 'work', bulk: true })
@Entity('nested_book')
class Book {
  @PrimaryColumn({ length: 10 }) code: string;
  @ManyToOne(() => Shelf, (shelf) => shelf.books, { nullable: false }) shelf: Relation<Shelf>;
}

/** A tenant is part of each key, and several relations share its column. */
@Restify({ app: 'work', nested: ['rooms'] })
@Entity('nested_house')
class House {
  @PrimaryColumn({ type: 'int' }) tenant: number;
  @PrimaryColumn({ type: 'int' }) no: number;
  @OneToMany(() => Room, (room) => room.house) rooms: Relation<Room[]>;
}

@Restify('work')
@Entity('nested_owner')
class Owner {
  @PrimaryColumn({ type: 'int' }) tenant: number;
  @PrimaryColumn({ type: 'int' }) no: number;
}

@Restify('work')
@Entity('nested_room')
class Room {
  @PrimaryGeneratedColumn() id: number;
  @Column({ length: 10 }) name: string;
  @ManyToOne(() => House, (house) => house.rooms, { nullable: false })
  @JoinColumn([
    { name: 'tenant', referencedColumnName: 'tenant' },
    { name: 'house_no', referencedColumnName: 'no' },
  ])
  house: Relation<House>;
  @ManyToOne(() => Owner, { nullable: true })
  @JoinColumn([
    { name: 'tenant', referencedColumnName: 'tenant' },
    { name: 'owner_no', referencedColumnName: 'no' },
  ])
  owner: Relation<Owner> | null;
}

@Restify({ app: 'work', nested: ['children'] })
@Entity('nested_topic')
@Tree('closure-table')
class Topic {
  @PrimaryGeneratedColumn() id: number;
  @Column({ length: 10 }) name: string;
  @TreeParent() parent: Relation<Topic> | null;
  @TreeChildren() children: Relation<Topic[]>;
}

const committed: string[] = [];

@RestifyController(Task)
class TaskController extends ResourceController<Task> implements WriteHooks {
  override scope() {
    return where('name', 'ne', 'secret');
  }

  override valuesOnCreate() {
    return { plan: 999_999, heard: 'by the class' };
  }

  override afterWrite({ entity, operation }: Write<Task>): void {
    if (entity.name === 'fault') throw new Error(`A fault in ${operation}`);
  }
}

@RestifyController(Topic)
class TopicController extends ResourceController<Topic> {
  override afterCommit(writes: readonly CommittedWrite[]): void {
    committed.push(...writes.map(({ operation, values }) => `${operation} ${String(values?.name)}`));
  }
}

const PLANS = '/rest/v1/work/plan/';
const MERGE = { headers: { 'content-type': 'application/merge-patch+json' } };

onEachDatabase('objects in bodies, beside other options,', (database) => {
  let started: StartedApp;
  beforeAll(async () => {
    started = await startApp({
      entities: [Shelf, Book, Plan, Task, Aide, Label, House, Owner, Room, Topic, IdempotencyRecord],
      controllers: [TaskController, TopicController],
      database,
      undescribed: [500],
    });
  });
  afterAll(() => started.close());
  beforeEach(async () => {
    committed.length = 0;
    const { dataSource } = started;
    await dataSource.query('DELETE FROM nested_task_label');
    for (const entity of [Task, Aide, Plan, Label, Room, House, Owner])
      await dataSource.createQueryBuilder().delete().from(entity).execute();
    await dataSource.getRepository(Label).insert([{ word: 'a' }, { word: 'b' }]);
  });

  const tasks = async (): Promise<unknown> =>
    (
      await started.dataSource.getRepository(Task).find({ relations: { plan: true }, order: { id: 'ASC' } })
    ).map(({ name, cost, heard, plan }) => `${plan.name}: ${name} ${cost} ${heard}`);
  const create = async (body: object): Promise<{ readonly url: string; readonly ids: readonly number[] }> => {
    const created = await started.client.post(`${PLANS}?expand=tasks`, body);
    expect(created.status).toBe(201);
    const { id, tasks: own } = created.json as { id: number; tasks: { id: number }[] };
    return { url: `${PLANS}${id}/`, ids: own.map((each) => each.id) };
  };

  test('validators see the parent as it will be written, and defaults, listeners and hooks run', async () => {
    const { client } = started;
    const { url, ids } = await create({
      name: 'p',
      budget: 5,
      tasks: [{ name: 'one', cost: 5 }, { name: 'two' }],
    });
    expect(await tasks()).toEqual(['p: one 5 by a listener', 'p: two 1 by a listener']);
    const refused = await client.post(PLANS, { name: 'q', budget: 3, tasks: [{ name: 'x', cost: 4 }] });
    expect(refused).toMatchObject({ status: 400, json: { tasks: [{ cost: ['More than the 3 of "q".'] }] } });
    const changed = await client.patch(url, { budget: 2, tasks: { update: [{ id: ids[1], cost: 3 }] } });
    expect(changed).toMatchObject({
      status: 400,
      json: { tasks: { update: [{ cost: ['More than the 2 of "p".'] }] } },
    });
    expect(
      await client.patch(url, {
        budget: 20,
        tasks: { update: [{ id: ids[1], cost: 15 }], create: [{ name: 'n', cost: 20 }] },
      }),
    ).toMatchObject({ status: 200 });
    expect(await tasks()).toEqual([
      'p: one 5 by a listener',
      'p: two 15 by a listener',
      'p: n 20 by a listener',
    ]);
  });

  test('a fault in the last one leaves nothing', async () => {
    const { client } = started;
    const { url, ids } = await create({ name: 'p', tasks: [{ name: 'one' }] });
    const before = (await client.get(url)).text;
    const answers = [
      await client.post(PLANS, { name: 'q', tasks: [{ name: 'x' }, { name: 'fault' }] }),
      await client.patch(url, {
        name: 'r',
        tasks: { create: [{ name: 'x' }, { name: 'fault' }], delete: ids },
      }),
    ];
    expect(answers.map(({ status }) => status)).toEqual([500, 500]);
    expect((await client.get(url)).text).toBe(before);
    expect((await client.get(PLANS)).json).toHaveLength(1);
    expect(await tasks()).toEqual(['p: one 1 by a listener']);
  });

  test('the scope of their class hides them, and they are deleted into their trash', async () => {
    const { client } = started;
    const { url, ids } = await create({ name: 'p', tasks: [{ name: 'one' }, { name: 'two' }] });
    expect((await client.post(PLANS, { name: 'q', tasks: [{ name: 'secret' }] })).status).toBe(403);
    await started.dataSource.getRepository(Task).update(ids[1] ?? 0, { name: 'secret' });
    expect(await client.patch(url, { tasks: { delete: [ids[1]] } })).toMatchObject({ status: 400 });
    expect((await client.patch(url, { tasks: { delete: [ids[0]] } })).status).toBe(200);
    expect((await client.get('/rest/v1/work/task/?deleted=only')).json).toMatchObject([{ id: ids[0] }]);
    // A deleted one is there for nobody.
    expect(await client.patch(url, { tasks: { update: [{ id: ids[0], name: 'x' }] } })).toMatchObject({
      status: 400,
      json: { tasks: { update: [{ id: [`Invalid pk "${ids[0]}" - object does not exist.`] }] } },
    });
    await client.delete(url);
    expect((await client.patch(url, { tasks: { create: [{ name: 'x' }] } })).status).toBe(404);
  });

  test('their related keys and JSON are written with them', async () => {
    const { client } = started;
    const { url, ids } = await create({ name: 'p', tasks: [{ name: 'one', labels: ['b'] }] });
    const own = `/rest/v1/work/task/${ids[0]}/`;
    expect((await client.get(own)).json).toMatchObject({ labels: ['b'] });
    const raw = `{"tasks": {"update": [{"id": ${ids[0]}, "data": {"n": 1.50, "big": 12345678901234567890}, "labels": {"add": ["a"]}}]}}`;
    const changed = await client.send('PATCH', url, { raw, headers: { 'content-type': 'application/json' } });
    expect(changed.status).toBe(200);
    expect((await client.get(own)).text).toContain('"data":{"n":1.50,"big":12345678901234567890}');
    expect((await client.get(own)).json).toMatchObject({ labels: ['a', 'b'] });
    const refused = await client.patch(url, { tasks: { update: [{ id: ids[0], labels: ['z'] }] } });
    expect(refused.json).toEqual({
      tasks: { update: [{ labels: ['Item 0: Invalid pk "z" - object does not exist.'] }] },
    });
  });

  test('a key of theirs that has been deleted since may be sent back', async () => {
    const { client } = started;
    await started.dataSource.getRepository(Aide).insert([{ id: 1 }, { id: 2 }]);
    const { url, ids } = await create({ name: 'p', tasks: [{ name: 'one', aide: 1 }, { name: 'two' }] });
    await started.dataSource.getRepository(Aide).softDelete([1, 2]);
    const send = (aide: number): Promise<Answer> =>
      client.patch(url, {
        tasks: {
          update: [
            { id: ids[1], name: 'new' },
            { id: ids[0], name: 'first', aide },
          ],
        },
      });
    expect(await send(2)).toMatchObject({
      status: 400,
      json: { tasks: { update: [{}, { aide: ['Invalid pk "2" - object does not exist.'] }] } },
    });
    expect((await send(1)).status).toBe(200);
    expect((await client.get(`/rest/v1/work/task/${ids[0]}/`)).json).toMatchObject({
      name: 'first',
      aide: 1,
    });
  });

  test('a merge patch takes none, and a strict model no unknown fields in them', async () => {
    const { client } = started;
    const { url } = await create({ name: 'p', tasks: [] });
    expect(await client.patch(url, { tasks: { create: [{ name: 'x' }] } }, MERGE)).toMatchObject({
      status: 400,
    });
    expect(await client.patch(url, { tasks: { create: [{ name: 'x', plan: 7, wrong: 1 }] } })).toMatchObject({
      status: 400,
      json: { tasks: { create: [{ wrong: ['Unknown field.'] }] } },
    });
  });

  test('a bulk PATCH of listed objects takes them, and a selection of fields shows no others', async () => {
    const { client } = started;
    const { url, ids } = await create({ name: 'p', tasks: [{ name: 'one' }] });
    const id = Number(url.split('/').at(-2));
    const changed = await client.patch(`${PLANS}?fields=id,name`, [
      { id, tasks: { create: [{ name: 'two' }], delete: ids } },
    ]);
    expect(changed).toMatchObject({ status: 200, json: [{ id, name: 'p' }] });
    expect(await tasks()).toEqual(['p: two 1 by a listener']);
    const refused = await client.patch(PLANS, [
      { id, name: 'fine' },
      { id: 999_999, tasks: { create: [{}] } },
    ]);
    expect(refused).toMatchObject({
      status: 400,
      json: [{}, { id: ['Invalid pk "999999" - object does not exist.'] }],
    });
    const one = await client.patch(`${url}?fields=name&expand=tasks`, {
      tasks: { create: [{ name: 'three' }] },
    });
    expect(one).toMatchObject({ status: 200, json: { name: 'p' } });
  });

  test('code of the application writes them, too', async () => {
    const plans = started.app.get(RestifyResources).of(Plan).as(null);
    const plan = await plans.create({ name: 'p', tasks: [{ name: 'one' }] });
    await plans.partialUpdate(plan.id as number, { tasks: { create: [{ name: 'two' }] } });
    expect(await tasks()).toEqual(['p: one 1 by a listener', 'p: two 1 by a listener']);
  });

  test('those that share a column with their parent are of its tenant', async () => {
    const { client } = started;
    await started.dataSource.getRepository(Owner).insert([
      { tenant: 1, no: 7 },
      { tenant: 2, no: 7 },
    ]);
    const houses = '/rest/v1/work/house/';
    const created = await client.post(houses, {
      tenant: 1,
      no: 5,
      rooms: [{ name: 'a' }, { name: 'b', owner: '1,7' }],
    });
    expect(created.status).toBe(201);
    const crossing = await client.patch(`${houses}1,5/`, {
      rooms: { create: [{ name: 'c', owner: '2,7' }] },
    });
    expect(crossing.status).toBe(400);
    expect(crossing.json).toMatchObject({ rooms: { create: [{ owner: [expect.any(String)] }] } });
    const rooms = (await client.get('/rest/v1/work/room/?ordering=id')).json as { id: number }[];
    expect(rooms).toMatchObject([
      { name: 'a', house: '1,5', owner: null },
      { name: 'b', house: '1,5', owner: '1,7' },
    ]);
    const moved = await client.patch(`${houses}1,5/`, {
      rooms: { update: [{ id: rooms[1]?.id, house: '2,5', owner: '2,7' }] },
    });
    expect(moved.status).toBe(400);
    expect((await client.get('/rest/v1/work/room/?ordering=id')).json).toEqual(rooms);
  });

  test('those of a tree are reported with their parent, in the order of the writes', async () => {
    const { client } = started;
    const topics = '/rest/v1/work/topic/';
    const created = await client.post(topics, { name: 'top', children: [{ name: 'one' }, { name: 'two' }] });
    expect(created.status).toBe(201);
    const { id } = created.json as { id: number };
    expect((await client.get(`${topics}${id}/children/`)).json).toMatchObject([
      { name: 'one' },
      { name: 'two' },
    ]);
    const top = await started.dataSource.getRepository(Topic).findOneByOrFail({ id });
    expect(await started.dataSource.getTreeRepository(Topic).countDescendants(top)).toBe(3);
    await started.app.get(RestifyResources).afterCommitEnded();
    expect(committed).toEqual(['create top', 'create one', 'create two']);
    committed.length = 0;
    await client.patch(`${topics}${id}/`, { name: 'new', children: { create: [{ name: 'three' }] } });
    await started.app.get(RestifyResources).afterCommitEnded();
    expect(committed).toEqual(['partialUpdate new', 'create three']);
  });

  test('two writers of one object both write theirs', async () => {
    const { client } = started;
    const { url } = await create({ name: 'p', tasks: [] });
    const send = (name: string): Promise<Answer> => client.patch(url, { tasks: { create: [{ name }] } });
    const answers = await Promise.all(['a', 'b', 'c', 'd'].map(send));
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
    expect(await tasks()).toHaveLength(4);
  });

  // contract 1.4, contract 25.4, contract 14.3
  test('keys of no object are named as bodies have them', async () => {
    const { client } = started;
    await client.post('/rest/v1/work/shelf/', { id: 1 });
    const books = { update: [{ code: 'a b' }], delete: ['c/d'] };
    expect((await client.patch('/rest/v1/work/shelf/1/', { books })).json).toEqual({
      books: {
        update: [{ code: ['Invalid pk "a b" - object does not exist.'] }],
        delete: ['Item 0: Invalid pk "c/d" - object does not exist.'],
      },
    });
    expect((await client.patch('/rest/v1/work/book/', [{ code: 'a b' }])).json).toEqual([
      { code: ['Invalid pk "a b" - object does not exist.'] },
    ]);
  });
});
