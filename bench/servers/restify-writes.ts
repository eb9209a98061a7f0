import { Length, Max, Min } from 'class-validator';
import { ResourceController, Restify, RestifyController } from 'nestjs-restify';
import type { Write } from 'nestjs-restify';
import {
  BeforeInsert,
  BeforeUpdate,
  Column,
  Entity,
  JoinColumn,
  ManyToOne,
  OneToMany,
  PrimaryGeneratedColumn,
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

@Restify({ app: 'depot', bulk: true })
@Entity()
class Parcel extends Labelled {}

/** With a hook of this package. */
@Restify({ app: 'depot', bulk: true })
@Entity()
class Hooked extends Labelled {}

@RestifyController(Hooked)
export class HookedController extends ResourceController<Hooked> {
  override beforeWrite({ entity }: Write<Hooked>): void {
    entity.label = entity.label.toUpperCase();
  }
}

/** With a listener of TypeORM. */
@Restify({ app: 'depot', bulk: true })
@Entity()
class Listened extends Labelled {
  @BeforeInsert()
  @BeforeUpdate()
  writeCapitals(): void {
    this.label = this.label.toUpperCase();
  }
}

/** With rules of class-validator. */
@Restify({ app: 'depot', bulk: true })
@Entity()
class Ruled {
  @PrimaryGeneratedColumn()
  id: number;

  @Column({ length: 100 })
  @Length(3, 100)
  label: string;

  @Column()
  @Min(0)
  @Max(1000)
  weight: number;
}

@Restify({ app: 'depot', bulk: { upsert: ['code'] } })
@Entity()
class Ware {
  @PrimaryGeneratedColumn()
  id: number;

  @Column({ length: 20, unique: true })
  code: string;

  @Column()
  stock: number;
}

@Restify({ app: 'depot', nested: ['items'] })
@Entity()
class Shelf {
  @PrimaryGeneratedColumn()
  id: number;

  @Column({ length: 100 })
  label: string;

  @Column()
  places: number;

  @OneToMany(() => Item, (item) => item.shelf)
  items: Relation<Item[]>;
}

@Restify('depot')
@Entity()
class Item extends Labelled {
  @ManyToOne(() => Shelf, (shelf) => shelf.items, { nullable: false })
  @JoinColumn({ name: 'shelf_id' })
  shelf: Relation<Shelf>;
}

export const WRITTEN_ENTITIES = [Parcel, Hooked, Listened, Ruled, Ware, Shelf, Item];
