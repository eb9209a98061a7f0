// @tags db nest
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { restify } from 'nestjs-restify';
import { Column, Entity, PrimaryGeneratedColumn } from 'typeorm';
import type { ColumnOptions, ColumnType, ValueTransformer } from 'typeorm';
import type { TestDatabase } from '../support/databases.js';
import { onEachDatabase } from '../support/each-database.js';
import { startApp } from '../support/start-app.js';
import type { StartedApp } from '../support/start-app.js';

interface Case {
  /** By database, where it has another name there. */
  readonly column: ColumnType | Readonly<Partial<Record<TestDatabase['name'], ColumnType>>>;
  readonly options?: ColumnOptions;
  readonly transformer: ValueTransformer;
  readonly design: unknown;
  readonly value: unknown;
  readonly other: unknown;
  readonly wrong: unknown;
  /** What a URL says for the value; undefined where the column is not compared. */
  readonly asked?: string;
}

function sparing(to: (value: never) => unknown, from: (value: never) => unknown): ValueTransformer {
  const keep =
    (convert: (value: never) => unknown) =>
    (value: unknown): unknown =>
      value === null || value === undefined ? value : convert(value as never);
  return { to: keep(to), from: keep(from) };
}

const BYTES = { sqlite: 'blob', postgres: 'bytea', mariadb: 'blob' } as const;
const INSTANT = { sqlite: 'datetime', postgres: 'timestamptz', mariadb: 'datetime' } as const;

/** What the class declares, and what the column holds. */
const CASES: Readonly<Record<string, Case>> = {
  flag: {
    column: 'int',
    transformer: sparing(
      (value: boolean) => Number(value),
      (stored: number) => stored === 1,
    ),
    design: Boolean,
    value: true,
    other: false,
    wrong: 'maybe',
    asked: 'true',
  },
  sealed: {
    column: BYTES,
    transformer: sparing(
      (text: string) => Buffer.from(text, 'utf8').reverse(),
      (bytes: Uint8Array) => Buffer.from(bytes).reverse().toString('utf8'),
    ),
    design: String,
    value: 'secret',
    other: 'other',
    wrong: {},
  },
  epoch: {
    column: INSTANT,
    transformer: sparing(
      (value: number) => new Date(value),
      (date: Date) => date.getTime(),
    ),
    design: Number,
    value: 1577934245000,
    other: 0,
    wrong: 'soon',
    asked: '1577934245000',
  },
  list: {
    column: { sqlite: 'simple-json', postgres: 'jsonb', mariadb: 'json' },
    transformer: sparing(
      (value: unknown[]) => ({ items: value }),
      (stored: { items: unknown[] }) => stored.items,
    ),
    design: Array,
    value: ['a', 1, { b: null }],
    other: [],
    wrong: 'a',
  },
  words: {
    column: 'simple-array',
    transformer: sparing(
      (text: string) => text.split(' '),
      (stored: string[]) => stored.join(' '),
    ),
    design: String,
    value: 'two words',
    other: 'with a,comma',
    wrong: [],
  },
  count: {
    column: 'simple-json',
    transformer: sparing(
      (value: number) => ({ value }),
      (stored: { value: number }) => stored.value,
    ),
    design: Number,
    value: 1.5,
    other: 2,
    wrong: 'x',
  },
  day: {
    column: 'date',
    transformer: sparing(
      (value: number) => `${value}-01-01`,
      (stored: string) => Number(stored.slice(0, 4)),
    ),
    design: Number,
    value: 2020,
    other: 1999,
    wrong: 7,
    asked: '2020',
  },
  choice: {
    column: 'simple-enum',
    options: { enum: ['yes', 'no'] },
    transformer: sparing(
      (value: boolean) => (value ? 'yes' : 'no'),
      (stored: string) => stored === 'yes',
    ),
    design: Boolean,
    value: true,
    other: false,
    wrong: 2,
    asked: '1',
  },
  id128: {
    column: 'uuid',
    transformer: sparing(
      (value: string) => value.replaceAll('_', '-'),
      (stored: string) => stored.replaceAll('-', '_'),
    ),
    design: Object,
    value: '6f1f1d3c_3c5a_4a0c_9a63_7f5f0f8f2c11',
    other: '00000000_3c5a_4a0c_9a63_7f5f0f8f2c11',
    wrong: 'none',
    asked: '6f1f1d3c_3c5a_4a0c_9a63_7f5f0f8f2c11',
  },
  ratio: {
    column: 'float',
    transformer: sparing(
      (value: string) => Number(value.replace('%', '')) / 100,
      (stored: number) => `${stored * 100}%`,
    ),
    design: String,
    value: '50%',
    other: '25%',
    wrong: 'half',
    asked: '50%25',
  },
  cents: {
    column: 'int',
    transformer: sparing(
      (value: number) => value * 100,
      (stored: number) => stored / 100,
    ),
    design: Object,
    value: 1.25,
    other: 3,
    wrong: 1.255,
    asked: '1.25',
  },
  kept: {
    column: 'text',
    transformer: sparing(
      (text: string) => {
        if (text === 'refused') throw new Error('never told');
        return `<${text}>`;
      },
      (stored: string) => stored.slice(1, -1),
    ),
    design: String,
    value: 'text',
    other: '',
    wrong: 'refused',
    asked: '<text>',
  },
};

onEachDatabase('what columns of each kind hold', (database) => {
  const names = Object.keys(CASES);
  class Store {
    id: number;
  }
  PrimaryGeneratedColumn()(Store.prototype, 'id');
  for (const [name, { column, options, transformer, design }] of Object.entries(CASES)) {
    Reflect.defineMetadata('design:type', design, Store.prototype, name);
    const type = typeof column === 'object' ? column[database.name] : column;
    Column({ type, nullable: true, transformer, ...options } as ColumnOptions)(Store.prototype, name);
  }
  Entity('ts_store')(Store);
  restify(Store, {
    app: 'ts',
    type: { cents: 'number' },
    filterFields: Object.fromEntries(
      names.map((name) => [
        name,
        CASES[name]?.asked === undefined ? ['isnull'] : ['exact', 'in', 'ne', 'isnull'],
      ]),
    ),
  } as never);

  const URL = '/rest/v1/ts/store/';
  const all = (of: 'value' | 'other' | 'wrong'): object =>
    Object.fromEntries(names.map((name) => [name, CASES[name]?.[of]]));
  let started: StartedApp;
  beforeAll(async () => {
    started = await startApp({ database, entities: [Store] });
  });
  afterAll(() => started.close());

  test('comes back as it was given, and is found by it', async () => {
    const { client } = started;
    const made = await client.post(URL, all('value'));
    expect([made.status, made.json]).toEqual([201, { id: 1, ...all('value') }]);
    expect((await client.get(URL)).json).toEqual([made.json]);
    for (const [name, { asked }] of Object.entries(CASES)) {
      const ids = async (query: string): Promise<unknown> => [
        query,
        ((await client.get(`${URL}?${query}`)).json as unknown[]).length,
      ];
      expect(await ids(`${name}__isnull=false`)).toEqual([`${name}__isnull=false`, 1]);
      if (asked === undefined) continue;
      expect(await ids(`${name}=${asked}`)).toEqual([`${name}=${asked}`, 1]);
      expect(await ids(`${name}__in=${asked}`)).toEqual([`${name}__in=${asked}`, 1]);
      expect(await ids(`${name}!=${asked}`)).toEqual([`${name}!=${asked}`, 0]);
    }
    const nothing = Object.fromEntries(names.map((name) => [name, null]));
    expect((await client.patch(`${URL}1/`, nothing)).json).toEqual({ id: 1, ...nothing });
  });

  test('is changed, or refused under its field', async () => {
    const { client } = started;
    const { id } = (await client.post(URL, all('value'))).json as { id: number };
    const { words: _, ...other } = all('other') as Record<string, unknown>;
    const changed = await client.patch(`${URL}${id}/`, other);
    expect([changed.status, changed.json]).toEqual([200, { id, ...all('value'), ...other }]);
    const comma = await client.patch(`${URL}${id}/`, { words: CASES.words?.other });
    expect([comma.status, comma.json]).toEqual([400, { words: ['Not a valid value.'] }]);
    const wrong = await client.put(`${URL}${id}/`, all('wrong'));
    expect([wrong.status, Object.keys(wrong.json as object).sort()]).toEqual([400, [...names].sort()]);
    expect(wrong.text).not.toContain('never told');
  });
});
