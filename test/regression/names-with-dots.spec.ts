// @tags db nest
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { Restify } from 'nestjs-restify';
import { Column, Entity, Index, PrimaryGeneratedColumn } from 'typeorm';
import { onEachDatabase } from '../support/each-database.js';
import { startApp } from '../support/start-app.js';
import type { StartedApp } from '../support/start-app.js';

@Restify('dots')
@Entity('dots_item')
class DotsItem {
  @PrimaryGeneratedColumn() id: number;
  @Column({ name: 'item.code', length: 20, unique: true }) code: string;
  @Column({ length: 20, unique: true }) name: string;
}

/** TypeORM cannot make such an index on SQLite, whose messages name the columns. */
@Restify('dots')
@Entity('dots_indexed')
@Index('dots.by.code', ['code'], { unique: true })
class DotsIndexed {
  @PrimaryGeneratedColumn() id: number;
  @Column({ length: 20 }) code: string;
  @Column({ length: 20, unique: true }) name: string;
}

onEachDatabase('names of columns and indexes with dots', (database) => {
  let started: StartedApp;
  beforeAll(async () => {
    started = await startApp({
      entities: database.name === 'sqlite' ? [DotsItem] : [DotsItem, DotsIndexed],
      database,
    });
  });
  afterAll(() => started.close());

  test.each(database.name === 'sqlite' ? ['dotsitem'] : ['dotsitem', 'dotsindexed'])(
    'a duplicate of %s is the error of its field',
    async (model) => {
      const url = `/rest/v1/dots/${model}/`;
      const { client } = started;
      expect((await client.post(url, { code: 'a', name: 'a' })).status).toBe(201);
      const { status, json } = await client.post(url, { code: 'a', name: 'b' });
      expect([status, json]).toEqual([400, { code: ['This field must be unique.'] }]);
    },
  );
});
