import { Kavo, KavoModule } from '@kavo/nest';
import { createInfrastructure } from '@kavo/typeorm';
import { Controller, Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { Column, DataSource, Entity, PrimaryGeneratedColumn } from 'typeorm';
import { dataSourceOptions } from '../servers/data-source-options.js';
import { serve } from '../servers/serve.js';
import { startNest } from '../servers/start-nest.js';

/** Without relations, which would hide the foreign key columns. */
@Entity()
class Question {
  @PrimaryGeneratedColumn()
  id: number;

  @Column({ length: 200 })
  question_text: string;

  @Column()
  pub_date: Date;
}

@Entity()
class Choice {
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
}

@Entity()
class Student {
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
class Enrolment {
  @PrimaryGeneratedColumn()
  id: number;

  @Column({ length: 1 })
  grade: string;

  @Column()
  student_id: number;

  @Column()
  course_id: number;
}

@Kavo(Question)
@Controller('questions')
class QuestionController {}

@Kavo(Choice)
@Controller('choices')
class ChoiceController {}

@Kavo(Student)
@Controller('students')
class StudentController {}

@Kavo(Enrolment)
@Controller('enrolments')
class EnrolmentController {}

@Module({
  imports: [
    TypeOrmModule.forRoot({ ...dataSourceOptions(), entities: [Question, Choice, Student, Enrolment], retryAttempts: 0 }),
    KavoModule.forRootAsync({
      inject: [DataSource],
      // Lists without a count, as those of the other contestants.
      useFactory: (dataSource: DataSource) => ({ infrastructure: createInfrastructure(dataSource), defaults: { pagination: { maxLimit: 10_000, count: false } } }),
    }),
  ],
  controllers: [QuestionController, ChoiceController, StudentController, EnrolmentController],
})
class KavoApp {}

await serve(() => startNest(KavoApp, 'express'));
