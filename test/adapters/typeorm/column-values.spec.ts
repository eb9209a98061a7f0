// @tags db nest
import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { PagePace } from '../../../src/execution/read/list-pages.js';
import { comparisonsOf, kindEntity, KINDS, lookupsOf } from '../../support/column-kinds.js';
import { connectAdapter } from '../../support/connect-adapter.js';
import type { ConnectedAdapter } from '../../support/connect-adapter.js';
import { onEachDatabase } from '../../support/each-database.js';
import { ModelRows, refusalOf } from '../../support/model-rows.js';
import type { Shown } from '../../support/model-rows.js';

const valuesOf = (rows: readonly Shown[]): readonly unknown[] => rows.map(({ value }) => value);
const keyOf = ({ id }: Shown): readonly number[] => [id as number];

// Every type of column that a database has; over HTTP one of each family (features/column-types.spec.ts).
onEachDatabase('a column of type', (database) => {
  const kinds = Object.entries(KINDS[database.name]);
  let connected: ConnectedAdapter;
  beforeAll(async () => {
    const entities = kinds.flatMap(([name, kind]) => [
      kindEntity(name, kind, {
        table: `values_${name}`,
        filterFields: { value: lookupsOf(kind) },
        orderingNulls: true,
      }),
      // A computed field makes the rows come through TypeORM's own loading.
      kindEntity(`loaded_${name}`, kind, {
        table: `loaded_${name}`,
        computed: { more: () => 'more' },
      }),
    ]);
    connected = await connectAdapter({ entities, database });
  });
  afterAll(() => connected.close());

  const rowsOf = (name: string): ModelRows =>
    new ModelRows(connected.adapter, connected.resource(`types.${name}`));

  describe.each(kinds)('%s', (name, kind) => {
    const { ordered } = kind;
    let model: ModelRows;
    /** The rows with the values of `ordered`, in that order. */
    let rows: readonly Shown[];

    beforeAll(async () => {
      model = rowsOf(name);
      const made: Shown[] = [];
      for (const value of ordered) made.push(await model.create({ value }));
      rows = made;
    });

    const list = async (query: Readonly<Record<string, string>>): Promise<readonly unknown[]> =>
      valuesOf(await model.list(query));

    const keepOrdered = (): Promise<unknown> =>
      connected.dataSource.query(
        `DELETE FROM values_${name} WHERE id NOT IN (${rows.map(({ id }) => id).join(', ')})`,
      );

    /** The values of `ordered`, each with the next in its place. */
    const shifted = [...ordered.slice(1), ...ordered.slice(0, 1)];
    const withValues = (given: readonly Shown[], values: readonly unknown[]): readonly Shown[] =>
      given.map((row, at) => ({ ...row, value: values[at] }));

    test('shows what was given, from the lower end of its range to the upper', async () => {
      expect(valuesOf(rows)).toEqual(ordered);
      expect(await model.list()).toEqual(rows);
    });

    test('changes between null and the ends of its range, by one field and by the whole object', async () => {
      const created = await model.create({});
      expect(created.value).toBeNull();
      const key = keyOf(created);
      for (const value of [ordered.at(0), null, ordered.at(-1)]) {
        expect(await model.change(key, { value })).toEqual({ ...created, value });
        expect(await model.retrieve(key)).toEqual({ ...created, value });
      }
      // What is shown can be given again, and changes nothing.
      for (const value of [null, ordered.at(0), ordered.at(0)]) {
        const shown = { ...created, value };
        expect(await model.change(key, shown, 'update')).toEqual(shown);
        expect(await model.retrieve(key)).toEqual(shown);
      }
      expect(await model.delete(key)).toBe(true);
    });

    test('changes from each value to the next, and by whole objects back', async () => {
      const next = withValues(rows, shifted);
      expect(await model.changeAll(next.map((row) => [keyOf(row), { value: row.value }]))).toEqual(next);
      expect(await model.list()).toEqual(next);
      expect(
        await model.changeAll(
          rows.map((row) => [keyOf(row), row]),
          'update',
        ),
      ).toEqual(rows);
      expect(await model.list()).toEqual(rows);
    });

    test('takes its values in other forms too', async () => {
      const made: Shown[] = [];
      for (const [sent, shown] of kind.taken ?? []) {
        const created = await model.create({ value: sent });
        expect([sent, created.value]).toEqual([sent, shown]);
        made.push(created);
      }
      expect(await model.list()).toEqual([...rows, ...made]);
      await keepOrdered();
    });

    test('rejects an invalid value, under its own name and with the message', async () => {
      const [first = {}] = rows;
      for (const [sent, message] of kind.refused ?? []) {
        const refusal = [400, { value: [message] }];
        expect([sent, await refusalOf(() => model.create({ value: sent }))]).toEqual([sent, refusal]);
        if (sent !== kind.refused?.at(0)?.[0] && sent !== kind.refused?.at(-1)?.[0]) continue;
        const changed = await refusalOf(() => model.change(keyOf(first), { value: sent }));
        expect([sent, changed]).toEqual([sent, refusal]);
      }
      expect(await list({})).toEqual(ordered);
    });

    test('distinguishes null from a value in a filter', async () => {
      const created = await model.create({ value: null });
      expect(await model.list({ value__isnull: 'true' })).toEqual([created]);
      expect(await list({ value__isnull: 'false' })).toEqual(ordered);
      await model.delete(keyOf(created));
    });

    test('shows and changes the same value with a transformer of the application', async () => {
      const loaded = rowsOf(`loaded_${name}`);
      const made = await loaded.createAll(ordered.map((value) => ({ value })));
      expect(made).toEqual(ordered.map((value) => ({ id: expect.any(Number), value, more: 'more' })));
      expect(await loaded.list()).toEqual(made);
      const next = withValues(made, shifted);
      expect(await loaded.changeAll(next.map((row) => [keyOf(row), { value: row.value }]))).toEqual(next);
      expect(await loaded.list()).toEqual(next);
    });

    if (kind.uncompared) return;

    test('finds each of its values exactly, and those before and after it', async () => {
      for (const { parameter, value, found } of comparisonsOf(kind))
        expect([parameter, value, await list({ [parameter]: String(value) })]).toEqual([
          parameter,
          value,
          found,
        ]);
    });

    test('is compared with several values', async () => {
      // A comma stands between the values of a list.
      const plain = ordered.filter((value) => !String(value).includes(','));
      const [first, last] = [plain.at(0), plain.at(-1)];
      const both = `${String(first)},${String(last)}`;
      expect(await list({ value__in: both })).toEqual([first, last]);
      if (lookupsOf(kind).includes('range'))
        expect(await list({ value__range: both })).toEqual(
          ordered.slice(ordered.indexOf(first), ordered.indexOf(last) + 1),
        );
    });

    test('refuses a filter that is no value of it, with the message', async () => {
      for (const [text, message] of kind.refusedFilters ?? []) {
        const value = text.includes('%') ? decodeURIComponent(text) : text;
        for (const parameter of [
          'value',
          'value__in',
          ...(lookupsOf(kind).includes('gt') ? ['value__gt'] : []),
        ])
          expect([text, await refusalOf(() => model.list({ [parameter]: value }))]).toEqual([
            text,
            [400, { [parameter]: [message] }],
          ]);
      }
    });

    // Each page goes on behind the last row of the one before: behind a value, between equal ones, and among nulls.
    test.each([
      [3, 'value'],
      [7, '-value'],
    ] as const)('in lists of pages of %i orders by %s, and by nulls too', async (size, ordering) => {
      const pace = jest.spyOn(PagePace.prototype, 'rows', 'get').mockReturnValue(size);
      try {
        await connected.dataSource.query(
          `INSERT INTO values_${name} (value) SELECT value FROM values_${name}`,
        );
        await connected.dataSource.query(
          `INSERT INTO values_${name} (value) VALUES (NULL), (NULL), (NULL), (NULL)`,
        );
        const up = ordered.flatMap((value) => [value, value]);
        const nulls = [null, null, null, null];
        const expected = ordering === 'value' ? up : [...up].reverse();
        const all = await model.list({ ordering });
        // Nulls stand at one end, together.
        const nullsFirst = all[0]?.value === null;
        expect(valuesOf(all)).toEqual(nullsFirst ? [...nulls, ...expected] : [...expected, ...nulls]);
        expect(new Set(all.map(({ id }) => id)).size).toBe(all.length);
        const turned = await model.list({
          ordering: `${ordering}.${nullsFirst ? 'nullslast' : 'nullsfirst'}`,
        });
        expect(valuesOf(turned)).toEqual(nullsFirst ? [...expected, ...nulls] : [...nulls, ...expected]);
        expect(new Set(turned.map(({ id }) => id)).size).toBe(all.length);
      } finally {
        pace.mockRestore();
        await keepOrdered();
      }
    });
  });

  test('is written by the database where it can, and as TypeORM writes it', () => {
    const { pages, rows, created, changed } = connected.compared;
    // MariaDB writes no JSON of rows, and returns none of those that it changes.
    const most = database.name === 'mariadb' ? 0 : kinds.length;
    expect(Math.min(pages, created, changed)).toBeGreaterThanOrEqual(most);
    expect(rows).toBeGreaterThanOrEqual(kinds.length);
  });
});
