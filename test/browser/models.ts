import { Body, HttpCode, StreamableFile } from '@nestjs/common';
import { IsIn, IsInt, IsOptional, MaxLength, Min } from 'class-validator';
import {
  Action,
  basic,
  CsvRenderer,
  IdempotencyRecord,
  InvalidInput,
  IsAuthenticatedOrReadOnly,
  NdjsonRenderer,
  PageNumberPagination,
  Pk,
  Restify,
  RestifyController,
} from 'nestjs-restify';
import {
  Column,
  Entity,
  Index,
  JoinColumn,
  JoinTable,
  ManyToMany,
  ManyToOne,
  OneToMany,
  PrimaryColumn,
  PrimaryGeneratedColumn,
} from 'typeorm';
import type { Relation } from 'typeorm';

/** The password of each user is `pass`. */
const LOGIN = {
  authentication: [
    basic((name: string, password: string) => (password === 'pass' ? { username: name } : null)),
  ],
  permissions: [IsAuthenticatedOrReadOnly],
};

@Restify({ app: 'shop', label: 'name', searchFields: ['name'], orderingFields: ['name'], ...LOGIN })
@Entity('browser_brand')
export class Brand {
  @PrimaryGeneratedColumn()
  id: number;

  @Index('browser_brand_name')
  @Column({ length: 40 })
  name: string;

  @OneToMany(() => Ware, (ware) => ware.brand)
  wares: Relation<Ware[]>;
}

/** Has every feature that the page knows. */
@Restify({
  app: 'shop',
  label: 'title',
  filterFields: { title: ['exact', 'icontains'], stock: ['exact', 'gte', 'range'], sold: ['exact'] },
  filterGroups: true,
  searchFields: ['title'],
  orderingFields: ['title', 'stock'],
  ordering: ['id'],
  pagination: new PageNumberPagination({ pageSize: 5, maxPageSize: 50 }),
  renderers: [new CsvRenderer(), new NdjsonRenderer()],
  shape: true,
  bulk: { max: 50 },
  conditional: true,
  idempotency: true,
  ...LOGIN,
})
@Entity('browser_ware')
export class Ware {
  @PrimaryGeneratedColumn()
  id: number;

  @Column({ length: 80 })
  title: string;

  @Column({ type: 'text', nullable: true })
  note: string | null;

  @Column({ type: 'decimal', precision: 20, scale: 2, default: '0.00' })
  price: string;

  @Column({ type: 'int', nullable: true })
  stock: number | null;

  @Column({ type: 'bigint', default: '0' })
  serial: string;

  @Column({ type: 'boolean', nullable: true })
  sold: boolean | null;

  @Column({ type: 'simple-enum', enum: ['new', 'used'], default: 'new' })
  state: string;

  @Column({ type: 'date', nullable: true })
  made: string | null;

  @Column({ nullable: true })
  seen: Date;

  @Column({ type: 'simple-json', nullable: true })
  extra: unknown;

  @ManyToOne(() => Brand, (brand) => brand.wares, { nullable: true, onDelete: 'SET NULL' })
  brand: Relation<Brand> | null;

  @OneToMany(() => Part, (part) => part.ware)
  parts: Relation<Part[]>;

  @OneToMany(() => Order, (order) => order.ware)
  orders: Relation<Order[]>;

  @ManyToMany(() => Shelf, (shelf) => shelf.wares)
  @JoinTable({
    name: 'browser_placement',
    joinColumn: { name: 'ware_id' },
    inverseJoinColumn: { name: 'shelf_id' },
    synchronize: false,
  })
  shelves: Relation<Shelf[]>;
}

@Restify({ app: 'shop', label: 'name', ...LOGIN })
@Entity('browser_part')
export class Part {
  @PrimaryGeneratedColumn()
  id: number;

  @Column()
  name: string;

  @ManyToOne(() => Ware, (ware) => ware.parts, { nullable: false, onDelete: 'CASCADE' })
  ware: Relation<Ware>;
}

/** Prevents the deletion of its ware. */
@Restify({ app: 'shop', ...LOGIN, labels: { one: 'Order of a ware', many: 'Orders of wares' } })
@Entity('browser_order')
export class Order {
  @PrimaryGeneratedColumn()
  id: number;

  @ManyToOne(() => Ware, (ware) => ware.orders, { nullable: false, onDelete: 'RESTRICT' })
  ware: Relation<Ware>;
}

@Restify({ app: 'shop', label: 'name', ...LOGIN })
@Entity('browser_shelf')
export class Shelf {
  @PrimaryGeneratedColumn()
  id: number;

  @Column()
  name: string;

  @ManyToMany(() => Ware, (ware) => ware.shelves)
  wares: Relation<Ware[]>;
}

/** The through object of a ware on a shelf. */
@Restify({ app: 'shop', ...LOGIN })
@Entity('browser_placement')
export class Placement {
  @PrimaryGeneratedColumn()
  id: number;

  @ManyToOne(() => Ware, { nullable: false, onDelete: 'CASCADE' })
  @JoinColumn({ name: 'ware_id' })
  ware: Relation<Ware>;

  @ManyToOne(() => Shelf, { nullable: false, onDelete: 'CASCADE' })
  @JoinColumn({ name: 'shelf_id' })
  shelf: Relation<Shelf>;

  @Column({ default: '' })
  place: string;
}

/** The page makes a form of this class. */
class MoveBody {
  @IsInt()
  @Min(1)
  amount: number;

  @IsIn(['left', 'right'])
  side: string;

  @IsOptional()
  @MaxLength(20)
  reason?: string;
}

/** Its keys may contain commas. */
@Restify({ app: 'shop', bulk: { max: 50 }, ...LOGIN })
@Entity('browser_code')
export class Code {
  @PrimaryColumn({ length: 20 })
  code: string;

  @Column({ default: '' })
  note: string;
}

const PHOTO = { app: 'shop', name: 'photo', ...LOGIN };

@Restify(PHOTO)
@Entity('browser_photo')
class SqlitePhoto {
  @PrimaryGeneratedColumn()
  id: number;

  @Column({ type: 'blob', nullable: true })
  bytes: Buffer | null;
}

@Restify(PHOTO)
@Entity('browser_photo')
class PostgresPhoto {
  @PrimaryGeneratedColumn()
  id: number;

  @Column({ type: 'bytea', nullable: true })
  bytes: Buffer | null;
}

/** The entity with a file, by the type of each database. */
export const PHOTOS = { sqlite: SqlitePhoto, postgres: PostgresPhoto, mariadb: SqlitePhoto };

@RestifyController(Ware)
export class WareController {
  @Action({ detail: true, methods: ['POST'] })
  @HttpCode(200)
  reserve(@Pk() id: number): object {
    return { reserved: id };
  }

  @Action({ detail: true, methods: ['POST'] })
  @HttpCode(200)
  move(@Pk() id: number, @Body() body: MoveBody): object {
    if (!Object.hasOwn(body, 'amount')) throw InvalidInput.of('amount', 'This field is required.');
    return { moved: id, ...body };
  }

  @Action({ detail: false, methods: ['POST'] })
  report(): StreamableFile {
    return new StreamableFile(Buffer.from('a,b\n'), { type: 'text/csv' });
  }
}

export const ENTITIES = [Brand, Ware, Part, Order, Shelf, Placement, Code, IdempotencyRecord];
