// @tags db
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { Restify } from 'nestjs-restify';
import { Column, Entity, PrimaryColumn } from 'typeorm';
import { DOCUMENTS } from '../features/json-path-models.js';
import { onEachDatabase } from '../support/each-database.js';
import { startApp } from '../support/start-app.js';
import type { StartedApp } from '../support/start-app.js';

const ATTACKS = [
  `' OR '1'='1`,
  `" OR 1=1 --`,
  `\\' OR 1=1 --`,
  `red'); DROP TABLE jp_safe; --`,
  `$."secret"`,
  `$[0]`,
  `$1`,
  `?`,
  `"]`,
  `["red"]`,
  `{"color":"red"}`,
  `%`,
  `_ed`,
  `red" || "`,
  `null`,
];

onEachDatabase('attacks on filters by values in JSON', (database) => {
  @Restify({
    app: 'safe',
    filterFields: {
      'meta.color': ['exact', 'ne', 'in', 'contains', 'istartswith'],
      'meta.size': { type: 'number', lookups: ['exact', 'gte'] },
      'meta.tags': { type: 'string[]', lookups: ['contains'] },
    },
    orderingFields: ['meta.size'],
    filterGroups: true,
  })
  @Entity('jp_safe')
  class Safe {
    @PrimaryColumn({ type: 'int' }) id: number;
    @Column({ type: DOCUMENTS[database.name], nullable: true }) meta: Record<string, unknown> | null;
  }

  let started: StartedApp;
  beforeAll(async () => {
    started = await startApp({ entities: [Safe], database });
    await started.dataSource.getRepository(Safe).insert([
      { id: 1, meta: { color: 'red', size: 1, tags: ['red'], secret: 'x' } },
      { id: 2, meta: {} },
    ]);
  });
  afterAll(() => started.close());

  const get = (query: string): ReturnType<StartedApp['client']['get']> =>
    started.client.get(`/rest/v1/safe/safe/?${query}`);

  test.each(ATTACKS)('the value %s is a value', async (attack) => {
    const value = encodeURIComponent(attack);
    for (const name of ['meta__color', 'meta__color__istartswith', 'meta__tags__contains']) {
      const { status, json } = await get(`${name}=${value}`);
      expect([status, json]).toEqual([200, []]);
    }
    const { status, json } = await get(`meta__color__ne=${value}`);
    expect([status, (json as unknown[]).length]).toEqual([200, 2]);
    expect((await get(`meta__size=${value}`)).status).toBe(400);
    const group = encodeURIComponent(`meta__color="${attack.replace(/[\\"]/g, '\\$&')}"`);
    expect((await get(`filter=${group}`)).json).toEqual([]);
  });

  test.each([
    'meta__secret=x',
    'meta__secret__exact=x',
    'meta__color__startswith=r',
    'meta__size__lt=9',
    'meta__color__secret=x',
    `meta__${encodeURIComponent(`color' = 'red`)}=x`,
    `meta__${encodeURIComponent('$."secret"')}=x`,
  ])('?%s is no filter', async (query) => {
    expect((await get(query)).status).toBe(400);
  });

  test('orders by other values are dropped', async () => {
    const { json } = await get('ordering=-meta__secret,-meta__color');
    expect((json as { id: number }[]).map(({ id }) => id)).toEqual([1, 2]);
  });

  test.each(['NaN', 'Infinity', '1e999', '0x10', '[1]', 'true', '1;2'])('%s is no number', async (value) => {
    expect((await get(`meta__size__gte=${encodeURIComponent(value)}`)).status).toBe(400);
  });
});
