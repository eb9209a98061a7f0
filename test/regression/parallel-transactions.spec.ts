// @tags db nest
import { expect, test } from '@jest/globals';
import { Restify, RestifyResources } from 'nestjs-restify';
import { Column, Entity, PrimaryGeneratedColumn } from 'typeorm';
import type { EntityManager } from 'typeorm';
import { onEachDatabase } from '../support/each-database.js';
import { startApp } from '../support/start-app.js';
import type { StartedApp } from '../support/start-app.js';

@Restify('par')
@Entity('par_item')
class ParItem {
  @PrimaryGeneratedColumn() id: number;
  @Column({ length: 20 }) name: string;
}

type Write = (started: StartedApp, manager: EntityManager) => Promise<unknown>;

const WRITES: readonly (readonly [of: string, write: Write])[] = [
  ['its own', (_started, manager) => manager.getRepository(ParItem).insert({ name: 'own' })],
  [
    'RestifyResources',
    ({ app }, manager) =>
      app.get(RestifyResources).of(ParItem).as(null, { manager }).create({ name: 'joined' }),
  ],
];

onEachDatabase('transactions of the application at the same time', (database) => {
  // SQLite has one connection: TypeORM rejects them there, and rolls each of them back.
  test.each(WRITES)('do not keep later requests from being served: with writes of %s', async (_of, write) => {
    const started = await startApp({ entities: [ParItem], database, compare: false });
    const { dataSource, client } = started;
    const results = await Promise.allSettled(
      Array.from({ length: 4 }, () => dataSource.transaction((manager) => write(started, manager))),
    );
    const isEach = results.every(({ status }) => status === 'fulfilled');
    expect(isEach).toBe(database.name !== 'sqlite');
    expect((await client.post('/rest/v1/par/paritem/', { name: 'later' })).status).toBe(201);
    await dataSource.transaction((manager) => write(started, manager));
    expect(await dataSource.query(`SELECT name FROM par_item WHERE name = 'later'`)).toHaveLength(1);
    await started.close();
  });
});
