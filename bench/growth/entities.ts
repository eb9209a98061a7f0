import { allow, CursorPagination, LimitOffsetPagination, Restify, where } from 'nestjs-restify';
import type { Grant, Permission } from 'nestjs-restify';
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
} from 'typeorm';
import type { Relation } from 'typeorm';

export const PAGE = 20;

/** Nearly all customers are those of the large tenant; the small one has ten. */
export const TENANT = { large: 1, small: 2 } as const;

/** Of whom a request is. */
export const caller: { tenant: number } = { tenant: TENANT.large };

class OwnOrders implements Permission {
  decide(): Grant {
    return allow({ rows: where('customer.tenant', caller.tenant) });
  }
}

function offsets(): LimitOffsetPagination {
  return new LimitOffsetPagination({ pageSize: PAGE, count: false, countParameter: 'count' });
}

@Restify({
  app: 'growth',
  filterFields: { name: ['exact'] },
  searchFields: ['name'],
  pagination: offsets(),
})
@Entity('growth_customer')
export class Customer {
  @PrimaryColumn() id: number;
  @Index() @Column() tenant: number;
  @Index() @Column({ type: 'varchar', length: 20 }) name: string;
  @OneToMany(() => Order, (order) => order.customer) orders: Relation<Order[]>;
}

/** The same customers, loaded as entities by TypeORM. */
@Restify({
  app: 'growth',
  name: 'greeted',
  computed: { greeting: (customer: object) => `Dear ${(customer as GreetedCustomer).name}` },
  pagination: offsets(),
})
@Entity({ name: 'growth_customer', synchronize: false })
export class GreetedCustomer {
  @PrimaryColumn() id: number;
  @Column({ type: 'varchar', length: 20 }) name: string;
}

@Restify({
  app: 'growth',
  filterFields: {
    id: ['gte', 'in'],
    number: ['range'],
    state: ['exact'],
    customer: ['exact'],
    'customer.name': ['exact'],
    'lines.product': ['exact'],
    tags: ['exact'],
  },
  filterGroups: true,
  orderingFields: ['state', 'number', 'customer.name'],
  aggregate: { group: ['state'], sum: ['number'] },
  expandable: ['customer', 'lines'],
  expansionQueries: true,
  counts: ['lines'],
  pagination: new CursorPagination({ pageSize: PAGE, secret: 'x'.repeat(32) }),
})
@Entity('growth_order')
@Index(['state', 'id'])
export class Order {
  @PrimaryColumn() id: number;
  @Index() @Column() number: number;
  @Column() state: number;
  @Column({ type: 'simple-json' }) meta: object;
  @Index()
  @ManyToOne(() => Customer, (customer) => customer.orders, { nullable: false })
  @JoinColumn({ name: 'customer_id' })
  customer: Relation<Customer>;
  @OneToMany(() => Line, (line) => line.order) lines: Relation<Line[]>;
  @ManyToMany(() => Tag, (tag) => tag.orders)
  @JoinTable({
    name: 'growth_tagging',
    joinColumn: { name: 'order_id' },
    inverseJoinColumn: { name: 'tag_id' },
  })
  tags: Relation<Tag[]>;
}

/** The same orders, of which each tenant sees its own. */
@Restify({ app: 'growth', name: 'own', permissions: [OwnOrders], pagination: offsets() })
@Entity({ name: 'growth_order', synchronize: false })
export class OwnOrder {
  @PrimaryColumn() id: number;
  @ManyToOne(() => Customer, { nullable: false })
  @JoinColumn({ name: 'customer_id' })
  customer: Relation<Customer>;
}

@Restify({
  app: 'growth',
  filterFields: { product: ['exact', 'gte'], 'order.customer.name': ['exact'] },
  orderingFields: ['product'],
  pagination: offsets(),
})
@Entity('growth_line')
@Index(['product', 'id'])
export class Line {
  @PrimaryColumn() id: number;
  @Index()
  @ManyToOne(() => Order, (order) => order.lines, { nullable: false })
  @JoinColumn({ name: 'order_id' })
  order: Relation<Order>;
  @Column() product: number;
}

/** The same lines, without pagination. */
@Restify({ app: 'growth', name: 'every', orderingFields: ['product'] })
@Entity({ name: 'growth_line', synchronize: false })
export class EveryLine {
  @PrimaryColumn() id: number;
  @Column({ name: 'order_id' }) order: number;
  @Column() product: number;
}

/** The same orders, without pagination. */
@Restify({ app: 'growth', name: 'everyorder', orderingFields: ['customer.name'] })
@Entity({ name: 'growth_order', synchronize: false })
export class EveryOrder {
  @PrimaryColumn() id: number;
  @ManyToOne(() => Customer, { nullable: false })
  @JoinColumn({ name: 'customer_id' })
  customer: Relation<Customer>;
}

@Restify({ app: 'growth' })
@Entity('growth_tag')
export class Tag {
  @PrimaryColumn() id: number;
  @ManyToMany(() => Order, (order) => order.tags) orders: Relation<Order[]>;
}

export const ENTITIES = [Customer, GreetedCustomer, Order, OwnOrder, Line, EveryLine, EveryOrder, Tag];
