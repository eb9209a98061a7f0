// @tags db
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { Injectable } from '@nestjs/common';
import { Restify, where } from 'nestjs-restify';
import type { FilterBackend, FilterResult, FilterContext, Lookup } from 'nestjs-restify';
import { Column, Entity, PrimaryGeneratedColumn } from 'typeorm';
import { onEachDatabase } from '../support/each-database.js';
import { startApp } from '../support/start-app.js';
import type { StartedApp } from '../support/start-app.js';

/** Trusts its client with a lookup, which its type does not keep from being any text. */
@Injectable()
class Trusting implements FilterBackend {
  filter({ parameters }: FilterContext): FilterResult {
    return { rows: where('state', (parameters.get('how') ?? 'exact') as Lookup, 'open') };
  }

  parameters(): string[] {
    return ['how'];
  }
}

@Restify({ app: 'lookups', filterBackends: [Trusting] })
@Entity('lookups_task')
class Task {
  @PrimaryGeneratedColumn() id: number;
  @Column({ length: 10 }) state: string;
}

onEachDatabase('an unknown lookup', (database) => {
  let started: StartedApp;
  beforeAll(async () => {
    started = await startApp({ entities: [Task], database, nest: { logger: false } });
    await started.dataSource.getRepository(Task).save([{ state: 'open' }, { state: 'done' }]);
  });
  afterAll(() => started.close());

  test.each(['1 = 1', "'x' OR 1 = 1 -- ", 'toString', ''])(
    'such as %j is no text of SQL, and shows no row',
    async (how) => {
      expect(await started.client.get(`/rest/v1/lookups/task/?how=${encodeURIComponent(how)}`)).toMatchObject(
        { status: 500, json: { detail: 'A server error occurred.' } },
      );
    },
  );

  test('stands beside those that are', async () => {
    expect((await started.client.get('/rest/v1/lookups/task/?how=ne')).json).toEqual([
      { id: 2, state: 'done' },
    ]);
  });
});
