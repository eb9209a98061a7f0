import {
  BadRequestException,
  Body,
  Controller,
  Get,
  Injectable,
  Module,
  NotFoundException,
  Param,
  ParseIntPipe,
  Patch,
  Post,
  Query,
  ValidationPipe,
} from '@nestjs/common';
import type { INestApplication } from '@nestjs/common';
import { InjectRepository, TypeOrmModule } from '@nestjs/typeorm';
import { Type } from 'class-transformer';
import { IsDate, IsIn, IsInt, IsOptional, IsString, MaxLength } from 'class-validator';
import { QueryFailedError, Repository } from 'typeorm';
import { dataSourceOptions } from './data-source-options.js';
import { PAGE_ENTITIES, PageModule } from './handwritten-pages.js';
import { WRITTEN_ENTITIES, WriteModule } from './handwritten-writes.js';
import { Choice, Enrolment, PLAIN_ENTITIES, Question, Student } from './plain-entities.js';

class UpdateQuestion {
  @IsOptional()
  @IsString()
  @MaxLength(200)
  question_text?: string;

  @IsOptional()
  @Type(() => Date)
  @IsDate()
  pub_date?: Date;
}

class CreateChoice {
  @IsString()
  @MaxLength(200)
  choice_text: string;

  @IsInt()
  votes: number;

  @IsOptional()
  @IsString()
  @MaxLength(100)
  note?: string | null;

  @IsInt()
  question_id: number;
}

class ListChoices {
  @IsOptional()
  @Type(() => Number)
  @IsInt()
  votes?: number;

  @IsOptional()
  @IsIn(['choice_text', '-choice_text', 'votes', '-votes'])
  ordering?: string;
}

@Injectable()
class QuestionService {
  constructor(
    @InjectRepository(Question) private readonly questions: Repository<Question>,
    @InjectRepository(Choice) private readonly choices: Repository<Choice>,
  ) {}

  async findOne(id: number): Promise<Question> {
    const question = await this.questions.findOneBy({ id });
    if (!question) throw new NotFoundException();
    return question;
  }

  async update(id: number, changes: UpdateQuestion): Promise<Question> {
    return this.questions.save(Object.assign(await this.findOne(id), changes));
  }

  /** One statement, unless there are no rows: only then the parent may be missing. */
  async choicesOf(id: number): Promise<Choice[]> {
    const rows = await this.findChoices(id);
    if (rows.length === 0 && !(await this.questions.existsBy({ id }))) throw new NotFoundException();
    return rows;
  }

  /** The form with two statements, which is often written too. */
  async choicesAfterCheck(id: number): Promise<Choice[]> {
    if (!(await this.questions.existsBy({ id }))) throw new NotFoundException();
    return this.findChoices(id);
  }

  private findChoices(id: number): Promise<Choice[]> {
    return this.choices.find({ where: { question_id: id }, order: { id: 'ASC' } });
  }
}

@Injectable()
class ChoiceService {
  constructor(@InjectRepository(Choice) private readonly choices: Repository<Choice>) {}

  list({ votes, ordering = 'id' }: ListChoices): Promise<Choice[]> {
    const direction = ordering.startsWith('-') ? 'DESC' : 'ASC';
    return this.choices.find({
      where: votes === undefined ? {} : { votes },
      order: { [ordering.replace('-', '')]: direction },
    });
  }

  async create(values: CreateChoice): Promise<Choice> {
    try {
      return await this.choices.save(this.choices.create({ note: null, ...values }));
    } catch (error) {
      if (error instanceof QueryFailedError && /foreign key/i.test(error.message))
        throw new BadRequestException('No such question');
      throw error;
    }
  }
}

@Injectable()
class StudentService {
  constructor(
    @InjectRepository(Student) private readonly students: Repository<Student>,
    @InjectRepository(Enrolment) private readonly enrolments: Repository<Enrolment>,
  ) {}

  list(): Promise<Student[]> {
    return this.students.find({ order: { id: 'ASC' } });
  }

  async enrolmentsOf(id: number): Promise<Enrolment[]> {
    const rows = await this.findEnrolments(id);
    if (rows.length === 0 && !(await this.students.existsBy({ id }))) throw new NotFoundException();
    return rows;
  }

  async enrolmentsAfterCheck(id: number): Promise<Enrolment[]> {
    if (!(await this.students.existsBy({ id }))) throw new NotFoundException();
    return this.findEnrolments(id);
  }

  private findEnrolments(id: number): Promise<Enrolment[]> {
    return this.enrolments.find({ where: { student_id: id }, order: { id: 'ASC' } });
  }
}

@Controller('questions')
class QuestionController {
  constructor(private readonly questions: QuestionService) {}

  @Get(':id')
  findOne(@Param('id', ParseIntPipe) id: number): Promise<Question> {
    return this.questions.findOne(id);
  }

  @Patch(':id')
  update(@Param('id', ParseIntPipe) id: number, @Body() changes: UpdateQuestion): Promise<Question> {
    return this.questions.update(id, changes);
  }

  @Get(':id/choices')
  choices(@Param('id', ParseIntPipe) id: number): Promise<Choice[]> {
    return this.questions.choicesOf(id);
  }

  @Get(':id/choices/checked')
  choicesAfterCheck(@Param('id', ParseIntPipe) id: number): Promise<Choice[]> {
    return this.questions.choicesAfterCheck(id);
  }
}

@Controller('choices')
class ChoiceController {
  constructor(private readonly choices: ChoiceService) {}

  @Get()
  list(@Query() query: ListChoices): Promise<Choice[]> {
    return this.choices.list(query);
  }

  @Post()
  create(@Body() values: CreateChoice): Promise<Choice> {
    return this.choices.create(values);
  }
}

@Controller('students')
class StudentController {
  constructor(private readonly students: StudentService) {}

  @Get()
  list(): Promise<Student[]> {
    return this.students.list();
  }

  @Get(':id/enrolments')
  enrolments(@Param('id', ParseIntPipe) id: number): Promise<Enrolment[]> {
    return this.students.enrolmentsOf(id);
  }

  @Get(':id/enrolments/checked')
  enrolmentsAfterCheck(@Param('id', ParseIntPipe) id: number): Promise<Enrolment[]> {
    return this.students.enrolmentsAfterCheck(id);
  }
}

@Module({
  imports: [
    TypeOrmModule.forRoot({
      ...dataSourceOptions(),
      entities: [...PLAIN_ENTITIES, ...PAGE_ENTITIES, ...WRITTEN_ENTITIES],
      retryAttempts: 0,
    }),
    PageModule,
    WriteModule,
    TypeOrmModule.forFeature(PLAIN_ENTITIES),
  ],
  controllers: [QuestionController, ChoiceController, StudentController],
  providers: [QuestionService, ChoiceService, StudentService],
})
export class HandwrittenApp {}

export function configure(app: INestApplication): void {
  app.useGlobalPipes(new ValidationPipe({ whitelist: true, transform: true }));
}
