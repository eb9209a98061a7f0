import { Crud } from '@dataui/crud';
import { TypeOrmCrudService } from '@dataui/crud-typeorm';
import { Controller, Injectable, Module, ValidationPipe } from '@nestjs/common';
import { InjectRepository, TypeOrmModule } from '@nestjs/typeorm';
import { Repository } from 'typeorm';
import { dataSourceOptions } from '../servers/data-source-options.js';
import { Choice, Enrolment, PLAIN_ENTITIES, Question, Student } from '../servers/plain-entities.js';
import { serve } from '../servers/serve.js';
import { startNest } from '../servers/start-nest.js';

@Injectable()
class QuestionService extends TypeOrmCrudService<Question> {
  constructor(@InjectRepository(Question) questions: Repository<Question>) {
    super(questions);
  }
}

@Injectable()
class ChoiceService extends TypeOrmCrudService<Choice> {
  constructor(@InjectRepository(Choice) choices: Repository<Choice>) {
    super(choices);
  }
}

@Injectable()
class StudentService extends TypeOrmCrudService<Student> {
  constructor(@InjectRepository(Student) students: Repository<Student>) {
    super(students);
  }
}

@Injectable()
class EnrolmentService extends TypeOrmCrudService<Enrolment> {
  constructor(@InjectRepository(Enrolment) enrolments: Repository<Enrolment>) {
    super(enrolments);
  }
}

@Crud({ model: { type: Question } })
@Controller('questions')
class QuestionController {
  constructor(readonly service: QuestionService) {}
}

@Crud({ model: { type: Choice } })
@Controller('choices')
class ChoiceController {
  constructor(readonly service: ChoiceService) {}
}

@Crud({ model: { type: Student } })
@Controller('students')
class StudentController {
  constructor(readonly service: StudentService) {}
}

@Crud({ model: { type: Choice }, params: { question: { field: 'question_id', type: 'number' }, id: { field: 'id', type: 'number', primary: true } } })
@Controller('questions/:question/choices')
class QuestionChoicesController {
  constructor(readonly service: ChoiceService) {}
}

@Crud({ model: { type: Enrolment }, params: { student: { field: 'student_id', type: 'number' }, id: { field: 'id', type: 'number', primary: true } } })
@Controller('students/:student/enrolments')
class StudentEnrolmentsController {
  constructor(readonly service: EnrolmentService) {}
}

@Module({
  imports: [TypeOrmModule.forRoot({ ...dataSourceOptions(), entities: PLAIN_ENTITIES, retryAttempts: 0 }), TypeOrmModule.forFeature(PLAIN_ENTITIES)],
  controllers: [QuestionChoicesController, StudentEnrolmentsController, QuestionController, ChoiceController, StudentController],
  providers: [QuestionService, ChoiceService, StudentService, EnrolmentService],
})
class DatauiApp {}

await serve(() => startNest(DatauiApp, 'express', (app) => app.useGlobalPipes(new ValidationPipe({ transform: true }))));
