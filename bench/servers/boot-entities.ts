import { Column, Entity, JoinColumn, ManyToOne, OneToMany, PrimaryGeneratedColumn } from 'typeorm';

export type EntityClass = new () => object;

/** Entities with 8 columns and 2 relations, in a ring: each belongs to the previous one, and has many of the next one. */
export function makeEntities(count: number): EntityClass[] {
  const classes = Array.from({ length: count }, (_, at) => namedClass(`Model${at}`));
  for (const [at, model] of classes.entries()) {
    const prototype = model.prototype as object;
    PrimaryGeneratedColumn()(prototype, 'id');
    for (const name of ['name', 'title', 'note']) Column({ type: 'varchar', length: 100 })(prototype, name);
    for (const name of ['rank', 'size', 'weight']) Column({ type: 'integer' })(prototype, name);
    Column({ type: 'boolean' })(prototype, 'active');
    ManyToOne(() => classes[(at + count - 1) % count] ?? model, 'children', { nullable: true })(
      prototype,
      'parent',
    );
    JoinColumn({ name: 'parent_id' })(prototype, 'parent');
    OneToMany(() => classes[(at + 1) % count] ?? model, 'parent')(prototype, 'children');
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
