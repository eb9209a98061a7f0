// @tags db nest
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { restify, Restify } from 'nestjs-restify';
import {
  ChildEntity,
  Column,
  DeleteDateColumn,
  Entity,
  PrimaryGeneratedColumn,
  TableInheritance,
  VirtualColumn,
} from 'typeorm';
import { documentOf } from '../openapi/document.js';
import { onEachDatabase } from '../support/each-database.js';
import { startApp } from '../support/start-app.js';
import type { StartedApp } from '../support/start-app.js';
import { WORLD } from '../support/world.js';

/** Of a number of its own in the table's discriminator column; the root has the name of its class. */
@Restify('oddc')
@Entity('oddc_shape')
@TableInheritance({ column: { name: 'kind', type: 'int' } })
class Shape {
  @PrimaryGeneratedColumn()
  id: number;

  @Column({ type: 'int', default: null })
  area: number | null;

  @DeleteDateColumn()
  removed: Date | null;

  @VirtualColumn({ type: 'int', query: (alias) => `SELECT NULLIF(${alias}.area, 0)` })
  shown: number | null;
}

@Restify('oddc')
@ChildEntity(1)
class Round extends Shape {
  @Column({ type: 'int', default: null })
  radius: number | null;
}

onEachDatabase('a shared table whose discriminator is a number', (database) => {
  let started: StartedApp;
  beforeAll(async () => {
    started = await startApp({ database, entities: [Shape, Round] });
  });
  afterAll(() => started.close());

  test('offers no creation of a root without a number, and all else', async () => {
    const { client } = started;
    const made = await client.post('/rest/v1/oddc/round/', { area: 3, radius: 1 });
    expect([made.status, made.json]).toMatchObject([201, { area: 3, shown: 3, radius: 1 }]);
    const { id } = made.json as { id: number };
    const refused = await client.post('/rest/v1/oddc/shape/', { area: 1 });
    expect([refused.status, refused.headers.allow]).toEqual([405, 'GET, HEAD, OPTIONS']);
    const changed = await client.patch(`/rest/v1/oddc/shape/${id}/`, { area: 4 });
    expect([changed.status, changed.json]).toMatchObject([200, { area: 4, shown: 4 }]);
    const { actions } = (await client.send('OPTIONS', '/rest/v1/oddc/shape/')).json as { actions: object };
    expect(actions).toEqual({});
    expect(Object.keys(documentOf(started.app).paths['/rest/v1/oddc/shape/'] ?? {})).not.toContain('post');
  });

  test('has null where a default of null makes a column nullable, and where a virtual column is NULL', async () => {
    const { client } = started;
    const made = await client.post('/rest/v1/oddc/round/', { area: null, radius: null });
    expect([made.status, made.json]).toMatchObject([
      201,
      { area: null, radius: null, shown: null, removed: null },
    ]);
    const { schemas = {} } = documentOf(started.app).components;
    for (const name of ['area', 'shown', 'removed'])
      expect(schemas.OddcShape).toMatchObject({
        properties: { [name]: { type: expect.arrayContaining(['null']) } },
      });
    expect((await client.get('/rest/v1/oddc/shape/?ordering=area')).status).toBe(200);
  });
});

enum Level {
  low = 0,
  mid = 10,
}

/** MariaDB and MySQL have no arrays; TypeORM 0.3 has none of them on SQLite. */
onEachDatabase(
  'an array of a simple-enum',
  (database) => {
    class Ladder {
      id: number;
    }
    PrimaryGeneratedColumn()(Ladder.prototype, 'id');
    Column({ type: 'simple-enum', enum: Level, array: true })(Ladder.prototype, 'levels');
    Column({ type: 'simple-enum', enum: ['a', 'b'], array: true, nullable: true })(Ladder.prototype, 'names');
    Entity('oddc_ladder')(Ladder);
    restify(Ladder, 'oddc');

    test('has the enum’s own values, numbers too', async () => {
      const started = await startApp({ database, entities: [Ladder] });
      const { client, dataSource } = started;
      const url = '/rest/v1/oddc/ladder/';
      const made = await client.post(url, { levels: [10, 0], names: ['b'] });
      expect([made.status, made.json]).toEqual([201, { id: 1, levels: [10, 0], names: ['b'] }]);
      expect((await client.get(url)).json).toEqual([made.json]);
      const changed = await client.patch(`${url}1/`, { levels: [], names: null });
      expect(changed.json).toEqual({ id: 1, levels: [], names: null });
      expect((await client.patch(`${url}1/`, { levels: ['10'] })).json).toMatchObject({ levels: [10] });
      expect(await dataSource.getRepository(Ladder).find()).toMatchObject([{ levels: [10], names: null }]);
      const wrong = await client.post(url, { levels: [5] });
      expect([wrong.status, wrong.json]).toEqual([400, { levels: ['Item 0: "5" is not a valid choice.'] }]);
      await started.close();
    });
  },
  WORLD.name === 'nest-11' ? ['postgres'] : ['sqlite', 'postgres'],
);

if (WORLD.name === 'nest-11')
  test('an array of a simple-enum on SQLite, which TypeORM 0.3 does not read as one, keeps the application from starting', async () => {
    class Rung {
      id: number;
    }
    PrimaryGeneratedColumn()(Rung.prototype, 'id');
    Column({ type: 'simple-enum', enum: ['a', 'b'], array: true })(Rung.prototype, 'names');
    Entity('oddc_rung')(Rung);
    restify(Rung, 'oddc');
    await expect(startApp({ entities: [Rung] })).rejects.toThrow(
      'Rung.names: TypeORM cannot write arrays of the type "simple-enum" to this database.',
    );
  });
