// @tags db nest
import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { Restify } from 'nestjs-restify';
import {
  Column,
  DeleteDateColumn,
  Entity,
  JoinColumn,
  JoinTable,
  ManyToMany,
  ManyToOne,
  OneToMany,
  OneToOne,
  PrimaryColumn,
  PrimaryGeneratedColumn,
} from 'typeorm';
import type { Relation } from 'typeorm';
import type { Answer } from '../support/client.js';
import { onEachDatabase } from '../support/each-database.js';
import { startApp } from '../support/start-app.js';
import type { StartedApp } from '../support/start-app.js';

@Restify({ app: 'referred', nested: ['offices', 'head'], bulk: true })
@Entity('referred_firm')
class Firm {
  @PrimaryGeneratedColumn() id: number;
  /** Offices refer to it. */
  @Column({ type: 'varchar', length: 10, nullable: true, unique: true }) code: string | null;
  @OneToMany(() => Office, (office) => office.firm) offices: Relation<Office[]>;
  @OneToOne(() => Head, (head) => head.firm) head: Relation<Head> | null;
}

@Restify('referred')
@Entity('referred_office')
class Office {
  @PrimaryGeneratedColumn() id: number;
  @Column({ length: 10 }) town: string;
  @ManyToOne(() => Firm, (firm) => firm.offices, { nullable: true })
  @JoinColumn({ referencedColumnName: 'code' })
  firm: Relation<Firm> | null;
  @ManyToOne(() => Region, { nullable: true }) region: Relation<Region> | null;
}

@Restify({ app: 'referred', trash: true })
@Entity('referred_region')
class Region {
  @PrimaryColumn({ type: 'int' }) id: number;
  @DeleteDateColumn({ precision: 3 }) gone: Date | null;
}

@Restify({ app: 'referred', relatedKeys: ['skills'] })
@Entity('referred_head')
class Head {
  @PrimaryGeneratedColumn() id: number;
  @OneToOne(() => Firm, (firm) => firm.head, { nullable: false }) @JoinColumn() firm: Relation<Firm>;
  @ManyToMany(() => Skill) @JoinTable({ name: 'referred_head_skill' }) skills: Relation<Skill[]>;
}

@Restify('referred')
@Entity('referred_skill')
class Skill {
  @PrimaryColumn({ type: 'int' }) id: number;
}

@Restify('referred')
@Entity('referred_course')
class Course {
  @PrimaryGeneratedColumn() id: number;
  @Column({ length: 10 }) title: string;
  @ManyToMany(() => Skill)
  @JoinTable({
    name: 'referred_lesson',
    synchronize: false,
    joinColumn: { name: 'courseId' },
    inverseJoinColumn: { name: 'skillId' },
  })
  skills: Relation<Skill[]>;
}

/** The through model of courses and skills. */
@Restify({ app: 'referred', nested: ['hours'], bulk: true })
@Entity('referred_lesson')
class Lesson {
  @PrimaryGeneratedColumn() id: number;
  @ManyToOne(() => Course, { nullable: false }) @JoinColumn({ name: 'courseId' }) course: Relation<Course>;
  @ManyToOne(() => Skill, { nullable: false }) @JoinColumn({ name: 'skillId' }) skill: Relation<Skill>;
  @OneToMany(() => Hour, (hour) => hour.lesson) hours: Relation<Hour[]>;
}

@Restify('referred')
@Entity('referred_hour')
class Hour {
  @PrimaryGeneratedColumn() id: number;
  @Column({ length: 10 }) day: string;
  @ManyToOne(() => Lesson, (lesson) => lesson.hours, { nullable: false }) lesson: Relation<Lesson>;
}

const FIRMS = '/rest/v1/referred/firm/';

onEachDatabase('references of objects in bodies', (database) => {
  let started: StartedApp;
  beforeAll(async () => {
    started = await startApp({
      entities: [Firm, Office, Region, Head, Skill, Course, Lesson, Hour],
      database,
    });
  });
  afterAll(() => started.close());
  beforeEach(async () => {
    for (const entity of [Office, Head, Firm, Region])
      await started.dataSource.createQueryBuilder().delete().from(entity).execute();
  });

  const outcome = ({ status, json }: Answer): unknown => [status, json];
  const idOf = ({ json }: Answer): number => (json as { readonly id: number }).id;
  const UNREFERABLE = {
    non_field_errors: ['The object has no value by which another object could refer to it.'],
  };

  test('an object that no other can refer to gets none, and is not stored', async () => {
    const { client, dataSource } = started;
    const offices = [{ town: 'Rome' }, { town: 'Oslo' }];
    expect(outcome(await client.post(FIRMS, { code: null, offices }))).toEqual([
      400,
      { offices: [UNREFERABLE, UNREFERABLE] },
    ]);
    expect(outcome(await client.post(FIRMS, [{ code: 'a' }, { code: null, offices }]))).toEqual([
      400,
      [{}, { offices: [UNREFERABLE, UNREFERABLE] }],
    ]);
    expect(await dataSource.getRepository(Firm).count()).toBe(0);
    const id = idOf(await client.post(FIRMS, { code: null }));
    expect(
      outcome(await client.patch(`${FIRMS}${id}/`, { offices: { create: [{ town: 'Rome' }] } })),
    ).toEqual([400, { offices: { create: [UNREFERABLE] } }]);
    expect(await dataSource.getRepository(Office).count()).toBe(0);
  });

  test('an object that gets the value in the same request gets its objects', async () => {
    const { client } = started;
    const id = idOf(await client.post(FIRMS, { code: null }));
    const answer = await client.patch(`${FIRMS}${id}/`, {
      code: 'b',
      offices: { create: [{ town: 'Rome' }] },
    });
    expect(answer.status).toBe(200);
    expect((await client.get(`${FIRMS}${id}/offices/`)).json).toMatchObject([{ town: 'Rome', firm: id }]);
  });

  test('related keys of the only object count, wherever its verb stands', async () => {
    const { client } = started;
    const firms = [
      await client.post(FIRMS, { code: 'a', head: {} }),
      await client.post(FIRMS, { code: 'b' }),
    ];
    const skills = Array.from({ length: 499 }, (_, index) => index);
    const heads = [{ update: { skills } }, { create: { skills: { add: skills } } }];
    const body = firms.map((firm, index) => ({ id: idOf(firm), head: heads[index] }));
    expect(outcome(await client.patch(FIRMS, body))).toEqual([
      400,
      {
        non_field_errors: [
          'Ensure that the request writes no more than 1000 objects and related keys in all.',
        ],
      },
    ]);
  });

  test('an object sent back with the key of one that was deleted since keeps it', async () => {
    const { client, dataSource } = started;
    await dataSource.getRepository(Region).insert([{ id: 1 }, { id: 2 }]);
    const id = idOf(await client.post(FIRMS, { code: 'a', offices: [{ town: 'Rome', region: 1 }] }));
    await dataSource.getRepository(Region).softDelete([1, 2]);
    const [office] = (await client.get(`${FIRMS}${id}/offices/`)).json as { id: number; town: string }[];
    const send = (change: object, more: object = {}): Promise<Answer> =>
      client.patch(`${FIRMS}${id}/`, { offices: { update: [{ ...office, ...change }], ...more } });
    expect((await send({ town: 'Paris' })).status).toBe(200);
    expect((await client.get(`${FIRMS}${id}/offices/`)).json).toMatchObject([{ town: 'Paris', region: 1 }]);
    expect(outcome(await send({ region: 2 }))).toEqual([
      400,
      { offices: { update: [{ region: ['Invalid pk "2" - object does not exist.'] }] } },
    ]);
    expect(outcome(await send({ town: 'Bonn' }, { create: [{ town: 'Oslo', region: 1 }] }))).toEqual([
      400,
      { offices: { create: [{ region: ['Invalid pk "1" - object does not exist.'] }] } },
    ]);
    expect((await client.get(`${FIRMS}${id}/offices/`)).json).toMatchObject([{ town: 'Paris' }]);
  });

  test('a through object takes its objects at the URL below either side, as at its own', async () => {
    const { client, dataSource } = started;
    await dataSource.getRepository(Skill).insert([{ id: 7 }, { id: 8 }]);
    const courses = [{ title: 'a' }, { title: 'b' }].map((body) =>
      client.post('/rest/v1/referred/course/', body),
    );
    const [first = 0, second = 0] = (await Promise.all(courses)).map(idOf);
    const skillsOf = (course: number): string => `/rest/v1/referred/course/${course}/skills/`;
    const hours = async (): Promise<string[]> => {
      const found = await dataSource
        .getRepository(Hour)
        .find({ relations: { lesson: true }, order: { id: 'ASC' } });
      return found.map(({ day, lesson }) => `${lesson.id}: ${day}`);
    };
    const created = await client.post(skillsOf(first), { skill: 7, hours: [{ day: 'Mo' }, { day: 'Tu' }] });
    expect(created.status).toBe(201);
    const lesson = idOf(created);
    const own = await client.post('/rest/v1/referred/lesson/', {
      course: second,
      skill: 7,
      hours: [{ day: 'We' }],
    });
    const listed = await client.post(skillsOf(second), [{ skill: 8, hours: [{ day: 'Th' }] }]);
    const [other = 0] = (listed.json as { readonly id: number }[]).map(({ id }) => id);
    expect(await hours()).toEqual([`${lesson}: Mo`, `${lesson}: Tu`, `${idOf(own)}: We`, `${other}: Th`]);
    const [, , foreign] = await dataSource.getRepository(Hour).find({ order: { id: 'ASC' } });
    const at = `${skillsOf(first)}${lesson}/`;
    expect(outcome(await client.patch(at, { hours: { delete: [foreign?.id] } }))).toEqual([
      400,
      { hours: { delete: [`Item 0: Invalid pk "${foreign?.id}" - object does not exist.`] } },
    ]);
    const elsewhere = `${skillsOf(second)}${lesson}/`;
    expect((await client.patch(elsewhere, { hours: { create: [{ day: 'Fr' }] } })).status).toBe(404);
    expect((await client.patch(at, { hours: { create: [{ day: 'Fr', lesson: other }] } })).status).toBe(200);
    expect(await hours()).toContain(`${lesson}: Fr`);
  });
});
