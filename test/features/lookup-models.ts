import {
  allow,
  deny,
  FieldFilter,
  FilterSet,
  OrderingFilter,
  Restify,
  SearchFilter,
  where,
  and,
  or,
} from 'nestjs-restify';
import type { AccessContext, FilterParameters, Grant, Permission, Denial } from 'nestjs-restify';
import {
  Column,
  CreateDateColumn,
  DeleteDateColumn,
  Entity,
  JoinColumn,
  JoinTable,
  ManyToMany,
  ManyToOne,
  OneToMany,
  PrimaryColumn,
} from 'typeorm';
import type { DataSource, Relation } from 'typeorm';

export interface Voter {
  readonly name: string;
}

function nameOf({ actor }: AccessContext): string {
  return (actor as Voter | null)?.name ?? '';
}

/** `half` sees choices that are open alone, `blind` no votes, `out` no choices at all; everybody else sees everything. */
export class ChoicePermission implements Permission {
  decide(question: AccessContext): Grant | Denial {
    switch (nameOf(question)) {
      case 'half':
        return allow({ rows: where('open', true) });
      case 'blind':
        return allow({ readable: ['id', 'text', 'question'] });
      case 'out':
        return deny();
      default:
        return allow();
    }
  }
}

/** The same over the other model: `half` sees no question that is a draft, `blind` not its text, `lonely` no relation of it. */
export class QuestionPermission implements Permission {
  decide(question: AccessContext): Grant {
    if (nameOf(question) === 'half') return allow({ rows: where('draft', false) });
    if (nameOf(question) === 'lonely') return allow({ readable: ['id', 'text'] });
    return nameOf(question) === 'blind' ? allow({ readable: ['id', 'choices', 'tags'] }) : allow();
  }
}

/** `half` sees links to the second tag alone, `out` none. */
export class LinkPermission implements Permission {
  decide(question: AccessContext): Grant | Denial {
    if (nameOf(question) === 'out') return deny();
    return nameOf(question) === 'half' ? allow({ rows: where('t_id', 2) }) : allow();
  }
}

export const TEXTS = [
  'exact',
  'iexact',
  'ne',
  'in',
  'contains',
  'icontains',
  'startswith',
  'istartswith',
  'endswith',
  'iendswith',
  'isnull',
  'gt',
] as const;

@Restify({
  app: 'polls',
  permissions: [QuestionPermission],
  writeOnly: ['secret'],
  filterFields: {
    text: ['exact'],
    choices: ['exact', 'in', 'isnull', 'ne'],
    'choices.votes': ['exact', 'gte', 'lt', 'in', 'isnull', 'ne', 'range'],
    'choices.text': ['exact', 'icontains', 'startswith', 'ne'],
    tags: ['exact', 'in', 'isnull'],
    'tags.word': ['exact', 'in', 'istartswith'],
    'tags.questions.text': ['exact'],
  },
  filterGroups: true,
  through: {
    tags: {
      permissions: [LinkPermission],
      filterFields: { tag: ['exact', 'in', 'ne'], 'tag.word': ['exact'], 'tag.questions.text': ['exact'] },
      filterGroups: true,
    },
  },
})
@Entity('lookup_question')
export class Question {
  @PrimaryColumn()
  id: number;

  @Column()
  text: string;

  @Column({ default: false })
  draft: boolean;

  @Column({ default: 'deep' })
  secret: string;

  @OneToMany(() => Choice, (choice) => choice.question)
  choices: Relation<Choice[]>;

  @ManyToMany(() => Tag, (tag) => tag.questions)
  @JoinTable({
    name: 'lookup_question_tags',
    joinColumn: { name: 'q_id' },
    inverseJoinColumn: { name: 't_id' },
  })
  tags: Relation<Tag[]>;
}

@Restify({
  app: 'polls',
  exclude: ['price'],
  filterFields: { word: ['exact'], 'questions.choices.votes': ['gte'] },
})
@Entity('lookup_tag')
export class Tag {
  @PrimaryColumn()
  id: number;

  @Column()
  word: string;

  @Column({ default: 7 })
  price: number;

  @ManyToMany(() => Question, (question) => question.tags)
  questions: Relation<Question[]>;
}

/** A class of filters that Nest makes. */
export class ChoiceFilters extends FilterSet {
  readonly filters: FilterParameters = {
    liked: { type: 'boolean', rows: (yes) => where('votes', yes ? 'gte' : 'lt', 5) },
    around: {
      type: 'integer',
      list: true,
      rows: async (votes) =>
        Promise.resolve(or(...votes.map((each) => where('votes', 'range', [each - 1, each + 1])))),
    },
    since: { type: 'datetime', rows: (instant) => where('made', 'gte', instant) },
    mine: {
      type: 'choice',
      choices: ['yes', 'no'],
      rows: (answer, { actor }) =>
        answer === 'yes' ? where('text', (actor as Voter | null)?.name ?? '') : and(),
    },
  };
}

@Restify({
  app: 'polls',
  permissions: [ChoicePermission],
  writeOnly: ['secret'],
  filterBackends: [FieldFilter, ChoiceFilters, SearchFilter, OrderingFilter],
  filterFields: {
    id: ['in', 'exact', 'ne'],
    text: TEXTS,
    votes: ['exact', 'ne', 'gt', 'gte', 'lt', 'lte', 'in', 'range', 'isnull'],
    open: ['exact', 'ne', 'isnull', 'in'],
    question: ['exact', 'ne', 'in', 'isnull'],
    'question.text': ['exact', 'ne', 'isnull', 'in'],
    'question.choices': ['isnull'],
    'question.choices.votes': ['gte'],
    'question.tags.word': ['exact'],
  },
  filterGroups: true,
  filters: {
    votes__near: {
      type: 'integer',
      reads: ['votes'],
      rows: (votes) => where('votes', 'range', [votes - 1, votes + 1]),
    },
    named: {
      type: 'text',
      list: true,
      reads: ['question.text', 'text'],
      rows: (texts) => or(...texts.flatMap((text) => [where('question.text', text), where('text', text)])),
    },
    strange: {
      type: 'text',
      reads: ['question.text'],
      rows: (text) => where('question.text', 'ne', text),
    },
    rival: {
      type: 'integer',
      reads: ['question.choices.votes'],
      rows: (votes) => where('question.choices.votes', 'gt', votes),
    },
  },
  ordering: ['id'],
  orderingFields: ['id', 'votes', 'text nulls last', 'question.text'],
  orderingNulls: true,
})
@Entity('lookup_choice')
export class Choice {
  @PrimaryColumn()
  id: number;

  @Column({ type: 'varchar', length: 60, nullable: true })
  text: string | null;

  @Column({ type: 'int', nullable: true })
  votes: number | null;

  @Column({ default: true })
  open: boolean;

  @Column({ default: 'deep' })
  secret: string;

  @CreateDateColumn()
  made: Date;

  @ManyToOne(() => Question, (question) => question.choices, { nullable: true })
  question: Relation<Question> | null;
}

/** A through model with columns of its own, which may be deleted softly. */
@Restify({
  app: 'edu',
  filterFields: {
    name: ['exact'],
    'courses.title': ['exact'],
    'enrolments.grade': ['gte'],
    'enrolments.course.title': ['exact'],
  },
})
@Entity('lookup_student')
export class Student {
  @PrimaryColumn()
  id: number;

  @Column()
  name: string;

  @ManyToMany(() => Course)
  @JoinTable({
    name: 'lookup_enrolment',
    joinColumn: { name: 'student_id' },
    inverseJoinColumn: { name: 'course_id' },
    synchronize: false,
  })
  courses: Relation<Course[]>;

  @OneToMany(() => Enrolment, (enrolment) => enrolment.student)
  enrolments: Relation<Enrolment[]>;
}

@Restify('edu')
@Entity('lookup_course')
export class Course {
  @PrimaryColumn()
  id: number;

  @Column()
  title: string;

  @DeleteDateColumn()
  gone: Date | null;
}

@Restify('edu')
@Entity('lookup_enrolment')
export class Enrolment {
  @PrimaryColumn()
  id: number;

  @Column()
  grade: number;

  @DeleteDateColumn()
  gone: Date | null;

  @ManyToOne(() => Student, (student) => student.enrolments)
  @JoinColumn({ name: 'student_id' })
  student: Relation<Student>;

  @ManyToOne(() => Course)
  @JoinColumn({ name: 'course_id' })
  course: Relation<Course>;
}

export const LOOKUP_MODELS = [Question, Tag, Choice, Student, Course, Enrolment];

/** Rows of these models. The first question has choices of 1 and 7 votes, the second one of 4, and a closed one of 9; the third none. */
export async function fillLookups({ manager }: DataSource): Promise<void> {
  const [red, blue] = await manager.save(Tag, [
    { id: 1, word: 'red' },
    { id: 2, word: 'blue' },
    { id: 3, word: 'none' },
  ]);
  if (!red || !blue) throw new Error('No tags');
  await manager.save(Question, [
    { id: 1, text: 'first', tags: [red, blue] },
    { id: 2, text: 'second', draft: true, tags: [red] },
    { id: 3, text: 'third', tags: [] },
  ]);
  const [one, two] = [{ id: 1 }, { id: 2 }];
  await manager.save(Choice, [
    { id: 1, text: 'Ada', votes: 1, question: one },
    { id: 2, text: 'ada%', votes: 7, question: one },
    { id: 3, text: 'A_a, "b"', votes: 4, question: two },
    { id: 4, text: 'back\\slash', votes: 9, open: false, question: two },
    { id: 5, text: null, votes: null, question: null },
    { id: 6, text: 'Öl', votes: 4, question: null },
  ]);
  await manager.save(Student, [
    { id: 1, name: 'Ann' },
    { id: 2, name: 'Bob' },
  ]);
  await manager.save(Course, [
    { id: 1, title: 'Art' },
    { id: 2, title: 'Biology' },
  ]);
  await manager.save(Enrolment, [
    { id: 1, grade: 5, student: { id: 1 }, course: { id: 1 } },
    { id: 2, grade: 2, student: { id: 2 }, course: { id: 1 } },
    { id: 3, grade: 1, student: { id: 1 }, course: { id: 2 } },
  ]);
  await manager.softDelete(Enrolment, { id: 3 });
}
