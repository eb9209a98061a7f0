// @tags core
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { Restify } from 'nestjs-restify';
import { Entity, JoinColumn, ManyToOne, PrimaryColumn, PrimaryGeneratedColumn } from 'typeorm';
import type { Relation } from 'typeorm';
import { lintOpenApi } from '../support/lint-openapi.js';
import { startApp } from '../support/start-app.js';
import type { StartedApp } from '../support/start-app.js';
import { documentOf } from './document.js';

@Restify('depot')
@Entity()
class Shelf {
  @PrimaryColumn({ length: 20 }) hall: string;
  @PrimaryColumn() place: number;
}

@Restify({ app: 'depot', filterFields: { shelf: ['exact', 'isnull'] } })
@Entity()
class Crate {
  @PrimaryGeneratedColumn() id: number;
  @ManyToOne(() => Shelf, { nullable: true })
  @JoinColumn([
    { name: 'hall', referencedColumnName: 'hall' },
    { name: 'place', referencedColumnName: 'place' },
  ])
  shelf: Relation<Shelf> | null;
}

let started: StartedApp;
beforeAll(async () => {
  started = await startApp({ entities: [Shelf, Crate] });
  for (const hall of ['A', 'A, b'])
    expect((await started.client.post('/rest/v1/depot/shelf/', { hall, place: 2 })).status).toBe(201);
  for (const shelf of ['A,2', 'A%2C%20b,2', null])
    expect((await started.client.post('/rest/v1/depot/crate/', { shelf })).status).toBe(201);
});
afterAll(() => started.close());

test('a filter by a key of several values is described as it is written', async () => {
  const document = documentOf(started.app);
  const { parameters = [] } = document.paths['/rest/v1/depot/crate']?.get ?? {};
  expect(parameters.filter(({ name }) => name.startsWith('shelf'))).toEqual([
    {
      name: 'shelf',
      in: 'query',
      required: false,
      schema: { type: 'string', pattern: '^([^,%]|%[0-9A-Fa-f]{2})+,-?\\d+$' },
      description: '`shelf` equals this key: its values, each percent-encoded, with commas between them.',
      example: 'key,1',
    },
    {
      name: 'shelf__isnull',
      in: 'query',
      required: false,
      schema: { type: 'boolean' },
      description: '`shelf` is null (`true`) or not null (`false`).',
    },
  ]);
  expect((await lintOpenApi(document)).filter(({ severity }) => severity === 'error')).toEqual([]);
});

/** As a generated client does it: each value of a parameter is percent-encoded. */
async function crates(shelf: string): Promise<readonly [number, unknown]> {
  const { status, json } = await started.client.get(
    `/rest/v1/depot/crate/?${new URLSearchParams({ shelf }).toString()}`,
  );
  return [status, status === 200 ? (json as { id: number }[]).map(({ id }) => id) : json];
}

test('a value that fits the schema finds its rows, and one that does not is refused', async () => {
  const { schema } = (documentOf(started.app).paths['/rest/v1/depot/crate']?.get?.parameters.find(
    ({ name }) => name === 'shelf',
  ) ?? {}) as { schema: { pattern: string } };
  const fits = new RegExp(schema.pattern, 'u');
  const { json } = await started.client.get('/rest/v1/depot/crate/?shelf__isnull=false&ordering=id');
  const shown = (json as { shelf: string }[]).map(({ shelf }) => shelf);
  expect(shown).toEqual(['A,2', 'A%2C%20b,2']);
  expect(shown.every((key) => fits.test(key))).toBe(true);
  expect(await Promise.all(shown.map(crates))).toEqual([
    [200, [1]],
    [200, [2]],
  ]);
  const wrong = ['A', 'A, b,2', 'A,x', 'A,2,'];
  expect(wrong.filter((key) => fits.test(key))).toEqual([]);
  expect((await Promise.all(wrong.map(crates))).map(([status]) => status)).toEqual([400, 400, 400, 400]);
});
