// @tags db http
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import {
  allow,
  basic,
  deny,
  IsAuthenticated,
  LimitOffsetPagination,
  ModelSerializer,
  NdjsonRenderer,
  Restify,
  RestifyResources,
  where,
} from 'nestjs-restify';
import type {
  AccessContext,
  FilterBackend,
  FilterResult,
  Grant,
  Permission,
  Denial,
  RepresentContext,
  Representation,
  Row,
} from 'nestjs-restify';
import {
  Column,
  DeleteDateColumn,
  Entity,
  Index,
  JoinColumn,
  JoinTable,
  ManyToMany,
  ManyToOne,
  OneToMany,
  OneToOne,
  PrimaryColumn,
} from 'typeorm';
import type { Relation } from 'typeorm';
import { StatementLog } from '../faults/statement-log.js';
import { onEachDatabase } from '../support/each-database.js';
import { startApp } from '../support/start-app.js';
import type { StartedApp } from '../support/start-app.js';
import { seen } from './nested-answers.js';

function nameOf({ actor }: AccessContext): string {
  return (actor as { name: string } | null)?.name ?? '';
}

/** Ann sees all, Bob names alone and not those that are secret, Eve nothing. */
class Authors implements Permission {
  decide(question: AccessContext): Grant | Denial {
    const name = nameOf(question);
    if (name === 'eve') return deny();
    return name === 'bob' ? allow({ rows: where('secret', false), readable: ['id', 'name'] }) : allow();
  }
}

class Enrolments implements Permission {
  decide(question: AccessContext): Grant | Denial {
    const name = nameOf(question);
    if (name === 'eve') return deny();
    return name === 'bob' ? allow({ rows: where('grade', 'ne', 9), readable: ['id', 'ex_course'] }) : allow();
  }
}

/** As its list is without parameters. */
class NoDrafts implements FilterBackend {
  filter({ parameters }: { parameters: ReadonlyMap<string, string> }): FilterResult {
    return parameters.has('drafts') ? {} : { rows: where('draft', false) };
  }
}

class LoudSerializer extends ModelSerializer {
  override represent(row: Row, context: RepresentContext): Representation {
    const { word, ...body } = super.represent(row, context);
    return { ...body, loud: String(word).toUpperCase() };
  }
}

@Restify({ app: 'ex', permissions: [Authors], shape: true, expandable: ['profile', 'questions'] })
@Entity('ex_author')
class Author {
  @PrimaryColumn() id: number;
  @Column() name: string;
  @Column({ default: 'mail' }) email: string;
  @Column({ default: false }) secret: boolean;
  @OneToOne(() => Profile, (profile) => profile.author) profile: Relation<Profile>;
  @OneToMany(() => Question, (question) => question.author) questions: Relation<Question[]>;
}

@Restify({ app: 'ex', computed: { shout: (profile: object) => `${(profile as Profile).text}!` } })
@Entity('ex_profile')
class Profile {
  @PrimaryColumn() id: number;
  @Column() text: string;
  @OneToOne(() => Author, (author) => author.profile) @JoinColumn() author: Relation<Author>;
}

@Restify({
  app: 'ex',
  shape: { maxChildren: 5, maxObjects: 55 },
  expandable: ['author.profile', 'choices.question.choices', 'remarks', 'tags.tag', 'replaced'],
})
@Entity('ex_question')
class Question {
  @PrimaryColumn() id: number;
  @Column() question_text: string;
  @ManyToOne(() => Author, (author) => author.questions, { nullable: true }) author: Relation<Author> | null;
  @OneToMany(() => Choice, (choice) => choice.question) choices: Relation<Choice[]>;
  @OneToMany(() => Remark, (remark) => remark.question) remarks: Relation<Remark[]>;
  @ManyToMany(() => Tag, (tag) => tag.questions) @JoinTable() tags: Relation<Tag[]>;
  @ManyToOne(() => Question, { nullable: true }) replaced: Relation<Question> | null;
  @DeleteDateColumn({ select: false }) deleted: Date | null;
}

@Restify({
  app: 'ex',
  shape: true,
  expandable: ['question.author', 'question.choices'],
  ordering: ['-votes'],
  filterBackends: [NoDrafts],
  strict: false,
})
@Entity('ex_choice')
class Choice {
  @PrimaryColumn() id: number;
  @Column() choice_text: string;
  @Column({ default: 0 }) votes: number;
  @Column({ default: false }) draft: boolean;
  @ManyToOne(() => Question, (question) => question.choices) question: Relation<Question>;
}

@Restify({
  app: 'ex',
  permissions: [IsAuthenticated],
  shape: true,
  strict: true,
  expandable: ['question.author'],
  pagination: new LimitOffsetPagination({ pageSize: 2 }),
})
@Entity('ex_remark')
class Remark {
  @PrimaryColumn() id: number;
  @Column() text: string;
  @ManyToOne(() => Question, (question) => question.remarks, { nullable: true })
  question: Relation<Question> | null;
}

@Restify({ app: 'ex', serializer: LoudSerializer, through: { questions: { expandable: ['question'] } } })
@Entity('ex_tag')
class Tag {
  @PrimaryColumn() id: number;
  @Column() word: string;
  @ManyToMany(() => Question, (question) => question.tags) questions: Relation<Question[]>;
}

@Restify({ app: 'ex', expandable: ['course_set.ex_course'], renderers: [new NdjsonRenderer()] })
@Entity('ex_student')
class Student {
  @PrimaryColumn() id: number;
  @Column() name: string;
  @ManyToMany(() => Course, (course) => course.student_set)
  @JoinTable({
    name: 'ex_enrolment',
    joinColumn: { name: 'student_id' },
    inverseJoinColumn: { name: 'course_id' },
    synchronize: false,
  })
  course_set: Relation<Course[]>;
}

@Restify('ex')
@Entity('ex_course')
class Course {
  @PrimaryColumn() id: number;
  @Column() title: string;
  @ManyToMany(() => Student, (student) => student.course_set) student_set: Relation<Student[]>;
}

@Restify({
  app: 'ex',
  permissions: [Enrolments],
  ordering: ['-grade'],
  shape: true,
  expandable: ['ex_course', 'student'],
})
@Entity('ex_enrolment')
class Enrolment {
  @PrimaryColumn() id: number;
  @Column() grade: number;
  @ManyToOne(() => Student) @JoinColumn({ name: 'student_id' }) student: Relation<Student>;
  @ManyToOne(() => Course) @JoinColumn({ name: 'course_id' }) ex_course: Relation<Course>;
}

/** Keys that are no numbers, two of them, joined by another column than the key. */
@Restify({ app: 'ex', expandable: ['rooms', 'rooms.house'] })
@Entity('ex_house')
@Index(['code'], { unique: true })
class House {
  @PrimaryColumn({ type: 'varchar', length: 20 }) street: string;
  @PrimaryColumn() number: number;
  @Column({ type: 'varchar', length: 20 }) code: string;
  @OneToMany(() => Room, (room) => room.house) rooms: Relation<Room[]>;
}

@Restify({ app: 'ex', expandable: ['house'] })
@Entity('ex_room')
class Room {
  @PrimaryColumn({ type: 'varchar', length: 20 }) name: string;
  @ManyToOne(() => House, (house) => house.rooms)
  @JoinColumn({ name: 'house_code', referencedColumnName: 'code' })
  house: Relation<House>;
}

function as(name: string): { headers: Record<string, string> } {
  return { headers: { authorization: `Basic ${Buffer.from(`${name}:pw`).toString('base64')}` } };
}

const ENTITIES = [Author, Profile, Question, Choice, Remark, Tag, Student, Course, Enrolment, House, Room];

onEachDatabase('expansion', (database) => {
  const log = new StatementLog();
  let started: StartedApp;

  beforeAll(async () => {
    started = await startApp({
      entities: ENTITIES,
      database,
      restify: { authentication: [basic((name) => ({ name }))] },
      dataSource: { logging: true, logger: log },
    });
    const of = (type: new () => object, rows: readonly object[]): Promise<unknown> =>
      started.dataSource.getRepository(type).save([...rows]);
    await of(Author, [
      { id: 1, name: 'Ada' },
      { id: 2, name: 'Bea', secret: true },
    ]);
    await of(Profile, [{ id: 5, text: 'hi', author: { id: 1 } }]);
    await of(Tag, [
      { id: 1, word: 'new' },
      { id: 2, word: 'old' },
    ]);
    await of(Question, [
      { id: 1, question_text: 'one', author: { id: 1 }, tags: [{ id: 2 }, { id: 1 }] },
      { id: 2, question_text: 'two', author: { id: 2 } },
      { id: 3, question_text: 'three', author: null },
      { id: 4, question_text: 'gone', author: null },
    ]);
    await of(Question, [{ id: 3, replaced: { id: 4 } }]);
    await started.dataSource.getRepository(Question).softDelete({ id: 4 });
    await of(Choice, [
      { id: 1, choice_text: 'a', votes: 1, question: { id: 1 } },
      { id: 2, choice_text: 'b', votes: 7, question: { id: 1 } },
      { id: 3, choice_text: 'c', draft: true, question: { id: 1 } },
      { id: 4, choice_text: 'd', question: { id: 2 } },
    ]);
    await of(Remark, [
      { id: 1, text: 'r', question: { id: 1 } },
      { id: 2, text: 's', question: { id: 2 } },
      { id: 3, text: 't', question: null },
    ]);
    await of(Course, [
      { id: 1, title: 'Maths' },
      { id: 2, title: 'Art' },
    ]);
    await of(Student, [
      { id: 1, name: 'Sue' },
      { id: 2, name: 'Tom' },
    ]);
    await of(Enrolment, [
      { id: 11, grade: 3, student: { id: 1 }, ex_course: { id: 1 } },
      { id: 12, grade: 9, student: { id: 1 }, ex_course: { id: 2 } },
    ]);
    await of(House, [
      { street: 'a,b', number: 1, code: 'x' },
      { street: 'a,b', number: 2, code: 'y' },
    ]);
    await of(Room, [
      { name: 'hall', house: { street: 'a,b', number: 1, code: 'x' } },
      { name: 'attic', house: { street: 'a,b', number: 1, code: 'x' } },
    ]);
  });
  beforeEach(() => {
    log.clear();
  });
  afterAll(() => started.close());

  const get = async (path: string, who = 'ann'): Promise<unknown> =>
    (await started.client.get(`/rest/v1/ex/${path}`, as(who))).json;
  const text = async (path: string, who = 'ann'): Promise<string> =>
    (await started.client.get(`/rest/v1/ex/${path}`, as(who))).text;

  const ADA =
    '{"id":1,"name":"Ada","email":"mail","secret":false,"profile":5,"questions":"/rest/v1/ex/author/1/questions/"}';
  const QUESTION = (id: number, word: string, author: string, choices: string): string =>
    `{"id":${id},"question_text":"${word}","author":${author},"choices":${choices},"remarks":"/rest/v1/ex/question/${id}/remarks/","tags":"/rest/v1/ex/question/${id}/tags/","replaced":${id === 3 ? 4 : 'null'}}`;
  const LINK = (id: number): string => `"/rest/v1/ex/question/${id}/choices/"`;
  const CHOICE = (id: number, letter: string, votes: number, question: number | string): string =>
    `{"id":${id},"choice_text":"${letter}","votes":${votes},"draft":false,"question":${question}}`;

  describe('shows', () => {
    test('the object in the place of a key, in its own shape', async () => {
      expect(await text('question/1/?expand=author')).toBe(QUESTION(1, 'one', ADA, LINK(1)));
      expect(await get('author/1/')).toEqual(JSON.parse(ADA));
    });

    test('null where no object is related, and the key of a row that is deleted', async () => {
      expect(await text('question/3/?expand=author,replaced')).toBe(QUESTION(3, 'three', 'null', LINK(3)));
    });

    test('the nested list in the place of a link: its rows, its order, its backends', async () => {
      const choices = `[${CHOICE(2, 'b', 7, 1)},${CHOICE(1, 'a', 1, 1)}]`;
      expect(await text('question/1/choices/')).toBe(choices);
      expect(await text('question/1/?expand=choices')).toBe(QUESTION(1, 'one', '1', choices));
      expect(await text('question/3/?expand=choices')).toBe(QUESTION(3, 'three', 'null', '[]'));
    });

    test('the other side of a one-to-one, with what is computed of it', async () => {
      expect(await get('author/?expand=profile')).toEqual([
        {
          id: 1,
          name: 'Ada',
          email: 'mail',
          secret: false,
          profile: { id: 5, text: 'hi', author: 1, shout: 'hi!' },
          questions: '/rest/v1/ex/author/1/questions/',
        },
        {
          id: 2,
          name: 'Bea',
          email: 'mail',
          secret: true,
          profile: null,
          questions: '/rest/v1/ex/author/2/questions/',
        },
      ]);
    });

    test('several at once, and what stands behind them', async () => {
      const [one, two, three] = (await get('question/?expand=author.profile,choices.question')) as Record<
        string,
        unknown
      >[];
      expect(one).toMatchObject({
        author: { name: 'Ada', profile: { text: 'hi' } },
        choices: [{ id: 2, question: { id: 1, choices: '/rest/v1/ex/question/1/choices/' } }, { id: 1 }],
      });
      expect(two).toMatchObject({
        author: { name: 'Bea', profile: null },
        choices: [{ id: 4, question: { question_text: 'two', author: 2 } }],
      });
      expect(three).toMatchObject({ author: null, choices: [] });
    });

    test('a circle, as far as the declaration goes', async () => {
      const one = (await get('question/1/?expand=choices.question.choices.question.choices')) as {
        choices: { question: { choices: unknown[] } }[];
      };
      expect(one.choices[0]?.question.choices).toEqual([
        expect.objectContaining({ id: 2, question: 1 }),
        expect.objectContaining({ id: 1, question: 1 }),
      ]);
    });

    test('through objects as the nested list has them, and what they refer to', async () => {
      const listed = await get('student/1/course_set/');
      expect(await get('student/1/?expand=course_set')).toEqual({ id: 1, name: 'Sue', course_set: listed });
      expect(await get('student/?expand=course_set.ex_course')).toEqual([
        {
          id: 1,
          name: 'Sue',
          course_set: [
            {
              id: 12,
              grade: 9,
              student: 1,
              ex_course: { id: 2, title: 'Art', student_set: '/rest/v1/ex/course/2/student_set/' },
            },
            {
              id: 11,
              grade: 3,
              student: 1,
              ex_course: { id: 1, title: 'Maths', student_set: '/rest/v1/ex/course/1/student_set/' },
            },
          ],
        },
        { id: 2, name: 'Tom', course_set: [] },
      ]);
    });

    test('pairs of a junction without an entity, with the serializer of the referenced model', async () => {
      expect(await get('question/1/?expand=tags.tag&fields=tags')).toEqual({
        tags: [
          { id: 1, question: 1, tag: { id: 1, questions: '/rest/v1/ex/tag/1/questions/', loud: 'NEW' } },
          { id: 2, question: 1, tag: { id: 2, questions: '/rest/v1/ex/tag/2/questions/', loud: 'OLD' } },
        ],
      });
      expect(await get('tag/1/questions/?expand=question')).toEqual([
        { id: 1, question: JSON.parse(QUESTION(1, 'one', '1', LINK(1))) as unknown, tag: 1 },
      ]);
      expect(await get('tag/1/questions/1/?expand=question')).toEqual({
        id: 1,
        question: JSON.parse(QUESTION(1, 'one', '1', LINK(1))) as unknown,
        tag: 1,
      });
    });

    test('rows of composite keys, joined by other columns', async () => {
      const rooms = [
        { name: 'attic', house: 'a%2Cb,1' },
        { name: 'hall', house: 'a%2Cb,1' },
      ];
      expect(await get('house/?expand=rooms')).toEqual([
        { street: 'a,b', number: 1, code: 'x', rooms },
        { street: 'a,b', number: 2, code: 'y', rooms: [] },
      ]);
      expect(await get('room/?expand=house')).toEqual(
        rooms.map(({ name }) => ({
          name,
          house: { street: 'a,b', number: 1, code: 'x', rooms: '/rest/v1/ex/house/a%2Cb,1/rooms/' },
        })),
      );
    });

    test('fields that are chosen, at every level', async () => {
      expect(
        await text('choice/1/?expand=question.author&fields=id,question.question_text,question.author.name'),
      ).toBe('{"id":1,"question":{"question_text":"one","author":{"name":"Ada"}}}');
      expect(
        await text('question/1/?expand=choices&fields=choices&omit=choices.question,choices.draft'),
      ).toBe('{"choices":[{"id":2,"choice_text":"b","votes":7},{"id":1,"choice_text":"a","votes":1}]}');
      expect(await text('question/1/?expand=choices&fields=id')).toBe('{"id":1}');
      expect(await text('question/1/?fields=author.name')).toBe('{"author":1}');
      // Of another serializer all members but the field's are its own.
      expect(await get('question/1/?expand=tags.tag&fields=tags.tag.loud,tags.id')).toEqual({
        tags: [
          { id: 1, tag: { loud: 'NEW' } },
          { id: 2, tag: { loud: 'OLD' } },
        ],
      });
    });

    test('pages of a paginated list, and of a nested one', async () => {
      expect(await get('remark/?expand=question&fields=id,question.id&limit=1&offset=1')).toMatchObject({
        count: 3,
        results: [{ id: 2, question: { id: 2 } }],
      });
      expect(
        await get('question/1/remarks/?expand=question.author&fields=question.author.name'),
      ).toMatchObject({ count: 1, results: [{ question: { author: { name: 'Ada' } } }] });
      expect(await get('question/1/choices/?expand=question&fields=question.id')).toEqual([
        { question: { id: 1 } },
        { question: { id: 1 } },
      ]);
    });

    test('the answers of writes', async () => {
      const made = await started.client.post(
        '/rest/v1/ex/remark/?expand=question&fields=id,question.id',
        { id: 77, text: 'n', question: 1 },
        as('ann'),
      );
      expect([made.status, made.text]).toEqual([201, '{"id":77,"question":{"id":1}}']);
      expect(
        seen(
          await started.client.patch(
            '/rest/v1/ex/remark/77/?expand=question&fields=question.id',
            { question: 2 },
            as('ann'),
          ),
        ),
      ).toEqual([200, { question: { id: 2 } }]);
      expect(
        seen(
          await started.client.put(
            '/rest/v1/ex/remark/77/?expand=question',
            { text: 'm', question: null },
            as('ann'),
          ),
        ),
      ).toEqual([200, { id: 77, text: 'm', question: null }]);
      expect((await started.client.delete('/rest/v1/ex/remark/77/', as('ann'))).status).toBe(204);
    });

    test('lines of NDJSON', async () => {
      expect(await text('student/?expand=course_set&format=ndjson', 'bob')).toBe(
        '{"id":1,"name":"Sue","course_set":[{"id":11,"ex_course":1}]}\n{"id":2,"name":"Tom","course_set":[]}\n',
      );
    });

    test('expansions in calls without HTTP', async () => {
      const questions = started.app.get(RestifyResources).of(Question).as({ name: 'bob' });
      expect(await questions.list({ expand: 'author', fields: 'id,author' })).toEqual([
        { id: 1, author: { id: 1, name: 'Ada' } },
        { id: 2, author: 2 },
        { id: 3, author: null },
      ]);
      const streamed: unknown[] = [];
      for await (const each of questions.stream({ expand: 'author', fields: 'author.name' }))
        streamed.push(each);
      expect(streamed).toEqual([{ author: { name: 'Ada' } }, { author: 2 }, { author: null }]);
    });
  });

  describe('without it, or with a name that it does not have, answers', () => {
    test.each([
      '',
      '?expand=',
      '?expand=question_text',
      '?expand=nothing,__proto__,constructor',
      '?expand=choices.nothing.x&expand=author.email',
      '?expand=id.author',
      '?expand=author.questions.author&expand=.',
      "?expand=author'--,choices;",
    ])('are as they are: %s', async (query) => {
      const plain = await text('question/2/');
      if (query.includes('author.'))
        expect(await text(`question/2/${query}`)).not.toContain(
          '"author":{"id":2,"name":"Bea","email":"mail","secret":true,"profile":{',
        );
      else expect(await text(`question/2/${query}`)).toBe(plain);
    });

    test('are refused in a strict model, and a hidden relation as one that there is not', async () => {
      const refused = async (query: string): Promise<unknown> =>
        seen(await started.client.get(`/rest/v1/ex/remark/?${query}`, as('ann')));
      expect(await refused('expand=nothing,question.choices')).toEqual([
        400,
        { expand: ['"nothing" cannot be expanded.', '"question.choices" cannot be expanded.'] },
      ]);
      expect(await refused('expand=question&fields=question.nothing,question.deleted,text.x')).toEqual([
        400,
        {
          fields: [
            'Unknown field "text.x".',
            'Unknown field "question.nothing".',
            'Unknown field "question.deleted".',
          ],
        },
      ]);
      expect(await refused('fields=question.id&omit=question.text')).toEqual([
        400,
        { fields: ['Unknown field "question.id".'], omit: ['Unknown field "question.text".'] },
      ]);
    });
  });

  describe('stands under the permissions of what it shows:', () => {
    test('a field that the caller may not read is left out, and a row that the caller may not see remains a key', async () => {
      expect(await get('question/?expand=author.profile&fields=id,author', 'bob')).toEqual([
        { id: 1, author: { id: 1, name: 'Ada' } },
        { id: 2, author: 2 },
        { id: 3, author: null },
      ]);
      expect(await get('question/?expand=author&fields=id,author.email,author.secret', 'bob')).toEqual([
        { id: 1, author: {} },
        { id: 2, author: 2 },
        { id: 3, author: null },
      ]);
    });

    test('without a right on the model the key and the link stay', async () => {
      expect(await text('question/1/?expand=author,choices', 'eve')).toBe(
        QUESTION(1, 'one', '1', `[${CHOICE(2, 'b', 7, 1)},${CHOICE(1, 'a', 1, 1)}]`),
      );
      expect(await get('student/1/?expand=course_set', 'eve')).toEqual({
        id: 1,
        name: 'Sue',
        course_set: '/rest/v1/ex/student/1/course_set/',
      });
      expect((await started.client.get('/rest/v1/ex/student/1/course_set/', as('eve'))).status).toBe(403);
      const anonymous = await started.client.get('/rest/v1/ex/question/1/?expand=remarks&fields=remarks');
      expect(anonymous.text).toBe('{"remarks":"/rest/v1/ex/question/1/remarks/"}');
    });

    test('of through objects the rows and fields that their own model grants', async () => {
      expect(await get('student/1/?expand=course_set', 'bob')).toEqual({
        id: 1,
        name: 'Sue',
        course_set: [{ id: 11, ex_course: 1 }],
      });
      expect(await get('student/1/course_set/', 'bob')).toEqual([{ id: 11, ex_course: 1 }]);
    });

    test('one caller after the other', async () => {
      for (const [who, shown] of [
        ['ann', '"email":"mail"'],
        ['bob', '"author":{"id":1,"name":"Ada"}'],
        ['ann', '"email":"mail"'],
        ['eve', '"author":1'],
      ] as const)
        expect(await text('choice/1/?expand=question.author', who)).toContain(shown);
    });
  });

  describe('is bounded:', () => {
    test('a link to more objects than may stand in its place stays a link', async () => {
      const of = (count: number): object[] =>
        Array.from({ length: count }, (_, at) => ({
          id: 100 + at,
          choice_text: 'n',
          votes: 0,
          question: { id: 3 },
        }));
      await started.dataSource.getRepository(Choice).save(of(5) as never);
      expect(((await get('question/3/?expand=choices')) as { choices: unknown[] }).choices).toHaveLength(5);
      await started.dataSource.getRepository(Choice).save(of(6) as never);
      expect(await get('question/?expand=choices&fields=choices.id')).toEqual([
        { choices: [{ id: 2 }, { id: 1 }] },
        { choices: [{ id: 4 }] },
        { choices: '/rest/v1/ex/question/3/choices/' },
      ]);
      await started.dataSource.getRepository(Choice).delete(of(6).map((each) => (each as Choice).id));
    });

    test('an answer of too many objects is refused, however they come to be so many', async () => {
      const of = (count: number): object[] =>
        Array.from({ length: count }, (_, at) => ({
          id: 200 + at,
          choice_text: 'n',
          votes: 0,
          question: { id: 3 },
        }));
      await started.dataSource.getRepository(Choice).save(of(5) as never);
      // Of three questions 3 + 2 × (1 + 1 + 2) + 1 × (1 + 1 + 1) + 5 × (1 + 1 + 5) = 49; with the rest 58.
      expect((await started.client.get('/rest/v1/ex/question/?expand=choices.question.choices')).status).toBe(
        200,
      );
      const authors = await started.client.get(
        '/rest/v1/ex/question/?expand=choices.question.choices,author.profile,tags.tag,remarks',
        as('ann'),
      );
      expect(seen(authors)).toEqual([
        400,
        { expand: ['The answer would hold more than 55 objects. Expand less, or ask for less of the list.'] },
      ]);
      await started.dataSource.getRepository(Choice).delete(of(5).map((each) => (each as Choice).id));
    });

    test('a list of more rows than an answer may hold objects is refused only where it is expanded', async () => {
      const of = Array.from({ length: 61 }, (_, at) => ({ id: 300 + at, question_text: 'many' }));
      await started.dataSource.getRepository(Question).save(of as never);
      expect((await started.client.get('/rest/v1/ex/question/?fields=id')).status).toBe(200);
      expect((await started.client.get('/rest/v1/ex/question/?expand=author')).status).toBe(400);
      expect((await started.client.get('/rest/v1/ex/question/?expand=author&id=1')).status).toBe(200);
      await started.dataSource.getRepository(Question).delete(of.map(({ id }) => id));
    });

    test('so many relations, and no more', async () => {
      const many = Array.from({ length: 11 }, (_, at) => `x${at}`).join(',');
      expect(seen(await started.client.get(`/rest/v1/ex/question/?expand=${many}`))).toEqual([
        400,
        { expand: ['Expand 10 relations at most.'] },
      ]);
      expect(
        (await started.client.get(`/rest/v1/ex/question/1/?expand=${'choices.question.'.repeat(400)}x`))
          .status,
      ).toBe(400);
    });

    test('a statement a relation, however many rows there are', async () => {
      const counted = async (path: string): Promise<number> => {
        log.clear();
        expect((await started.client.get(`/rest/v1/ex/${path}`)).status).toBe(200);
        return log.statements.filter((each) => each.includes('SELECT') && !each.includes('EXPLAIN')).length;
      };
      const before = await counted('question/?expand=author,choices.question');
      const of = Array.from({ length: 4 }, (_, at) => ({
        id: 400 + at,
        question_text: 'more',
        author: { id: 1 },
        choices: [{ id: 500 + at, choice_text: 'q' }],
      }));
      await started.dataSource.getRepository(Question).save(of as never);
      await started.dataSource
        .getRepository(Choice)
        .save(of.map(({ id }, at) => ({ id: 500 + at, choice_text: 'q', question: { id } })) as never);
      expect([
        before,
        await counted('question/?expand=author,choices.question'),
        await counted('question/1/?expand=author,choices.question'),
      ]).toEqual([4, 4, 4]);
      await started.dataSource.getRepository(Choice).delete(of.map((_, at) => 500 + at));
      await started.dataSource.getRepository(Question).delete(of.map(({ id }) => id));
    });
  });
});
