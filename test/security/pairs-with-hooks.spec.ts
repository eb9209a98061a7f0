// @tags db nest
import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { InvalidInput, NotFound, ResourceController, Restify, RestifyController } from 'nestjs-restify';
import type { Write } from 'nestjs-restify';
import {
  Column,
  DeleteDateColumn,
  Entity,
  JoinTable,
  ManyToMany,
  ManyToOne,
  PrimaryColumn,
  PrimaryGeneratedColumn,
  Unique,
  VersionColumn,
} from 'typeorm';
import type { Relation } from 'typeorm';
import type { Answer } from '../support/client.js';
import { onEachDatabase } from '../support/each-database.js';
import { startApp } from '../support/start-app.js';
import type { StartedApp } from '../support/start-app.js';

@Restify({ app: 'crew', relatedKeys: ['sailors'], bulk: { upsert: ['name'] } })
@Entity('crew_ship')
class Ship {
  @PrimaryColumn({ type: 'int' }) id: number;
  @Column({ length: 20, unique: true }) name: string;
  @VersionColumn() version: number;
  @ManyToMany(() => Sailor, (sailor) => sailor.ships)
  @JoinTable({
    name: 'crew_berth',
    joinColumn: { name: 'shipId' },
    inverseJoinColumn: { name: 'sailorId' },
    synchronize: false,
  })
  sailors: Relation<Sailor[]>;
}

@Restify({ app: 'crew', relatedKeys: ['ships'] })
@Entity('crew_sailor')
class Sailor {
  @PrimaryColumn({ type: 'int' }) id: number;
  @ManyToMany(() => Ship, (ship) => ship.sailors) ships: Relation<Ship[]>;
}

@Restify('crew')
@Entity('crew_berth')
@Unique(['ship', 'sailor'])
class Berth {
  @PrimaryGeneratedColumn() id: number;
  @ManyToOne(() => Ship, { nullable: false }) ship: Relation<Ship>;
  @ManyToOne(() => Sailor, { nullable: false }) sailor: Relation<Sailor>;
  @DeleteDateColumn() left: Date | null;
}

let refuse: (write: Write<Berth>) => void = () => undefined;

@RestifyController(Berth)
class BerthController extends ResourceController<Berth> {
  override beforeWrite(write: Write<Berth>): void {
    refuse(write);
  }
}

const SHIPS = '/rest/v1/crew/ship/';
const SAILORS = '/rest/v1/crew/sailor/';

onEachDatabase('related keys whose pairs are refused', (database) => {
  let started: StartedApp;
  beforeAll(async () => {
    started = await startApp({
      entities: [Ship, Sailor, Berth],
      controllers: [BerthController],
      database,
    });
    await started.dataSource.getRepository(Sailor).insert([1, 2, 3].map((id) => ({ id })));
  });
  afterAll(() => started.close());
  beforeEach(async () => {
    refuse = () => undefined;
    const { dataSource } = started;
    for (const entity of [Berth, Ship]) await dataSource.createQueryBuilder().delete().from(entity).execute();
    await dataSource.getRepository(Ship).insert([1, 2].map((id) => ({ id, name: `s${id}` })));
    await dataSource.getRepository(Berth).insert([1, 2].map((id) => ({ ship: { id: 1 }, sailor: { id } })));
  });

  const outcome = ({ status, json }: Answer): unknown => [status, json];
  const first = { id: 1, name: 's1', version: 1, sailors: [1, 2] };
  const expectUnchanged = async (): Promise<void> => {
    expect((await started.client.get(`${SHIPS}1/`)).json).toEqual(first);
  };
  const refuseRemoval = (error: Error): void => {
    refuse = ({ operation, stored }) => {
      if (operation === 'destroy' && stored?.sailor === 2) throw error;
    };
  };

  test('S7: an error of a hook that runs for a removed pair is that of the field', async () => {
    const { client } = started;
    refuseRemoval(InvalidInput.of('sailor', 'On watch.'));
    const refusals: [unknown, unknown][] = [
      [[1], ['On watch.']],
      [{ remove: [1, 2] }, { remove: ['On watch.'] }],
    ];
    for (const [sailors, errors] of refusals) {
      expect(outcome(await client.patch(`${SHIPS}1/`, { sailors, name: 'x' }))).toEqual([
        400,
        { sailors: errors },
      ]);
      expect(
        outcome(
          await client.patch(SHIPS, [
            { id: 2, sailors: [3] },
            { id: 1, sailors },
          ]),
        ),
      ).toEqual([400, [{}, { sailors: errors }]]);
    }
    expect(outcome(await client.patch(`${SAILORS}2/`, { ships: [] }))).toEqual([
      400,
      { ships: ['On watch.'] },
    ]);
    await expectUnchanged();
  });

  test('S7: another error of it has the status that it has at the URL of the pair', async () => {
    const { client } = started;
    refuseRemoval(new NotFound());
    expect((await client.patch(`${SHIPS}1/`, { sailors: [1], name: 'x' })).status).toBe(404);
    refuseRemoval(new Error('broken'));
    expect((await client.patch(`${SHIPS}1/`, { sailors: [1], name: 'x' })).status).toBe(500);
    await expectUnchanged();
  });

  test('S7: a pair that a deleted one keeps from being created is an error at its object', async () => {
    const { client } = started;
    const { status } = await client.patch(`${SHIPS}1/`, { sailors: [1] });
    expect(status).toBe(200);
    const unique = 'Item 1: The fields ship, sailor must make a unique set.';
    const sailors = [1, 2];
    expect(outcome(await client.patch(`${SHIPS}1/`, { sailors }))).toEqual([400, { sailors: [unique] }]);
    const second = { id: 2, sailors: [3] };
    expect(outcome(await client.patch(SHIPS, [second, { id: 1, sailors }]))).toEqual([
      400,
      [{}, { sailors: [unique] }],
    ]);
    const rows = [
      { id: 3, name: 's3', sailors: [3] },
      { id: 1, name: 's1', sailors },
    ];
    expect(outcome(await client.post(`${SHIPS}?upsert=true`, rows))).toEqual([
      400,
      [{}, { sailors: [unique] }],
    ]);
    expect((await client.get(`${SHIPS}2/`)).json).toMatchObject({ sailors: [] });
  });
});
