import {
  Body,
  Controller,
  HttpCode,
  Injectable,
  Module,
  NotFoundException,
  Param,
  ParseArrayPipe,
  ParseIntPipe,
  Patch,
  Post,
  ValidationPipe,
} from '@nestjs/common';
import type { Type } from '@nestjs/common';
import { InjectRepository, TypeOrmModule } from '@nestjs/typeorm';
import { Type as TypeOf } from 'class-transformer';
import {
  IsArray,
  IsInt,
  IsOptional,
  IsString,
  Length,
  Max,
  MaxLength,
  Min,
  ValidateNested,
} from 'class-validator';
import {
  BeforeInsert,
  BeforeUpdate,
  Column,
  Entity,
  In,
  JoinColumn,
  ManyToOne,
  OneToMany,
  PrimaryGeneratedColumn,
  Repository,
} from 'typeorm';
import type { Relation } from 'typeorm';

abstract class Labelled {
  @PrimaryGeneratedColumn()
  id: number;

  @Column({ length: 100 })
  label: string;

  @Column()
  weight: number;
}

@Entity()
class Parcel extends Labelled {}

@Entity()
class Hooked extends Labelled {}

@Entity()
class Listened extends Labelled {
  @BeforeInsert()
  @BeforeUpdate()
  writeCapitals(): void {
    this.label = this.label.toUpperCase();
  }
}

@Entity()
class Ruled extends Labelled {}

@Entity()
class Ware {
  @PrimaryGeneratedColumn()
  id: number;

  @Column({ length: 20, unique: true })
  code: string;

  @Column()
  stock: number;
}

@Entity()
class Shelf {
  @PrimaryGeneratedColumn()
  id: number;

  @Column({ length: 100 })
  label: string;

  @Column()
  places: number;

  @OneToMany(() => Item, (item) => item.shelf, { cascade: true })
  items: Relation<Item[]>;
}

@Entity()
class Item extends Labelled {
  @ManyToOne(() => Shelf, (shelf) => shelf.items, { nullable: false })
  @JoinColumn({ name: 'shelf_id' })
  shelf: Relation<Shelf>;
}

export const WRITTEN_ENTITIES = [Parcel, Hooked, Listened, Ruled, Ware, Shelf, Item];

class CreateLabelled {
  @IsString()
  @MaxLength(100)
  label: string;

  @IsInt()
  weight: number;
}

class CreateRuled {
  @IsString()
  @Length(3, 100)
  label: string;

  @IsInt()
  @Min(0)
  @Max(1000)
  weight: number;
}

class ChangeLabelled {
  @IsOptional()
  @IsString()
  @MaxLength(100)
  label?: string;

  @IsOptional()
  @IsInt()
  weight?: number;
}

class ChangeRuled {
  @IsOptional()
  @IsString()
  @Length(3, 100)
  label?: string;

  @IsOptional()
  @IsInt()
  @Min(0)
  @Max(1000)
  weight?: number;
}

class PutWare {
  @IsString()
  @MaxLength(20)
  code: string;

  @IsInt()
  stock: number;
}

class CreateShelf {
  @IsString()
  @MaxLength(100)
  label: string;

  @IsInt()
  places: number;

  @IsOptional()
  @IsArray()
  @ValidateNested({ each: true })
  @TypeOf(() => CreateLabelled)
  items?: CreateLabelled[];
}

/** Values as they are written: with a hook, a service changes them. */
type Prepare = (values: ChangeLabelled) => ChangeLabelled;

const asGiven: Prepare = (values) => values;
const inCapitals: Prepare = (values) =>
  values.label === undefined ? values : { ...values, label: values.label.toUpperCase() };

const LABELLED = { create: CreateLabelled, change: ChangeLabelled };

/** The endpoints of one table: create, change, and create many. */
function controllerOf(
  path: string,
  {
    entity,
    create,
    change,
    prepare = asGiven,
  }: {
    readonly entity: Type<Labelled>;
    readonly create: Type<CreateLabelled>;
    readonly change: Type<ChangeLabelled>;
    readonly prepare?: Prepare;
  },
): Type {
  const created = new ValidationPipe({ whitelist: true, transform: true, expectedType: create });
  const changed = new ValidationPipe({ whitelist: true, transform: true, expectedType: change });
  const list = new ParseArrayPipe({ items: create, whitelist: true });

  @Controller(path)
  class LabelledController {
    constructor(@InjectRepository(entity) private readonly repository: Repository<Labelled>) {}

    @Post()
    create(@Body(created) values: object): Promise<Labelled> {
      return this.repository.save(this.repository.create(prepare(values)));
    }

    @Post('bulk')
    createMany(@Body(list) rows: object[]): Promise<Labelled[]> {
      return this.repository.save(this.repository.create(rows.map(prepare)));
    }

    @Patch(':id')
    async update(@Param('id', ParseIntPipe) id: number, @Body(changed) values: object): Promise<Labelled> {
      const found = await this.repository.findOneBy({ id });
      if (!found) throw new NotFoundException();
      return this.repository.save(Object.assign(found, prepare(values)));
    }
  }
  return LabelledController;
}

@Injectable()
class WareService {
  constructor(@InjectRepository(Ware) private readonly wares: Repository<Ware>) {}

  /** One statement for all rows, and one that reads them again, in the order of the request. */
  async upsert(rows: readonly PutWare[]): Promise<(Ware | undefined)[]> {
    await this.wares.upsert([...rows], ['code']);
    const found = await this.wares.findBy({ code: In(rows.map(({ code }) => code)) });
    const byCode = new Map(found.map((ware) => [ware.code, ware]));
    return rows.map(({ code }) => byCode.get(code));
  }
}

@Controller('wares')
class WareController {
  constructor(private readonly wares: WareService) {}

  @Post('upsert')
  @HttpCode(200)
  upsert(
    @Body(new ParseArrayPipe({ items: PutWare, whitelist: true })) rows: PutWare[],
  ): Promise<(Ware | undefined)[]> {
    return this.wares.upsert(rows);
  }
}

@Controller('shelves')
class ShelfController {
  constructor(@InjectRepository(Shelf) private readonly shelves: Repository<Shelf>) {}

  /** TypeORM's cascade writes the items. The answer is as without them. */
  @Post()
  async create(
    @Body(new ValidationPipe({ whitelist: true, transform: true, expectedType: CreateShelf }))
    values: CreateShelf,
  ): Promise<Omit<Shelf, 'items'>> {
    const { id, label, places } = await this.shelves.save(this.shelves.create(values));
    return { id, label, places };
  }
}

@Module({
  imports: [TypeOrmModule.forFeature(WRITTEN_ENTITIES)],
  controllers: [
    controllerOf('parcels', { entity: Parcel, ...LABELLED }),
    controllerOf('hookeds', { entity: Hooked, ...LABELLED, prepare: inCapitals }),
    controllerOf('listeneds', { entity: Listened, ...LABELLED }),
    controllerOf('ruleds', { entity: Ruled, create: CreateRuled, change: ChangeRuled }),
    WareController,
    ShelfController,
  ],
  providers: [WareService],
})
export class WriteModule {}
