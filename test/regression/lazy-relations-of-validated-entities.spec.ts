// @tags core
import { expect, test } from '@jest/globals';
import { Length } from 'class-validator';
import { Restify } from 'nestjs-restify';
import { Column, Entity, JoinTable, ManyToMany, ManyToOne, PrimaryGeneratedColumn } from 'typeorm';
import { StatementLog } from '../faults/statement-log.js';
import { startApp } from '../support/start-app.js';

@Restify('lazy')
@Entity('lazy_shelf')
class LazyShelf {
  @PrimaryGeneratedColumn()
  id: number;
}

@Restify('lazy')
@Entity('lazy_book')
class LazyBook {
  @PrimaryGeneratedColumn()
  id: number;

  @Length(1, 20)
  @Column()
  title: string;

  @ManyToOne(() => LazyShelf, { lazy: true })
  shelf: Promise<LazyShelf | null>;

  @ManyToMany(() => LazyShelf, { lazy: true })
  @JoinTable({ name: 'lazy_book_shelves' })
  shelves: Promise<LazyShelf[]>;
}

test('a change of a validated entity does not load its lazy relations', async () => {
  const log = new StatementLog();
  const started = await startApp({
    compare: false,
    entities: [LazyShelf, LazyBook],
    dataSource: { logging: true, logger: log },
  });
  const { client } = started;
  try {
    await client.post('/rest/v1/lazy/lazyshelf/', {});
    await client.post('/rest/v1/lazy/lazybook/', { title: 'one', shelf: 1 });
    await client.post('/rest/v1/lazy/lazybook/1/shelves/', { lazyshelf: 1 });
    log.clear();
    expect((await client.patch('/rest/v1/lazy/lazybook/1/', { title: 'two' })).json).toMatchObject({
      title: 'two',
      shelf: 1,
    });
    expect(log.statements.length).toBeGreaterThan(0);
    expect(log.statements.filter((each) => each.includes('lazy_shelf') || each.includes('shelves'))).toEqual(
      [],
    );
  } finally {
    await started.close();
  }
});
