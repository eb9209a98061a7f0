// @tags db nest
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { restify } from 'nestjs-restify';
import { EntitySchema } from 'typeorm';
import type { EntitySchemaColumnOptions, ObjectLiteral } from 'typeorm';
import { onEachDatabase } from '../support/each-database.js';
import { startApp } from '../support/start-app.js';
import type { StartedApp } from '../support/start-app.js';
import { DELETED, idOf, isRefusedPair, NOT_FOUND, seen } from './nested-answers.js';

interface KeyKind {
  readonly name: string;
  readonly columns: Readonly<Record<string, EntitySchemaColumnOptions>>;
  /** Bodies of three rows; none where the database makes the keys. */
  readonly bodies?: readonly [object, object, object];
  /** A key of no row. */
  readonly missing: string;
}

const KINDS: readonly KeyKind[] = [
  { name: 'serial', columns: { id: { type: Number, primary: true, generated: true } }, missing: '999' },
  {
    name: 'small',
    columns: { no: { type: 'smallint', primary: true } },
    bodies: [{ no: -3 }, { no: 0 }, { no: 32767 }],
    missing: '5',
  },
  { name: 'bigserial', columns: { id: { type: 'bigint', primary: true, generated: true } }, missing: '999' },
  {
    name: 'big',
    columns: { no: { type: 'bigint', primary: true } },
    bodies: [{ no: '-9223372036854775808' }, { no: '9007199254740993' }, { no: '9223372036854775807' }],
    missing: '9007199254740992',
  },
  {
    name: 'uuids',
    columns: { id: { type: 'uuid', primary: true, generated: 'uuid' } },
    missing: '123e4567-e89b-12d3-a456-426614174999',
  },
  {
    name: 'ownuuid',
    columns: { id: { type: 'uuid', primary: true } },
    bodies: [
      { id: '00000000-0000-0000-0000-000000000001' },
      { id: '123e4567-e89b-12d3-a456-426614174000' },
      { id: 'ffffffff-ffff-ffff-ffff-fffffffffff0' },
    ],
    missing: '123e4567-e89b-12d3-a456-426614174999',
  },
  {
    name: 'text',
    columns: { word: { type: 'varchar', length: 40, primary: true } },
    bodies: [{ word: 'a b' }, { word: 'x/y,z' }, { word: 'ü%2F?#&' }],
    missing: 'nothing',
  },
  {
    name: 'day',
    columns: { day: { type: 'date', primary: true } },
    bodies: [{ day: '1999-12-31' }, { day: '2024-02-29' }, { day: '2030-01-01' }],
    missing: '2024-02-28',
  },
  {
    name: 'both',
    columns: { land: { type: 'varchar', length: 10, primary: true }, no: { type: 'int', primary: true } },
    bodies: [
      { land: 'a,b', no: 1 },
      { land: 'a,b', no: 2 },
      { land: 'c/d', no: 1 },
    ],
    missing: 'c/d,2',
  },
  {
    name: 'mixed',
    columns: {
      id: { type: 'uuid', primary: true },
      no: { type: 'bigint', primary: true },
      day: { type: 'date', primary: true },
    },
    bodies: [
      { id: '123e4567-e89b-12d3-a456-426614174000', no: '9007199254740993', day: '2024-02-29' },
      { id: '123e4567-e89b-12d3-a456-426614174000', no: '9007199254740993', day: '2024-03-01' },
      { id: 'ffffffff-ffff-ffff-ffff-fffffffffff0', no: '1', day: '2024-02-29' },
    ],
    missing: '123e4567-e89b-12d3-a456-426614174000,9007199254740993,2024-03-02',
  },
];

const REFERRING = { nullable: true } as const;

/** A model with this key, rows that refer to it in every way, and rows of its own that do. */
function schemasOf({ name, columns }: KeyKind): readonly EntitySchema[] {
  const node = new EntitySchema<ObjectLiteral>({
    name,
    columns: { ...columns, label: { type: 'varchar', length: 20, default: '' } },
    relations: {
      next: { type: 'many-to-one', target: name, inverseSide: 'previous', ...REFERRING },
      previous: { type: 'one-to-many', target: name, inverseSide: 'next' },
      items: { type: 'one-to-many', target: `${name}item`, inverseSide: 'node' },
      seal: { type: 'one-to-one', target: `${name}item`, inverseSide: 'sealed' },
      tags: {
        type: 'many-to-many',
        target: `${name}item`,
        inverseSide: 'tagged',
        joinTable: { name: `${name}_tags` },
      },
      peers: { type: 'many-to-many', target: name, joinTable: { name: `${name}_peers` } },
    },
  });
  const item = new EntitySchema<ObjectLiteral>({
    name: `${name}item`,
    columns: { id: { type: Number, primary: true, generated: true } },
    relations: {
      node: { type: 'many-to-one', target: name, inverseSide: 'items', onDelete: 'SET NULL', ...REFERRING },
      sealed: {
        type: 'one-to-one',
        target: name,
        inverseSide: 'seal',
        joinColumn: true,
        onDelete: 'SET NULL',
        ...REFERRING,
      },
      tagged: { type: 'many-to-many', target: name, inverseSide: 'tags' },
    },
  });
  restify(node, { app: 'key' });
  restify(item, { app: 'key' });
  return [node, item];
}

const SCHEMAS = new Map(KINDS.map((kind) => [kind.name, schemasOf(kind)]));

onEachDatabase('keys', (database) => {
  // SQLite makes no other keys by itself than those of INTEGER.
  const kinds = KINDS.filter(({ name }) => database.name !== 'sqlite' || name !== 'bigserial');
  let started: StartedApp;
  let client: StartedApp['client'];
  beforeAll(async () => {
    started = await startApp({ entities: kinds.flatMap(({ name }) => SCHEMAS.get(name) ?? []), database });
    client = started.client;
  });
  afterAll(() => started.close());

  describe.each(kinds.map((kind) => [kind.name, kind] as const))(
    'of the kind %s',
    (name, { columns, bodies, missing }) => {
      const names = Object.keys(columns);
      const base = `/rest/v1/key/${name}/`;
      const items = `/rest/v1/key/${name}item/`;
      /** As a related key in bodies: the value itself, or the text of several. */
      let keys: (string | number)[] = [];
      const segment = (key: string | number): string =>
        names.length > 1 ? String(key) : encodeURIComponent(key);
      const urlOf = (key: string | number): string =>
        `${base}${names.length > 1 ? String(key).split(',').join(',') : segment(key)}/`;

      test('name new objects', async () => {
        const rows = bodies ?? [{}, {}, {}];
        for (const [index, body] of rows.entries()) {
          const made = await client.post(base, { ...body, label: `n${index}` });
          expect(made.status).toBe(201);
          const own = names.map((each) => (made.json as Record<string, string | number>)[each] ?? '');
          if (bodies) expect(Object.fromEntries(names.map((each, at) => [each, own[at]]))).toEqual(body);
          const key =
            names.length > 1 ? own.map((each) => encodeURIComponent(each)).join(',') : (own[0] ?? '');
          keys.push(key);
          expect(made.headers.location).toBe(`http://127.0.0.1:${started.port}${urlOf(key)}`);
          expect((await client.get(urlOf(key))).json).toEqual(made.json);
        }
        if (bodies) expect((await client.post(base, bodies[0])).status).toBe(400);
        expect(((await client.get(base)).json as unknown[]).length).toBe(3);
        expect(
          seen(await client.get(`${base}${names.length > 1 ? missing.replace('/', '%2F') : missing}/`)),
        ).toEqual(NOT_FOUND);
      });

      test('are filtered and ordered by', async () => {
        const labels = async (query: string): Promise<unknown> =>
          ((await client.get(`${base}?${query}`)).json as { label: string }[]).map(({ label }) => label);
        const own = (await client.get(urlOf(keys[1] ?? ''))).json as Record<string, string | number>;
        expect(
          await labels(names.map((each) => `${each}=${encodeURIComponent(own[each] ?? '')}`).join('&')),
        ).toEqual(['n1']);
        if (name === 'uuids') return;
        const all =
          name === 'text' && database.name === 'mariadb'
            ? [...['n0', 'n1', 'n2']].sort()
            : ['n0', 'n1', 'n2'];
        const up = (await labels(`ordering=${names.join(',')}`)) as string[];
        expect([...up].sort()).toEqual(all);
        if (name !== 'text') expect(up).toEqual(all);
        expect(await labels(`ordering=${names.map((each) => `-${each}`).join(',')}`)).toEqual(
          [...up].reverse(),
        );
      });

      test('are named by foreign keys, in bodies, filters and links', async () => {
        const [a, b] = [keys[0] ?? '', keys[1] ?? ''];
        const item = await client.post(items, { node: a, sealed: b });
        const id = idOf(item);
        expect(seen(item)).toEqual([201, { id, node: a, sealed: b, tagged: `${items}${id}/tagged/` }]);
        expect((await client.get(urlOf(b))).json).toMatchObject({ seal: id, next: null });
        expect(seen(await client.get(`${urlOf(a)}items/`))).toEqual([200, [item.json]]);
        expect((await client.get(urlOf(a))).json).toMatchObject({
          items: `${urlOf(a)}items/`,
          tags: `${urlOf(a)}tags/`,
        });
        expect(seen(await client.get(`${urlOf(b)}items/`))).toEqual([200, []]);
        expect(seen(await client.get(`${items}?node=${encodeURIComponent(a)}`))).toEqual([200, [item.json]]);
        expect(seen(await client.get(`${items}?node=${encodeURIComponent(b)}`))).toEqual([200, []]);
        expect((await client.get(`${items}?ordering=node`)).status).toBe(200);
        expect((await client.patch(`${items}${id}/`, { node: b })).json).toMatchObject({
          node: b,
          sealed: b,
        });
        expect((await client.patch(`${items}${id}/`, { node: null, sealed: null })).json).toMatchObject({
          node: null,
          sealed: null,
        });
        expect(
          seen(
            await client.patch(`${items}${id}/`, {
              node: names.length > 1 ? missing.replace('/', '%2F') : missing,
            }),
          ),
        ).toEqual([400, { node: [expect.stringContaining('object does not exist')] }]);
      });

      test('are those of self relations', async () => {
        const [a, b] = [keys[0] ?? '', keys[1] ?? ''];
        expect((await client.patch(urlOf(a), { next: b, label: 'n0' })).json).toMatchObject({ next: b });
        expect(
          ((await client.get(`${urlOf(b)}previous/`)).json as { label: string }[]).map(({ label }) => label),
        ).toEqual(['n0']);
        expect((await client.put(urlOf(a), { next: a })).json).toMatchObject({ next: a });
        expect((await client.patch(urlOf(a), { next: null })).json).toMatchObject({ next: null });
        expect(seen(await client.post(`${urlOf(a)}peers/`, { [`to_${name}`]: b }))).toEqual([
          201,
          { id: b, [`from_${name}`]: a, [`to_${name}`]: b },
        ]);
        expect(seen(await client.get(`${urlOf(b)}peers/`))).toEqual([200, []]);
      });

      test('are those of through objects, from both sides', async () => {
        const [a, b, c] = [keys[0] ?? '', keys[1] ?? '', keys[2] ?? ''];
        const item = idOf(await client.post(items, {}));
        const side = `${name}item`;
        expect(seen(await client.post(`${items}${item}/tagged/`, { [name]: a }))).toEqual([
          201,
          { id: a, [name]: a, [side]: item },
        ]);
        expect(seen(await client.post(`${urlOf(b)}tags/`, { [side]: item }))).toEqual([
          201,
          { id: item, [name]: b, [side]: item },
        ]);
        expect(isRefusedPair(await client.post(`${urlOf(b)}tags/`, { [side]: item }))).toBe(true);
        expect(seen(await client.get(`${items}${item}/tagged/${segment(a)}/`))).toEqual([
          200,
          { id: a, [name]: a, [side]: item },
        ]);
        expect(seen(await client.patch(`${items}${item}/tagged/${segment(a)}/`, { [name]: c }))).toEqual([
          200,
          { id: c, [name]: c, [side]: item },
        ]);
        expect(seen(await client.get(`${urlOf(c)}tags/`))).toEqual([
          200,
          [{ id: item, [name]: c, [side]: item }],
        ]);
        expect(seen(await client.delete(`${items}${item}/tagged/${segment(b)}/`))).toEqual(DELETED);
        expect(seen(await client.get(`${items}${item}/tagged/`))).toEqual([
          200,
          [{ id: c, [name]: c, [side]: item }],
        ]);
      });

      test('name objects that are deleted', async () => {
        for (const key of keys) expect(seen(await client.delete(urlOf(key)))).toEqual(DELETED);
        for (const key of keys) expect(seen(await client.get(urlOf(key)))).toEqual(NOT_FOUND);
        expect(seen(await client.get(base))).toEqual([200, []]);
        keys = [];
      });
    },
  );
});
