import { Kavo, KavoModule } from '@kavo/nest';
import { createInfrastructure } from '@kavo/typeorm';
import { Controller, Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { DataSource } from 'typeorm';
import { dataSourceOptions } from '../servers/data-source-options.js';
import { Choice, Enrolment, PLAIN_ENTITIES, Question, Student } from '../servers/plain-entities.js';
import { serve } from '../servers/serve.js';
import { startNest } from '../servers/start-nest.js';

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
    TypeOrmModule.forRoot({ ...dataSourceOptions(), entities: PLAIN_ENTITIES, retryAttempts: 0 }),
    KavoModule.forRootAsync({
      inject: [DataSource],
      // Lists without a count, as those of the others.
      useFactory: (dataSource: DataSource) => ({ infrastructure: createInfrastructure(dataSource), defaults: { pagination: { maxLimit: 10_000, count: false } } }),
    }),
  ],
  controllers: [QuestionController, ChoiceController, StudentController, EnrolmentController],
})
class KavoApp {}

await serve(() => startNest(KavoApp, 'express'));
