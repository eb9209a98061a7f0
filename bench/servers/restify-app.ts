import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { AllowAny, PageNumberPagination, Restify, RestifyModule } from 'nestjs-restify';
import {
  Column,
  Entity,
  JoinColumn,
  JoinTable,
  ManyToMany,
  ManyToOne,
  OneToMany,
  PrimaryGeneratedColumn,
} from 'typeorm';
import type { Relation } from 'typeorm';
import { dataSourceOptions } from './data-source-options.js';
import { PAGE_ENTITIES } from './restify-pages.js';
import { HookedController, WRITTEN_ENTITIES } from './restify-writes.js';

@Restify({
  app: 'polls',
  pagination: new PageNumberPagination({ pageSize: 100 }),
  expandable: ['choices'],
  expansionQueries: true,
})
@Entity()
export class Question {
  @PrimaryGeneratedColumn()
  id: number;

  @Column({ length: 200 })
  question_text: string;

  @Column({ precision: 3 })
  pub_date: Date;

  @OneToMany(() => Choice, (choice) => choice.question)
  choices: Relation<Choice[]>;
}

@Restify({ app: 'polls', aggregate: { group: ['votes'], sum: ['votes'] } })
@Entity()
export class Choice {
  @PrimaryGeneratedColumn()
  id: number;

  @Column({ length: 200 })
  choice_text: string;

  @Column()
  votes: number;

  @Column({ type: 'varchar', length: 100, nullable: true })
  note: string | null;

  @ManyToOne(() => Question, (question) => question.choices, { nullable: false })
  @JoinColumn({ name: 'question_id' })
  question: Relation<Question>;
}

@Restify('edu')
@Entity()
export class Student {
  @PrimaryGeneratedColumn()
  id: number;

  @Column({ length: 100 })
  name: string;

  @Column({ length: 100 })
  email: string;

  @Column()
  credits: number;

  @Column({ precision: 3 })
  enrolled_at: Date;

  @ManyToMany(() => Course, (course) => course.student_set)
  @JoinTable({
    name: 'enrolment',
    joinColumn: { name: 'student_id' },
    inverseJoinColumn: { name: 'course_id' },
    synchronize: false,
  })
  course_set: Relation<Course[]>;
}

@Restify('edu')
@Entity()
export class Course {
  @PrimaryGeneratedColumn()
  id: number;

  @Column({ length: 100 })
  title: string;

  @ManyToMany(() => Student, (student) => student.course_set)
  student_set: Relation<Student[]>;
}

@Entity()
export class Enrolment {
  @PrimaryGeneratedColumn()
  id: number;

  @Column({ length: 1 })
  grade: string;

  @ManyToOne(() => Student, { nullable: false })
  @JoinColumn({ name: 'student_id' })
  student: Relation<Student>;

  @ManyToOne(() => Course, { nullable: false })
  @JoinColumn({ name: 'course_id' })
  course: Relation<Course>;
}

@Module({
  controllers: [HookedController],
  imports: [
    TypeOrmModule.forRoot({
      ...dataSourceOptions(),
      entities: [Question, Choice, Student, Course, Enrolment, ...PAGE_ENTITIES, ...WRITTEN_ENTITIES],
      retryAttempts: 0,
    }),
    RestifyModule.forRoot('rest/v1', { permissions: [AllowAny] }),
  ],
})
export class RestifyApp {}
