// @tags nest
import { expect, test } from '@jest/globals';
import { restify } from 'nestjs-restify';
import { Column, Entity, ManyToOne, PrimaryGeneratedColumn } from 'typeorm';
import type { Relation } from 'typeorm';
import { DATABASES } from '../support/databases.js';
import { startApp } from '../support/start-app.js';
import { declareUnchecked, problemsOf } from './refused-start.js';

@Entity('boot_json_item')
class Item {
  @PrimaryGeneratedColumn() id: number;
  @Column() name: string;
  @Column({ type: 'simple-json' }) meta: object;
  @Column({ type: 'simple-json', transformer: { to: JSON.stringify, from: JSON.parse } }) odd: object;
  @Column({ type: 'simple-json', select: false }) hidden: object;
  @Column({ nullable: true }) plain: string;
  @Column({ asExpression: '1', generatedType: 'VIRTUAL', select: false, nullable: true }) computed: string;
  @ManyToOne(() => Item) parent: Relation<Item>;
}

const KEYS =
  'A key is not empty, begins with no "-", and has no blank at an end, no quote ("), no backslash, no control character and none of ? , = ! ( ) [ ] in it.';

test.each<[string, object, string]>([
  [
    'an unknown column',
    { filterFields: ['mata.color'] },
    'Item.filterFields[0]: "mata.color" is not a readable field of Item. Known here: "id", "name", "plain", "parent".',
  ],
  [
    'a column that is no JSON',
    { filterFields: { 'name.color': ['exact'] } },
    'Item.filterFields.name.color: "name" is a column of the type string, which has no values by key. Name the column alone, or a path into a column of JSON.',
  ],
  [
    'a hidden column',
    { filterFields: { 'hidden.color': ['exact'] } },
    'Item.filterFields.hidden.color: "hidden" is write-only, and would leak through a query. Take it out.',
  ],
  [
    'a transformer',
    { filterFields: { 'parent.odd.color': ['exact'] } },
    'Item.filterFields.parent.odd.color: a transformer converts the values of "odd", and the database knows only the stored ones. Leave the path out, or store the value in a column of its own.',
  ],
  [
    'an unknown type',
    { filterFields: { 'meta.color': { type: 'text', lookups: ['exact'] } } },
    'Item.filterFields.meta.color: "text" is not a type of values in JSON. Known here: "string", "number", "boolean", "string[]".',
  ],
  [
    'a type of a column',
    { filterFields: { name: { type: 'string', lookups: ['exact'] } } },
    `Item.filterFields.name: "name" is no path into a column of JSON, which type and column are for. Write its lookups alone: 'name': ['exact'].`,
  ],
  [
    'an unknown part',
    { filterFields: { 'meta.color': { kind: 'string', lookups: [] } } },
    'Item.filterFields.meta.color.kind: "kind" is not a part of the filters of a path. Known here: "type", "lookups", "column".',
  ],
  [
    'a lookup of texts for a number',
    { filterFields: { 'meta.size': { type: 'number', lookups: ['contains'] } } },
    'Item.filterFields.meta.size: "contains" compares texts, and this is float. Use exact, in, gt, gte, lt or lte.',
  ],
  [
    'a comparison of a list',
    { filterFields: { 'meta.tags': { type: 'string[]', lookups: ['exact'] } } },
    'Item.filterFields.meta.tags: "exact" does not fit a list in JSON. Use contains or isnull.',
  ],
  [
    'an order of a boolean',
    { filterFields: { 'meta.new': { type: 'boolean', lookups: ['gte'] } } },
    'Item.filterFields.meta.new: "gte" does not fit a boolean. Use exact, ne, in or isnull.',
  ],
  [
    'an unknown lookup',
    { filterFields: { 'meta.color': ['has'] } },
    'Item.filterFields.meta.color: "has" is not a lookup. Known here: "exact", "iexact", "gt", "gte", "lt", "lte", "in", "range", "contains", "icontains", "startswith", "istartswith", "endswith", "iendswith", "isnull", "ne".',
  ],
  [
    'no generated column',
    { filterFields: { 'meta.color': { lookups: ['exact'], column: 'plain' } } },
    `Item.filterFields.meta.color: "plain" is not a generated column of Item. Declare it: @Column({ asExpression: '…', generatedType: 'VIRTUAL' }). Known here: "computed".`,
  ],
  [
    'a column for a list',
    { filterFields: { 'meta.tags': { type: 'string[]', lookups: ['contains'], column: 'computed' } } },
    'Item.filterFields.meta.tags: no index on a column serves "contains" of a list. Leave column out.',
  ],
  [
    'one parameter for two paths',
    { filterFields: { 'meta.size': { type: 'number', lookups: ['gte'] }, 'meta.size__gte': ['exact'] } },
    'Item.filterFields.meta.size: "meta.size" and "meta.size__gte" have the same parameter "meta__size__gte". Leave one of them out.',
  ],
  [
    'an order without a type',
    { orderingFields: ['meta.size'] },
    `Item.orderingFields[0]: "meta.size" is a value in JSON, of which no type is declared. Name it in filterFields, with lookups or without: 'meta.size': { type: 'number', lookups: [] }.`,
  ],
  [
    'an order by a list',
    { filterFields: { 'meta.tags': { type: 'string[]', lookups: [] } }, ordering: ['-meta.tags'] },
    'Item.ordering[0]: the values of "meta.tags" have no order. Order by a number, a text, a date or a relation.',
  ],
  ...['a"b', 'a\\b', 'a?', 'a[0]', '', '-a', ' a', 'a\u0000', 'a,b', 'a=b', '\ud800'].map(
    (key): [string, object, string] => [
      `the key ${JSON.stringify(key)}`,
      { filterFields: { [`meta.${key}`]: ['exact'] } },
      `Item.filterFields.meta.${key}: ${JSON.stringify(key)} is not a key that a path can have. ${KEYS}`,
    ],
  ),
])('a start with %s is refused', async (_what, options, problem) => {
  declareUnchecked(Item, { app: 'items', ...options });
  expect(await problemsOf({ entities: [Item] })).toContain(problem);
});

test.each([
  "it's",
  '$',
  '*',
  '@x',
  "'; DROP TABLE boot_json_item; --",
  '😀',
  'größe',
  'a:b',
  '{x}',
  '#>>',
  '$1',
])('the key %s is a literal of the statement', async (key) => {
  restify(Item, { app: 'items', filterFields: { [`meta.${key}`]: ['exact'] } as object, exclude: ['odd'] });
  const started = await startApp({ entities: [Item] });
  const { client, dataSource } = started;
  await dataSource.query(`INSERT INTO boot_json_item (name, meta, odd, hidden) VALUES ('n', ?, '1', '1')`, [
    JSON.stringify({ [key]: 'v', [`${key} `]: 'w' }),
  ]);
  const name = encodeURIComponent(`meta__${key}`);
  expect((await client.get(`/rest/v1/items/item/?${name}=v`)).json).toHaveLength(1);
  expect((await client.get(`/rest/v1/items/item/?${name}=w`)).json).toHaveLength(0);
  await started.close();
});

const POSTGRES = DATABASES.find(({ name, missing }) => name === 'postgres' && missing === undefined);
(POSTGRES ? test : test.skip).each(['json', 'simple-json'] as const)(
  'a start with a path into %s of PostgreSQL is refused',
  async (type) => {
    class Stored {
      id: number;
      meta: object;
    }
    PrimaryGeneratedColumn()(Stored.prototype, 'id');
    Column({ type })(Stored.prototype, 'meta');
    Entity('boot_json_stored')(Stored);
    declareUnchecked(Stored, { app: 'items', filterFields: ['meta.color'] });
    expect(await problemsOf({ entities: [Stored], ...(POSTGRES && { database: POSTGRES }) })).toEqual([
      `Stored.filterFields[0]: PostgreSQL stores "meta" as a text, and fails for some texts when it looks for a value in it. Make it jsonb: @Column({ type: 'jsonb' }).`,
    ]);
  },
);
