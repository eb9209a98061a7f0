// @tags db http nest
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { basic } from 'nestjs-restify';
import { onEachDatabase } from '../support/each-database.js';
import { startApp } from '../support/start-app.js';
import type { StartedApp } from '../support/start-app.js';
import { DOCUMENTS, jsonModels } from './json-path-models.js';

onEachDatabase('paths into columns of JSON', (database) => {
  let started: StartedApp;
  beforeAll(async () => {
    const models = jsonModels(DOCUMENTS[database.name]);
    started = await startApp({
      entities: models.entities,
      database,
      restify: { authentication: [basic((name) => ({ name }))] },
    });
    await models.fill(started.dataSource);
  });
  afterAll(() => started.close());

  const get = (path: string, who = ''): ReturnType<StartedApp['client']['get']> =>
    started.client.get(`/rest/v1/docs/${path}`, {
      headers: who === '' ? {} : { authorization: `Basic ${Buffer.from(`${who}:pw`).toString('base64')}` },
    });
  const ids = async (path: string, who = ''): Promise<unknown> => {
    const { status, json, text } = await get(path, who);
    return status === 200 ? (json as { id: number }[]).map(({ id }) => id) : [status, JSON.parse(text)];
  };
  const ALL = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11];

  describe('filter', () => {
    test.each<[string, readonly number[]]>([
      ['meta__color=red', [1]],
      ['meta__color__exact=blue', [3]],
      ['meta__color=blue%20', [4]],
      ['meta__color=5', []],
      ['meta__color__in=red,Red,5', [1, 2]],
      ['meta__color__in=%22%22', [9]],
      ['meta__color__ne=red', [2, 3, 4, 6, 7, 8, 9]],
      ['meta__color!=red', [2, 3, 4, 6, 7, 8, 9]],
      ['meta__color__isnull=true', [6, 7, 8]],
      ['meta__color__isnull=false', [1, 2, 3, 4, 5, 9, 10, 11]],
      ['meta__color__gt=blue', [1, 4]],
      ['meta__color__icontains=RE', [1, 2]],
      ['meta__color__contains=re', [1]],
      ['meta__color__startswith=blue', [3, 4]],
      ['meta__size=1', [1]],
      ['meta__size=1.0', [1]],
      ['meta__size__gte=2.5', [2, 3]],
      ['meta__size__lte=1e300', [1, 2, 3, 9]],
      ['meta__size__gte=9007199254740991', [3]],
      ['meta__size=9007199254740992', []],
      ['meta__size__range=-3,1', [1, 9]],
      ['meta__size__ne=1', [2, 3, 6, 7, 8, 9]],
      ['meta__size__isnull=true', [6, 7, 8]],
      ['meta__new=true', [1]],
      ['meta__new=0', [2]],
      ['meta__new__ne=true', [2, 3, 4, 6, 7, 8, 11]],
      ['meta__new__in=true,false', [1, 2]],
      ['meta__tags__contains=a', [1]],
      ['meta__tags__contains=b', [1, 2]],
      ['meta__tags__contains=1', []],
      ['meta__tags__contains=%22', []],
      ['meta__tags__isnull=true', [6, 7, 8, 11]],
      ["meta__o'k__$x=v", [9]],
      ['meta__color=red&meta__size=1', [1]],
      ['meta__color=red&meta__size=2', []],
      ['meta__isnull=true', [8]],
      ['filter=or(meta__color=red,meta__size__gte=3)', [1, 3]],
      ['filter=not(meta__color=red)', [2, 3, 4, 5, 6, 7, 8, 9, 10, 11]],
      ['filter=not(meta__tags__contains=a)', [2, 3, 4, 5, 6, 7, 8, 9, 10, 11]],
      ['filter=and(not(meta__size__isnull=true),not(meta__size__lte=1))', [2, 3, 4, 5, 10, 11]],
      ['shop__info__city=Bonn', [2, 5, 8, 11]],
      ['shop__info__city__isnull=true', [1, 3, 4, 6, 7, 9, 10]],
      ['shop__info__city__ne=Bonn', [1, 3, 4, 6, 7, 9, 10]],
    ])('?%s', async (query, expected) => {
      expect(await ids(`thing/?${query}&ordering=id`)).toEqual(expected);
    });

    test.each<[string, unknown]>([
      ['meta__size=many', { meta__size: ['Enter a number.'] }],
      ['meta__new=maybe', { meta__new: ['Must be a valid boolean.'] }],
      ['meta__size__gt=1', { meta__size__gt: [expect.stringContaining('There is no such filter.')] }],
      ['meta__weight=1', { meta__weight: [expect.stringContaining('There is no such filter.')] }],
      ['meta__tags=a', { meta__tags: [expect.stringContaining('There is no such filter.')] }],
      ['meta__color=%00', { meta__color: [expect.any(String)] }],
    ])('?%s is an error', async (query, expected) => {
      expect(await ids(`thing/?${query}`)).toEqual([400, expected]);
    });

    test('an empty value is ignored, and a dotted name is no parameter', async () => {
      expect(await ids('thing/?meta__color=&meta.color=red&ordering=id')).toEqual(ALL);
    });

    test('over a relation to many, of one related object', async () => {
      expect(await ids('shop/?things__meta__color=Red')).toEqual([1]);
      expect(await ids('shop/?things__meta__color=Red&things__meta__size__gte=3')).toEqual([]);
      expect(await ids('shop/?info__city=Bonn')).toEqual([1]);
    });
  });

  describe('order', () => {
    test.each<[string, readonly number[]]>([
      ['meta__size.nullslast,id', [9, 1, 2, 3, 4, 5, 6, 7, 8, 10, 11]],
      ['-meta__size.nullslast,id', [3, 2, 1, 9, 4, 5, 6, 7, 8, 10, 11]],
      ['meta__size.nullsfirst,id', [4, 5, 6, 7, 8, 10, 11, 9, 1, 2, 3]],
      ['meta__color,id', [9, 2, 3, 4, 1, 5, 6, 7, 8, 10, 11]],
      ['-meta__color,id', [1, 4, 3, 2, 9, 5, 6, 7, 8, 10, 11]],
      ['shop__info__city.nullslast,id', [2, 5, 8, 11, 1, 3, 4, 6, 7, 9, 10]],
    ])('?ordering=%s', async (order, expected) => {
      expect(await ids(`thing/?ordering=${order}`)).toEqual(expected);
    });

    test.each<[string, readonly number[]]>([
      ['', [7, 5, 1, 3, 6]],
      ['ordering=meta__size', [6, 3, 1, 5, 7]],
      ['ordering=meta__color', [2, 1, 5, 3]],
      ['ordering=-meta__color', [3, 5, 1, 2]],
    ])('pages by a cursor: %s', async (query, expected) => {
      const read: number[] = [];
      let url = `sheet/?${query}`;
      for (let page = 0; url !== '' && page < 9; page++) {
        const { json } = await get(url);
        const { next, results } = json as { next: string | null; results: { id: number }[] };
        read.push(...results.map(({ id }) => id));
        url = next === null ? '' : next.replace(/^.*\/docs\//, '');
      }
      const others = read.filter((id) => !expected.includes(id));
      expect(read.filter((id) => expected.includes(id))).toEqual(expected);
      expect([...read].sort()).toEqual([1, 2, 3, 4, 5, 6, 7]);
      // Rows without such a value are at one end.
      const isFirst = read[0] === others[0];
      expect(read).toEqual(isFirst ? [...others, ...expected] : [...expected, ...others]);
    });

    test.each(['meta__size', '-meta__size', 'meta__color', '-meta__color'])(
      'pages by a cursor with nulls at either end: %s',
      async (name) => {
        for (const place of ['nullsfirst', 'nullslast']) {
          const read: number[] = [];
          let url = `sheet/?ordering=${name}.${place}`;
          for (let page = 0; url !== '' && page < 9; page++) {
            const { json } = await get(url);
            const { next, results } = json as { next: string | null; results: { id: number }[] };
            read.push(...results.map(({ id }) => id));
            url = next === null ? '' : next.replace(/^.*\/docs\//, '');
          }
          expect([...read].sort()).toEqual([1, 2, 3, 4, 5, 6, 7]);
          const without = name.endsWith('size') ? [2, 4] : [4, 6, 7];
          const ends = place === 'nullsfirst' ? read.slice(0, without.length) : read.slice(-without.length);
          expect([...ends].sort()).toEqual(without);
        }
      },
    );
  });

  describe('stand beside', () => {
    test('permissions: who may not read the column has no such filter and no such order', async () => {
      expect(await ids('thing/?meta__color=red&ordering=-id', 'blind')).toEqual([...ALL].reverse());
      expect(await ids('thing/?meta__color__gt=x&meta__size=many&ordering=-meta__size,id', 'blind')).toEqual(
        await ids('thing/?ordering=id', 'blind'),
      );
      expect(await ids('thing/?filter=meta__color=red', 'blind')).toEqual([
        400,
        { filter: ['Position 1: "meta__color" is no filter.'] },
      ]);
      expect(await ids('shop/?things__meta__color=Red', 'blind')).toEqual([
        400,
        { things__meta__color: [expect.stringContaining('There is no such filter.')] },
      ]);
      const { json } = await started.client.send('OPTIONS', '/rest/v1/docs/thing/', {
        headers: { authorization: `Basic ${Buffer.from('blind:pw').toString('base64')}` },
      });
      const { filters, ordering } = json as Record<string, unknown>;
      expect(JSON.stringify([filters, ordering])).not.toContain('meta');
    });

    test('grants of rows', async () => {
      expect(await ids('thing/?meta__color__isnull=true&ordering=id', 'half')).toEqual([6, 8]);
      expect(await ids('shop/?things__meta__color=blue', 'half')).toEqual([]);
      expect(await ids('shop/?things__meta__color=blue')).toEqual([2]);
    });

    test('parameters of expanded lists', async () => {
      const { json } = await get(
        'shop/?expand=things&things.meta__size__isnull=true&things.ordering=-id&things.limit=1',
      );
      expect(json).toMatchObject([
        { id: 1, things: [{ id: 8 }] },
        { id: 2, things: [{ id: 6 }] },
      ]);
      const ordered = await get('shop/?expand=things&things.ordering=-meta__size.nullslast&things.limit=1');
      expect(ordered.json).toMatchObject([
        { id: 1, things: [{ id: 2 }] },
        { id: 2, things: [{ id: 3 }] },
      ]);
    });

    test('aggregates', async () => {
      const { json } = await get('thing/?aggregate=count&group=shop&meta__size__lte=9&ordering=-count');
      expect(json).toEqual(
        expect.arrayContaining([
          { shop: null, count: 1 },
          { shop: 1, count: 1 },
          { shop: 2, count: 1 },
        ]),
      );
    });

    test('nested lists, descriptions and the document', async () => {
      expect(await ids('shop/1/things/?meta__color=Red')).toEqual([2]);
      const { json } = await started.client.send('OPTIONS', '/rest/v1/docs/thing/');
      const { filters, ordering } = json as { filters: unknown[]; ordering: { fields: string[] } };
      expect(filters).toContainEqual({
        name: 'meta__size__gte',
        field: 'meta__size',
        lookup: 'gte',
        type: 'float',
        list: false,
      });
      expect(filters).toContainEqual({
        name: 'meta__tags__contains',
        field: 'meta__tags',
        lookup: 'contains',
        type: 'string',
        list: false,
      });
      expect(ordering.fields).toEqual(['id', 'meta__size', 'meta__color', 'shop__info__city']);
    });

    test('bulk deletions by a filter', async () => {
      const { status } = await started.client.delete(
        '/rest/v1/docs/thing/?meta__size__gte=2.5&meta__color!=blue',
      );
      expect(status).toBe(204);
      expect(await ids('thing/?ordering=id')).toEqual([1, 3, 4, 5, 6, 7, 8, 9, 10, 11]);
    });
  });
});
