import {
  Controller,
  Get,
  Headers,
  Injectable,
  Module,
  NotFoundException,
  ParseIntPipe,
  Query,
} from '@nestjs/common';
import { InjectDataSource, InjectRepository, TypeOrmModule } from '@nestjs/typeorm';
import { Type } from 'class-transformer';
import { IsIn, IsInt } from 'class-validator';
import {
  And,
  Column,
  DataSource,
  Entity,
  LessThan,
  MoreThanOrEqual,
  PrimaryGeneratedColumn,
  Repository,
} from 'typeorm';
import type { ObjectLiteral } from 'typeorm';
import { JSON_TYPE } from './data-source-options.js';
import { PAGE_SIZE, pageFrom, withLinks } from './page-of-posts.js';
import type { Page } from './page-of-posts.js';
import { Question } from './plain-entities.js';
import { EXPANDED_CHOICES } from '../workloads.js';

@Entity()
class Measurement {
  @PrimaryGeneratedColumn()
  id: number;

  @Column({ length: 40 })
  label: string;

  @Column()
  value: number;
}

@Entity()
class Post {
  @PrimaryGeneratedColumn()
  id: number;

  @Column({ length: 100 })
  title: string;

  @Column()
  published_at: Date;
}

@Entity()
class Device {
  @PrimaryGeneratedColumn()
  id: number;

  @Column({ length: 100 })
  name: string;

  @Column({ type: JSON_TYPE })
  settings: object;
}

export const PAGE_ENTITIES = [Measurement, Post, Device];

class ListMeasurements {
  @Type(() => Number)
  @IsInt()
  from: number;

  @Type(() => Number)
  @IsInt()
  to: number;

  @IsIn(['value', '-value'])
  ordering: string;
}

/** A page of all rows by their keys, with the links to its neighbours. */
async function pageOf<Row extends ObjectLiteral & { id: number }>(
  repository: Repository<Row>,
  { page, url, write }: { readonly page: number; readonly url: string; readonly write: (row: Row) => object },
): Promise<Page> {
  if (page < 1) throw new NotFoundException();
  const [rows, count] = await repository
    .createQueryBuilder('row')
    .orderBy('row.id')
    .skip((page - 1) * PAGE_SIZE)
    .take(PAGE_SIZE)
    .getManyAndCount();
  const found = pageFrom(rows.map(write), { page, count, url });
  if (!found) throw new NotFoundException();
  return found;
}

@Injectable()
class PageService {
  constructor(
    @InjectRepository(Measurement) private readonly measurements: Repository<Measurement>,
    @InjectRepository(Post) private readonly posts: Repository<Post>,
    @InjectRepository(Device) private readonly devices: Repository<Device>,
  ) {}

  measured({ from, to, ordering }: ListMeasurements): Promise<Measurement[]> {
    const direction = ordering.startsWith('-') ? 'DESC' : 'ASC';
    return this.measurements.find({
      where: { value: And(MoreThanOrEqual(from), LessThan(to)) },
      order: { value: direction, id: direction },
    });
  }

  postPage(page: number, url: string): Promise<Page> {
    return pageOf(this.posts, { page, url, write: withLinks });
  }

  devicePage(page: number, url: string): Promise<Page> {
    return pageOf(this.devices, { page, url, write: (row) => row });
  }
}

@Controller()
class PageController {
  constructor(private readonly pages: PageService) {}

  @Get('measurements')
  measured(@Query() query: ListMeasurements): Promise<Measurement[]> {
    return this.pages.measured(query);
  }

  @Get('posts')
  posts(@Query('page', ParseIntPipe) page: number, @Headers('host') host: string): Promise<Page> {
    return this.pages.postPage(page, `http://${host}/posts`);
  }

  @Get('devices')
  devices(@Query('page', ParseIntPipe) page: number, @Headers('host') host: string): Promise<Page> {
    return this.pages.devicePage(page, `http://${host}/devices`);
  }
}

@Injectable()
class RelatedService {
  constructor(
    @InjectRepository(Question) private readonly questions: Repository<Question>,
    @InjectDataSource() private readonly dataSource: DataSource,
  ) {}

  /** Each question with the choices that have the most votes, by one statement. */
  async questionPage(page: number, url: string): Promise<Page> {
    const found = await pageOf(this.questions, { page, url, write: (row) => ({ ...row, choices: [] }) });
    const questions = found.results as { id: number; choices: object[] }[];
    const byId = new Map(questions.map((question) => [question.id, question]));
    const keys = [...byId.keys()].join(', ');
    const rows = await this.dataSource.query<{ question_id: number; place: unknown }[]>(
      `SELECT * FROM (SELECT id, choice_text, votes, note, question_id, row_number() OVER (PARTITION BY question_id ORDER BY votes DESC, id) AS place FROM choice WHERE question_id IN (${keys})) c WHERE place <= ${EXPANDED_CHOICES} ORDER BY question_id, place`,
    );
    for (const { place: _, ...choice } of rows) byId.get(choice.question_id)?.choices.push(choice);
    return found;
  }

  async votes(): Promise<object[]> {
    const rows = await this.dataSource.query<{ votes: number; count: unknown; total: unknown }[]>(
      'SELECT votes, count(*) AS count, sum(votes) AS total FROM choice GROUP BY votes ORDER BY votes',
    );
    return rows.map(({ votes, count, total }) => ({
      ...{ votes, count: Number(count), sum: { votes: Number(total) } },
    }));
  }
}

@Controller()
class RelatedController {
  constructor(private readonly related: RelatedService) {}

  @Get('questions-with-choices')
  questions(@Query('page', ParseIntPipe) page: number, @Headers('host') host: string): Promise<Page> {
    return this.related.questionPage(page, `http://${host}/questions-with-choices`);
  }

  @Get('choices-by-votes')
  votes(): Promise<object[]> {
    return this.related.votes();
  }
}

@Module({
  imports: [TypeOrmModule.forFeature([...PAGE_ENTITIES, Question])],
  controllers: [PageController, RelatedController],
  providers: [PageService, RelatedService],
})
export class PageModule {}
