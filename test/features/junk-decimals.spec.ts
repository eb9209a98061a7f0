// @tags nest
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { CursorPagination, restify } from 'nestjs-restify';
import { AfterLoad, Column, Entity, PrimaryGeneratedColumn } from 'typeorm';
import type { ColumnOptions } from 'typeorm';
import { startApp } from '../support/start-app.js';
import type { StartedApp } from '../support/start-app.js';

/** Columns of SQLite that hold more than numbers. */
const COLUMNS: Readonly<Record<string, ColumnOptions>> = {
  priced: { type: 'decimal', precision: 10, scale: 2, nullable: true },
  free: { type: 'numeric', nullable: true },
  big: { type: 'bigint', nullable: true },
};

/** What is stored, in the order of SQLite, and what is shown of it. */
const STORED: Readonly<Record<string, readonly (readonly [sql: string, shown: unknown])[]>> = {
  priced: [
    ['NULL', null],
    ['-1', '-1.00'],
    ['0', '0.00'],
    ['1.5', '1.50'],
    ['9007199254740993', '9007199254740993.00'],
    ["''", ''],
    ["' '", ' '],
    ["'1,5'", '1,5'],
    ["'n/a'", 'n/a'],
    ["'v7'", 'v7'],
    ["'v7'", 'v7'],
  ],
  free: [
    ['NULL', null],
    ['-1', '-1'],
    ['1.5', '1.5'],
    ['9007199254740993', '9007199254740993'],
    ["''", ''],
    ["'1.2.3'", '1.2.3'],
    ["'v7'", 'v7'],
  ],
  big: [
    ['NULL', null],
    ['-9223372036854775808', '-9223372036854775808'],
    ['9007199254740993', '9007199254740993'],
    ["''", ''],
    ["'5x'", '5x'],
    ["'v7'", 'v7'],
  ],
};

interface Row {
  readonly id: number;
  readonly value: unknown;
}

/** An entity whose column `value` has the type, and one with a listener. */
function entitiesOf(name: string, column: ColumnOptions): readonly (new () => object)[] {
  return ['plain', 'heard'].map((kind) => {
    class Junk {
      heard: unknown;
    }
    Object.defineProperty(Junk, 'name', { value: `Jk${kind}${name}` });
    PrimaryGeneratedColumn()(Junk.prototype, 'id');
    Column(column)(Junk.prototype, 'value');
    if (kind === 'heard') {
      Object.defineProperty(Junk.prototype, 'listen', { value: (): undefined => undefined });
      AfterLoad()(Junk.prototype, 'listen');
    }
    Entity(`jk_${kind}_${name}`)(Junk);
    restify<{ value: unknown }>(Junk as never, {
      app: 'jk',
      ordering: ['value'],
      pagination: new CursorPagination({ pageSize: 2, secret: 'a secret of this spec, 32 letters or more' }),
    });
    return Junk;
  });
}

describe.each(Object.entries(STORED))('values of SQLite in a column %s', (name, values) => {
  let started: StartedApp;
  beforeAll(async () => {
    started = await startApp({ entities: [...entitiesOf(name, COLUMNS[name] ?? {})], undescribed: 'all' });
    for (const kind of ['plain', 'heard'])
      for (const [sql] of values)
        await started.dataSource.query(`INSERT INTO jk_${kind}_${name} (value) VALUES (${sql})`);
  });
  afterAll(() => started.close());

  test.each(['plain', 'heard'])(
    'are shown as they are stored, on pages in both directions (%s)',
    async (kind) => {
      const { client } = started;
      const shown = values.map(([, value], index) => ({ id: index + 1, value }));
      const list = `/rest/v1/jk/jk${kind}${name}/`;
      for (const row of shown) expect((await client.get(`${list}${row.id}/`)).json).toEqual(row);
      for (const [ordering, expected] of [
        ['value,id', shown],
        ['-value,-id', [...shown].reverse()],
      ] as const) {
        const pages: Row[][] = [];
        let next: string | null = `${list}?ordering=${ordering}`;
        let last: { previous: string | null } | undefined;
        while (next !== null && pages.length < 20) {
          const page: { next: string | null; previous: string | null; results: Row[] } = (
            await client.get(next)
          ).json as never;
          pages.push(page.results);
          last = page;
          next = page.next;
        }
        expect(pages.flat()).toEqual(expected);
        const back: Row[][] = [];
        for (let previous = last?.previous ?? null; previous !== null;) {
          const page = (await client.get(previous)).json as { previous: string | null; results: Row[] };
          back.unshift(page.results);
          previous = page.previous;
        }
        expect(back).toEqual(pages.slice(0, -1));
      }
    },
  );

  test('stay as they are where nothing is written to them', async () => {
    const { client, dataSource } = started;
    for (const kind of ['plain', 'heard']) {
      const stored = (): Promise<unknown> =>
        dataSource.query(
          `SELECT id, typeof(value) AS t, quote(value) AS q FROM jk_${kind}_${name} ORDER BY id`,
        );
      const before = await stored();
      for (const id of values.keys())
        expect((await client.patch(`/rest/v1/jk/jk${kind}${name}/${id + 1}/`, {})).status).toBe(200);
      expect(await stored()).toEqual(before);
    }
  });
});
