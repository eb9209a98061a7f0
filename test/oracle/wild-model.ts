import { Injectable, UnauthorizedException } from '@nestjs/common';
import type { CanActivate, ExecutionContext } from '@nestjs/common';
import { Exclude } from 'class-transformer';
import {
  ArrayMinSize,
  IsDateString,
  IsEmail,
  IsEnum,
  IsIn,
  IsInt,
  IsOptional,
  IsUrl,
  Length,
  Matches,
  Max,
  MaxLength,
  Min,
  MinLength,
} from 'class-validator';
import { IsAuthenticated, restify } from 'nestjs-restify';
import {
  AfterInsert,
  BeforeInsert,
  ChildEntity,
  Column,
  CreateDateColumn,
  DeleteDateColumn,
  Entity,
  EntitySchema,
  JoinColumn,
  JoinTable,
  ManyToMany,
  ManyToOne,
  OneToMany,
  OneToOne,
  PrimaryColumn,
  PrimaryGeneratedColumn,
  TableInheritance,
  Tree,
  TreeChildren,
  TreeLevelColumn,
  TreeParent,
  UpdateDateColumn,
  VersionColumn,
  ViewColumn,
  ViewEntity,
  VirtualColumn,
} from 'typeorm';
import type { Relation, ValueTransformer } from 'typeorm';

// Entities as in applications that were written before they used this package: without its decorators, with foreign keys beside
// relations, columns with transformers, validators and @Exclude of DTOs, and entities on join tables.

enum Role {
  owner = 'owner',
  guest = 'guest',
}

const LETTERS = ['N', 'Y'] as const;

const words: ValueTransformer = {
  to: (value: readonly string[] | null | undefined) => value?.map((word) => `${word}|`).join(''),
  from: (value: string | null) => (value ?? '').split('|').slice(0, -1),
};

const json: ValueTransformer = {
  to: (value: unknown) => (value === null || value === undefined ? value : JSON.stringify(value)),
  from: (value: string | null) => (value === null ? null : (JSON.parse(value) as unknown)),
};

const flag: ValueTransformer = {
  to: (value: boolean | null | undefined) =>
    value === null || value === undefined ? value : LETTERS[Number(value)],
  from: (value: string | null) => (value === null ? null : value === 'Y'),
};

const amount: ValueTransformer = {
  to: (value: number | null | undefined) => value,
  from: (value: string | number | null) => (value === null ? null : Number(value)),
};

/** A base class with the shared columns. */
abstract class Dated {
  @PrimaryGeneratedColumn('uuid')
  id: string;

  @CreateDateColumn()
  createdAt: Date;

  @UpdateDateColumn()
  updatedAt: Date;
}

@Entity('wild_member')
export class Member extends Dated {
  @Column({ length: 60, unique: true })
  @IsEmail()
  @Length(6, 60)
  email: string;

  @Column({ length: 80 })
  @Exclude()
  passwordHash: string;

  @Column({ type: 'varchar', length: 40, nullable: true })
  @Exclude({ toPlainOnly: true })
  resetToken: string | null;

  @Column()
  @IsDateString()
  joinedAt: Date;

  @Column({ type: 'simple-enum', enum: Role, default: Role.guest })
  @IsEnum(Role)
  role: Role;

  @Column({ type: 'text', transformer: words })
  @ArrayMinSize(1)
  tags: string[];

  @Column({ type: 'text', nullable: true, transformer: json })
  settings: { readonly theme?: string } | null;

  @Column({ type: 'varchar', length: 1, default: 'Y', transformer: flag })
  active: boolean;

  @Column({ type: 'varchar', length: 100, nullable: true })
  @IsOptional()
  @IsUrl({ require_tld: false })
  homepage: string | null;

  @OneToMany(() => Purchase, (purchase) => purchase.member)
  purchases: Relation<Purchase[]>;

  /** Not served. */
  @OneToMany(() => Visit, (visit) => visit.member)
  visits: Relation<Visit[]>;
}

/** In the data source, but not registered. */
@Entity('wild_visit')
export class Visit {
  @PrimaryGeneratedColumn()
  id: number;

  @ManyToOne(() => Member, (member) => member.visits, { onDelete: 'CASCADE' })
  member: Relation<Member>;
}

@Entity('wild_coupon')
export class Coupon {
  @PrimaryGeneratedColumn()
  id: number;

  @Column({ length: 12, unique: true })
  @Matches(/^[A-Z0-9]{4,12}$/)
  code: string;

  @Column({ type: 'int' })
  @Min(1)
  @Max(100)
  percent: number;

  /** Has the names of parameters. */
  @Column({ type: 'varchar', length: 20, nullable: true })
  search: string | null;

  @Column({ type: 'int', default: 1 })
  @IsInt()
  ordering: number;
}

@Entity('wild_purchase')
export class Purchase extends Dated {
  @Column()
  memberId: string;

  @ManyToOne(() => Member, (member) => member.purchases, { onDelete: 'CASCADE' })
  @JoinColumn({ name: 'memberId' })
  member: Relation<Member>;

  @Column({ type: 'int', nullable: true })
  couponId: number | null;

  @ManyToOne(() => Coupon, { nullable: true, onDelete: 'SET NULL' })
  @JoinColumn({ name: 'couponId' })
  coupon: Relation<Coupon> | null;

  /** References a column other than the key. */
  @Column({ type: 'varchar', length: 12, nullable: true })
  giftCode: string | null;

  @ManyToOne(() => Coupon, { nullable: true })
  @JoinColumn({ name: 'giftCode', referencedColumnName: 'code' })
  gift: Relation<Coupon> | null;

  @Column({ type: 'decimal', precision: 10, scale: 2, transformer: amount })
  total: number;

  @Column({ length: 10 })
  @IsIn(['new', 'paid', 'sent'])
  state: string;

  @Column({ type: 'varchar', nullable: true, length: 200 })
  @IsOptional()
  @MinLength(3)
  @MaxLength(200)
  note: string | null;

  @DeleteDateColumn()
  deletedAt: Date | null;

  @OneToOne(() => Invoice, (invoice) => invoice.purchase)
  invoice: Relation<Invoice> | null;
}

@Entity('wild_invoice')
export class Invoice extends Dated {
  @Column({ unique: true })
  purchaseId: string;

  @OneToOne(() => Purchase, (purchase) => purchase.invoice, { onDelete: 'CASCADE' })
  @JoinColumn({ name: 'purchaseId' })
  purchase: Relation<Purchase>;

  @Column({ type: 'varchar', length: 60, default: '' })
  label: string;

  @AfterInsert()
  nameLabel(): void {
    this.label = `Invoice ${this.id}`;
  }
}

@Entity('wild_product')
export class Product {
  @PrimaryGeneratedColumn()
  id: number;

  @Column({ length: 40 })
  name: string;

  @ManyToMany(() => Condition, (condition) => condition.products)
  conditions: Relation<Condition[]>;
}

@Entity('wild_condition')
export class Condition {
  @PrimaryGeneratedColumn()
  id: number;

  @Column({ length: 40 })
  title: string;

  @ManyToMany(() => Product, (product) => product.conditions)
  @JoinTable({
    name: 'wild_condition_product',
    joinColumn: { name: 'condition_id' },
    inverseJoinColumn: { name: 'product_id' },
  })
  products: Relation<Product[]>;

  @ManyToMany(() => Region)
  @JoinTable({
    name: 'wild_condition_region',
    joinColumn: { name: 'condition_id' },
    inverseJoinColumn: { name: 'region_id' },
  })
  regions: Relation<Region[]>;
}

/** Mapped to the join table, and registered. */
@Entity('wild_condition_product')
export class ConditionProduct {
  @PrimaryColumn({ name: 'condition_id' })
  conditionId: number;

  @PrimaryColumn({ name: 'product_id' })
  productId: number;

  @Column({ type: 'int', default: 0 })
  position: number;
}

/** Mapped to the join table, but only in the data source. */
@Entity('wild_condition_region')
export class ConditionRegion {
  @PrimaryColumn({ name: 'condition_id' })
  conditionId: number;

  @PrimaryColumn({ name: 'region_id' })
  regionId: number;

  @ManyToOne(() => Condition, { onDelete: 'CASCADE' })
  @JoinColumn({ name: 'condition_id' })
  condition: Relation<Condition>;
}

@Entity('wild_region')
@Tree('materialized-path')
export class Region {
  @PrimaryGeneratedColumn()
  id: number;

  @Column({ length: 30 })
  name: string;

  @TreeLevelColumn()
  level: number;

  /** Not set by TypeORM. */
  @BeforeInsert()
  setLevel(): void {
    this.level = 1;
  }

  @TreeParent()
  parent: Relation<Region> | null;

  @TreeChildren()
  children: Relation<Region[]>;
}

/** A base entity with a numeric discriminator. */
@Entity('wild_vehicle')
@TableInheritance({ column: { name: 'kind', type: 'int' } })
export class Vehicle {
  @PrimaryGeneratedColumn()
  id: number;

  @Column({ length: 20 })
  plate: string;

  @Column({ type: 'varchar', length: 20, nullable: true, default: null })
  colour: string | null;
}

@ChildEntity(2)
export class Truck extends Vehicle {
  @Column({ type: 'int', default: 0 })
  load: number;
}

@Entity('wild_article')
export class Article {
  @PrimaryGeneratedColumn()
  id: number;

  @Column({ length: 60 })
  title: string;

  @VirtualColumn({
    type: 'int',
    query: (alias) => `(SELECT MAX(other.id) FROM wild_article other WHERE other.id < ${alias}.id)`,
  })
  before: number;
}

/** Statistics of the articles by title length. */
@ViewEntity({
  name: 'wild_title_length',
  expression: 'SELECT LENGTH(title) AS size, COUNT(*) AS articles FROM wild_article GROUP BY LENGTH(title)',
})
export class TitleLength {
  @PrimaryColumn({ type: 'int' })
  size: number;

  @ViewColumn()
  articles: number;
}

/** Protected by a guard of the application; counts its changes. */
@Entity('wild_ticket')
export class Ticket {
  @PrimaryGeneratedColumn('uuid')
  id: string;

  @Column({ length: 40 })
  subject: string;

  @Column({ name: 'product_id', type: 'int', nullable: true })
  productId: number | null;

  @ManyToOne(() => Product, { nullable: true, onDelete: 'SET NULL' })
  @JoinColumn({ name: 'product_id' })
  product: Relation<Product> | null;

  @VersionColumn()
  revision: number;
}

@Injectable()
export class NamedUserGuard implements CanActivate {
  canActivate(context: ExecutionContext): boolean {
    const request = context
      .switchToHttp()
      .getRequest<{ headers: Readonly<Record<string, string | undefined>>; user?: object }>();
    const [scheme, text] = (request.headers.authorization ?? '').split(' ');
    if (scheme !== 'Basic' || text === undefined) throw new UnauthorizedException();
    request.user = { name: Buffer.from(text, 'base64').toString().split(':')[0] };
    return true;
  }
}

interface Sensor {
  id: number;
  name: string;
  place: string | null;
}

const SensorSchema = new EntitySchema<Sensor>({
  name: 'Sensor',
  tableName: 'wild_sensor',
  columns: {
    id: { type: 'int', primary: true, generated: true },
    name: { type: 'varchar', length: 30 },
    place: { type: 'varchar', length: 30, nullable: true },
  },
});

const SERVED = [
  Member,
  Coupon,
  Purchase,
  Invoice,
  Product,
  Condition,
  ConditionProduct,
  Region,
  Vehicle,
  Truck,
  Article,
  TitleLength,
  SensorSchema,
];

for (const entity of SERVED) restify(entity, 'wild');
restify(Member, { app: 'wild', type: { settings: 'json', tags: 'string[]' } });

restify(Ticket, {
  app: 'wild',
  guards: [NamedUserGuard],
  permissions: [IsAuthenticated],
  conditional: { require: true },
});

export const WILD_ENTITIES = [...SERVED, Ticket, Visit, ConditionRegion];
