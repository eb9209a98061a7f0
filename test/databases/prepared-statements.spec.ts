// @tags db nest
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { Restify } from 'nestjs-restify';
import { Column, Entity, PrimaryColumn } from 'typeorm';
import { onEachDatabase } from '../support/each-database.js';
import { startApp } from '../support/start-app.js';
import type { StartedApp } from '../support/start-app.js';

@Restify({ app: 'kept', filterFields: { id: ['exact', 'gte'], word: ['exact'] }, filterGroups: true })
@Entity('kept_leaf')
class Leaf {
  @PrimaryColumn()
  id: number;

  @Column()
  word: string;
}

onEachDatabase(
  'statements that stay prepared',
  (database) => {
    let started: StartedApp;
    beforeAll(async () => {
      started = await startApp({
        compare: false,
        entities: [Leaf],
        database,
        dataSource: { extra: { max: 1 } },
      });
    });
    afterAll(() => started.close());

    test('are none of filters, and none of the groups that a client puts together', async () => {
      const { client, dataSource } = started;
      const prepared = async (): Promise<number> =>
        Number(
          (await dataSource.query<{ count: string }[]>('SELECT count(*) FROM pg_prepared_statements'))[0]
            ?.count,
        );
      await client.get('/rest/v1/kept/leaf/');
      const begun = await prepared();
      for (let terms = 1; terms <= 30; terms++)
        expect(
          (await client.get(`/rest/v1/kept/leaf/?filter=or(${Array<string>(terms).fill('id=1').join(',')})`))
            .status,
        ).toBe(200);
      expect(await prepared()).toBe(begun);
      await client.get('/rest/v1/kept/leaf/?id__gte=1&word=x');
      await client.get('/rest/v1/kept/leaf/?id__gte=2&word=y');
      expect(await prepared()).toBe(begun);
    });

    test('are none of the later pages of a long list, whose position decides the plan', async () => {
      const { client, dataSource } = started;
      await dataSource
        .getRepository(Leaf)
        .insert(Array.from({ length: 4500 }, (_, index) => ({ id: index + 1, word: `w${index}` })));
      for (const path of ['/rest/v1/kept/leaf/', '/rest/v1/kept/leaf/', '/rest/v1/kept/leaf/?id__gte=2']) {
        const rows = (await client.get(path)).json as readonly { readonly id: number }[];
        const first = path.endsWith('2') ? 2 : 1;
        expect(rows.map(({ id }) => id)).toEqual(
          Array.from({ length: 4501 - first }, (_, index) => first + index),
        );
      }
      const kept = await dataSource.query<{ statement: string }[]>(
        `SELECT statement FROM pg_prepared_statements WHERE statement LIKE '%"id" > $%'`,
      );
      expect(kept).toEqual([]);
    });
  },
  ['postgres'],
);
