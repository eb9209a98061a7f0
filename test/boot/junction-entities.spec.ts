// @tags db nest
import { expect, test } from '@jest/globals';
import { Restify } from 'nestjs-restify';
import { Column, Entity, JoinTable, ManyToMany, PrimaryColumn, PrimaryGeneratedColumn } from 'typeorm';
import type { Relation } from 'typeorm';
import { onEachDatabase } from '../support/each-database.js';
import { startApp } from '../support/start-app.js';
import type { AppSettings, StartedApp } from '../support/start-app.js';
import { problemsOf } from './refused-start.js';

@Restify('school')
@Entity('jb_lesson')
class Lesson {
  @PrimaryGeneratedColumn()
  id: number;
}

const COLUMNS = { joinColumn: { name: 'pupil_id' }, inverseJoinColumn: { name: 'lesson_id' } };

@Restify('school')
@Entity('jb_pupil')
class Pupil {
  @PrimaryGeneratedColumn()
  id: number;

  @ManyToMany(() => Lesson)
  @JoinTable({ name: 'jb_attendance', ...COLUMNS })
  lessons: Relation<Lesson[]>;

  @ManyToMany(() => Lesson)
  @JoinTable({ name: 'jb_mark', ...COLUMNS })
  marks: Relation<Lesson[]>;
}

@Entity('jb_attendance')
class Attendance {
  @PrimaryColumn({ name: 'pupil_id' })
  pupil: number;

  @PrimaryColumn({ name: 'lesson_id' })
  lesson: number;
}

@Entity('jb_mark')
class Mark {
  @PrimaryColumn({ name: 'pupil_id' })
  pupil: number;

  @PrimaryColumn({ name: 'lesson_id' })
  lesson: number;

  @Column({ type: 'int', nullable: true })
  grade: number | null;

  @Column({ default: 0, name: 'tries_left' })
  tries: number;
}

@Restify('school')
@Entity('jb_coach')
class Coach {
  @PrimaryGeneratedColumn()
  id: number;

  @ManyToMany(() => Lesson)
  @JoinTable({ name: 'jb_training', ...COLUMNS })
  trainings: Relation<Lesson[]>;
}

@Entity('jb_training')
class Training {
  @PrimaryGeneratedColumn()
  id: number;

  @Column()
  pupil_id: number;

  @Column()
  lesson_id: number;
}

@Restify('school')
@Entity('jb_examiner')
class Examiner {
  @PrimaryGeneratedColumn()
  id: number;

  @ManyToMany(() => Lesson)
  @JoinTable({ name: 'jb_exam', ...COLUMNS, synchronize: false })
  exams: Relation<Lesson[]>;
}

@Entity('jb_exam')
class Exam {
  @PrimaryColumn()
  pupil_id: number;

  @Column()
  room: number;
}

@Restify('school')
@Entity('jb_exam')
class RegisteredExam {
  @PrimaryColumn()
  pupil_id: number;
}

async function warned(settings: AppSettings): Promise<StartedApp & { readonly warnings: readonly string[] }> {
  const warnings: string[] = [];
  const logger = {
    log: () => undefined,
    warn: (text: string) => warnings.push(text),
    error: () => undefined,
  };
  const started = await startApp({ ...settings, nest: { logger } });
  return Object.assign(started, {
    warnings: warnings.filter((text) => !text.includes('everybody may read')),
  });
}

onEachDatabase('an entity on a join table that synchronize makes', (database) => {
  test('starts, with a warning where columns are lost', async () => {
    const started = await warned({ entities: [Lesson, Pupil, Attendance, Mark], database });
    expect(started.warnings).toEqual([
      'Pupil.marks: its join table is also the table of the entity Mark. At each start `synchronize` of the data source drops the columns "grade", "tries_left" and adds them again, and what they hold is lost. Add synchronize: false to its @JoinTable, or turn `synchronize` of the data source off.',
    ]);
    const { client } = started;
    await client.post('/rest/v1/school/lesson/', {});
    await client.post('/rest/v1/school/pupil/', {});
    const made = [
      await client.post('/rest/v1/school/pupil/1/lessons/', { lesson: 1 }),
      await client.post('/rest/v1/school/pupil/1/marks/', { lesson: 1, grade: 2 }),
    ];
    expect(made.map(({ json }) => json)).toEqual([
      { id: 1, pupil: 1, lesson: 1 },
      { id: 1, pupil: 1, lesson: 1, grade: 2, tries: 0 },
    ]);
    await started.close();
  });

  test('refuses to start where TypeORM could not', async () => {
    expect(await problemsOf({ entities: [Lesson, Coach, Training], database })).toEqual([
      'Coach.trainings: its join table is also the table of the entity Training, which has another key, and `synchronize` of the data source fails with both. Add synchronize: false to its @JoinTable. Where the entities are not yours, turn `synchronize` of the data source off and write migrations.',
    ]);
  });

  test('starts with such an entity where migrations make the table', async () => {
    const started = await warned({
      entities: [Lesson, Coach, Training],
      database,
      dataSource: { synchronize: false },
    });
    expect(started.warnings).toEqual([]);
    await started.close();
  });

  test('is served as a pair where it does not have the columns of the junction', async () => {
    const started = await warned({ entities: [Lesson, Examiner, Exam], database });
    expect(started.warnings).toEqual([
      'Examiner.exams: its join table is the table of the entity Exam, which has no column "lesson_id". It is served as a pair of keys.',
    ]);
    const { client, dataSource } = started;
    await dataSource.query('ALTER TABLE jb_exam ADD COLUMN lesson_id int');
    await client.post('/rest/v1/school/lesson/', {});
    await client.post('/rest/v1/school/examiner/', {});
    const refused = await client.post('/rest/v1/school/examiner/1/exams/', { lesson: 1 });
    expect([refused.status, refused.json]).toEqual([
      400,
      { non_field_errors: ['A value that the database requires is missing.'] },
    ]);
    await dataSource.query('INSERT INTO jb_exam (pupil_id, lesson_id, room) VALUES (1, 1, 7)');
    expect((await client.get('/rest/v1/school/examiner/1/exams/')).json).toEqual([
      { id: 1, examiner: 1, lesson: 1 },
    ]);
    await started.close();
  });

  test('refuses to start where it is registered and does not have them', async () => {
    expect(await problemsOf({ entities: [Lesson, Examiner, RegisteredExam], database })).toEqual([
      'Examiner.exams: its join table is the table of the entity RegisteredExam, which has no column "lesson_id". Name the entity\'s columns in joinColumn and inverseJoinColumn; known there: "pupil_id". Or leave the relation out: exclude: [\'exams\'].',
    ]);
  });
});
