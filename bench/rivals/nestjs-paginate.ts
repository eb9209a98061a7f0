import { Controller, Get, Module, Param, ParseIntPipe } from '@nestjs/common';
import { InjectRepository, TypeOrmModule } from '@nestjs/typeorm';
import { FilterOperator, Paginate, paginate } from 'nestjs-paginate';
import type { Paginated, PaginateQuery } from 'nestjs-paginate';
import { Repository } from 'typeorm';
import { dataSourceOptions } from '../servers/data-source-options.js';
import { Choice, Enrolment, PLAIN_ENTITIES, Student } from '../servers/plain-entities.js';
import { serve } from '../servers/serve.js';
import { startNest } from '../servers/start-nest.js';

const MAX = 10_000;

/** Lists only: the package supports neither single rows nor writes. */
@Controller()
class ListController {
  constructor(
    @InjectRepository(Choice) private readonly choices: Repository<Choice>,
    @InjectRepository(Student) private readonly students: Repository<Student>,
    @InjectRepository(Enrolment) private readonly enrolments: Repository<Enrolment>,
  ) {}

  @Get('choices')
  listChoices(@Paginate() query: PaginateQuery): Promise<Paginated<Choice>> {
    return paginate(query, this.choices, { sortableColumns: ['id', 'choice_text'], defaultSortBy: [['id', 'ASC']], filterableColumns: { votes: [FilterOperator.EQ] }, maxLimit: MAX });
  }

  @Get('students')
  listStudents(@Paginate() query: PaginateQuery): Promise<Paginated<Student>> {
    return paginate(query, this.students, { sortableColumns: ['id'], defaultSortBy: [['id', 'ASC']], maxLimit: MAX });
  }

  @Get('questions/:question/choices')
  choicesOf(@Paginate() query: PaginateQuery, @Param('question', ParseIntPipe) question_id: number): Promise<Paginated<Choice>> {
    return paginate(query, this.choices, { sortableColumns: ['id'], defaultSortBy: [['id', 'ASC']], where: { question_id }, maxLimit: MAX });
  }

  @Get('students/:student/enrolments')
  enrolmentsOf(@Paginate() query: PaginateQuery, @Param('student', ParseIntPipe) student_id: number): Promise<Paginated<Enrolment>> {
    return paginate(query, this.enrolments, { sortableColumns: ['id'], defaultSortBy: [['id', 'ASC']], where: { student_id }, maxLimit: MAX });
  }
}

@Module({
  imports: [TypeOrmModule.forRoot({ ...dataSourceOptions(), entities: PLAIN_ENTITIES, retryAttempts: 0 }), TypeOrmModule.forFeature(PLAIN_ENTITIES)],
  controllers: [ListController],
})
class PaginateApp {}

await serve(() => startNest(PaginateApp, 'express'));
