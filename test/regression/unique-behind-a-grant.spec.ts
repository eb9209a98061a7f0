import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { allow, Restify, where } from 'nestjs-restify';
import type { Grant, Permission } from 'nestjs-restify';
import { Column, Entity, PrimaryGeneratedColumn, Unique } from 'typeorm';
import type { Answer } from '../support/client.js';
import { onEachDatabase } from '../support/each-database.js';
import { startApp } from '../support/start-app.js';
import type { StartedApp } from '../support/start-app.js';

class AnnsRows implements Permission {
  decide(): Grant {
    return allow({ rows: where('owner', 'ann') });
  }
}

/** Titles are unique within an owner: what bob has called his notes is none of ann's business. */
@Restify({ app: 'ug', permissions: [AnnsRows] })
@Entity()
@Unique(['owner', 'title'])
class UgNote {
  @PrimaryGeneratedColumn() id: number;
  @Column() owner: string;
  @Column() title: string;
}

onEachDatabase('a unique index within rows that a caller may not see', (database) => {
  let started: StartedApp;

  beforeAll(async () => {
    started = await startApp({ entities: [UgNote], database });
    await started.dataSource.manager.save(UgNote, [{ owner: 'ann', title: 'mine' }, { owner: 'bob', title: 'layoffs' }]);
  });
  afterAll(() => started.close());

  const told = ({ status, json }: Answer): unknown => [status, json];

  test('a POST of rows of others answers the same, whether they have it or not', async () => {
    const taken = await started.client.post('/rest/v1/ug/ugnote/', { owner: 'bob', title: 'layoffs' });
    const free = await started.client.post('/rest/v1/ug/ugnote/', { owner: 'bob', title: 'raises' });
    expect(told(taken)).toEqual(told(free));
  });

  test('so does a PATCH that gives a row away', async () => {
    const mine = await started.dataSource.manager.findOneByOrFail(UgNote, { title: 'mine' });
    const taken = await started.client.patch(`/rest/v1/ug/ugnote/${mine.id}/`, { owner: 'bob', title: 'layoffs' });
    const free = await started.client.patch(`/rest/v1/ug/ugnote/${mine.id}/`, { owner: 'bob', title: 'raises' });
    expect(told(taken)).toEqual(told(free));
  });
});
