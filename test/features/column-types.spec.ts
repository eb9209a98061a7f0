import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { restify } from 'nestjs-restify';
import { Column, Entity, PrimaryGeneratedColumn } from 'typeorm';
import type { Lookup } from 'nestjs-restify';
import { onEachDatabase } from '../support/each-database.js';
import { startApp } from '../support/start-app.js';
import type { StartedApp } from '../support/start-app.js';
import type { Answer } from '../support/client.js';
import { KINDS } from './column-kinds.js';
import type { Kind } from './column-kinds.js';

const EQUALITIES: readonly Lookup[] = ['exact', 'ne', 'in', 'isnull'];
const ORDERS: readonly Lookup[] = ['gt', 'gte', 'lt', 'lte', 'range'];

/** What may be asked of a type: a flag is not more or less than another one. */
function lookupsOf({ uncompared, column }: Kind): readonly Lookup[] {
  if (uncompared) return ['isnull'];
  return column.type === 'boolean' || column.type === Boolean ? EQUALITIES : [...EQUALITIES, ...ORDERS];
}

interface Shown {
  readonly id: number;
  readonly value: unknown;
}

/** `/rest/v1/types/<name>/`: a key, and one nullable column of the type. */
function entityOf(
  name: string,
  kind: Kind,
  more: { readonly computed?: Readonly<Record<string, () => unknown>> } = {},
): new () => object {
  const made = {
    [name]: class {
      readonly id: number;
      readonly value: unknown;
    },
  }[name];
  if (!made) throw new Error('No class');
  PrimaryGeneratedColumn()(made.prototype, 'id');
  Column({ ...kind.column, nullable: true })(made.prototype, 'value');
  Entity({ name: `of_${name}` })(made);
  restify(made, {
    app: 'types',
    name,
    filterFields: { value: lookupsOf(kind) },
    orderingNulls: true,
    ...more,
  });
  return made;
}

/** Nothing that a database or its driver says may be in an answer. */
function saysNothingOfTheDatabase(answer: Answer): void {
  expect(answer.text).not.toMatch(
    /syntax|SQL|ER_|SQLITE|driver|relation "|column "|invalid input|of_|Truncated|Incorrect/,
  );
}

onEachDatabase('a column of type', (database) => {
  const kinds = Object.entries(KINDS[database.name]);
  let started: StartedApp;
  beforeAll(async () => {
    started = await startApp({ entities: kinds.map(([name, kind]) => entityOf(name, kind)), database });
  });
  afterAll(() => started.close());

  describe.each(kinds)('%s', (name, kind) => {
    const collection = `/rest/v1/types/${name}/`;
    /** The rows with the values of `ordered`, in that order. */
    let rows: readonly Shown[];

    beforeAll(async () => {
      const made: Shown[] = [];
      for (const value of kind.ordered)
        made.push((await started.client.post(collection, { value })).json as Shown);
      rows = made;
    });

    async function list(query: string): Promise<readonly unknown[]> {
      const answer = await started.client.get(`${collection}?${query}`);
      saysNothingOfTheDatabase(answer);
      expect([query, answer.status]).toEqual([query, 200]);
      const ids = new Set(rows.map(({ id }) => id));
      return (answer.json as Shown[]).filter(({ id }) => ids.has(id)).map(({ value }) => value);
    }

    test('shows what was given, from the lower end of its range to the upper', async () => {
      expect(rows.map(({ value }) => value)).toEqual(kind.ordered);
      expect(await list('')).toEqual(kind.ordered);
    });

    test('changes from each value to the next, and to null and back', async () => {
      const { client } = started;
      const created = await client.post(collection, {});
      expect([created.status, (created.json as Shown).value]).toEqual([201, null]);
      const path = `${collection}${(created.json as Shown).id}/`;
      for (const value of [...kind.ordered, null, ...[...kind.ordered].reverse()]) {
        const changed = await client.patch(path, { value });
        expect([value, changed.status, (changed.json as Shown | undefined)?.value]).toEqual([
          value,
          200,
          value,
        ]);
        expect((await client.put(path, changed.json)).text).toBe(changed.text);
        expect((await client.get(path)).text).toBe(changed.text);
      }
      await client.delete(path);
    });

    test('takes its values in other forms too', async () => {
      for (const [sent, shown] of kind.taken ?? []) {
        const created = await started.client.post(collection, { value: sent });
        const { id, value } = created.json as Shown;
        expect([sent, created.status, value]).toEqual([sent, 201, shown]);
        expect((await started.client.get(`${collection}${id}/`)).json).toEqual(created.json);
        await started.client.delete(`${collection}${id}/`);
      }
    });

    test('refuses what is none, under its own name and with the message', async () => {
      const { id } = rows[0] ?? { id: 0 };
      for (const [sent, message] of kind.refused ?? []) {
        for (const answer of [
          await started.client.post(collection, { value: sent }),
          await started.client.patch(`${collection}${id}/`, { value: sent }),
        ]) {
          saysNothingOfTheDatabase(answer);
          expect([sent, answer.status, answer.json]).toEqual([sent, 400, { value: [message] }]);
        }
      }
    });

    test('tells null from a value in a filter', async () => {
      const created = await started.client.post(collection, { value: null });
      const { id } = created.json as Shown;
      expect((await started.client.get(`${collection}?value__isnull=true`)).json).toEqual([created.json]);
      expect(await list('value__isnull=false')).toEqual(kind.ordered);
      await started.client.delete(`${collection}${id}/`);
    });

    if (kind.uncompared) return;

    test('finds each of its values exactly, and what lies before and behind', async () => {
      for (const [at, value] of kind.ordered.entries()) {
        const text = encodeURIComponent(String(value));
        expect([value, await list(`value=${text}`)]).toEqual([value, [value]]);
        expect([value, await list(`value__ne=${text}`)]).toEqual([
          value,
          kind.ordered.filter((each) => each !== value),
        ]);
        if (!lookupsOf(kind).includes('gt')) continue;
        expect([value, await list(`value__gt=${text}`)]).toEqual([value, kind.ordered.slice(at + 1)]);
        expect([value, await list(`value__gte=${text}`)]).toEqual([value, kind.ordered.slice(at)]);
        expect([value, await list(`value__lt=${text}`)]).toEqual([value, kind.ordered.slice(0, at)]);
        expect([value, await list(`value__lte=${text}`)]).toEqual([value, kind.ordered.slice(0, at + 1)]);
      }
    });

    test('is compared with several values', async () => {
      // A comma stands between the values of a list.
      const plain = kind.ordered.filter((value) => !String(value).includes(','));
      const [first, last] = [plain.at(0), plain.at(-1)];
      const both = [first, last].map((value) => encodeURIComponent(String(value))).join(',');
      expect(await list(`value__in=${both}`)).toEqual([first, last]);
      if (lookupsOf(kind).includes('range'))
        expect(await list(`value__range=${both}`)).toEqual(
          kind.ordered.slice(kind.ordered.indexOf(first), kind.ordered.indexOf(last) + 1),
        );
    });

    test('orders by its values', async () => {
      expect(await list('ordering=value')).toEqual(kind.ordered);
      expect(await list('ordering=-value')).toEqual([...kind.ordered].reverse());
    });

    test('orders lists that are longer than a page, by nulls too', async () => {
      await started.client.post(collection, {});
      const count = rows.length + 1;
      const doublings = Math.ceil(Math.log2(2100 / count));
      for (let round = 0; round < doublings; round++)
        await started.dataSource.query(`INSERT INTO of_${name} (value) SELECT value FROM of_${name}`);
      const repeated = kind.ordered.flatMap((value) => new Array<unknown>(2 ** doublings).fill(value));
      for (const [ordering, expected] of [
        ['value', repeated],
        ['-value', [...repeated].reverse()],
      ] as const) {
        const all = (await started.client.get(`${collection}?ordering=${ordering}`)).json as readonly Shown[];
        expect([all.length, new Set(all.map(({ id }) => id)).size]).toEqual([
          count * 2 ** doublings,
          count * 2 ** doublings,
        ]);
        // Nulls stand at one end, together.
        const nullsFirst = all[0]?.value === null;
        expect(
          all.slice(...(nullsFirst ? [2 ** doublings] : [0, -(2 ** doublings)])).map(({ value }) => value),
        ).toEqual(expected);
        const turned = (
          await started.client.get(
            `${collection}?ordering=${ordering}.${nullsFirst ? 'nullslast' : 'nullsfirst'}`,
          )
        ).json as readonly Shown[];
        const nulls = new Array<null>(2 ** doublings).fill(null);
        expect(turned.map(({ value }) => value)).toEqual(
          nullsFirst ? [...expected, ...nulls] : [...nulls, ...expected],
        );
        expect(new Set(turned.map(({ id }) => id)).size).toBe(all.length);
      }
      await started.dataSource.query(
        `DELETE FROM of_${name} WHERE value IS NULL OR id NOT IN (${rows.map(({ id }) => id).join(', ')})`,
      );
    });

    test('refuses a filter that is no value of it, with the message', async () => {
      for (const [text, message] of kind.refusedFilters ?? []) {
        for (const parameter of [
          'value',
          'value__in',
          ...(lookupsOf(kind).includes('gt') ? ['value__gt'] : []),
        ]) {
          const answer = await started.client.get(
            `${collection}?${parameter}=${text.includes('%') ? text : encodeURIComponent(text)}`,
          );
          saysNothingOfTheDatabase(answer);
          expect([parameter, text, answer.status, answer.json]).toEqual([
            parameter,
            text,
            400,
            { [parameter]: [message] },
          ]);
        }
      }
    });
  });
});

// A computed field makes the rows come through TypeORM's own loading.
onEachDatabase('an entity with a column of type', (database) => {
  const kinds = Object.entries(KINDS[database.name]);
  let started: StartedApp;
  beforeAll(async () => {
    started = await startApp({
      entities: kinds.map(([name, kind]) => entityOf(name, kind, { computed: { more: () => 'more' } })),
      database,
    });
  });
  afterAll(() => started.close());

  test.each(kinds)('%s shows the same where the application has a say in its values', async (name, kind) => {
    const { client } = started;
    const collection = `/rest/v1/types/${name}/`;
    const rows: unknown[] = [];
    for (const value of kind.ordered) {
      const created = await client.post(collection, { value });
      expect([value, created.status, created.json]).toEqual([
        value,
        201,
        { id: expect.any(Number), value, more: 'more' },
      ]);
      rows.push(created.json);
    }
    expect((await client.get(collection)).json).toEqual(rows);
    const [first] = rows as readonly Shown[];
    for (const value of [...kind.ordered].reverse()) {
      const changed = await client.patch(`${collection}${first?.id}/`, { value });
      expect([value, changed.status, changed.json]).toEqual([
        value,
        200,
        { id: first?.id, value, more: 'more' },
      ]);
    }
  });
});
