// @tags db http nest
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { Inject, Injectable } from '@nestjs/common';
import { REQUEST } from '@nestjs/core';
import type { INestApplication } from '@nestjs/common';
import {
  InvalidInput,
  ResourceController,
  Restify,
  RestifyController,
  RestifyResources,
  where,
} from 'nestjs-restify';
import type { AccessContext, HookContext, Json, RowFilter, Write } from 'nestjs-restify';
import { Column, Entity, JoinTable, ManyToMany, ManyToOne, OneToMany, PrimaryGeneratedColumn } from 'typeorm';
import type { DataSource, Relation } from 'typeorm';
import { onEachDatabase } from '../support/each-database.js';
import { startApp } from '../support/start-app.js';
import type { StartedApp } from '../support/start-app.js';

/** Who asks stands in a header, as if a guard of the application had put it on the request. */
interface User {
  readonly id: number;
}

function userOf(actor: object | null): User {
  return actor as User;
}

@Entity('hook_audit')
class Audit {
  @PrimaryGeneratedColumn()
  id: number;

  @Column({ length: 200 })
  text: string;
}

@Restify('hook')
@Entity('hook_team')
class Team {
  @PrimaryGeneratedColumn()
  id: number;

  @Column({ length: 75 })
  name: string;

  @OneToMany(() => Task, (task) => task.team)
  tasks: Relation<Task[]>;

  @ManyToMany(() => Person, (person) => person.teams)
  @JoinTable({
    name: 'hook_membership',
    joinColumn: { name: 'teamId' },
    inverseJoinColumn: { name: 'personId' },
    synchronize: false,
  })
  people: Relation<Person[]>;
}

@Restify('hook')
@Entity('hook_person')
class Person {
  @PrimaryGeneratedColumn()
  id: number;

  @Column({ length: 75 })
  name: string;

  @ManyToMany(() => Team, (team) => team.people)
  teams: Relation<Team[]>;
}

@Restify('hook')
@Entity('hook_membership')
class Membership {
  @PrimaryGeneratedColumn()
  id: number;

  @ManyToOne(() => Team, { nullable: false, onDelete: 'CASCADE' })
  team: Relation<Team>;

  @ManyToOne(() => Person, { nullable: false, onDelete: 'CASCADE' })
  person: Relation<Person>;

  @Column({ length: 20, default: 'member' })
  role: string;

  @Column({ default: 0 })
  owner: number;
}

@Restify({ app: 'hook', exclude: ['owner'], filterFields: ['team', 'title'], ordering: ['id'] })
@Entity('hook_task')
class Task {
  @PrimaryGeneratedColumn()
  id: number;

  @ManyToOne(() => Team, (team) => team.tasks, { nullable: false, onDelete: 'CASCADE' })
  team: Relation<Team>;

  @Column({ length: 75 })
  title: string;

  @Column()
  owner: number;

  @ManyToOne(() => Person, { nullable: true })
  reviewer: Relation<Person> | null;

  @OneToMany(() => Note, (note) => note.task)
  notes: Relation<Note[]>;
}

@Restify({ app: 'hook', filterFields: ['task', 'task.title'], orderingFields: ['id', 'task.title'] })
@Entity('hook_note')
class Note {
  @PrimaryGeneratedColumn()
  id: number;

  @ManyToOne(() => Task, (task) => task.notes, { nullable: false, onDelete: 'CASCADE' })
  task: Relation<Task>;

  @Column({ length: 75 })
  text: string;
}

@Injectable()
class Clock {
  now(): string {
    return 'noon';
  }
}

@RestifyController(Task)
class TaskController extends ResourceController<Task> {
  constructor(private readonly clock: Clock) {
    super();
  }

  override scope({ actor }: AccessContext): RowFilter | 'all' {
    return actor === null ? where('owner', 0) : where('owner', userOf(actor).id);
  }

  override valuesOnCreate({ actor, resource }: HookContext): Readonly<Record<string, Json>> {
    return {
      owner: actor === null ? 0 : userOf(actor).id,
      ...(resource.className === 'Task' ? { reviewer: 1 } : {}),
    };
  }

  override async beforeWrite({ operation, entity, manager }: Write<Task>): Promise<void> {
    if (entity.title === 'forbidden') throw InvalidInput.of('title', 'Not this one.');
    if (operation !== 'destroy') entity.title = entity.title.trim().toUpperCase();
    await manager.save(Audit, { text: `${operation} ${entity.title} at ${this.clock.now()}` });
  }

  override async afterWrite({ operation, entity, manager }: Write<Task>): Promise<void> {
    if (entity.title === 'BOOM') throw new Error('afterWrite fails');
    // The write is seen by the manager, and by nobody else yet.
    const there = await manager.countBy(Task, { id: entity.id });
    await manager.save(Audit, { text: `${operation} ${entity.id} done, ${there}` });
    if (entity.title === 'RENAMED LATER') await manager.update(Task, entity.id, { title: 'later' });
  }
}

/** A through model of an application, with dependencies of a request's scope. */
@RestifyController(Membership)
class MembershipController extends ResourceController<Membership> {
  constructor(@Inject(REQUEST) private readonly request: { readonly user?: User }) {
    super();
  }

  override scope(): RowFilter | 'all' {
    return this.request.user ? where('owner', this.request.user.id) : 'all';
  }

  override valuesOnCreate(): Readonly<Record<string, Json>> {
    return { owner: this.request.user?.id ?? 0 };
  }
}

const ENTITIES = [Audit, Team, Person, Membership, Task, Note];

function asUser(app: INestApplication): void {
  app.use(
    (request: { headers: Record<string, string>; user?: User }, _response: unknown, next: () => void) => {
      if (request.headers['x-user']) request.user = { id: Number(request.headers['x-user']) };
      next();
    },
  );
}

async function start(database?: Parameters<Parameters<typeof onEachDatabase>[1]>[0]): Promise<StartedApp> {
  return startApp({
    entities: ENTITIES,
    ...(database ? { database } : {}),
    controllers: [TaskController, MembershipController],
    providers: [Clock],
    configure: asUser,
  });
}

const ANN = { 'x-user': '1' };
const BOB = { 'x-user': '2' };

async function fill(source: DataSource): Promise<void> {
  await source.getRepository(Team).save([{ name: 'red' }, { name: 'blue' }]);
  await source.getRepository(Person).save([{ name: 'Ada' }, { name: 'Kay' }]);
  await source.getRepository(Task).save([
    { team: { id: 1 }, title: "Ann's", owner: 1 },
    { team: { id: 1 }, title: "Bob's", owner: 2 },
  ]);
  await source.getRepository(Note).save([
    { task: { id: 1 }, text: 'on hers' },
    { task: { id: 2 }, text: 'on his' },
  ]);
}

async function texts(source: DataSource): Promise<readonly string[]> {
  return (await source.getRepository(Audit).find({ order: { id: 'ASC' } })).map(({ text }) => text);
}

onEachDatabase('hooks of a controller', (database) => {
  let started: StartedApp;
  beforeAll(async () => {
    started = await start(database);
    await fill(started.dataSource);
  });
  afterAll(() => started.close());
  beforeEach(async () => {
    await started.dataSource.getRepository(Audit).clear();
  });

  const ask = (headers: Record<string, string>) => ({
    get: async (path: string) => started.client.send('GET', `/rest/v1/hook/${path}`, { headers }),
    send: async (method: string, path: string, json?: unknown) =>
      started.client.send(
        method,
        `/rest/v1/hook/${path}`,
        json === undefined ? { headers } : { headers, body: json },
      ),
  });

  describe('scope', () => {
    test.each([
      ['GET', 'task/', 200, [{ id: 1, title: "Ann's" }]],
      ['GET', 'task/1/', 200, { id: 1 }],
      ['GET', 'task/2/', 404, undefined],
      ['DELETE', 'task/2/', 404, undefined],
      ['GET', 'team/1/tasks/', 200, [{ id: 1 }]],
      ['GET', 'task/1/notes/', 200, [{ id: 1 }]],
      ['GET', 'task/2/notes/', 404, undefined],
      ['GET', "note/?task__title=Bob's", 200, []],
      ['GET', "note/?task__title=Ann's", 200, [{ id: 1 }]],
    ])('rules every way in: %s %s answers %i', async (method, path, status, body) => {
      const answer = await ask(ANN).send(method, path);
      expect(answer.status).toBe(status);
      if (body !== undefined) expect(answer.json).toMatchObject(body);
      if (Array.isArray(body)) expect(answer.json).toHaveLength(body.length);
    });

    test.each([
      ['PUT', { team: 1, title: 'x' }],
      ['PATCH', { title: 'x' }],
    ])('treats a row of another user as missing: %s', async (method, json) => {
      expect((await ask(ANN).send(method, 'task/2/', json)).status).toBe(404);
      expect(await texts(started.dataSource)).toEqual([]);
    });

    test('rules the keys in a body, a list without an order, and what others see', async () => {
      const refused = await ask(ANN).send('POST', 'note/', { task: 2, text: 'on his' });
      expect([refused.status, refused.json]).toEqual([
        400,
        { task: ['Invalid pk "2" - object does not exist.'] },
      ]);
      expect((await ask(BOB).get('task/')).json).toMatchObject([{ id: 2 }]);
      expect((await ask({}).get('task/')).json).toEqual([]);
      expect((await ask({}).get('task/1/')).status).toBe(404);
    });
  });

  test('valuesOnCreate stand above the body, also hidden ones and on a nested URL', async () => {
    const made = await ask(BOB).send('POST', 'task/', { team: 2, title: 'new', owner: 1, reviewer: 2 });
    expect([made.status, made.json]).toEqual([
      201,
      { id: expect.any(Number), team: 2, title: 'NEW', reviewer: 1, notes: expect.any(String) },
    ]);
    const { id } = made.json as { id: number };
    expect(await started.dataSource.getRepository(Task).findOneBy({ id })).toMatchObject({ owner: 2 });
    const joined = await ask(BOB).send('POST', 'team/1/people/', { person: 1, owner: 1 });
    expect([joined.status, joined.json]).toEqual([
      201,
      { id: expect.any(Number), team: 1, person: 1, role: 'member', owner: 2 },
    ]);
    expect((await ask(ANN).get('team/1/people/')).json).toEqual([]);
    expect((await ask(BOB).get('team/1/people/')).json).toHaveLength(1);
    expect((await ask(ANN).get(`membership/${(joined.json as { id: number }).id}/`)).status).toBe(404);
    await ask(BOB).send('DELETE', `task/${id}/`);
  });

  describe('a write', () => {
    test('is seen before and after, inside its transaction', async () => {
      const made = await ask(ANN).send('POST', 'task/', { team: 1, title: 'one' });
      const { id } = made.json as { id: number };
      expect(await texts(started.dataSource)).toEqual(['create ONE at noon', `create ${id} done, 1`]);
      const changed = await ask(ANN).send('PATCH', `task/${id}/`, { title: 'two' });
      expect([changed.status, changed.json]).toMatchObject([200, { id, title: 'TWO' }]);
      expect((await ask(ANN).send('PUT', `task/${id}/`, { team: 2, title: 'three' })).json).toMatchObject({
        team: 2,
        title: 'THREE',
      });
      expect((await ask(ANN).send('DELETE', `task/${id}/`)).status).toBe(204);
      expect((await texts(started.dataSource)).slice(2)).toEqual([
        'partialUpdate TWO at noon',
        `partialUpdate ${id} done, 1`,
        'update THREE at noon',
        `update ${id} done, 1`,
        'destroy THREE at noon',
        `destroy ${id} done, 0`,
      ]);
    });

    test('answers what afterWrite has made of the row', async () => {
      const made = await ask(ANN).send('POST', 'task/', { team: 1, title: 'renamed later' });
      expect([made.status, made.json]).toMatchObject([201, { title: 'later' }]);
      await started.dataSource.getRepository(Task).delete((made.json as { id: number }).id);
    });

    test('is undone by what a hook throws, with all that the hooks did', async () => {
      const before = await started.dataSource.getRepository(Task).count();
      const refused = await ask(ANN).send('POST', 'task/', { team: 1, title: 'forbidden' });
      expect([refused.status, refused.json]).toEqual([400, { title: ['Not this one.'] }]);
      const failed = await ask(ANN).send('POST', 'task/', { team: 1, title: 'boom' });
      expect([failed.status, failed.json]).toEqual([500, { detail: 'A server error occurred.' }]);
      expect((await ask(ANN).send('PATCH', 'task/1/', { title: 'boom' })).status).toBe(500);
      expect(await started.dataSource.getRepository(Task).findOneBy({ id: 1 })).toMatchObject({
        title: "Ann's",
      });
      expect(await started.dataSource.getRepository(Task).count()).toBe(before);
      expect(await texts(started.dataSource)).toEqual([]);
    });
  });

  describe('the same operations without HTTP', () => {
    const tasks = (actor: User | null) => started.app.get(RestifyResources).of(Task).as(actor);

    test('run with an actor, under scope and hooks', async () => {
      expect(await tasks({ id: 1 }).list()).toEqual([
        { id: 1, team: 1, title: "Ann's", reviewer: null, notes: '/rest/v1/hook/task/1/notes/' },
      ]);
      const made = await tasks({ id: 1 }).create({ team: 1, title: 'by code' });
      expect(made).toMatchObject({ title: 'BY CODE', reviewer: 1 });
      const id = made.id as number;
      expect(await tasks({ id: 1 }).partialUpdate(id, { title: 'again' })).toMatchObject({
        id,
        title: 'AGAIN',
      });
      expect(await tasks({ id: 1 }).update(id, { team: 2, title: 'whole' })).toMatchObject({
        id,
        team: 2,
        title: 'WHOLE',
      });
      expect(await tasks({ id: 1 }).retrieve(id)).toMatchObject({ id });
      await expect(tasks({ id: 2 }).retrieve(id)).rejects.toMatchObject({ response: { status: 404 } });
      await expect(tasks({ id: 2 }).destroy(id)).rejects.toMatchObject({ response: { status: 404 } });
      await tasks({ id: 1 }).destroy(id);
      await expect(tasks({ id: 1 }).retrieve(id)).rejects.toMatchObject({ response: { status: 404 } });
      await expect(tasks({ id: 1 }).retrieve('no key')).rejects.toMatchObject({ response: { status: 404 } });
      await expect(tasks({ id: 1 }).create({ title: '' })).rejects.toMatchObject({
        response: {
          status: 400,
          body: { team: ['This field is required.'], title: ['This field may not be blank.'] },
        },
      });
      expect(await texts(started.dataSource)).toHaveLength(8);
    });

    test('filter, order, stream and nest as over HTTP', async () => {
      const teams = started.app.get(RestifyResources).of(Team).as({ id: 2 });
      expect((await teams.list({ ordering: '-name' })).map(({ name }) => name)).toEqual(['red', 'blue']);
      const streamed: unknown[] = [];
      for await (const row of teams.stream({ name: 'blue' })) streamed.push(row.id);
      expect(streamed).toEqual([2]);
      expect(await teams.nested(1, 'tasks').list()).toMatchObject([{ id: 2 }]);
      await expect(teams.nested(9, 'tasks').list()).rejects.toMatchObject({ response: { status: 404 } });
      await expect(teams.nested(1, 'tasks').create({ title: 'x' })).rejects.toMatchObject({
        response: { status: 405 },
      });
      const made = await teams.nested(2, 'people').create({ person: 2 });
      expect(made).toMatchObject({ team: 2, person: 2, owner: 2 });
      expect(
        await teams.nested(2, 'people').partialUpdate(made.id as number, { role: 'lead' }),
      ).toMatchObject({ role: 'lead' });
      await teams.nested(2, 'people').destroy(made.id as number);
      expect(await teams.nested(2, 'people').list()).toEqual([]);
      await expect(teams.list({ name: '\u0000' })).rejects.toMatchObject({ response: { status: 400 } });
    });

    test('return the compiled model, and throw an error for one that is not served', () => {
      const resources = started.app.get(RestifyResources);
      expect(resources.of(Task).resource).toMatchObject({ id: 'hook.task', className: 'Task' });
      expect(Object.isFrozen(resources.of(Task).resource)).toBe(true);
      expect(resources.of(Task, { prefix: '/rest/v1/' }).resource.id).toBe('hook.task');
      expect(() => resources.of(Audit)).toThrow(
        'Audit is not served: decorate it with @Restify, and ask when the application has started.',
      );
      expect(() => resources.of(Task, { prefix: 'rest/v2' })).toThrow('Task is not served below "rest/v2"');
      expect(() => resources.of(Team).as(null).nested(1, 'task')).toThrow(
        '"task" is not a nested list of Team. Known: "tasks", "people".',
      );
    });
  });
});
