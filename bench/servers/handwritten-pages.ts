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
import { InjectRepository, TypeOrmModule } from '@nestjs/typeorm';
import { Type } from 'class-transformer';
import { IsIn, IsInt } from 'class-validator';
import { And, Column, Entity, LessThan, MoreThanOrEqual, PrimaryGeneratedColumn, Repository } from 'typeorm';
import type { ObjectLiteral } from 'typeorm';
import { JSON_TYPE } from './data-source-options.js';
import { PAGE_SIZE, pageFrom, withLinks } from './page-of-posts.js';
import type { Page } from './page-of-posts.js';

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

@Module({
  imports: [TypeOrmModule.forFeature(PAGE_ENTITIES)],
  controllers: [PageController],
  providers: [PageService],
})
export class PageModule {}
