// @tags db nest
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { ResourceController, Restify, RestifyController } from 'nestjs-restify';
import type { Write } from 'nestjs-restify';
import { Column, Entity, JoinColumn, ManyToOne, OneToOne, PrimaryGeneratedColumn } from 'typeorm';
import type { Relation } from 'typeorm';
import { onEachDatabase } from '../support/each-database.js';
import { startApp } from '../support/start-app.js';
import type { StartedApp } from '../support/start-app.js';

@Restify('hookkeys')
@Entity('hookkeys_port')
class Port {
  @PrimaryGeneratedColumn() id: number;
  @Column({ length: 20 }) name: string;
}

class Leg {
  @Column({ type: 'varchar', length: 20, nullable: true }) note: string | null;
  @ManyToOne(() => Port) from: Relation<Port> | null;
}

/** Nothing but a relation. */
class Home {
  @OneToOne(() => Port) @JoinColumn() port: Relation<Port> | null;
}

@Restify('hookkeys')
@Entity('hookkeys_ship')
class Ship {
  @PrimaryGeneratedColumn() id: number;
  @Column(() => Leg) leg: Leg;
  @Column(() => Home) home: Home;
  @Column({ type: 'int', default: 0 }) crew: number;
}

/** The keys that a hook saw on the entity that is changed. */
let seen: unknown;

@RestifyController(Ship)
class ShipController extends ResourceController<Ship> {
  override beforeWrite({ entity, operation }: Write<Ship>): Promise<void> {
    if (operation !== 'create') seen = [entity.leg.from?.id, entity.home.port?.id];
    return Promise.resolve();
  }
}

onEachDatabase('a hook of a change', (database) => {
  let started: StartedApp;
  beforeAll(async () => {
    started = await startApp({ entities: [Port, Ship], controllers: [ShipController], database });
  });
  afterAll(() => started.close());

  test('has the relations of embedded objects, also of one without another value', async () => {
    const { client } = started;
    const port = async (name: string): Promise<number> =>
      ((await client.post('/rest/v1/hookkeys/port/', { name })).json as { id: number }).id;
    const [from, home] = [await port('a'), await port('b')];
    const made = await client.post('/rest/v1/hookkeys/ship/', { leg: { from }, home: { port: home } });
    expect(made.status).toBe(201);
    const { id } = made.json as { id: number };
    const changed = await client.patch(`/rest/v1/hookkeys/ship/${id}/`, { crew: 3 });
    expect([changed.status, changed.json]).toEqual([
      200,
      { id, leg: { note: null, from }, home: { port: home }, crew: 3 },
    ]);
    expect(seen).toEqual([from, home]);
  });
});
