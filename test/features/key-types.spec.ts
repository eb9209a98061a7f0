// @tags db nest
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { restify } from 'nestjs-restify';
import {
  Column,
  Entity,
  JoinTable,
  ManyToMany,
  ManyToOne,
  OneToMany,
  PrimaryColumn,
  PrimaryGeneratedColumn,
} from 'typeorm';
import type { ColumnOptions } from 'typeorm';
import type { TestDatabase } from '../support/databases.js';
import { onEachDatabase } from '../support/each-database.js';
import { startApp } from '../support/start-app.js';
import type { StartedApp } from '../support/start-app.js';

/** A type of key that the client gives: three keys in order, and texts in a URL that name no row. */
interface KeyKind {
  readonly column: ColumnOptions;
  readonly keys: readonly [unknown, unknown, unknown];
  readonly none: readonly string[];
  /** What a body may not have for a related key, beside a list and an object. */
  readonly wrong?: unknown;
}

const BIGINTS = {
  keys: ['-9223372036854775808', '9007199254740993', '9223372036854775807'],
  none: ['9007199254740992', '9223372036854775808', '9.0', '+1', '1e3', 'x', '09007199254740993'],
  wrong: 'x',
} as const;

const INSTANTS = {
  keys: ['1969-12-31T23:59:59.999Z', '2022-10-02T09:23:28.297Z', '2022-10-02T09:23:28.298Z'],
  none: ['2022-10-02T09:23:28.296Z', '2022-10-02', 'x'],
  wrong: 'x',
} as const;

const COMMON: Readonly<Record<string, KeyKind>> = {
  int: {
    column: { type: 'int' },
    keys: [-5, 0, 7],
    none: ['8', '07', '7.0', 'x', '1e1', '99999999999999999999'],
    wrong: 'x',
  },
  bigint: { column: { type: 'bigint' }, ...BIGINTS },
  uuid: {
    column: { type: 'uuid' },
    keys: [
      '00000000-0000-0000-0000-000000000001',
      '6f1c24f2-3a53-4a0b-8b7e-0c9a3f0f1d11',
      'ffffffff-ffff-ffff-ffff-ffffffffffff',
    ],
    none: ['6f1c24f2-3a53-4a0b-8b7e-0c9a3f0f1d12', 'x', '6f1c24f2'],
    wrong: 5,
  },
  varchar: {
    column: { type: 'varchar', length: 40 },
    keys: ['%_/a b', 'Z\u00fc\u{1f600}', 'zz,1'],
    none: ['z', '%25_/a', 'ZZ,1', 'zz,1 '],
    wrong: true,
  },
  date: {
    column: { type: 'date' },
    keys: ['0099-12-31', '2022-03-27', '9999-12-31'],
    none: ['2022-03-28', '2022-02-30', 'x', '0000-00-00'],
    wrong: 'x',
  },
  decimal: {
    column: { type: 'decimal', precision: 12, scale: 4 },
    keys: ['-0.5000', '0.0000', '12345678.1250'],
    none: ['0.0001', 'x', 'NaN', '1e2'],
    wrong: 'x',
  },
  boolean: { column: { type: 'boolean' }, keys: [false, true, true], none: ['2', 'x', 'TRUE'], wrong: 'x' },
};

const KEY_KINDS: Readonly<Record<TestDatabase['name'], Readonly<Record<string, KeyKind>>>> = {
  sqlite: {
    ...COMMON,
    simple_enum: {
      column: { type: 'simple-enum', enum: [10, 20, 0] },
      keys: [0, 10, 20],
      none: ['1', '010', 'x'],
      wrong: 1,
    },
  },
  postgres: {
    ...COMMON,
    char: {
      column: { type: 'char', length: 4 },
      keys: ['a', 'ab', 'b'],
      none: ['A', 'a   b', 'abc'],
      wrong: true,
    },
    time: {
      column: { type: 'time' },
      keys: ['00:00:00', '09:05:00.000001', '23:59:59.999999'],
      none: ['09:05:00', '24:00', 'x'],
      wrong: 'x',
    },
    timestamp: { column: { type: 'timestamp', precision: 3 }, ...INSTANTS },
    timestamptz: { column: { type: 'timestamptz', precision: 3 }, ...INSTANTS },
  },
  mariadb: {
    ...COMMON,
    unsigned_bigint: {
      column: { type: 'bigint', unsigned: true },
      keys: ['0', '9007199254740993', '18446744073709551615'],
      none: ['9007199254740992', '-1', '18446744073709551616'],
      wrong: 'x',
    },
    enum: {
      column: { type: 'enum', enum: ['z', 'b', 'a'] },
      keys: ['z', 'b', 'a'],
      none: ['1', 'Z', 'x'],
      wrong: 1,
    },
    datetime: { column: { type: 'datetime', precision: 3 }, ...INSTANTS },
  },
};

type Made = new () => { readonly key: unknown };

function named(name: string): Made {
  const made = {
    [name]: class {
      readonly key: unknown;
    },
  }[name];
  if (!made) throw new Error('No class');
  return made;
}

/** `<name>_one`, whose key is of the type; `<name>_part`, which refers to it; `<name>_group`, of many of them. */
function entitiesOf(name: string, { column }: KeyKind): readonly Made[] {
  const [One, Part, Group] = [named(`${name}_one`), named(`${name}_part`), named(`${name}_group`)];
  const [one, part, group] = [One, Part, Group].map((made) => made.prototype as object) as [
    object,
    object,
    object,
  ];
  PrimaryColumn({ ...column, nullable: false })(one, 'key');
  Column({ type: 'varchar', length: 20, default: '' })(one, 'note');
  OneToMany(() => Part, 'one')(one, 'parts');
  PrimaryGeneratedColumn()(part, 'id');
  ManyToOne(() => One, 'parts', { nullable: true })(part, 'one');
  PrimaryColumn({ ...column, nullable: false })(group, 'key');
  ManyToMany(() => One)(group, 'ones');
  JoinTable()(group, 'ones');
  for (const made of [One, Part, Group]) {
    Entity({ name: `k_${made.name}` })(made);
    restify(made, 'keys');
  }
  return [One, Part, Group];
}

onEachDatabase('a key of type', (database) => {
  const kinds = Object.entries(KEY_KINDS[database.name]);
  let started: StartedApp;
  beforeAll(async () => {
    started = await startApp({
      entities: kinds.flatMap(([name, kind]) => [...entitiesOf(name, kind)]),
      database,
    });
  });
  afterAll(() => started.close());

  describe.each(kinds)('%s', (name, { keys, none, wrong }) => {
    const [ones, parts, groups] = [
      `/rest/v1/keys/${name}_one/`,
      `/rest/v1/keys/${name}_part/`,
      `/rest/v1/keys/${name}_group/`,
    ];
    const distinct = [...new Set(keys)];
    const inUrl = (key: unknown): string => encodeURIComponent(String(key));

    beforeAll(async () => {
      for (const key of distinct) {
        await started.client.post(ones, { key });
        await started.client.post(groups, { key });
      }
    });

    test('names its object in a URL, exactly', async () => {
      const { client } = started;
      expect((await client.get(`${ones}?ordering=key`)).json).toEqual(
        distinct.map((key) => ({ key, note: '', parts: `${ones}${inUrl(key)}/parts/` })),
      );
      for (const key of distinct) {
        const path = `${ones}${inUrl(key)}/`;
        expect([key, (await client.get(path)).json]).toEqual([
          key,
          { key, note: '', parts: `${path}parts/` },
        ]);
        const changed = await client.patch(path, { note: 'x' });
        expect([key, changed.status, changed.json]).toEqual([
          key,
          200,
          { key, note: 'x', parts: `${path}parts/` },
        ]);
        for (const other of distinct)
          expect(((await client.get(`${ones}${inUrl(other)}/`)).json as { note: string }).note).toBe(
            other === key ? 'x' : '',
          );
        expect((await client.put(path, { note: '' })).json).toEqual({
          key,
          note: '',
          parts: `${path}parts/`,
        });
      }
    });

    test('of no row is 404, whatever stands there', async () => {
      for (const text of none) {
        for (const answer of [
          await started.client.get(`${ones}${inUrl(text)}/`),
          await started.client.patch(`${ones}${inUrl(text)}/`, { note: 'y' }),
          await started.client.delete(`${ones}${inUrl(text)}/`),
        ]) {
          expect([text, answer.status, answer.json]).toEqual([text, 404, { detail: 'Not found.' }]);
        }
      }
    });

    test('is inserted once', async () => {
      const answer = await started.client.post(ones, { key: keys[0], note: 'again' });
      expect([answer.status, answer.json]).toEqual([400, { key: ['This field must be unique.'] }]);
    });

    test('creates, is found at its Location, and is deleted', async () => {
      const { client } = started;
      const path = `${ones}${inUrl(keys[0])}/`;
      expect((await client.delete(path)).status).toBe(204);
      expect((await client.get(path)).status).toBe(404);
      expect(((await client.get(ones)).json as readonly unknown[]).length).toBe(distinct.length - 1);
      const created = await client.post(ones, { key: keys[0] });
      expect(new URL(String(created.headers.location)).pathname).toBe(path);
      expect((await client.get(path)).json).toEqual(created.json);
    });

    test('is a foreign key: written, shown, filtered and ordered by, nested and unmapped', async () => {
      const { client } = started;
      const made: { readonly id: number; readonly one: unknown }[] = [];
      for (const key of distinct) {
        const created = await client.post(parts, { one: typeof key === 'boolean' ? String(key) : key });
        expect([key, created.status, created.json]).toEqual([key, 201, { id: expect.any(Number), one: key }]);
        made.push(created.json as { id: number; one: unknown });
      }
      for (const part of made) {
        expect((await client.get(`${parts}?one=${inUrl(part.one)}`)).json).toEqual([part]);
        expect((await client.get(`${ones}${inUrl(part.one)}/parts/`)).json).toEqual([part]);
      }
      expect((await client.get(`${parts}?ordering=one`)).json).toEqual(made);
      expect((await client.get(`${parts}?ordering=-one`)).json).toEqual([...made].reverse());
      const [first] = made;
      const path = `${parts}${first?.id}/`;
      const last = distinct.at(-1);
      expect((await client.patch(path, { one: String(last) })).json).toEqual({ id: first?.id, one: last });
      expect((await client.patch(path, { one: null })).json).toEqual({ id: first?.id, one: null });
      expect((await client.patch(path, { one: String(distinct[0]) })).json).toEqual(first);
      const refused = await client.delete(`${ones}${inUrl(distinct[0])}/`);
      expect(refused.status).toBe(409);
      for (const { id } of made) await client.delete(`${parts}${id}/`);
    });

    test('that no row has, or that is malformed, is an error of the relation', async () => {
      for (const sent of [wrong, [keys[0]], { key: keys[0] }]) {
        const answer = await started.client.post(parts, { one: sent });
        expect([sent, answer.status, Object.keys(answer.json as object)]).toEqual([sent, 400, ['one']]);
      }
    });

    test('stands on both sides of a through object', async () => {
      const { client } = started;
      const list = `${groups}${inUrl(distinct[0])}/ones/`;
      const [parent, side] = [`${name}_group`, `${name}_one`];
      for (const key of distinct) {
        const created = await client.post(list, { [side]: String(key) });
        expect([key, created.status, created.json]).toEqual([
          key,
          201,
          { id: key, [parent]: distinct[0], [side]: key },
        ]);
        expect((await client.get(`${list}${inUrl(key)}/`)).json).toEqual(created.json);
        expect((await client.get(`${list}?${side}=${inUrl(key)}`)).json).toEqual([created.json]);
      }
      expect((await client.get(`${list}?ordering=${side}`)).json).toEqual(
        distinct.map((key) => ({ id: key, [parent]: distinct[0], [side]: key })),
      );
      const again = await client.post(list, { [side]: String(distinct[0]) });
      expect([again.status, Object.keys(again.json as object)]).toEqual([400, ['non_field_errors']]);
      for (const key of distinct) expect((await client.delete(`${list}${inUrl(key)}/`)).status).toBe(204);
      expect((await client.get(list)).text).toBe('[]');
    });
  });
});
