// @tags db
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { allow, Restify, where } from 'nestjs-restify';
import type { Grant, Permission } from 'nestjs-restify';
import { Column, Entity, PrimaryGeneratedColumn, Unique } from 'typeorm';
import type { Answer } from '../support/client.js';
import { onEachDatabase } from '../support/each-database.js';
import { startApp } from '../support/start-app.js';
import type { StartedApp } from '../support/start-app.js';

class Ann implements Permission {
  decide(): Grant {
    return allow({ rows: where('owner', 'ann') });
  }
}

@Restify({ app: 'ug', permissions: [Ann] })
@Entity()
@Unique(['owner', 'title'])
class UgNote {
  @PrimaryGeneratedColumn() id: number;
  @Column({ length: 40 }) owner: string;
  @Column({ length: 40 }) title: string;
}

onEachDatabase('S2 a unique index within rows that a caller may not see', (database) => {
  let started: StartedApp;
  beforeAll(async () => {
    started = await startApp({ entities: [UgNote], database });
    await started.dataSource.manager.save(UgNote, { owner: 'bob', title: 'layoffs' });
  });
  afterAll(() => started.close());
  const seen = ({ status, json }: Answer): unknown => [status, json];
  const forbidden = [403, { detail: 'You do not have permission to perform this action.' }];

  test('are not revealed to a POST', async () => {
    const { client } = started;
    expect(seen(await client.post('/rest/v1/ug/ugnote/', { owner: 'bob', title: 'layoffs' }))).toEqual(
      forbidden,
    );
    expect(seen(await client.post('/rest/v1/ug/ugnote/', { owner: 'bob', title: 'raises' }))).toEqual(
      forbidden,
    );
    expect(await started.dataSource.manager.count(UgNote, { where: { owner: 'bob' } })).toBe(1);
  });

  test('are not revealed to a PATCH that moves a row out of the grant, and are an error of the fields within the grant', async () => {
    const { client } = started;
    const mine = (await client.post('/rest/v1/ug/ugnote/', { owner: 'ann', title: 'mine' })).json as {
      id: number;
    };
    for (const title of ['layoffs', 'raises'])
      expect(seen(await client.patch(`/rest/v1/ug/ugnote/${mine.id}/`, { owner: 'bob', title }))).toEqual(
        forbidden,
      );
    expect(seen(await client.post('/rest/v1/ug/ugnote/', { owner: 'ann', title: 'mine' }))).toEqual([
      400,
      { non_field_errors: ['The fields owner, title must make a unique set.'] },
    ]);
  });
});
