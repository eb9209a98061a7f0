// @tags db nest
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { Answer } from '../support/client.js';
import { comparisonsOf, familyKinds, kindEntity, lookupsOf } from '../support/column-kinds.js';
import { onEachDatabase } from '../support/each-database.js';
import { startApp } from '../support/start-app.js';
import type { StartedApp } from '../support/start-app.js';

interface Shown {
  readonly id: number;
  readonly value: unknown;
}

/** Nothing that a database or its driver says may be in an answer. */
function saysNothingOfTheDatabase(answer: Answer): void {
  expect(answer.text).not.toMatch(
    /syntax|SQL|ER_|SQLITE|driver|relation "|column "|invalid input|of_|Truncated|Incorrect/,
  );
}

// One type of each family; all others at the adapter (adapters/typeorm/column-values.spec.ts).
onEachDatabase('a column of type', (database) => {
  const kinds = familyKinds(database.name);
  let started: StartedApp;
  beforeAll(async () => {
    const entities = kinds.map(([name, kind]) =>
      kindEntity(name, kind, { table: `of_${name}`, filterFields: { value: lookupsOf(kind) } }),
    );
    started = await startApp({ entities, database });
  });
  afterAll(() => started.close());

  describe.each(kinds)('%s', (name, kind) => {
    const { ordered } = kind;
    const collection = `/rest/v1/types/${name}/`;
    /** The rows with the values of `ordered`, in that order. */
    let rows: readonly Shown[];

    beforeAll(async () => {
      const made: Shown[] = [];
      for (const value of ordered)
        made.push((await started.client.post(collection, { value })).json as Shown);
      rows = made;
    });

    async function list(query: string): Promise<readonly unknown[]> {
      const answer = await started.client.get(`${collection}?${query}`);
      expect([query, answer.status]).toEqual([query, 200]);
      return (answer.json as Shown[]).map(({ value }) => value);
    }

    test('shows what was given, from the lower end of its range to the upper', async () => {
      expect(rows.map(({ value }) => value)).toEqual(ordered);
      expect((await started.client.get(collection)).json).toEqual(rows);
    });

    test('changes to the ends of its range and to null, by one field and by the whole object', async () => {
      const { client } = started;
      const created = await client.post(collection, {});
      expect([created.status, (created.json as Shown).value]).toEqual([201, null]);
      const path = `${collection}${(created.json as Shown).id}/`;
      for (const value of [ordered.at(0), ordered.at(-1), null]) {
        const changed = await client.patch(path, { value });
        expect([value, changed.status, (changed.json as Shown | undefined)?.value]).toEqual([
          value,
          200,
          value,
        ]);
        expect((await client.put(path, changed.json)).text).toBe(changed.text);
      }
      expect((await client.get(path)).json).toEqual(created.json);
      expect((await client.delete(path)).status).toBe(204);
    });

    test('takes its values in other forms too', async () => {
      for (const [sent, shown] of kind.taken ?? []) {
        const created = await started.client.post(collection, { value: sent });
        expect([sent, created.status, (created.json as Shown).value]).toEqual([sent, 201, shown]);
      }
      await started.dataSource.query(
        `DELETE FROM of_${name} WHERE id NOT IN (${rows.map(({ id }) => id).join(', ')})`,
      );
    });

    test('rejects an invalid value, under its own name and with the message', async () => {
      for (const [sent, message] of kind.refused ?? []) {
        const answer = await started.client.post(collection, { value: sent });
        saysNothingOfTheDatabase(answer);
        expect([sent, answer.status, answer.json]).toEqual([sent, 400, { value: [message] }]);
      }
    });

    if (kind.uncompared) return;

    test('finds each of its values exactly, and those after it', async () => {
      const comparisons = comparisonsOf(kind).filter(({ parameter }) => !/__(ne|gte|lte?)$/.test(parameter));
      for (const { parameter, value, found } of comparisons)
        expect(await list(`${parameter}=${encodeURIComponent(String(value))}`)).toEqual(found);
    });

    test('orders by its values', async () => {
      expect(await list('ordering=value')).toEqual(ordered);
      expect(await list('ordering=-value')).toEqual([...ordered].reverse());
    });

    test('refuses a filter that is no value of it, with the message', async () => {
      for (const [text, message] of kind.refusedFilters ?? []) {
        const value = text.includes('%') ? text : encodeURIComponent(text);
        const answer = await started.client.get(`${collection}?value=${value}`);
        saysNothingOfTheDatabase(answer);
        expect([text, answer.status, answer.json]).toEqual([text, 400, { value: [message] }]);
      }
    });
  });
});
