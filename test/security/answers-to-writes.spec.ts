// @tags db
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import {
  allow,
  AllowAny,
  deny,
  IdempotencyRecord,
  ModelPermissions,
  PermissionSource,
  ResourceController,
  Restify,
  RestifyController,
  RestifyResources,
} from 'nestjs-restify';
import type { AccessContext, Grant, Permission, Denial } from 'nestjs-restify';
import {
  Column,
  Entity,
  JoinTable,
  ManyToMany,
  ManyToOne,
  OneToMany,
  PrimaryColumn,
  PrimaryGeneratedColumn,
} from 'typeorm';
import type { Relation } from 'typeorm';
import type { Client } from '../support/client.js';
import { onEachDatabase } from '../support/each-database.js';
import { startApp } from '../support/start-app.js';
import type { StartedApp } from '../support/start-app.js';

/** What GET shows, by the header of who asks; nobody else's request says so. */
let reading: 'narrow' | 'refused' | 'wide' = 'narrow';

/** A secretary writes all of a person, and reads no salary. */
class Secretaries implements Permission {
  decide({ method }: AccessContext): Grant | Denial {
    if (method !== 'GET') return allow({ readable: ['name', 'salary', 'desk', 'teams', 'notes'] });
    if (reading === 'refused') return deny({ hides: 'nothing' });
    return reading === 'wide'
      ? allow()
      : allow({ readable: ['id', 'name', 'grade', 'desk', 'teams', 'notes'] });
  }
}

@Restify({
  app: 'atw',
  permissions: [Secretaries],
  bulk: { upsert: ['name'] },
  idempotency: true,
  conditional: true,
  shape: true,
  expandable: ['desk'],
  filterFields: ['name'],
  through: { teams: { permissions: [Secretaries] } },
})
@Entity('atw_person')
class AtwPerson {
  @PrimaryGeneratedColumn() id: number;
  @Column({ length: 20, unique: true }) name: string;
  @Column({ type: 'int', default: 1000 }) salary: number;
  @Column({ type: 'int', default: 1 }) grade: number;
  @ManyToOne(() => AtwDesk, { nullable: true }) desk: Relation<AtwDesk> | null;
  @ManyToMany(() => AtwTeam) @JoinTable({ name: 'atw_person_team' }) teams: Relation<AtwTeam[]>;
  @OneToMany(() => AtwNote, (note) => note.person) notes: Relation<AtwNote[]>;
}

/** Each change takes the way of a method that replaces it. */
@Restify({ app: 'atw', permissions: [Secretaries] })
@Entity('atw_note')
class AtwNote {
  @PrimaryGeneratedColumn() id: number;
  @Column({ length: 20, default: '' }) name: string;
  @Column({ type: 'int', default: 1000 }) salary: number;
  @ManyToOne(() => AtwPerson, (person) => person.notes, { nullable: true })
  person: Relation<AtwPerson> | null;
}

const seenBySuper: unknown[] = [];

@RestifyController(AtwNote)
class AtwNoteController extends ResourceController<AtwNote> {
  override async create(request: object): Promise<unknown> {
    const made: unknown = await super.create(request);
    seenBySuper.push(made);
    return made;
  }

  override async partialUpdate(request: object): Promise<unknown> {
    const changed: unknown = await super.partialUpdate(request);
    seenBySuper.push(changed);
    return changed;
  }
}

@Restify({ app: 'atw', permissions: [Secretaries] })
@Entity('atw_desk')
class AtwDesk {
  @PrimaryColumn() id: number;
  @Column({ length: 20 }) name: string;
  @Column({ type: 'int', default: 1000 }) salary: number;
}

@Restify({ app: 'atw', permissions: [AllowAny] })
@Entity('atw_team')
class AtwTeam {
  @PrimaryColumn() id: number;
}

/** Counts how often it is asked. */
class Counting extends ModelPermissions {
  static asked: string[] = [];

  override async decide(question: AccessContext): Promise<Grant | Denial> {
    Counting.asked.push(question.method);
    return Promise.resolve(allow());
  }
}

@Restify({ app: 'atw', permissions: [ModelPermissions] })
@Entity('atw_plain')
class AtwPlain {
  @PrimaryGeneratedColumn() id: number;
  @Column({ length: 20, default: '' }) name: string;
}

@Restify({ app: 'atw', permissions: [Counting], conditional: true, shape: true, bulk: true })
@Entity('atw_counted')
class AtwCounted {
  @PrimaryGeneratedColumn() id: number;
}

const URL = '/rest/v1/atw/atwperson/';
const SHOWN = { id: 1, name: 'ann', desk: null, teams: `${URL}1/teams/`, notes: `${URL}1/notes/` };

onEachDatabase('S2 the answer to a write', (database) => {
  let started: StartedApp;
  let client: Client;
  beforeAll(async () => {
    started = await startApp({
      entities: [AtwPerson, AtwNote, AtwDesk, AtwTeam, AtwPlain, AtwCounted, IdempotencyRecord],
      controllers: [AtwNoteController],
      database,
    });
    client = started.client;
  });
  afterAll(() => started.close());
  beforeEach(async () => {
    reading = 'narrow';
    seenBySuper.length = 0;
    const { manager } = started.dataSource;
    await manager.query('DELETE FROM atw_person_team');
    for (const entity of [AtwNote, AtwPerson, AtwDesk, AtwTeam, IdempotencyRecord])
      await manager.createQueryBuilder().delete().from(entity).execute();
    await manager.insert(AtwDesk, { id: 1, name: 'north', salary: 7 });
    await manager.insert(AtwTeam, { id: 1 });
    await manager.query("INSERT INTO atw_person (id, name, salary) VALUES (1, 'ann', 4000)");
    await manager.query("INSERT INTO atw_note (id, name, salary) VALUES (1, 'note', 4000)");
    if (database.name === 'postgres')
      for (const table of ['person', 'note'])
        await manager.query(`SELECT setval(pg_get_serial_sequence('atw_${table}', 'id'), 1)`);
  });
  const withKey = (key: string): { headers: Record<string, string> } => ({
    headers: { 'idempotency-key': key },
  });

  test.each(['PATCH', 'PUT'])('%s shows what GET shows too, and the key', async (method) => {
    const answer = await client.send(method, `${URL}1/`, { body: { name: 'ann' } });
    expect([answer.status, answer.json]).toEqual([200, SHOWN]);
    // What the write's grant alone leaves out stays out.
    expect(Object.keys((await client.get(`${URL}1/`)).json as object)).toEqual([
      'id',
      'name',
      'grade',
      'desk',
      'teams',
      'notes',
    ]);
  });

  test('an empty change shows no more', async () => {
    expect((await client.patch(`${URL}1/`, {})).json).toEqual(SHOWN);
    expect((await client.patch(`${URL}1/`, { salary: 5000 })).json).toEqual(SHOWN);
    expect(await started.dataSource.manager.findOneBy(AtwPerson, { id: 1 })).toMatchObject({ salary: 5000 });
  });

  test('a create shows no more, nor do its shape and what it expands', async () => {
    const made = await client.post(URL, { name: 'bob', desk: 1 });
    expect([made.status, Object.keys(made.json as object)]).toEqual([
      201,
      ['id', 'name', 'desk', 'teams', 'notes'],
    ]);
    const expanded = await client.patch(`${URL}1/?expand=desk&fields=id,salary,name,desk`, { desk: 1 });
    expect([expanded.status, expanded.json]).toEqual([
      200,
      { id: 1, name: 'ann', desk: { id: 1, name: 'north' } },
    ]);
  });

  test('where GET is refused it shows what the grant of the write does, and the key', async () => {
    reading = 'refused';
    expect((await client.get(`${URL}1/`)).status).toBe(403);
    expect((await client.patch(`${URL}1/`, {})).json).toEqual({ ...SHOWN, salary: 4000 });
  });

  test('where GET shows all, the grant of the write is what is left', async () => {
    reading = 'wide';
    expect((await client.patch(`${URL}1/`, {})).json).toEqual({ ...SHOWN, salary: 4000 });
  });

  test('of many objects shows no more, made, changed and upserted', async () => {
    const answers = [
      await client.post(URL, [{ name: 'bob' }, { name: 'cid' }]),
      await client.patch(URL, [{ id: 1, salary: 1 }]),
      await client.patch(`${URL}?keys=1`, { salary: 2 }),
      await client.patch(`${URL}?name=ann`, { salary: 3 }),
      await client.post(`${URL}?upsert=true`, [{ name: 'ann', salary: 4 }, { name: 'dan' }]),
      await client.post(`${URL}?upsert=true`, { name: 'ann', salary: 5 }),
    ];
    expect(answers.map(({ status }) => status)).toEqual([201, 200, 200, 200, 201, 200]);
    for (const { json } of answers)
      for (const row of Array.isArray(json) ? json : [json])
        expect(Object.keys(row as object)).toEqual(['id', 'name', 'desk', 'teams', 'notes']);
  });

  test('of a nested URL shows no more', async () => {
    const made = await client.post(`${URL}1/teams/`, { atwteam: 1 });
    expect([made.status, made.json]).toEqual([201, { id: 1 }]);
  });

  test('is no more for a method that replaces it, by super', async () => {
    expect((await client.patch('/rest/v1/atw/atwnote/1/', {})).json).toEqual({ id: 1, name: 'note' });
    expect((await client.post('/rest/v1/atw/atwnote/', {})).json).toEqual({
      id: expect.any(Number),
      name: '',
    });
    expect(seenBySuper.map((each) => Object.keys(each as object))).toEqual([
      ['id', 'name'],
      ['id', 'name'],
    ]);
  });

  test('is no more for the application as that actor', async () => {
    const people = started.app.get(RestifyResources).of(AtwPerson).as(null);
    expect(await people.partialUpdate(1, {})).toEqual(SHOWN);
    expect(Object.keys(await people.create({ name: 'eve' }))).toEqual([
      'id',
      'name',
      'desk',
      'teams',
      'notes',
    ]);
  });

  describe('that is given again by its Idempotency-Key', () => {
    test('shows no more than at first', async () => {
      const first = await client.post(URL, { name: 'bob' }, withKey('a'));
      const again = await client.post(URL, { name: 'bob' }, withKey('a'));
      expect([again.status, again.text, again.headers['idempotency-replayed']]).toEqual([
        201,
        first.text,
        'true',
      ]);
      expect(first.text).not.toContain('salary');
    });

    test('shows no more than the caller may read now', async () => {
      reading = 'wide';
      const first = await client.post(URL, { name: 'bob' }, withKey('b'));
      expect(first.json).toMatchObject({ name: 'bob', salary: 1000 });
      reading = 'narrow';
      const { salary, ...left } = first.json as Record<string, unknown>;
      const again = await client.post(URL, { name: 'bob' }, withKey('b'));
      expect([again.status, again.json, salary]).toEqual([201, left, 1000]);
      const many = await client.post(`${URL}?fields=id,name,salary`, { name: 'bob' }, withKey('b'));
      expect([422, 201]).toContain(many.status);
      expect(many.text).not.toContain('salary');
    });

    test('shows no more of records that hold more: they were written before', async () => {
      reading = 'wide';
      await client.post(URL, [{ name: 'bob' }, { name: 'cid' }], withKey('c'));
      const [record] = await started.dataSource.manager.find(IdempotencyRecord);
      expect(JSON.stringify(record)).toContain('salary');
      reading = 'narrow';
      const again = await client.post(URL, [{ name: 'bob' }, { name: 'cid' }], withKey('c'));
      expect([again.status, (again.json as object[]).map((each) => Object.keys(each))]).toEqual([
        201,
        [
          ['id', 'name', 'desk', 'teams', 'notes'],
          ['id', 'name', 'desk', 'teams', 'notes'],
        ],
      ]);
    });
  });

  test('evaluates built-in permissions once, and those of GET once more for other classes', async () => {
    Counting.asked = [];
    const { json } = await client.post('/rest/v1/atw/atwcounted/', {});
    expect(Counting.asked).toEqual(['POST', 'GET']);
    Counting.asked = [];
    await client.patch(
      `/rest/v1/atw/atwcounted/${(json as { id: number }).id}/`,
      {},
      { headers: { 'if-match': '*' } },
    );
    expect(Counting.asked).toEqual(['PATCH', 'GET']);
  });
});

test('a model with only built-in permissions evaluates them once for each write', async () => {
  const asked: string[] = [];
  // A permission with a method of its own in place of the built-in one could grant some fields only.
  const holds = (_: unknown, name: string): boolean => asked.push(name) > 0;
  const started = await startApp({
    entities: [AtwPlain],
    providers: [{ provide: PermissionSource, useValue: { holds } }],
    configure: (app) => {
      app.use((request: { user?: object }, _: unknown, next: () => void) => {
        request.user = { id: 1 };
        next();
      });
    },
  });
  await started.client.post('/rest/v1/atw/atwplain/', {});
  await started.client.patch('/rest/v1/atw/atwplain/1/', {});
  await started.close();
  expect(asked).toEqual(['atw.add_atwplain', 'atw.change_atwplain']);
});
