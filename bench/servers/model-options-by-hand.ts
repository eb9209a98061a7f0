import {
  BadRequestException,
  Body,
  Controller,
  createParamDecorator,
  ForbiddenException,
  Get,
  Injectable,
  Module,
  NotFoundException,
  Param,
  ParseIntPipe,
  Patch,
  Post,
  Query,
  UnauthorizedException,
  UseGuards,
  ValidationPipe,
} from '@nestjs/common';
import type { CanActivate, ExecutionContext, INestApplication, Type as NestType } from '@nestjs/common';
import { InjectRepository, TypeOrmModule } from '@nestjs/typeorm';
import { Type } from 'class-transformer';
import { IsDate, IsInt, IsOptional, IsString, Length, Matches, Max, MaxLength, Min } from 'class-validator';
import { And, Column, Entity, ILike, LessThanOrEqual, Like, MoreThanOrEqual } from 'typeorm';
import {
  PrimaryColumn,
  PrimaryGeneratedColumn,
  QueryFailedError,
  Repository,
  UpdateDateColumn,
} from 'typeorm';
import type { FindOptionsWhere } from 'typeorm';
import type { User } from '../model-options/users.js';
import { dataSourceOptions } from './data-source-options.js';
import { TokenGuard, verifyPassword } from './model-options-auth.js';
import type { Authenticated } from './model-options-auth.js';

const PAGE_SIZE = 100;

@Entity()
class Category {
  @PrimaryColumn()
  id: number;

  @Column({ length: 100 })
  name: string;
}

@Entity()
class Owner {
  @PrimaryColumn()
  id: number;

  @Column({ length: 100 })
  name: string;

  @Column({ length: 100 })
  email: string;

  @Column()
  active: boolean;
}

/** Foreign keys are columns, so that reading them needs no join. */
@Entity({ name: process.env.BENCH_ITEM_TABLE ?? 'item' })
class Item {
  @PrimaryGeneratedColumn()
  id: number;

  @Column({ length: 100 })
  title: string;

  @Column({ length: 40 })
  code: string;

  @Column()
  rating: number;

  @Column({ length: 40 })
  extra: string;

  @Column({ name: 'category_id' })
  category: number;

  @Column({ name: 'owner_id' })
  owner: number;

  @UpdateDateColumn()
  updated_at: Date;
}

class CreateItem {
  @IsString()
  @Length(3, 100)
  title: string;

  @IsString()
  @MaxLength(40)
  @Matches(/^C\d+/)
  code: string;

  @IsInt()
  @Min(0)
  @Max(1000)
  rating: number;

  @IsString()
  @MaxLength(40)
  extra: string;

  @IsInt()
  category: number;

  @IsInt()
  owner: number;
}

class ChangeItem {
  @IsOptional()
  @IsString()
  @Length(3, 100)
  title?: string;

  @IsOptional()
  @IsString()
  @MaxLength(40)
  @Matches(/^C\d+/)
  code?: string;

  @IsOptional()
  @IsInt()
  @Min(0)
  @Max(1000)
  rating?: number;

  @IsOptional()
  @IsString()
  @MaxLength(40)
  extra?: string;

  @IsOptional()
  @IsInt()
  category?: number;
}

class ListItems {
  @IsOptional()
  @Type(() => Number)
  @IsInt()
  @Min(1)
  page = 1;

  @IsOptional()
  @Type(() => Number)
  @IsInt()
  rating__gte?: number;

  @IsOptional()
  @Type(() => Number)
  @IsInt()
  rating__lte?: number;

  @IsOptional()
  @IsString()
  code__startswith?: string;

  @IsOptional()
  @IsString()
  title__icontains?: string;

  @IsOptional()
  @Type(() => Date)
  @IsDate()
  updated_at__gte?: Date;
}

interface ItemPage {
  readonly count: number;
  readonly results: readonly Item[];
}

/** HTTP Basic without Passport. */
@Injectable()
class PasswordGuard implements CanActivate {
  canActivate(context: ExecutionContext): boolean {
    const request = context.switchToHttp().getRequest<Authenticated>();
    const encoded = /^Basic (\S+)$/.exec(request.headers.authorization ?? '')?.[1] ?? '';
    const [name = '', ...rest] = Buffer.from(encoded, 'base64').toString('utf8').split(':');
    const user = verifyPassword(name, rest.join(':'));
    if (!user) throw new UnauthorizedException();
    request.user = user;
    return true;
  }
}

const Caller = createParamDecorator(
  (_: unknown, context: ExecutionContext) => context.switchToHttp().getRequest<Authenticated>().user,
);

function escaped(text: string): string {
  return text.replace(/[\\%_]/g, '\\$&');
}

@Injectable()
class ItemService {
  constructor(@InjectRepository(Item) private readonly items: Repository<Item>) {}

  async list(user: User, query: ListItems): Promise<ItemPage> {
    const where: FindOptionsWhere<Item> = { owner: user.id };
    const { rating__gte: least, rating__lte: most } = query;
    const bounds = [
      ...(least === undefined ? [] : [MoreThanOrEqual(least)]),
      ...(most === undefined ? [] : [LessThanOrEqual(most)]),
    ];
    if (bounds.length > 0) where.rating = And(...bounds);
    if (query.code__startswith !== undefined) where.code = Like(`${escaped(query.code__startswith)}%`);
    if (query.title__icontains !== undefined) where.title = ILike(`%${escaped(query.title__icontains)}%`);
    if (query.updated_at__gte) where.updated_at = MoreThanOrEqual(query.updated_at__gte);
    const [results, count] = await this.items.findAndCount({
      where,
      order: { id: 'ASC' },
      take: PAGE_SIZE,
      skip: (query.page - 1) * PAGE_SIZE,
    });
    return { count, results };
  }

  async findOne(user: User, id: number): Promise<Item> {
    const item = await this.items.findOneBy({ id, owner: user.id });
    if (!item) throw new NotFoundException();
    return item;
  }

  async create(user: User, values: CreateItem): Promise<Item> {
    if (values.owner !== user.id) throw new ForbiddenException();
    try {
      return await this.items.save(this.items.create({ ...values }));
    } catch (error) {
      if (error instanceof QueryFailedError && /foreign key/i.test(error.message))
        throw new BadRequestException('No such category');
      throw error;
    }
  }

  async change(user: User, id: number, values: ChangeItem): Promise<Item> {
    return this.items.save(Object.assign(await this.findOne(user, id), values));
  }
}

@UseGuards(process.env.BENCH_VARIANT === 'typical-basic-by-hand' ? PasswordGuard : TokenGuard)
@Controller('item')
class ItemController {
  constructor(private readonly items: ItemService) {}

  @Get()
  list(@Caller() user: User, @Query() query: ListItems): Promise<ItemPage> {
    return this.items.list(user, query);
  }

  @Get(':id')
  findOne(@Caller() user: User, @Param('id', ParseIntPipe) id: number): Promise<Item> {
    return this.items.findOne(user, id);
  }

  @Post()
  create(@Caller() user: User, @Body() values: CreateItem): Promise<Item> {
    return this.items.create(user, values);
  }

  @Patch(':id')
  change(
    @Caller() user: User,
    @Param('id', ParseIntPipe) id: number,
    @Body() values: ChangeItem,
  ): Promise<Item> {
    return this.items.change(user, id, values);
  }
}

@Controller('category')
class CategoryController {
  constructor(@InjectRepository(Category) private readonly categories: Repository<Category>) {}

  @Get()
  list(): Promise<Category[]> {
    return this.categories.find({ order: { id: 'ASC' } });
  }
}

@Controller('owner')
class OwnerController {
  constructor(@InjectRepository(Owner) private readonly owners: Repository<Owner>) {}

  @Get(':id')
  async findOne(@Param('id', ParseIntPipe) id: number): Promise<Owner> {
    const owner = await this.owners.findOneBy({ id });
    if (!owner) throw new NotFoundException();
    return owner;
  }
}

const ENTITIES = [Category, Owner, Item];

@Module({
  imports: [
    TypeOrmModule.forRoot({ ...dataSourceOptions(), entities: ENTITIES, retryAttempts: 0 }),
    TypeOrmModule.forFeature(ENTITIES),
  ],
  controllers: [ItemController, CategoryController, OwnerController],
  providers: [ItemService, TokenGuard, PasswordGuard],
})
class ByHandApp {}

export const MODEL_OPTIONS_BY_HAND: NestType = ByHandApp;

export function configureByHand(app: INestApplication): void {
  app.useGlobalPipes(new ValidationPipe({ whitelist: true, transform: true }));
}
