import { Column, Entity, JoinColumn, ManyToOne, OneToMany, PrimaryGeneratedColumn } from 'typeorm';

export type EntityClass = new () => object;

/** The names of the relations: half of them belong to a parent, the other half have its children. */
export interface RelationNames {
  readonly parent: string;
  readonly children: string;
}

/** The names of that many relations, in pairs. */
export function relationNames(relations: number): RelationNames[] {
  return Array.from({ length: relations / 2 }, (_, at) => {
    const suffix = at === 0 ? '' : String(at + 1);
    return { parent: `parent${suffix}`, children: `children${suffix}` };
  });
}

/** Entities with 8 columns, in a ring: each belongs to the previous ones, and has many of the next ones. */
export function makeEntities(count: number, relations = 2): EntityClass[] {
  const classes = Array.from({ length: count }, (_, at) => namedClass(`Model${at}`));
  for (const [at, model] of classes.entries()) {
    const prototype = model.prototype as object;
    PrimaryGeneratedColumn()(prototype, 'id');
    for (const name of ['name', 'title', 'note']) Column({ type: 'varchar', length: 100 })(prototype, name);
    for (const name of ['rank', 'size', 'weight']) Column({ type: 'integer' })(prototype, name);
    Column({ type: 'boolean' })(prototype, 'active');
    for (const [distance, { parent, children }] of relationNames(relations).entries()) {
      const neighbour = (step: number): EntityClass =>
        classes[(((at + step * (distance + 1)) % count) + count) % count] ?? model;
      ManyToOne(() => neighbour(-1), children, { nullable: true })(prototype, parent);
      JoinColumn({ name: `${parent}_id` })(prototype, parent);
      OneToMany(() => neighbour(1), parent)(prototype, children);
    }
    Entity(model.name.toLowerCase())(model);
  }
  return classes;
}

function namedClass(name: string): EntityClass {
  // eslint-disable-next-line @typescript-eslint/no-extraneous-class -- its columns are declared in a loop
  const made = class {};
  Object.defineProperty(made, 'name', { value: name });
  return made;
}
