// @tags db http
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import {
  allow,
  AllowAny,
  CsvRenderer,
  deny,
  ModelSerializer,
  PageNumberPagination,
  Restify,
  RestifyResources,
  where,
} from 'nestjs-restify';
import type { AccessContext, Denial, FilterBackend, FilterResult, Grant, Permission } from 'nestjs-restify';
import {
  Column,
  DeleteDateColumn,
  Entity,
  JoinTable,
  ManyToMany,
  ManyToOne,
  OneToMany,
  PrimaryGeneratedColumn,
} from 'typeorm';
import type { Relation } from 'typeorm';
import { StatementLog } from '../faults/statement-log.js';
import { declareUnchecked, problemsOf } from '../boot/refused-start.js';
import { onEachDatabase } from '../support/each-database.js';
import { startApp } from '../support/start-app.js';
import type { StartedApp } from '../support/start-app.js';

function roleOf({ request }: AccessContext): string {
  return (
    (request as { readonly headers: Readonly<Record<string, string>> } | undefined)?.headers['x-role'] ??
    'all'
  );
}

/** `some` sees tasks with few points, `none` no tasks. */
class Tasks implements Permission {
  decide(context: AccessContext): Grant | Denial {
    const role = roleOf(context);
    if (role === 'none') return deny();
    return role === 'some' ? allow({ rows: where('points', 'lt', 3) }) : allow();
  }
}

/** `unlinked` does not see that a project has tasks. */
class Projects implements Permission {
  readonly decidesOnDeleted = true;

  decide(context: AccessContext): Grant {
    return roleOf(context) === 'unlinked' ? allow({ readable: ['id', 'name', 'owner', 'tags'] }) : allow();
  }
}

class Open implements FilterBackend {
  filter(): FilterResult {
    return { rows: where('done', false) };
  }

  parameters(): readonly string[] {
    return [];
  }
}

@Restify({ app: 'cn', label: 'name' })
@Entity('cn_person')
class Person {
  @PrimaryGeneratedColumn() id: number;
  @Column({ length: 20 }) name: string;
}

@Restify({
  app: 'cn',
  permissions: [Projects],
  shape: true,
  strict: true,
  trash: true,
  conditional: true,
  expandable: ['tasks'],
  counts: ['tasks', 'tags'],
  through: { tags: { permissions: [AllowAny] } },
  renderers: [new CsvRenderer()],
})
@Entity('cn_project')
class Project {
  @PrimaryGeneratedColumn() id: number;
  @Column({ length: 20 }) name: string;
  @ManyToOne(() => Person) owner: Relation<Person>;
  @OneToMany(() => Task, (task) => task.project) tasks: Relation<Task>[];
  @ManyToMany(() => Label, (label) => label.projects) @JoinTable() tags: Relation<Label>[];
  @DeleteDateColumn({ select: false, precision: 3 }) gone: Date | null;
}

@Restify({
  app: 'cn',
  permissions: [Tasks],
  filterBackends: [Open],
  counts: ['parts'],
  parameters: { with: 'add' },
  pagination: new PageNumberPagination(),
})
@Entity('cn_task')
class Task {
  @PrimaryGeneratedColumn() id: number;
  @Column() points: number;
  @Column({ default: false }) done: boolean;
  @ManyToOne(() => Project, (project) => project.tasks) project: Relation<Project>;
  @ManyToOne(() => Task, (task) => task.parts, { nullable: true }) whole: Relation<Task> | null;
  @OneToMany(() => Task, (task) => task.whole) parts: Relation<Task>[];
  @DeleteDateColumn({ select: false, precision: 3 }) deleted: Date | null;
}

@Restify('cn')
@Entity('cn_label')
class Label {
  @PrimaryGeneratedColumn() id: number;
  @ManyToMany(() => Project, (project) => project.tags) projects: Relation<Project>[];
}

class Loud extends ModelSerializer {}

/** Computed fields need entities. */
@Restify({
  app: 'cn',
  serializer: Loud,
  computed: { twice: (box) => (box as Box).id * 2 },
  counts: ['items'],
})
@Entity('cn_box')
class Box {
  @PrimaryGeneratedColumn() id: number;
  @OneToMany(() => Item, (item) => item.box) items: Relation<Item>[];
}

@Restify('cn')
@Entity('cn_item')
class Item {
  @PrimaryGeneratedColumn() id: number;
  @ManyToOne(() => Box, (box) => box.items) box: Relation<Box>;
}

const PROJECTS = '/rest/v1/cn/project/';
const TASKS = '/rest/v1/cn/task/';

onEachDatabase('counts of related objects', (database) => {
  let started: StartedApp;
  let log: StatementLog;

  beforeAll(async () => {
    log = new StatementLog();
    started = await startApp({
      database,
      entities: [Person, Project, Task, Label, Box, Item],
      dataSource: { logging: true, logger: log },
    });
    const { manager } = started.dataSource;
    await manager.insert(Person, { name: 'Ann' });
    for (const name of ['one', 'two', 'three']) await manager.insert(Project, { name, owner: { id: 1 } });
    await manager.save(Label, [{ id: 1 }, { id: 2 }]);
    await manager.save(Project, { id: 1, tags: [{ id: 1 }, { id: 2 }] });
    for (let n = 0; n < 8; n++)
      await manager.insert(Task, {
        points: n % 5,
        done: n === 7,
        project: { id: n < 6 ? 1 : 2 },
        whole: n === 1 || n === 2 ? { id: 1 } : null,
      });
    await manager.softDelete(Task, { id: 6 });
    await manager.save(Box, [{ id: 1 }, { id: 2 }]);
    await manager.insert(Item, [{ box: { id: 1 } }, { box: { id: 1 } }]);
  });

  afterAll(() => started.close());

  async function read(path: string, role = 'all'): Promise<unknown> {
    const { status, json } = await started.client.get(path, { headers: { 'x-role': role } });
    return status === 200 ? json : { status, json };
  }

  test.each(['all', 'some', 'none', 'unlinked'])(
    'are those of the nested lists, for the role %s',
    async (role) => {
      const projects = (await read(`${PROJECTS}?with=counts&ordering=id`, role)) as readonly {
        readonly id: number;
        readonly counts: object;
      }[];
      for (const { id, counts } of projects) {
        const expected: Record<string, number> = {};
        const linked = role !== 'unlinked';
        const tasks = await read(`${PROJECTS}${id}/tasks/`, role);
        if (linked && role !== 'none') expected.tasks = (tasks as { readonly count: number }).count;
        expected.tags = ((await read(`${PROJECTS}${id}/tags/`, role)) as readonly unknown[]).length;
        expect(counts).toEqual(expected);
        expect(await read(`${PROJECTS}${id}/?with=counts`, role)).toEqual(
          projects.find((each) => each.id === id),
        );
      }
      expect(projects).toHaveLength(3);
    },
  );

  test('are a member behind the fields, before labels', async () => {
    const { text } = await started.client.get(`${PROJECTS}1/?with=counts`);
    expect(text).toBe(
      '{"id":1,"name":"one","owner":1,"tasks":"/rest/v1/cn/project/1/tasks/","tags":"/rest/v1/cn/project/1/tags/","counts":{"tasks":5,"tags":2}}',
    );
  });

  test('stand beside labels', async () => {
    const both = await read(`${PROJECTS}1/?with=labels,counts`);
    expect(both).toEqual(await read(`${PROJECTS}1/?with=counts&with=labels`));
    expect(both).toMatchObject({ counts: { tasks: 5, tags: 2 }, labels: { owner: 'Ann' } });
    expect(await read(`${PROJECTS}?with=labels,counts&fields=owner&ordering=id`)).toMatchObject([
      { owner: 1, counts: { tasks: 5, tags: 2 }, labels: { owner: 'Ann' } },
      {},
      {},
    ]);
  });

  test('come with the statement of the rows, however many lists', async () => {
    log.statements.length = 0;
    await read(`${PROJECTS}?with=counts`);
    expect(log.statements).toHaveLength(1);
  });

  test('do not depend on the selected fields, and stand beside expanded lists', async () => {
    expect(await read(`${PROJECTS}?with=counts&fields=name&ordering=id`)).toEqual([
      { name: 'one', counts: { tasks: 5, tags: 2 } },
      { name: 'two', counts: { tasks: 1, tags: 0 } },
      { name: 'three', counts: { tasks: 0, tags: 0 } },
    ]);
    expect(await read(`${PROJECTS}2/?with=counts&fields=tasks.id&expand=tasks`)).toEqual({
      tasks: [{ id: 7 }],
      counts: { tasks: 1, tags: 0 },
    });
  });

  test('of a list of its own model, in pages, under a renamed parameter', async () => {
    expect(await read(`${TASKS}?add=counts&ordering=id&page_size=2`)).toMatchObject({
      results: [
        { id: 1, counts: { parts: 2 } },
        { id: 2, counts: { parts: 0 } },
      ],
    });
    expect(await read(`${TASKS}?add=counts&ordering=id&page_size=1`, 'some')).toMatchObject({
      results: [{ id: 1, counts: { parts: 2 } }],
    });
    expect(await read(`${PROJECTS}1/tasks/?add=counts&page_size=1`)).toMatchObject({
      results: [{ counts: { parts: 2 } }],
    });
  });

  test('are in rows whose entities are loaded, and in CSV', async () => {
    expect(await read('/rest/v1/cn/box/?with=counts')).toEqual([
      { id: 1, items: '/rest/v1/cn/box/1/items/', twice: 2, counts: { items: 2 } },
      { id: 2, items: '/rest/v1/cn/box/2/items/', twice: 4, counts: { items: 0 } },
    ]);
    const { text } = await started.client.get(`${PROJECTS}?with=counts&fields=name&ordering=id&format=csv`);
    expect(text.split('\r\n').slice(0, 2)).toEqual(['name,counts', 'one,"{""tasks"":5,""tags"":2}"']);
  });

  test('have no entity tag, and deleted objects have none', async () => {
    const { headers } = await started.client.get(`${PROJECTS}1/?with=counts`);
    expect(headers.etag).toBeUndefined();
    await started.dataSource.getRepository(Project).softDelete(3);
    expect(await read(`${PROJECTS}?with=counts&deleted=only`)).toMatchObject([{ id: 3, counts: {} }]);
    await started.dataSource.getRepository(Project).restore(3);
  });

  test.each([
    ['with=x', { with: ['"x" is not a valid choice.'] }],
    ['fields=nothing', { fields: ['Unknown field "nothing".'] }],
    ['nothing=1', { nothing: ['Unknown parameter.'] }],
  ])('of an object among deleted ones, the object precedes an error of %s', async (query, json) => {
    const missing = { status: 404, json: { detail: 'Not found.' } };
    await started.dataSource.getRepository(Project).softDelete(3);
    expect(await read(`${PROJECTS}1/?deleted=only&${query}`)).toEqual(missing);
    expect(await read(`${PROJECTS}3/?${query}`)).toEqual(missing);
    expect(await read(`${PROJECTS}3/?deleted=only&${query}`)).toEqual({ status: 400, json });
    expect(await read(`${PROJECTS}3/?deleted=with&${query}`)).toEqual({ status: 400, json });
    await started.dataSource.getRepository(Project).restore(3);
  });

  test.each(['x', 'labels', 'counts,x'])('another value is refused: %s', async (value) => {
    const [other] = value.split(',').filter((each) => each !== 'counts');
    expect(await read(`${TASKS}?add=${value}`)).toEqual({
      status: 400,
      json: { add: [`"${other ?? ''}" is not a valid choice.`] },
    });
  });

  test('an empty value adds none, and a repeated one adds them once', async () => {
    expect(await read(`${PROJECTS}1/?with=`)).toEqual(await read(`${PROJECTS}1/`));
    expect(await read(`${PROJECTS}1/?with=counts&with=counts`)).toEqual(
      await read(`${PROJECTS}1/?with=counts`),
    );
  });

  test('in code they are a parameter of the list', async () => {
    const rows = await started.app
      .get(RestifyResources)
      .of(Project)
      .as(null)
      .list({ with: 'counts', fields: 'id', ordering: 'id' });
    expect(JSON.parse(JSON.stringify(rows))).toMatchObject([{ counts: { tasks: 5 } }, {}, {}]);
  });

  test('are described by OPTIONS if the caller may read them', async () => {
    const options = async (role: string): Promise<unknown> =>
      (await started.client.send('OPTIONS', PROJECTS, { headers: { 'x-role': role } })).json;
    expect(await options('all')).toMatchObject({ counts: { parameter: 'with', lists: ['tasks', 'tags'] } });
    expect(await options('none')).toMatchObject({ counts: { parameter: 'with', lists: ['tags'] } });
  });
});

describe('counts refuses to start with', () => {
  @Entity('cn_owner')
  class Owner {
    @PrimaryGeneratedColumn() id: number;
    @Column({ nullable: true }) counts: number;
    @OneToMany(() => Thing, (thing) => thing.owner) things: Relation<Thing>[];
  }

  @Entity('cn_thing')
  class Thing {
    @PrimaryGeneratedColumn() id: number;
    @ManyToOne(() => Owner, (owner) => owner.things) owner: Relation<Owner>;
    @Column({ nullable: true }) with: number;
  }

  test.each([
    [
      'what is no relation',
      { owner: { exclude: ['counts'], counts: ['thing'] } },
      ['Owner.counts "thing": "thing" is not a relation that Owner shows. Did you mean "things"?'],
    ],
    [
      'one object',
      { thing: { exclude: ['with'], counts: ['owner'] } },
      ['Thing.counts "owner": "owner" is one object, and no list. Take it out.'],
    ],
    [
      'a list that nobody may read',
      { owner: { exclude: ['counts'], counts: ['things'] }, thing: { operations: ['retrieve', 'create'] } },
      ['Owner.counts "things": "things" is not a relation that Owner shows. There is none to name here.'],
    ],
    [
      'a field of the name of its member',
      { owner: { exclude: [], counts: ['things'] } },
      [
        'Owner.counts: "counts" is the member with the numbers, and a field of Owner. Give the property another name, or exclude the field.',
      ],
    ],
  ])('%s', async (_title, { owner = {}, thing = {} }: { owner?: object; thing?: object }, expected) => {
    declareUnchecked(Owner, { app: 'c', exclude: ['counts'], ...owner });
    declareUnchecked(Thing, { app: 'c', ...thing });
    expect(await problemsOf({ entities: [Owner, Thing] })).toEqual(expected);
  });
});
