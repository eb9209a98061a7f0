import { Column, Entity, JoinColumn, ManyToOne, OneToMany, PrimaryGeneratedColumn } from 'typeorm';
import type { Relation } from 'typeorm';

/** The schema as usual for TypeORM without this package: foreign keys are columns, so that reading them needs no join. */
@Entity()
export class Question {
  @PrimaryGeneratedColumn()
  id: number;

  @Column({ length: 200 })
  question_text: string;

  @Column()
  pub_date: Date;

  @OneToMany(() => Choice, (choice) => choice.question)
  choices: Relation<Choice[]>;
}

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

  @Column()
  question_id: number;

  @ManyToOne(() => Question, (question) => question.choices, { nullable: false })
  @JoinColumn({ name: 'question_id' })
  question?: Relation<Question>;
}

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

  @Column()
  enrolled_at: Date;
}

@Entity()
export class Course {
  @PrimaryGeneratedColumn()
  id: number;

  @Column({ length: 100 })
  title: string;
}

@Entity()
export class Enrolment {
  @PrimaryGeneratedColumn()
  id: number;

  @Column({ length: 1 })
  grade: string;

  @Column()
  student_id: number;

  @Column()
  course_id: number;
}

export const PLAIN_ENTITIES = [Question, Choice, Student, Course, Enrolment];
