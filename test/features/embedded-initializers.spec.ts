// @tags db nest
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { Length } from 'class-validator';
import { ResourceController, restify, RestifyController } from 'nestjs-restify';
import {
  BeforeUpdate,
  Column,
  Entity,
  JoinColumn,
  ManyToOne,
  PrimaryGeneratedColumn,
  VersionColumn,
} from 'typeorm';
import { onEachDatabase } from '../support/each-database.js';
import { startApp } from '../support/start-app.js';
import type { StartedApp } from '../support/start-app.js';
import { seen } from './nested-answers.js';

class Geo {
  @Column({ type: 'varchar', length: 40, nullable: true }) zone: string | null = 'CET';
}

class Address {
  @Column({ type: 'varchar', length: 40, nullable: true }) city: string | null;
  @Column({ type: 'varchar', length: 40, nullable: true }) country: string | null = 'DE';
  @Column({ type: 'varchar', length: 40, nullable: true, select: false }) secret: string | null =
    randomUUID();
  @Column(() => Geo) geo = new Geo();
}

abstract class Base {
  @PrimaryGeneratedColumn() id: number;
  @Column({ length: 20 }) name: string;
  @Length(1, 40)
  @Column({ type: 'varchar', length: 40, nullable: true, select: false })
  token: string | null = randomUUID();
  @Column({ type: 'varchar', length: 40, nullable: true }) state: string | null = 'new';
  @Column(() => Address) address = new Address();
}

@Entity('ei_plain')
class Plain extends Base {}

@Entity('ei_versioned')
class Versioned extends Base {
  @VersionColumn() version: number;
}

@Entity('ei_listened')
class Listened extends Base {
  @BeforeUpdate() look(): void {
    this.name = `${this.name}!`;
  }
}

@Entity('ei_hooked')
class Hooked extends Base {}

@Entity('ei_owner')
class Owner {
  @PrimaryGeneratedColumn() id: number;
}

/** A lazy relation with a value of the class. */
@Entity('ei_lazy')
class Lazy extends Base {
  @ManyToOne(() => Owner) owner: Promise<Owner | null> = Promise.resolve(null);
}

/** Its relation is in an embedded object without columns, so that it is updated by its key. */
class Holder {
  @ManyToOne(() => Owner) @JoinColumn({ name: 'holder' }) holder: Owner | null = null;
}
@Entity('ei_keyed')
class Keyed extends Base {
  @Column(() => Holder) held = new Holder();
  @ManyToOne(() => Owner) owner: Promise<Owner | null> = Promise.resolve(null);
}

@RestifyController(Hooked)
class HookedController extends ResourceController<Hooked> {
  override beforeWrite(): void {
    // Whatever it changes is not known by name.
  }
}

for (const model of [Plain, Versioned, Listened, Hooked, Lazy, Keyed])
  restify(model, { app: 'ei', bulk: true });
restify(Owner, 'ei');

const NULLS = {
  state: null,
  address: { city: null, country: null, geo: { zone: null } },
};

onEachDatabase('values that a class assigns', (database) => {
  let started: StartedApp;
  beforeAll(async () => {
    started = await startApp({
      entities: [Plain, Versioned, Listened, Hooked, Owner, Lazy, Keyed],
      controllers: [HookedController],
      database,
    });
    await started.client.post('/rest/v1/ei/owner/', {});
  });
  afterAll(() => started.close());

  describe.each(['plain', 'versioned', 'listened', 'hooked', 'lazy', 'keyed'])('in the model %s', (model) => {
    test('are not written by a change of another field', async () => {
      const { client, dataSource } = started;
      const url = `/rest/v1/ei/${model}/`;
      const { id } = (await client.post(url, { name: 'a' })).json as { id: number };
      const columns = ['token', 'state', 'addressCity', 'addressCountry', 'addressSecret', 'addressGeoZone'];
      const q = (name: string): string => dataSource.driver.escape(name);
      const relations = { lazy: ['ownerId'], keyed: ['ownerId', 'heldHolder'] }[model] ?? [];
      const sets = [...columns.map((c) => `${q(c)} = NULL`), ...relations.map((c) => `${q(c)} = 1`)];
      await dataSource.query(`UPDATE ei_${model} SET ${sets.join(', ')} WHERE id = ${id}`);
      const object = `${url}${id}/`;
      const changes = [
        await client.patch(object, { name: 'b' }),
        await client.put(object, { name: 'c' }),
        await client.patch(url, [{ id, name: 'd' }]),
        await client.patch(object, { address: { city: null } }),
      ];
      for (const answer of changes) expect(seen(answer)).toMatchObject([200, {}]);
      expect(changes[0]?.json).toMatchObject({ name: expect.stringMatching(/^b/) as unknown, ...NULLS });
      const [row] = await dataSource.query<object[]>(
        `SELECT ${[...columns, ...relations].map(q).join(', ')} FROM ei_${model} WHERE id = ${id}`,
      );
      expect(row).toEqual({
        ...Object.fromEntries(columns.map((c) => [c, null])),
        ...Object.fromEntries(relations.map((c) => [c, 1])),
      });
      const changed = await client.patch(object, { address: { city: 'Bonn' } });
      expect(changed.json).toMatchObject({ address: { city: 'Bonn', country: null, geo: { zone: null } } });
    });
  });
});
