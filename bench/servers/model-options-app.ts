import { Module } from '@nestjs/common';
import type { Type } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { Length, Matches, Max, Min, MinLength } from 'class-validator';
import type { IncomingMessage } from 'node:http';
import {
  allow,
  AllowAny,
  basic,
  CursorPagination,
  deny,
  guard,
  IsAuthenticated,
  JsonServerPagination,
  LimitOffsetPagination,
  PageNumberPagination,
  restify,
  Restify,
  RestifyModule,
  where,
} from 'nestjs-restify';
import type { AccessContext, Denial, Grant, Permission, RestifyOptions } from 'nestjs-restify';
import {
  Column,
  Entity,
  EventSubscriber,
  JoinColumn,
  ManyToOne,
  PrimaryColumn,
  PrimaryGeneratedColumn,
  UpdateDateColumn,
  VersionColumn,
} from 'typeorm';
import type { ColumnOptions, EntitySubscriberInterface, Relation } from 'typeorm';
import type { User } from '../model-options/users.js';
import type { VariantName } from '../model-options/variants.js';
import { dataSourceOptions } from './data-source-options.js';
import { TokenGuard, verifyPassword } from './model-options-auth.js';

const onPostgres = process.env.BENCH_DATABASE === 'postgres';

@Restify('shop')
@Entity()
export class Category {
  @PrimaryColumn()
  id: number;

  @Column({ length: 100 })
  name: string;
}

@Restify('shop')
@Entity()
export class Owner {
  @PrimaryColumn()
  id: number;

  @Column({ length: 100 })
  name: string;

  @Column({ length: 100 })
  email: string;

  @Column()
  active: boolean;
}

@EventSubscriber()
class CategorySubscriber implements EntitySubscriberInterface<Category> {
  listenTo(): typeof Category {
    return Category;
  }

  afterUpdate(): void {
    // Only the cost of its existence is measured.
  }
}

class OwnItems implements Permission {
  decide({ actor }: AccessContext): Grant | Denial {
    return actor === null ? deny({ hides: 'rows' }) : allow({ rows: where('owner', (actor as User).id) });
  }
}

/** Row grants without authentication: the user comes from a header. */
class ItemsOfHeader implements Permission {
  decide({ request }: AccessContext): Grant | Denial {
    const { headers } = request as IncomingMessage;
    return allow({ rows: where('owner', Number(headers['x-user'])) });
  }
}

const SECRET = 'a secret of the benchmark, 32 letters or more';
const PAGES = { pageSize: 100 } as const;
const TYPICAL_OPTIONS: RestifyOptions = {
  pagination: new PageNumberPagination(PAGES),
  permissions: [IsAuthenticated, OwnItems],
  filterFields: {
    rating: ['gte', 'lte'],
    code: ['startswith'],
    title: ['icontains'],
    updated_at: ['gte'],
  },
};

const OPTIONS: Partial<Readonly<Record<VariantName, RestifyOptions>>> = {
  'page-number': { pagination: new PageNumberPagination(PAGES) },
  'page-number-headers': { pagination: new PageNumberPagination({ ...PAGES, style: 'headers' }) },
  'limit-offset': { pagination: new LimitOffsetPagination(PAGES) },
  'limit-offset-headers': { pagination: new LimitOffsetPagination({ ...PAGES, style: 'headers' }) },
  cursor: { pagination: new CursorPagination({ ...PAGES, secret: SECRET }) },
  'cursor-headers': { pagination: new CursorPagination({ ...PAGES, secret: SECRET, style: 'headers' }) },
  'json-server': { pagination: new JsonServerPagination(PAGES) },
  'filter-fields': {
    filterFields: { owner: ['exact'], rating: ['gte', 'lte'], code: ['startswith'], title: ['icontains'] },
  },
  search: { searchFields: ['title'] },
  'default-order': { ordering: ['-rating', 'title'] },
  'field-selection': { shape: true },
  'row-grants': { permissions: [ItemsOfHeader] },
  basic: { authentication: [basic(verifyPassword)], permissions: [IsAuthenticated] },
  bearer: { authentication: [guard(TokenGuard, 'Bearer')], permissions: [IsAuthenticated] },
  'version-etag': { conditional: true },
  'typical-basic': { ...TYPICAL_OPTIONS, authentication: [basic(verifyPassword)] },
  'typical-bearer': { ...TYPICAL_OPTIONS, authentication: [guard(TokenGuard, 'Bearer')] },
};

const EXTRA: Partial<Readonly<Record<VariantName, ColumnOptions>>> = {
  timestamptz: { type: 'timestamptz' },
  datetime: { type: onPostgres ? 'timestamp' : 'datetime' },
  decimal: { type: 'decimal', precision: 10, scale: 2 },
  'uuid-column': { type: onPostgres ? 'uuid' : 'varchar' },
  enum: {
    type: onPostgres ? 'enum' : 'simple-enum',
    enum: ['draft', 'open', 'closed'],
    enumName: 'item_state',
  },
  boolean: { type: 'boolean' },
  nullable: { type: 'varchar', length: 40, nullable: true },
  json: { type: onPostgres ? 'jsonb' : 'simple-json' },
};

interface ItemFields {
  id: number | string;
  title: string;
  category: Relation<Category>;
  owner: Relation<Owner>;
}

/** The entity of a variant. Its decorators are applied as functions, because they differ by variant. */
function itemOf(variant: VariantName, table: string): Type {
  // eslint-disable-next-line @typescript-eslint/no-extraneous-class -- its columns are declared below
  class Item {}
  const prototype = Item.prototype as ItemFields;
  if (variant === 'uuid-key') PrimaryGeneratedColumn('uuid')(prototype, 'id');
  else PrimaryGeneratedColumn()(prototype, 'id');
  Column({ type: 'varchar', length: 100 })(prototype, 'title');
  Column({ type: 'varchar', length: 40 })(prototype, 'code');
  Column({ type: 'integer' })(prototype, 'rating');
  Column(EXTRA[variant] ?? { type: 'varchar', length: 40 })(prototype, 'extra');
  ManyToOne(() => Category, { nullable: false })(prototype, 'category');
  JoinColumn({ name: 'category_id' })(prototype, 'category');
  ManyToOne(() => Owner, { nullable: false })(prototype, 'owner');
  JoinColumn({ name: 'owner_id' })(prototype, 'owner');
  const typical = variant.startsWith('typical-');
  if (typical || variant === 'updated-at') UpdateDateColumn()(prototype, 'updated_at');
  if (variant === 'version-etag') VersionColumn()(prototype, 'version');
  if (variant === 'class-validator') MinLength(3)(prototype, 'title');
  if (typical) {
    Length(3, 100)(prototype, 'title');
    Matches(/^C\d+/)(prototype, 'code');
    Min(0)(prototype, 'rating');
    Max(1000)(prototype, 'rating');
  }
  Entity({ name: table })(Item);
  const target: Type = Item;
  restify(target, { app: 'shop', name: 'item', ...OPTIONS[variant] });
  return target;
}

export function modelOptionsApp(variant: VariantName, table: string): Type {
  @Module({
    imports: [
      TypeOrmModule.forRoot({
        ...dataSourceOptions(),
        entities: [Category, Owner, itemOf(variant, table)],
        subscribers: variant === 'subscriber' ? [CategorySubscriber] : [],
        retryAttempts: 0,
      }),
      RestifyModule.forRoot('rest/v1', { permissions: [AllowAny] }),
    ],
    providers: [TokenGuard],
  })
  class ModelOptionsApp {}
  return ModelOptionsApp;
}
