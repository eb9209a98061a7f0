import { allow, deny, Restify, where } from 'nestjs-restify';
import type { AccessContext, Grant, Permission, Denial } from 'nestjs-restify';
import {
  Column,
  Entity,
  JoinTable,
  ManyToMany,
  ManyToOne,
  OneToMany,
  PrimaryColumn,
  PrimaryGeneratedColumn,
  Unique,
} from 'typeorm';
import type { Relation } from 'typeorm';

/** Who asks, by name. `eve` has rows of her own, and reads no secret; `mute` may not read; `adder` may only create. */
export class Roles implements Permission {
  decide({ actor, method }: AccessContext): Grant | Denial {
    const name = (actor as { readonly name: string } | null)?.name;
    if (name === 'eve')
      return method === 'GET'
        ? allow({ rows: where('owner', 'eve'), readable: ['id', 'code', 'votes', 'owner', 'shelf'] })
        : allow({ rows: where('owner', 'eve') });
    return this.restricted(name, method) ?? allow();
  }

  private restricted(name: string | undefined, method: string): Grant | Denial | undefined {
    switch (`${name ?? ''} ${method}`) {
      case 'blind GET':
        return allow({ rows: where('owner', 'blind') });
      case 'mute GET':
        return deny();
      case 'narrow PATCH':
        return allow({ writable: ['votes'] });
      default:
        return name === 'adder' && method !== 'POST' && method !== 'GET' ? deny() : undefined;
    }
  }
}

@Restify({ app: 'bulk' })
@Entity('bulk_shelf')
export class Shelf {
  @PrimaryGeneratedColumn() id: number;
  @Column({ length: 20 }) name: string;
  @OneToMany(() => Item, (item) => item.shelf) items: Relation<Item[]>;
}

@Restify({ app: 'bulk', bulk: { operations: ['destroy'] }, filterFields: { name: ['exact', 'in'] } })
@Entity('bulk_rack')
export class Rack {
  @PrimaryGeneratedColumn() id: number;
  @Column({ length: 20 }) name: string;
}

/** Plain: its rows are written by one statement each. */
@Restify({
  app: 'bulk',
  bulk: { upsert: ['code'], max: 20 },
  permissions: [Roles],
  shape: true,
  expandable: ['shelf'],
  filterFields: {
    code: ['exact', 'in', 'startswith'],
    votes: ['exact', 'gte', 'lte'],
    owner: ['exact'],
    secret: ['exact'],
    'shelf.name': ['exact'],
  },
})
@Entity('bulk_item')
@Unique('bulk_item_code', ['code'])
export class Item {
  @PrimaryGeneratedColumn() id: number;
  @Column({ length: 10 }) code: string;
  @Column({ type: 'int', default: 0 }) votes: number;
  @Column({ length: 10, default: 'all' }) owner: string;
  @Column({ length: 10, default: 'none' }) secret: string;
  @ManyToOne(() => Shelf, (shelf) => shelf.items, { nullable: true, onDelete: 'RESTRICT' })
  shelf: Relation<Shelf> | null;
  @ManyToOne(() => Rack, { nullable: true, onDelete: 'RESTRICT' }) rack: Relation<Rack> | null;
}

/** Its key is the client's own text, and its rows are made through TypeORM: the class has a say in what they begin with. */
@Restify({ app: 'bulk', bulk: true, strict: true, optional: ['length'] })
@Entity('bulk_word')
export class Word {
  @PrimaryColumn({ length: 30 }) text: string;
  @Column({ type: 'int' }) length = 1;
}

@Restify({ app: 'bulk', bulk: { operations: ['partialUpdate', 'destroy'] } })
@Entity('bulk_cell')
export class Cell {
  @PrimaryColumn({ type: 'int' }) row: number;
  @PrimaryColumn({ type: 'int' }) col: number;
  @Column({ length: 10 }) value: string;
}

@Restify({ app: 'bulk' })
@Entity('bulk_club')
export class Club {
  @PrimaryGeneratedColumn() id: number;
  @Column({ length: 20 }) name: string;
}

@Restify({ app: 'bulk', through: { clubs: { bulk: true } } })
@Entity('bulk_person')
export class Person {
  @PrimaryGeneratedColumn() id: number;
  @Column({ length: 20 }) name: string;
  @ManyToMany(() => Club) @JoinTable({ name: 'bulk_person_club' }) clubs: Relation<Club[]>;
}

export const ENTITIES = [Shelf, Rack, Item, Word, Cell, Club, Person];
