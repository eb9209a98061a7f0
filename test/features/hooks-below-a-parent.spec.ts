// @tags db nest
import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { ResourceController, Restify, RestifyController } from 'nestjs-restify';
import type { Json, Write } from 'nestjs-restify';
import {
  Column,
  Entity,
  JoinColumn,
  JoinTable,
  ManyToMany,
  ManyToOne,
  PrimaryColumn,
  PrimaryGeneratedColumn,
} from 'typeorm';
import type { Relation } from 'typeorm';
import { onEachDatabase } from '../support/each-database.js';
import { startApp } from '../support/start-app.js';
import type { StartedApp } from '../support/start-app.js';

@Restify('hb')
@Entity('hb_room')
class HbRoom {
  @PrimaryColumn('int') tenant: number;
  @PrimaryColumn('int') id: number;
}

@Restify('hb')
@Entity('hb_course')
class HbCourse {
  @PrimaryColumn('int') id: number;
}

/** The pairs have two columns of their parent, as properties. */
@Restify('hb')
@Entity('hb_student')
class HbStudent {
  @PrimaryColumn('int') tenant: number;
  @PrimaryColumn('int') id: number;
  @ManyToMany(() => HbCourse)
  @JoinTable({
    name: 'hb_pair',
    synchronize: false,
    joinColumns: [
      { name: 'tenant', referencedColumnName: 'tenant' },
      { name: 'studentId', referencedColumnName: 'id' },
    ],
    inverseJoinColumns: [{ name: 'courseId', referencedColumnName: 'id' }],
  })
  courses: Relation<HbCourse[]>;
}

@Restify({ app: 'hb', bulk: { upsert: ['code'] } })
@Entity('hb_pair')
class HbPair {
  @PrimaryGeneratedColumn() id: number;
  @Column('int', { unique: true, nullable: true }) code: number | null;
  @Column('int') tenant: number;
  @Column('int') studentId: number;
  @ManyToOne(() => HbStudent)
  @JoinColumn([
    { name: 'tenant', referencedColumnName: 'tenant' },
    { name: 'studentId', referencedColumnName: 'id' },
  ])
  student: Relation<HbStudent>;
  @ManyToOne(() => HbCourse) @JoinColumn({ name: 'courseId' }) course: Relation<HbCourse>;
  @ManyToOne(() => HbRoom)
  @JoinColumn([
    { name: 'tenant', referencedColumnName: 'tenant' },
    { name: 'roomId', referencedColumnName: 'id' },
  ])
  room: Relation<HbRoom> | null;
}

/** The pairs have one column of their parent, without a property. */
@Restify('hb')
@Entity('hb_tutor')
class HbTutor {
  @PrimaryColumn('int') id: number;
  @ManyToMany(() => HbCourse)
  @JoinTable({
    name: 'hb_bond',
    synchronize: false,
    joinColumn: { name: 'tutorId' },
    inverseJoinColumn: { name: 'courseId' },
  })
  courses: Relation<HbCourse[]>;
}

@Restify({ app: 'hb', bulk: { upsert: ['code'] } })
@Entity('hb_bond')
class HbBond {
  @PrimaryGeneratedColumn() id: number;
  @Column('int', { unique: true, nullable: true }) code: number | null;
  @ManyToOne(() => HbTutor) @JoinColumn({ name: 'tutorId' }) tutor: Relation<HbTutor>;
  @ManyToOne(() => HbCourse) @JoinColumn({ name: 'courseId' }) course: Relation<HbCourse>;
}

type Given = Readonly<Record<string, Json>>;
type Hook = (entity: HbPair & HbBond) => unknown;

let values: Given = {};
let change: Hook | undefined;

@RestifyController(HbPair)
class HbPairController extends ResourceController<HbPair> {
  override valuesOnCreate(): Given {
    return values;
  }

  override beforeWrite({ entity, operation }: Write<HbPair>): void {
    if (operation !== 'destroy') change?.(entity as HbPair & HbBond);
  }
}

@RestifyController(HbBond)
class HbBondController extends ResourceController<HbBond> {
  override valuesOnCreate(): Given {
    return values;
  }

  override beforeWrite({ entity, operation }: Write<HbBond>): void {
    if (operation !== 'destroy') change?.(entity as HbPair & HbBond);
  }
}

const PAIRS = '/rest/v1/hb/hbstudent/1,5/courses/';
const BONDS = '/rest/v1/hb/hbtutor/1/courses/';

onEachDatabase('hooks of a through object', (database) => {
  let started: StartedApp;
  const logged: string[] = [];
  beforeAll(async () => {
    const ignore = (): void => undefined;
    const error = (...given: unknown[]): void => void logged.push(given.map(String).join(' '));
    started = await startApp({
      entities: [HbRoom, HbCourse, HbStudent, HbPair, HbTutor, HbBond],
      controllers: [HbPairController, HbBondController],
      database,
      nest: { logger: { log: ignore, error, warn: ignore, debug: ignore, verbose: ignore, fatal: ignore } },
    });
    const { manager } = started.dataSource;
    await manager.insert(HbCourse, [{ id: 1 }, { id: 2 }]);
    for (const tenant of [1, 2]) {
      await manager.insert(HbStudent, { tenant, id: 5 });
      await manager.insert(HbRoom, { tenant, id: 7 });
      await manager.insert(HbTutor, { id: tenant });
    }
  });
  afterAll(() => started.close());
  beforeEach(async () => {
    values = {};
    change = undefined;
    logged.length = 0;
    for (const entity of [HbPair, HbBond])
      await started.dataSource.manager.createQueryBuilder().delete().from(entity).execute();
  });

  const pairs = async (): Promise<unknown> =>
    (await started.dataSource.manager.find(HbPair, { relations: { room: true }, order: { id: 'ASC' } })).map(
      ({ tenant, studentId, room }) => [tenant, studentId, room && `${room.tenant},${room.id}`],
    );
  const bonds = async (): Promise<unknown> =>
    (await started.dataSource.manager.find(HbBond, { relations: { tutor: true } })).map(
      ({ tutor }) => tutor.id,
    );

  test('do not set the parent of a new object', async () => {
    const { client } = started;
    for (const given of [
      { tenant: 2 },
      { studentId: 6 },
      { student: '2,5' },
      { tenant: 2, room: '1,7' },
    ] as readonly Given[]) {
      values = given;
      const made = await client.post(PAIRS, { course: 1 });
      expect([given, made.status, made.json]).toMatchObject([given, 201, { student: '1,5' }]);
    }
    values = {};
    for (const hook of [
      (entity: HbPair) => (entity.tenant = 2),
      (entity: HbPair) => (entity.student = { tenant: 2, id: 5 } as HbStudent),
    ]) {
      change = hook;
      const made = await client.post(PAIRS, { course: 1 });
      expect([String(hook), made.status, made.json]).toMatchObject([String(hook), 201, { student: '1,5' }]);
    }
    change = (entity) => (entity.tutor = { id: 2 } as HbTutor);
    const made = await client.post(BONDS, { course: 1 });
    expect([made.status, made.json]).toMatchObject([201, { tutor: 1 }]);
    expect(await bonds()).toEqual([1]);
  });

  test('do not move an object to another parent', async () => {
    const { client } = started;
    const moves: readonly (readonly [string, readonly Hook[]])[] = [
      [
        PAIRS,
        [(entity) => (entity.tenant = 2), (entity) => (entity.student = { tenant: 2, id: 5 } as HbStudent)],
      ],
      [BONDS, [(entity) => (entity.tutor = { id: 2 } as HbTutor)]],
    ];
    for (const [url, hooks] of moves) {
      change = undefined;
      const made = await client.post(url, { course: 1, code: 1 });
      expect(made.status).toBe(201);
      const id = (made.json as { id: number }).id;
      for (const hook of hooks) {
        change = hook;
        for (const [method, path, body] of [
          ['patch', `${id}/`, { course: 2 }],
          ['put', `${id}/`, { course: 1, code: 1 }],
          ['patch', `${id}/`, {}],
          ['patch', '', [{ id, course: 2 }]],
          ['post', '?upsert=true', [{ code: 1, course: 1 }]],
        ] as const) {
          const changed = await client[method](`${url}${path}`, body);
          expect([String(hook), method, path, changed.status]).toEqual([String(hook), method, path, 200]);
        }
      }
    }
    expect(await pairs()).toEqual([[1, 5, null]]);
    expect(await bonds()).toEqual([1]);
  });

  test('that give a key of another tenant than that of the URL are 500, and store nothing', async () => {
    const { client } = started;
    const expectFailures = async (
      requests: readonly (readonly ['post' | 'patch' | 'put', string, unknown])[],
      message: string,
    ): Promise<void> => {
      const before = await pairs();
      for (const [method, path, body] of requests) {
        logged.length = 0;
        const answer = await client[method](`${PAIRS}${path}`, body);
        expect([method, path, answer.status]).toEqual([method, path, 500]);
        expect(logged.join()).toContain(message);
        expect(await pairs()).toEqual(before);
      }
    };
    const creates = [
      ['post', '', { course: 1 }],
      ['post', '', [{ course: 1 }, { course: 2 }]],
      ['post', '?upsert=true', [{ course: 1, code: 1 }]],
    ] as const;
    values = { room: '2,7' };
    await expectFailures(
      creates,
      'valuesOnCreate gives "room" of HbPair another value of the column "tenant" than the URL has.',
    );
    values = {};
    const byHook =
      'beforeWrite sets "room" of HbPair to an object with another value of the column "tenant" than the URL has.';
    change = (entity) => (entity.room = { tenant: 2, id: 7 });
    await expectFailures(creates, byHook);
    change = undefined;
    values = { room: '1,7' };
    const made = await client.post(PAIRS, { course: 1, code: 1 });
    expect([made.status, made.json]).toMatchObject([201, { student: '1,5', room: '1,7' }]);
    const { id } = made.json as { id: number };
    change = (entity) => (entity.room = { tenant: 2, id: 7 });
    await expectFailures(
      [
        ['patch', `${id}/`, { course: 2 }],
        ['put', `${id}/`, { course: 1, code: 1 }],
        ['patch', '', [{ id, course: 2 }]],
        ['post', '?upsert=true', [{ code: 1, course: 2 }]],
      ],
      byHook,
    );
    change = (entity) => (entity.room = null);
    const emptied = await client.patch(`${PAIRS}${id}/`, {});
    expect([emptied.status, emptied.json]).toMatchObject([200, { student: '1,5', room: null }]);
  });

  test('that give two keys which disagree are 500', async () => {
    const { client } = started;
    const disagreeing: readonly Given[] = [
      { tenant: 1, room: '2,7' },
      { room: '2,7', tenant: 1 },
      { student: '1,5', room: '2,7' },
    ];
    for (const given of disagreeing) {
      values = given;
      logged.length = 0;
      const answer = await client.post('/rest/v1/hb/hbpair/', { student: '1,5', course: 1 });
      expect([given, answer.status]).toEqual([given, 500]);
      expect(logged.join()).toMatch(
        /valuesOnCreate gives "\w+" of HbPair another value of the column "tenant" than it gives elsewhere\./,
      );
    }
    const agreeing: readonly Given[] = [
      { tenant: 1, room: '1,7' },
      { tenant: 1, room: null },
      { room: null, tenant: 1 },
      { student: '1,5', room: null },
    ];
    for (const given of agreeing) {
      values = given;
      const made = await client.post('/rest/v1/hb/hbpair/', { student: '1,5', course: 1 });
      expect([given, made.status, made.json]).toMatchObject([
        given,
        201,
        { student: '1,5', room: given.room },
      ]);
    }
  });
});
