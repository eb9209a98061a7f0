// @tags db
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { allow, Restify, where } from 'nestjs-restify';
import type { Grant, Permission } from 'nestjs-restify';
import { Column, Entity, ManyToOne, OneToMany, PrimaryColumn } from 'typeorm';
import type { Relation } from 'typeorm';
import { onEachDatabase } from '../support/each-database.js';
import { startApp } from '../support/start-app.js';
import type { StartedApp } from '../support/start-app.js';

class OfOpenHouses implements Permission {
  decide(): Grant {
    return allow({ rows: where('house.name', 'exact', 'open') });
  }
}

@Restify('locks')
@Entity('locks_house')
class House {
  @PrimaryColumn()
  id: number;

  @Column({ length: 20 })
  name: string;

  @OneToMany(() => Door, (door) => door.house)
  doors: Relation<Door[]>;
}

@Restify({ app: 'locks', bulk: true, permissions: [OfOpenHouses] })
@Entity('locks_door')
class Door {
  @PrimaryColumn()
  id: number;

  @Column({ length: 20 })
  colour: string;

  @ManyToOne(() => House, (house) => house.doors)
  house: Relation<House>;
}

onEachDatabase('rows of a bulk write whose grant leads over a relation', (database) => {
  let started: StartedApp;
  beforeAll(async () => {
    started = await startApp({ entities: [House, Door], database });
    await started.dataSource.getRepository(House).insert({ id: 1, name: 'open' });
    await started.dataSource.getRepository(Door).insert([
      { id: 1, colour: 'red', house: { id: 1 } },
      { id: 2, colour: 'red', house: { id: 1 } },
    ]);
  });
  afterAll(() => started.close());

  test('are locked and changed', async () => {
    const answer = await started.client.patch('/rest/v1/locks/door/', [
      { id: 2, colour: 'blue' },
      { id: 1, colour: 'green' },
    ]);
    expect([answer.status, answer.json]).toEqual([
      200,
      [
        { id: 2, colour: 'blue', house: 1 },
        { id: 1, colour: 'green', house: 1 },
      ],
    ]);
  });
});
