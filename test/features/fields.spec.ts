// @tags db nest
import { Injectable } from '@nestjs/common';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { ModelSerializer, Restify, restify } from 'nestjs-restify';
import type { ParseContext, ParsedBody, RepresentContext, Representation, Row } from 'nestjs-restify';
import {
  Column,
  CreateDateColumn,
  DeleteDateColumn,
  Entity,
  JoinColumn,
  JoinTable,
  ManyToMany,
  ManyToOne,
  OneToMany,
  OneToOne,
  PrimaryColumn,
  PrimaryGeneratedColumn,
  UpdateDateColumn,
  VersionColumn,
} from 'typeorm';
import type { ColumnOptions, Relation } from 'typeorm';
import type { TestDatabase } from '../support/databases.js';
import { onEachDatabase } from '../support/each-database.js';
import { startApp } from '../support/start-app.js';
import type { StartedApp } from '../support/start-app.js';

enum Colour {
  Red = 'red',
  Blue = 'blue',
}
enum Level {
  Low = 1,
  High = 2,
}

const REQUIRED = ['This field is required.'];
const SEND_AS_STRING = ['Send this number as a string.'];

/** What is sent, and what is shown for it. */
type Passed = readonly (readonly [sent: unknown, shown: unknown])[];

interface Kind {
  readonly column: ColumnOptions;
  readonly passes: Passed;
  readonly refused?: readonly unknown[];
}

function same(...values: readonly unknown[]): Passed {
  return values.map((value) => [value, value] as const);
}

function integer(
  type: 'tinyint' | 'smallint' | 'mediumint' | 'int' | 'integer',
  bits: number,
  unsigned = false,
): Kind {
  const [min, max] = unsigned ? [0, 2 ** bits - 1] : [-(2 ** (bits - 1)), 2 ** (bits - 1) - 1];
  return {
    column: unsigned ? { type, unsigned } : { type },
    passes: [...same(0, min, max), ['7', 7], [7.0, 7], ['-0', 0]],
    refused: [max + 1, min - 1, 7.5, '1e2', 'x', true, [1], { a: 1 }, 1e30],
  };
}

const BIGINT: Passed = [
  ['9223372036854775807', '9223372036854775807'],
  ['-9223372036854775808', '-9223372036854775808'],
  ['9007199254740993', '9007199254740993'],
  ['9007199254740992', '9007199254740992'],
  [12, '12'],
  [9007199254740991, '9007199254740991'],
];
const DECIMAL: Passed = [
  ['1234.5', '1234.5000'],
  [1234.5, '1234.5000'],
  ['-0.0001', '-0.0001'],
  [0, '0.0000'],
  ['99999999.9999', '99999999.9999'],
  [7, '7.0000'],
];
const BOOLEAN: Passed = [
  ...same(true, false),
  [1, true],
  [0, false],
  ['true', true],
  ['false', false],
  ['1', true],
  ['0', false],
];
const JSON_VALUES = same(
  { a: [1, null, { b: 'ü' }] },
  [1, 'two', false],
  [],
  {},
  'text',
  '123',
  'true',
  'null',
  '{"a":1}',
  '',
  5,
  0,
  true,
  false,
);
const UUID: Passed = [
  ['6f1c24f2-3a53-4a0b-8b7e-0c9a3f0f1d11', '6f1c24f2-3a53-4a0b-8b7e-0c9a3f0f1d11'],
  ['6F1C24F2-3A53-4A0B-8B7E-0C9A3F0F1D22', '6f1c24f2-3a53-4a0b-8b7e-0c9a3f0f1d22'],
];
const BINARY = same('AAEC/w==', 'aGVsbG8=', '', '/+8=');

function datetimes(digits: number, stored = digits): Passed {
  const shown = (fraction: string): string =>
    `2022-10-02T09:23:28.${fraction.slice(0, stored).padEnd(6, '0').slice(0, digits)}Z`;
  return [
    ['2022-10-02T09:23:28.297Z', shown('297')],
    ['2022-10-02T09:23:28Z', shown('0')],
    ['2022-10-02T11:23:28.5+02:00', shown('5')],
    ['2022-10-02 09:23:28.125', shown('125')],
    ['2022-10-02T09:23:28.297123Z', shown('297123')],
    ['1969-12-31T23:59:59.000Z', `1969-12-31T23:59:59.${'0'.repeat(digits)}Z`],
    ['2024-02-29T00:00:00.000Z', `2024-02-29T00:00:00.${'0'.repeat(digits)}Z`],
    ['2022-03-27T02:30:00.000Z', `2022-03-27T02:30:00.${'0'.repeat(digits)}Z`],
  ];
}
const WRONG_DATETIMES = [
  '2022-10-02',
  1664702608297,
  '2022-10-02T24:00:00Z',
  '2022-13-02T00:00:00Z',
  '2022-02-29T00:00:00Z',
  'now',
  true,
];

/** Column kinds that every database has. */
const COMMON: Readonly<Record<string, Kind>> = {
  smallint: integer('smallint', 16),
  int: integer('int', 32),
  bigint: {
    column: { type: 'bigint' },
    passes: BIGINT,
    refused: [
      '9223372036854775808',
      '-9223372036854775809',
      '1.5',
      'x',
      true,
      [],
      9007199254740993n.toString() + 'x',
    ],
  },
  decimal: {
    column: { type: 'decimal', precision: 12, scale: 4 },
    passes: DECIMAL,
    refused: ['123456789', '1.00001', 'x', '1e8', '1e400', true, [], ''],
  },
  double: {
    column: { type: 'double precision' },
    passes: [...same(0.1, -1.5e300, 7, 0), ['2.5', 2.5]],
    refused: ['x', true, [], 'NaN', 'Infinity'],
  },
  boolean: { column: { type: 'boolean' }, passes: BOOLEAN, refused: ['yes', 2, [], 'TRUE', ''] },
  varchar: {
    column: { type: 'varchar', length: 10 },
    passes: [...same('ü😀', '', '😀😀😀😀😀😀😀😀😀😀', "'; --", '%_\\'), [5, '5'], ['  a b  ', 'a b']],
    refused: ['12345678901', true, [], {}, 'a\u0000b', '\ud800'],
  },
  text: {
    column: { type: 'text' },
    passes: [...same('x'.repeat(5000), 'two\nlines'), ['\t a \n', 'a']],
    refused: [false, ['a'], '\u0000'],
  },
  date: {
    column: { type: 'date' },
    passes: same('2022-10-02', '1900-01-01', '2024-02-29', '9999-12-31'),
    refused: ['2022-10-02T00:00:00Z', '2022-13-01', '2023-02-29', '02.10.2022', 20221002, ''],
  },
  uuid: { column: { type: 'uuid' }, passes: UUID, refused: ['x', '6f1c24f2', 5, true] },
  simple_enum: {
    column: { type: 'simple-enum', enum: Colour },
    passes: same('red', 'blue'),
    refused: ['green', 'Red', 1, true, ''],
  },
  numeric_enum: {
    column: { type: 'simple-enum', enum: Level },
    passes: same(1, 2),
    refused: [3, 'Low', true],
  },
  simple_json: { column: { type: 'simple-json' }, passes: JSON_VALUES, refused: ['\u0000', { a: '\ud800' }] },
  json: { column: { type: 'json' }, passes: JSON_VALUES, refused: [['\u0000']] },
  simple_array: {
    column: { type: 'simple-array' },
    passes: same(['a', 'b'], [], ['a b', 'ü'], ['x']),
    refused: ['a,b', { a: 1 }, 5, ['a,b'], [null]],
  },
};

const KINDS: Readonly<Record<TestDatabase['name'], Readonly<Record<string, Kind>>>> = {
  sqlite: {
    ...COMMON,
    smallint: {
      column: { type: 'smallint' },
      passes: [...same(0, -32768, 32767), ['7', 7]],
      refused: [7.5, 'x', true],
    },
    int: {
      column: { type: 'int' },
      passes: same(0, Number.MAX_SAFE_INTEGER, Number.MIN_SAFE_INTEGER),
      refused: [7.5, 'x', true, 1e30],
    },
    tinyint: { column: { type: 'tinyint' }, passes: same(-128, 127), refused: ['x'] },
    mediumint: { column: { type: 'mediumint' }, passes: same(-8388608, 8388607), refused: ['x'] },
    real: { column: { type: 'real' }, passes: same(0.1, -2, 1e300), refused: ['x'] },
    time: {
      column: { type: 'time' },
      passes: [...same('09:23:28', '00:00:00', '23:59:59.123456'), ['09:23', '09:23:00']],
      refused: ['24:00:00', '9:5', 'noon', 5],
    },
    datetime: { column: { type: 'datetime' }, passes: datetimes(3), refused: WRONG_DATETIMES },
    blob: { column: { type: 'blob' }, passes: BINARY, refused: ['*', 'abc', 5, []] },
  },
  postgres: {
    ...COMMON,
    integer: integer('integer', 32),
    real: { column: { type: 'real' }, passes: same(0.1, -2.5), refused: ['x'] },
    numeric: {
      column: { type: 'numeric' },
      passes: same('1.1', '123456789012345678901234567890.123456789'),
      refused: ['x'],
    },
    char: { column: { type: 'char', length: 3 }, passes: same('abc'), refused: ['abcd'] },
    time: {
      column: { type: 'time' },
      passes: [...same('09:23:28', '00:00:00', '23:59:59.123456'), ['09:23', '09:23:00']],
      refused: ['24:00:00', 'noon', 5],
    },
    timestamp: { column: { type: 'timestamp' }, passes: datetimes(6), refused: WRONG_DATETIMES },
    timestamp3: {
      column: { type: 'timestamp', precision: 3 },
      passes: datetimes(3).filter(([sent]) => !String(sent).includes('297123')),
      refused: WRONG_DATETIMES,
    },
    timestamptz: { column: { type: 'timestamptz' }, passes: datetimes(6), refused: WRONG_DATETIMES },
    enum: { column: { type: 'enum', enum: Colour }, passes: same('red', 'blue'), refused: ['green', ''] },
    level: { column: { type: 'enum', enum: Level }, passes: same(1, 2), refused: [3] },
    jsonb: { column: { type: 'jsonb' }, passes: JSON_VALUES, refused: [['\u0000']] },
    ints: {
      column: { type: 'int', array: true },
      passes: same([1, -2], []),
      refused: [1, ['x'], [2147483648], '{1}'],
    },
    bigints: {
      column: { type: 'bigint', array: true },
      passes: same(['9007199254740993', '1'], []),
      refused: [['x']],
    },
    decimals: {
      column: { type: 'numeric', precision: 20, scale: 2, array: true },
      passes: same(['1.10', '123456789012345678.25'], []),
      refused: [['x']],
    },
    texts: {
      column: { type: 'text', array: true },
      passes: same(['a,b', '{c}', '"', '\\', '', 'NULL', 'ü'], []),
      refused: ['a', [1, true]],
    },
    booleans: { column: { type: 'boolean', array: true }, passes: same([true, false]), refused: [['x']] },
    uuids: {
      column: { type: 'uuid', array: true },
      passes: same(['6f1c24f2-3a53-4a0b-8b7e-0c9a3f0f1d11'], []),
      refused: [['x']],
    },
    dates: {
      column: { type: 'date', array: true },
      passes: same(['2022-10-02', '2024-02-29'], []),
      refused: [['x']],
    },
    instants: {
      column: { type: 'timestamptz', array: true },
      passes: same(['2022-10-02T09:23:28.297000Z'], []),
      refused: [['x']],
    },
    colours: {
      column: { type: 'enum', enum: Colour, array: true },
      passes: same(['red', 'blue'], []),
      refused: [['green'], 'red'],
    },
    bytea: { column: { type: 'bytea' }, passes: BINARY, refused: ['*', 'abc', 5] },
  },
  mariadb: {
    ...COMMON,
    tinyint: integer('tinyint', 8),
    mediumint: integer('mediumint', 24),
    unsigned_smallint: integer('smallint', 16, true),
    unsigned_int: integer('int', 32, true),
    unsigned_bigint: {
      column: { type: 'bigint', unsigned: true },
      passes: same('18446744073709551615', '0'),
      refused: ['18446744073709551616', '-1', -1],
    },
    float: { column: { type: 'float' }, passes: same(0.5, -2.25), refused: ['x'] },
    time: {
      column: { type: 'time' },
      passes: [...same('09:23:28', '00:00:00'), ['09:23', '09:23:00']],
      refused: ['24:00:00', '-01:00:00', 'noon', 5],
    },
    time6: { column: { type: 'time', precision: 6 }, passes: same('23:59:59.123456', '09:23:28') },
    datetime: {
      column: { type: 'datetime' },
      passes: datetimes(3, 0).filter(
        ([sent]) => !String(sent).includes('.297') && !String(sent).includes('.5+'),
      ),
      refused: WRONG_DATETIMES,
    },
    datetime3: { column: { type: 'datetime', precision: 3 }, passes: datetimes(3), refused: WRONG_DATETIMES },
    datetime6: { column: { type: 'datetime', precision: 6 }, passes: datetimes(6), refused: WRONG_DATETIMES },
    timestamp: {
      column: { type: 'timestamp', precision: 6 },
      passes: datetimes(6).filter(([sent]) => !String(sent).startsWith('1969')),
      refused: WRONG_DATETIMES,
    },
    enum: { column: { type: 'enum', enum: Colour }, passes: same('red', 'blue'), refused: ['green', ''] },
    set: {
      column: { type: 'set', enum: Colour },
      passes: [
        ...same(['red', 'blue'], [], ['blue']),
        [
          ['blue', 'red', 'red'],
          ['red', 'blue'],
        ],
      ],
      refused: ['red', ['green'], [1]],
    },
    blob: { column: { type: 'blob' }, passes: BINARY, refused: ['*', 'abc', 5] },
    varbinary: { column: { type: 'varbinary', length: 8 }, passes: BINARY, refused: ['AAAAAAAAAAAAAAAA'] },
  },
};

function entityOf(name: string, kinds: Readonly<Record<string, Kind>>): new () => object {
  const holder = {
    [name]: class {
      readonly id: number;
    },
  };
  const made = holder[name];
  if (!made) throw new Error('No class');
  PrimaryGeneratedColumn()(made.prototype, 'id');
  for (const [property, { column }] of Object.entries(kinds))
    Column({ ...column, nullable: true })(made.prototype, property);
  Entity()(made);
  restify(made, 'kinds');
  return made;
}

onEachDatabase('a column of type', (database) => {
  const kinds = KINDS[database.name];
  const name = `Kinds_${database.name}`;
  const Kinds = entityOf(name, kinds);
  const collection = `/rest/v1/kinds/${name.toLowerCase()}/`;
  let started: StartedApp;
  beforeAll(async () => {
    started = await startApp({ entities: [Kinds], database });
  });
  afterAll(() => started.close());

  describe.each(Object.entries(kinds))('%s', (field, { passes, refused = [] }) => {
    test.each(passes.map(([sent, shown]) => [JSON.stringify(sent).slice(0, 40), sent, shown]))(
      'takes %s, and shows it',
      async (_title, sent, shown) => {
        const { client } = started;
        const created = await client.post(collection, { [field]: sent });
        expect([created.status, (created.json as Record<string, unknown>)[field]]).toEqual([201, shown]);
        const path = `${collection}${(created.json as { id: number }).id}/`;
        expect((await client.get(path)).json).toEqual(created.json);
      },
    );

    test('takes one value after another, null between them, and its own text back', async () => {
      const { client } = started;
      const created = await client.post(collection, {});
      expect([created.status, (created.json as Record<string, unknown>)[field]]).toEqual([201, null]);
      const path = `${collection}${(created.json as { id: number }).id}/`;
      for (const [sent, shown] of passes) {
        const changed = await client.patch(path, { [field]: sent });
        expect([sent, changed.status, (changed.json as Record<string, unknown>)[field]]).toEqual([
          sent,
          200,
          shown,
        ]);
        const again = await client.put(path, changed.json);
        expect([sent, again.status, again.json]).toEqual([sent, 200, changed.json]);
      }
      const emptied = await client.patch(path, { [field]: null });
      expect([emptied.status, emptied.json]).toEqual([200, created.json]);
      expect((await client.get(path)).json).toEqual(created.json);
    });

    test('rejects an invalid value, under its own name', async () => {
      for (const value of refused) {
        const answer = await started.client.post(collection, { [field]: value });
        expect([value, answer.status, Object.keys(answer.json as object)]).toEqual([value, 400, [field]]);
      }
    });
  });

  test('shows all its columns in declaration order, the key first', async () => {
    const created = await started.client.post(collection, {});
    expect(Object.keys(created.json as object)).toEqual(['id', ...Object.keys(kinds)]);
  });

  test('bigint and decimal reject an inexact JSON number and suggest a string', async () => {
    for (const [field, raw] of [
      ['bigint', '9007199254740993'],
      ['bigint', '1e25'],
      ['decimal', '0.1234567890123456'],
      ['decimal', '1234567890123456'],
    ] as const) {
      const answer = await started.client.send('POST', collection, {
        raw: `{"${field}": ${raw}}`,
        headers: { 'content-type': 'application/json' },
      });
      expect([field, raw, answer.status, answer.json]).toEqual([
        field,
        raw,
        400,
        { [field]: SEND_AS_STRING },
      ]);
    }
  });
});

class Country {
  @Column({ length: 2 })
  code: string;

  @Column({ type: 'int', nullable: true })
  calling: number | null;
}

class Address {
  @Column({ length: 40 })
  street: string;

  @Column({ length: 10, default: '0' })
  zip: string;

  @Column(() => Country)
  country: Country;
}

@Restify('fields')
@Entity()
class Dossier {
  @Column({ length: 40 })
  title: string;

  @PrimaryGeneratedColumn('uuid')
  key: string;

  @Column({ type: String, select: false, nullable: true, length: 20 })
  secret: string | null;

  @Column({ type: String, insert: false, nullable: true, length: 20 })
  later: string | null;

  @Column({ type: String, update: false, nullable: true, length: 20 })
  once: string | null;

  @Column({ precision: 6, default: () => 'CURRENT_TIMESTAMP(6)' })
  since: Date;

  @Column({ precision: 6, nullable: true })
  until: Date;

  @Column({
    type: 'varchar',
    length: 40,
    nullable: true,
    transformer: {
      to: (value: string | null | undefined) => value?.toUpperCase(),
      from: (value: string | null) => (value === null ? null : `<${value}>`),
    },
  })
  marked: string | null;

  @Column({ type: 'decimal', precision: 30, scale: 4, nullable: true })
  amount: string | null;

  @Column({ name: 'renamed_in_db', default: 3 })
  shownName: number;

  @CreateDateColumn({ precision: 6 })
  created: Date;

  @UpdateDateColumn({ precision: 6 })
  updated: Date;

  @DeleteDateColumn({ precision: 6 })
  removed: Date;

  @VersionColumn()
  version: number;

  @Column(() => Address)
  address: Address;

  shout(): string {
    return this.title.toUpperCase();
  }
}

const DOSSIERS = '/rest/v1/fields/dossier/';
const DOSSIER_KEYS = [
  'key',
  'title',
  'later',
  'once',
  'since',
  'until',
  'marked',
  'amount',
  'shownName',
  'created',
  'updated',
  'removed',
  'version',
  'address',
];
const ADDRESS = { street: 'Main', country: { code: 'DE' } };

/** SQLite knows no CURRENT_TIMESTAMP(6). */
@Entity({ name: 'lite_dossier' })
@Restify({ app: 'fields', name: 'dossier' })
class LiteDossier extends Dossier {
  @Column({ precision: 6, default: () => 'CURRENT_TIMESTAMP' })
  override since: Date;
}

onEachDatabase('a model', (database) => {
  const digits = database.name === 'sqlite' ? 3 : 6;
  const zeros = (count: number): string => '0'.repeat(count);
  const entity = database.name === 'sqlite' ? LiteDossier : Dossier;
  let started: StartedApp;
  beforeAll(async () => {
    started = await startApp({ entities: [entity], database });
  });
  afterAll(() => started.close());

  async function make(
    body: object = {},
  ): Promise<{ readonly path: string; readonly body: Record<string, unknown> }> {
    const created = await started.client.post(DOSSIERS, { title: 't', address: ADDRESS, ...body });
    expect(created.status).toBe(201);
    const shown = created.json as Record<string, unknown>;
    return { path: `${DOSSIERS}${String(shown.key)}/`, body: shown };
  }

  test('has its generated uuid first, then its columns, and no column that is not selected', async () => {
    const { path, body } = await make({ secret: 'x' });
    expect([...Object.keys(body)].sort()).toEqual([...DOSSIER_KEYS].sort());
    expect(Object.keys(body)[0]).toBe('key');
    expect(body.key).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/);
    expect((await started.client.get(path)).json).toEqual(body);
    const stored = await started.dataSource
      .getRepository<Dossier>(entity)
      .findOne({ where: { key: String(body.key) }, select: { key: true, secret: true } });
    expect(stored?.secret).toBeNull();
  });

  test('never takes a generated key, a version or the dates that TypeORM fills from a body', async () => {
    const given = {
      key: '6f1c24f2-3a53-4a0b-8b7e-0c9a3f0f1d11',
      version: 77,
      created: '2001-01-01T00:00:00.000Z',
      updated: '2001-01-01T00:00:00.000Z',
      removed: '2001-01-01T00:00:00.000Z',
    };
    const { path, body } = await make(given);
    expect(body.key).not.toBe(given.key);
    expect([body.version, body.removed]).toEqual([1, null]);
    expect(String(body.created)).not.toMatch(/^2001/);
    const changed = await started.client.put(path, { title: 'new', address: ADDRESS, ...given });
    expect([changed.status, changed.json]).toMatchObject([
      200,
      { key: body.key, title: 'new', version: 2, created: body.created, removed: null },
    ]);
    expect(String((changed.json as Record<string, unknown>).updated)).not.toMatch(/^2001/);
    expect((await started.client.get(`${DOSSIERS}${given.key}/`)).status).toBe(404);
  });

  test('fills its dates with this moment, in UTC', async () => {
    const before = Date.now();
    const { body } = await make();
    for (const name of ['since', 'created', 'updated']) {
      expect(body[name]).toMatch(new RegExp(`^\\d{4}-\\d{2}-\\d{2}T\\d{2}:\\d{2}:\\d{2}\\.\\d{${digits}}Z$`));
      expect(Math.abs(new Date(String(body[name])).getTime() - before)).toBeLessThan(60_000);
    }
  });

  test('shows a date-time with all its digits, a whole second too', async () => {
    const { path, body } = await make({ since: '2022-10-02T09:23:28Z', until: '2022-10-02T09:23:28.297Z' });
    expect([body.since, body.until]).toEqual([
      `2022-10-02T09:23:28.${zeros(digits)}Z`,
      `2022-10-02T09:23:28.297${zeros(digits - 3)}Z`,
    ]);
    expect((await started.client.patch(path, { until: null })).json).toMatchObject({
      until: null,
      since: body.since,
    });
  });

  test('keeps microseconds over a round trip where the database has them', async () => {
    const sent = '2022-10-02T09:23:28.297123Z';
    const shown = digits === 6 ? sent : '2022-10-02T09:23:28.297Z';
    const { path, body } = await make({ until: sent });
    expect(body.until).toBe(shown);
    const put = await started.client.put(path, body);
    expect([put.status, (put.json as typeof body).until]).toEqual([200, shown]);
    const changed = await started.client.patch(path, { until: '2022-10-02T09:23:28.297Z' });
    expect([changed.status, (changed.json as typeof body).until]).toEqual([
      200,
      `2022-10-02T09:23:28.297${zeros(digits - 3)}Z`,
    ]);
  });

  test('leaves the microseconds that the database made alone when another field changes', async () => {
    const { path, body } = await make();
    const changed = await started.client.patch(path, { title: 'other' });
    expect([changed.status, changed.json]).toMatchObject([200, { since: body.since, created: body.created }]);
  });

  test('counts its version, and moves its update date, with each change', async () => {
    const { path, body } = await make();
    const changed = await started.client.patch(path, { title: 'second' });
    expect([changed.status, changed.json]).toMatchObject([
      200,
      { title: 'second', version: 2, created: body.created },
    ]);
    // TypeORM's own UPDATE leaves the fraction of the second out on MariaDB.
    const seconds = (text: unknown): number => Math.floor(new Date(String(text)).getTime() / 1000);
    expect(seconds((changed.json as typeof body).updated)).toBeGreaterThanOrEqual(seconds(body.updated));
  });

  test('takes an insert-only column once, and a column without insert only later', async () => {
    const { path, body } = await make({ once: 'first', later: 'early' });
    expect([body.once, body.later]).toEqual(['first', null]);
    const changed = await started.client.patch(path, { once: 'second', later: 'late' });
    expect([changed.status, changed.json]).toMatchObject([200, { once: 'first', later: 'late' }]);
    expect((await started.client.get(path)).json).toEqual(changed.json);
  });

  test('passes a value through its transformer both ways', async () => {
    const { path, body } = await make({ marked: 'abc' });
    expect(body.marked).toBe('<ABC>');
    expect((await started.client.get(path)).json).toMatchObject({ marked: '<ABC>' });
    expect((await started.client.patch(path, { marked: null })).json).toMatchObject({ marked: null });
    expect((await started.client.patch(path, { title: 'x' })).json).toMatchObject({ marked: null });
  });

  test('does not transform unchanged values again', async () => {
    const { path } = await make({ marked: 'abc' });
    expect((await started.client.patch(path, { title: 'x' })).json).toMatchObject({ marked: '<ABC>' });
    expect((await started.client.patch(path, {})).json).toMatchObject({ marked: '<ABC>' });
  });

  test('keeps every digit of a decimal, or refuses it', async () => {
    const amount = '12345678901234567890.1234';
    const created = await started.client.post(DOSSIERS, { title: 't', address: ADDRESS, amount });
    const kept = (created.json as { amount?: unknown }).amount;
    expect([
      [201, amount],
      [400, [expect.any(String)]],
    ]).toContainEqual([created.status, kept]);
  });

  test('names a field after the property, and not after the column', async () => {
    const { path, body } = await make({ renamed_in_db: 9 });
    expect([body.shownName, 'renamed_in_db' in body]).toEqual([3, false]);
    expect((await started.client.patch(path, { shownName: 5 })).json).toMatchObject({ shownName: 5 });
  });

  test('shows embedded objects as nested objects', async () => {
    const { path, body } = await make({
      address: { street: 'S', zip: '1', country: { code: 'FR', calling: 33 } },
    });
    expect(body.address).toEqual({ street: 'S', zip: '1', country: { code: 'FR', calling: 33 } });
    expect(Object.keys(body.address as object)).toEqual(['street', 'zip', 'country']);
    expect((await started.client.get(path)).json).toEqual(body);
  });

  test('fills what an embedded object leaves out with its defaults, and keeps it on PATCH', async () => {
    const { path, body } = await make();
    expect(body.address).toEqual({ street: 'Main', zip: '0', country: { code: 'DE', calling: null } });
    const changed = await started.client.patch(path, { address: { country: { calling: 49 } } });
    expect([changed.status, changed.json]).toMatchObject([
      200,
      { address: { street: 'Main', zip: '0', country: { code: 'DE', calling: 49 } } },
    ]);
    expect((await started.client.get(path)).json).toEqual(changed.json);
    const emptied = await started.client.patch(path, { address: { country: { calling: null } } });
    expect(emptied.json).toMatchObject({ address: { country: { code: 'DE', calling: null } } });
  });

  test('has the errors of an embedded object below its name', async () => {
    const none = await started.client.post(DOSSIERS, { title: 't' });
    expect([none.status, none.json]).toEqual([400, { address: REQUIRED }]);
    const some = await started.client.post(DOSSIERS, {
      title: 't',
      address: { zip: 'x'.repeat(11), country: { calling: 'x' } },
    });
    expect([some.status, some.json]).toEqual([
      400,
      {
        address: {
          street: REQUIRED,
          zip: ['Ensure this field has no more than 10 characters.'],
          country: { code: REQUIRED, calling: ['A valid integer is required.'] },
        },
      },
    ]);
    for (const address of [[], 'x', 5])
      expect((await started.client.post(DOSSIERS, { title: 't', address })).status).toBe(400);
    const empty = await started.client.post(DOSSIERS, { title: 't', address: null });
    expect([empty.status, empty.json]).toEqual([400, { address: ['This field may not be null.'] }]);
  });

  test('hides a soft-deleted object', async () => {
    const { path } = await make();
    expect((await started.client.delete(path)).status).toBe(204);
    const gone = await started.client.get(path);
    expect([gone.status, gone.json]).toEqual([404, { detail: 'Not found.' }]);
  });

  test('answers a key that is no uuid as a key of no object', async () => {
    for (const key of [
      'abc',
      '1',
      '6f1c24f2-3a53-4a0b-8b7e-0c9a3f0f1d1',
      '6f1c24f2-3a53-4a0b-8b7e-0c9a3f0f1d11',
    ])
      expect((await started.client.get(`${DOSSIERS}${key}/`)).status).toBe(404);
  });
});

@Restify('rel')
@Entity()
class Person {
  @OneToMany(() => Pet, (pet) => pet.owner)
  pets: Relation<Pet[]>;

  @PrimaryGeneratedColumn()
  id: number;

  @OneToOne(() => Passport, (passport) => passport.person)
  passport: Relation<Passport> | null;

  @Column({ default: '' })
  name: string;

  @ManyToMany(() => Club)
  @JoinTable()
  clubs: Relation<Club[]>;

  @OneToOne(() => Unlisted, (unlisted) => unlisted.person)
  hidden: Relation<Unlisted> | null;

  @OneToMany(() => UnlistedChild, (child) => child.person)
  hiddenChildren: Relation<UnlistedChild[]>;

  @ManyToOne(() => Unlisted)
  alsoHidden: Relation<Unlisted> | null;

  @ManyToMany(() => Unlisted)
  @JoinTable()
  hiddenMany: Relation<Unlisted[]>;
}

@Restify('rel')
@Entity()
class Passport {
  @PrimaryGeneratedColumn()
  id: number;

  @OneToOne(() => Person, (person) => person.passport)
  @JoinColumn()
  person: Relation<Person> | null;

  @Column({ default: '' })
  code: string;
}

@Restify('rel')
@Entity()
class Pet {
  @PrimaryGeneratedColumn()
  id: number;

  @ManyToOne(() => Person, (person) => person.pets, { nullable: false })
  owner: Relation<Person>;

  @ManyToOne(() => Person)
  sitter: Relation<Person> | null;

  @Column({ default: '' })
  name: string;

  @Column({ nullable: true })
  vetId: number | null;

  @ManyToOne(() => Person)
  @JoinColumn({ name: 'vetId' })
  vet: Relation<Person> | null;
}

@Restify('rel')
@Entity()
class Club {
  @PrimaryColumn({ length: 20 })
  slug: string;

  @ManyToOne(() => Club)
  parent: Relation<Club> | null;
}

@Entity()
class Unlisted {
  @PrimaryGeneratedColumn()
  id: number;

  @OneToOne(() => Person, (person) => person.hidden)
  @JoinColumn()
  person: Relation<Person> | null;
}

@Entity()
class UnlistedChild {
  @PrimaryGeneratedColumn()
  id: number;

  @ManyToOne(() => Person, (person) => person.hiddenChildren)
  person: Relation<Person> | null;
}

onEachDatabase('relations', (database) => {
  let started: StartedApp;
  beforeAll(async () => {
    started = await startApp({ entities: [Person, Passport, Pet, Club, Unlisted, UnlistedChild], database });
  });
  afterAll(() => started.close());

  async function create(model: string, body: object = {}): Promise<number> {
    const created = await started.client.post(`/rest/v1/rel/${model}/`, body);
    expect(created.status).toBe(201);
    return (created.json as { id: number }).id;
  }

  test('stand behind the key and the columns, in declaration order, without those to entities that are not registered', async () => {
    const id = await create('person', { name: 'A' });
    const answer = await started.client.get(`/rest/v1/rel/person/${id}/`);
    expect(answer.text).toBe(
      JSON.stringify({
        id,
        name: 'A',
        pets: `/rest/v1/rel/person/${id}/pets/`,
        passport: null,
        clubs: `/rest/v1/rel/person/${id}/clubs/`,
      }),
    );
    for (const name of ['hidden', 'hiddenChildren', 'alsoHidden', 'hiddenMany']) {
      const nested = await started.client.get(`/rest/v1/rel/person/${id}/${name}/`);
      expect([nested.status, nested.json]).toEqual([404, { detail: 'Not found.' }]);
    }
  });

  test('forward one-to-one holds the related key and is written; its other side shows it and is not', async () => {
    const { client } = started;
    const person = await create('person');
    const passport = await create('passport', { person });
    expect((await client.get(`/rest/v1/rel/passport/${passport}/`)).json).toEqual({
      id: passport,
      code: '',
      person,
    });
    expect((await client.get(`/rest/v1/rel/person/${person}/`)).json).toMatchObject({ passport });
    expect((await client.get('/rest/v1/rel/person/')).json).toContainEqual(
      expect.objectContaining({ id: person, passport }),
    );
    const changed = await client.patch(`/rest/v1/rel/person/${person}/`, {
      passport: null,
      pets: [],
      clubs: 'x',
    });
    expect([changed.status, changed.json]).toMatchObject([
      200,
      { passport, pets: `/rest/v1/rel/person/${person}/pets/` },
    ]);
    const unmapped = await client.patch(`/rest/v1/rel/passport/${passport}/`, { person: null });
    expect([unmapped.status, unmapped.json]).toEqual([200, { id: passport, code: '', person: null }]);
    expect((await client.get(`/rest/v1/rel/person/${person}/`)).json).toMatchObject({ passport: null });
  });

  test('a second row on a one-to-one is an error of that field', async () => {
    const person = await create('person');
    await create('passport', { person });
    const second = await started.client.post('/rest/v1/rel/passport/', { person });
    expect([second.status, second.json]).toEqual([400, { person: [expect.any(String)] }]);
    const other = await create('passport');
    const changed = await started.client.patch(`/rest/v1/rel/passport/${other}/`, { person });
    expect([changed.status, changed.json]).toEqual([400, { person: [expect.any(String)] }]);
    expect((await started.client.get(`/rest/v1/rel/passport/${other}/`)).json).toMatchObject({
      person: null,
    });
  });

  test('many-to-one holds the related key, is required where it is not nullable, and null unmaps a nullable one', async () => {
    const { client } = started;
    const [owner, sitter] = [await create('person'), await create('person')];
    const missing = await client.post('/rest/v1/rel/pet/', {});
    expect([missing.status, missing.json]).toEqual([400, { owner: REQUIRED }]);
    const pet = await create('pet', { owner, sitter });
    expect((await client.get(`/rest/v1/rel/pet/${pet}/`)).json).toMatchObject({
      id: pet,
      owner,
      sitter,
      vet: null,
    });
    expect(
      (await client.patch(`/rest/v1/rel/pet/${pet}/`, { sitter: null, owner: sitter })).json,
    ).toMatchObject({ owner: sitter, sitter: null });
    const nulled = await client.patch(`/rest/v1/rel/pet/${pet}/`, { owner: null });
    expect([nulled.status, nulled.json]).toEqual([400, { owner: ['This field may not be null.'] }]);
    expect((await client.get(`/rest/v1/rel/person/${sitter}/pets/`)).json).toEqual([
      expect.objectContaining({ id: pet, owner: sitter, sitter: null }),
    ]);
    expect((await client.get(`/rest/v1/rel/person/${owner}/pets/`)).text).toBe('[]');
  });

  test('a column of its own over the same foreign key follows the relation', async () => {
    const { client } = started;
    const [owner, vet] = [await create('person'), await create('person')];
    const pet = await create('pet', { owner, vet });
    expect((await client.get(`/rest/v1/rel/pet/${pet}/`)).json).toMatchObject({ vet, vetId: vet });
    expect((await client.patch(`/rest/v1/rel/pet/${pet}/`, { vet: owner })).json).toMatchObject({
      vet: owner,
      vetId: owner,
    });
    expect((await client.patch(`/rest/v1/rel/pet/${pet}/`, { vet: null })).json).toMatchObject({
      vet: null,
      vetId: null,
    });
  });

  test('related keys that are wrong or of no row are errors of their field', async () => {
    const { client } = started;
    const none = await client.post('/rest/v1/rel/pet/', { owner: 999999, sitter: 'abc' });
    expect([none.status, none.json]).toEqual([
      400,
      {
        owner: ['Invalid pk "999999" - object does not exist.'],
        sitter: ['Incorrect type. Expected pk value, received str.'],
      },
    ]);
    for (const owner of [true, [1], { id: 1 }, 1.5]) {
      const answer = await client.post('/rest/v1/rel/pet/', { owner });
      expect([owner, answer.status, answer.json]).toEqual([
        owner,
        400,
        { owner: [expect.stringContaining('Incorrect type. Expected pk value, received ')] },
      ]);
    }
  });

  test('to a natural key, and of a model to itself, hold the text', async () => {
    const { client } = started;
    expect((await client.post('/rest/v1/rel/club/', { slug: 'a/b' })).json).toEqual({
      slug: 'a/b',
      parent: null,
    });
    const child = await client.post('/rest/v1/rel/club/', { slug: 'c', parent: 'a/b' });
    expect([child.status, child.json]).toEqual([201, { slug: 'c', parent: 'a/b' }]);
    // The default collation of MariaDB does not distinguish case.
    const other = await client.patch('/rest/v1/rel/club/c/', { parent: 'A/B' });
    expect([other.status, other.json]).toEqual(
      database.name === 'mariadb'
        ? [200, { slug: 'c', parent: 'a/b' }]
        : [400, { parent: ['Invalid pk "A/B" - object does not exist.'] }],
    );
    expect((await client.get('/rest/v1/rel/club/c/')).json).toEqual({ slug: 'c', parent: 'a/b' });
  });
});

@Injectable()
class Greeting {
  readonly word = 'hello';
}

@Injectable()
class GreetingSerializer extends ModelSerializer {
  constructor(private readonly greeting: Greeting) {
    super();
  }

  override represent(row: Row, context: RepresentContext): Representation {
    const body = super.represent(row, context);
    return { ...body, greeting: `${this.greeting.word} ${String(body.name)}` };
  }

  override parse(body: Readonly<Record<string, unknown>>, context: ParseContext): ParsedBody {
    const parsed = super.parse(body, context);
    return body.name === 'forbidden'
      ? { ...parsed, errors: { ...parsed.errors, name: ['Not this one.'] } }
      : parsed;
  }
}

class Described {
  @PrimaryGeneratedColumn()
  id: number;

  @Column({ length: 20 })
  name: string;

  @Column({ length: 20, default: 'd' })
  body: string;

  @Column({ select: false, length: 40, default: '' })
  password: string;

  @Column({ default: 0 })
  score: number;

  @Column({ length: 20, default: 'filled' })
  extra: string;
}

@Restify({ app: 'opt', fields: ['id', 'name', 'score'] })
@Entity()
class OnlySome extends Described {}

@Restify({ app: 'opt', exclude: ['body', 'score'] })
@Entity()
class AllBut extends Described {}

@Restify({ app: 'opt', readOnly: ['score'], writeOnly: ['password', 'extra'] })
@Entity()
class OneWay extends Described {}

@Restify({ app: 'opt', optional: ['name'], trim: { body: false } })
@Entity()
class Lenient extends Described {
  @Column({ type: String, nullable: true, length: 20 })
  trimmed: string | null;
}

@Restify({
  app: 'opt',
  computed: {
    initial: 'firstLetter',
    double: (each: Derived) => each.score * 2,
    nothing: () => undefined,
    big: () => 12n,
    when: () => new Date(0),
    list: () => [1, { a: null }],
  },
})
@Entity()
class Derived extends Described {
  firstLetter(): string {
    return this.name.charAt(0);
  }
}

@Restify({ app: 'opt', name: 'renamed-model_2', serializer: GreetingSerializer })
@Entity()
class Greeted extends Described {}

@Restify({ app: 'opt', strict: true, readOnly: ['score'] })
@Entity()
class Exacting extends Described {}

const OPT = '/rest/v1/opt/';

onEachDatabase('an option of @Restify', (database) => {
  let started: StartedApp;
  beforeAll(async () => {
    started = await startApp({
      entities: [OnlySome, AllBut, OneWay, Lenient, Derived, Greeted, Exacting],
      database,
      providers: [Greeting, GreetingSerializer],
    });
  });
  afterAll(() => started.close());

  test('fields names the properties that are exposed, in the order of the model', async () => {
    const created = await started.client.post(`${OPT}onlysome/`, { name: 'n', body: 'x', extra: 'y' });
    expect([created.status, created.text]).toEqual([201, JSON.stringify({ id: 1, name: 'n', score: 0 })]);
    expect(await started.dataSource.getRepository(OnlySome).findOneByOrFail({ id: 1 })).toMatchObject({
      body: 'd',
      extra: 'filled',
    });
  });

  test('exclude names those that are not', async () => {
    const created = await started.client.post(`${OPT}allbut/`, { name: 'n', body: 'x', score: 9 });
    expect([created.status, created.text]).toEqual([
      201,
      JSON.stringify({ id: 1, name: 'n', extra: 'filled' }),
    ]);
    expect(await started.dataSource.getRepository(AllBut).findOneByOrFail({ id: 1 })).toMatchObject({
      body: 'd',
      score: 0,
    });
  });

  test('readOnly is shown and never taken', async () => {
    const created = await started.client.post(`${OPT}oneway/`, { name: 'n', score: 9 });
    expect([created.status, created.json]).toMatchObject([201, { score: 0 }]);
    const path = `${OPT}oneway/${(created.json as { id: number }).id}/`;
    expect((await started.client.patch(path, { score: 9 })).json).toMatchObject({ score: 0 });
    expect((await started.client.put(path, { name: 'n', score: 9 })).json).toMatchObject({ score: 0 });
  });

  test('writeOnly is taken and never shown, a column that is not selected too', async () => {
    const created = await started.client.post(`${OPT}oneway/`, { name: 'n', password: 'secret', extra: 'e' });
    const id = (created.json as { id: number }).id;
    expect([created.status, created.text]).toEqual([
      201,
      JSON.stringify({ id, name: 'n', body: 'd', score: 0 }),
    ]);
    const stored = (): Promise<OneWay> =>
      started.dataSource
        .getRepository(OneWay)
        .findOneOrFail({ where: { id }, select: { id: true, password: true, extra: true } });
    expect(await stored()).toMatchObject({ password: 'secret', extra: 'e' });
    const changed = await started.client.patch(`${OPT}oneway/${id}/`, { password: 'new', extra: 'f' });
    expect([changed.status, changed.text]).toEqual([200, created.text]);
    expect(await stored()).toMatchObject({ password: 'new', extra: 'f' });
    await started.client.patch(`${OPT}oneway/${id}/`, { name: 'm' });
    expect(await stored()).toMatchObject({ password: 'new', extra: 'f' });
  });

  test('optional may be left out, and is refused by the database where nothing fills it', async () => {
    const answer = await started.client.post(`${OPT}lenient/`, {});
    expect([answer.status, Object.keys(answer.json as object)]).toEqual([400, ['name']]);
    const id = ((await started.client.post(`${OPT}lenient/`, { name: 'n' })).json as { id: number }).id;
    const changed = await started.client.put(`${OPT}lenient/${id}/`, { body: 'b' });
    expect([changed.status, changed.json]).toMatchObject([200, { name: 'n', body: 'b' }]);
  });

  test('trim: false keeps the blanks around a text, and every other text loses them', async () => {
    const created = await started.client.post(`${OPT}lenient/`, {
      name: ' n ',
      body: '  b \n',
      trimmed: '\t x ',
    });
    expect([created.status, created.json]).toMatchObject([201, { name: 'n', body: '  b \n', trimmed: 'x' }]);
    const id = (created.json as { id: number }).id;
    expect((await started.client.patch(`${OPT}lenient/${id}/`, { body: '   ' })).json).toMatchObject({
      body: '   ',
    });
    const blank = await started.client.patch(`${OPT}lenient/${id}/`, { name: '   ' });
    expect([blank.status, blank.json]).toEqual([400, { name: ['This field may not be blank.'] }]);
  });

  test('computed fields come from a function or a method, stand last, and are read-only', async () => {
    const created = await started.client.post(`${OPT}derived/`, {
      name: 'Zoe',
      score: 4,
      initial: 'Q',
      double: 1,
    });
    const shown = {
      id: 1,
      name: 'Zoe',
      body: 'd',
      score: 4,
      extra: 'filled',
      initial: 'Z',
      double: 8,
      nothing: null,
      big: '12',
      when: '1970-01-01T00:00:00.000Z',
      list: [1, { a: null }],
    };
    expect([created.status, created.text]).toEqual([201, JSON.stringify(shown)]);
    expect((await started.client.get(`${OPT}derived/`)).text).toBe(JSON.stringify([shown]));
    expect((await started.client.patch(`${OPT}derived/1/`, { score: 5 })).json).toEqual({
      ...shown,
      score: 5,
      double: 10,
    });
  });

  test('name is the last word of the path', async () => {
    const created = await started.client.post(`${OPT}renamed-model_2/`, { name: 'n' });
    expect([created.status, created.headers.location]).toEqual([
      201,
      `http://127.0.0.1:${started.port}${OPT}renamed-model_2/1/`,
    ]);
    expect((await started.client.get(`${OPT}greeted/`)).status).toBe(404);
    expect((await started.client.get('/')).json).toHaveProperty(['rest/v1/opt/renamed-model_2']);
  });

  test('serializer replaces both directions, and is made by the injector', async () => {
    const created = await started.client.post(`${OPT}renamed-model_2/`, { name: 'you' });
    expect([created.status, created.json]).toMatchObject([201, { name: 'you', greeting: 'hello you' }]);
    expect((await started.client.get(`${OPT}renamed-model_2/?name=you`)).json).toMatchObject([
      { greeting: 'hello you' },
    ]);
    const refused = await started.client.post(`${OPT}renamed-model_2/`, { name: 'forbidden' });
    expect([refused.status, refused.json]).toEqual([400, { name: ['Not this one.'] }]);
    const id = (created.json as { id: number }).id;
    expect((await started.client.patch(`${OPT}renamed-model_2/${id}/`, { name: 'forbidden' })).status).toBe(
      400,
    );
    expect((await started.client.get(`${OPT}renamed-model_2/${id}/`)).json).toMatchObject({ name: 'you' });
  });

  test('strict refuses unknown fields, the hidden ones among them', async () => {
    const answer = await started.client.post(`${OPT}exacting/`, {
      name: 'n',
      nonsense: 1,
      password: 'x',
      score: 3,
    });
    expect([answer.status, Object.keys(answer.json as object).sort()]).toEqual([
      400,
      ['nonsense', 'password'],
    ]);
    const taken = await started.client.post(`${OPT}exacting/`, { name: 'n', score: 3 });
    expect([taken.status, taken.json]).toMatchObject([201, { score: 0 }]);
  });
});

@Restify('typed')
@Entity()
class Typed {
  @PrimaryColumn({ type: 'bigint' })
  id: string;

  @Column({ type: 'bigint', nullable: true })
  asNumber: number | null;

  @Column({ type: 'decimal', precision: 8, scale: 2, nullable: true })
  price: number;

  @Column({ type: 'date', nullable: true })
  day: Date;

  @Column({ type: 'date', nullable: true })
  dayText: string;

  @Column({ nullable: true })
  flag: boolean;

  @Column({ nullable: true })
  moment: Date;

  @OneToMany(() => TypedChild, (child) => child.parent)
  children: Relation<TypedChild[]>;
}

@Restify('typed')
@Entity()
class TypedChild {
  @PrimaryGeneratedColumn()
  id: number;

  @ManyToOne(() => Typed, (typed) => typed.children)
  parent: Relation<Typed> | null;
}

/** SQLite generates no bigint keys. */
@Restify('typed')
@Entity()
class Ledger {
  @PrimaryGeneratedColumn({ type: 'bigint' })
  id: string;

  @Column({ default: '' })
  note: string;
}

onEachDatabase('the type of a property', (database) => {
  let started: StartedApp;
  beforeAll(async () => {
    started = await startApp({
      entities: database.name === 'sqlite' ? [Typed, TypedChild] : [Typed, TypedChild, Ledger],
      database,
    });
  });
  afterAll(() => started.close());

  if (database.name !== 'sqlite') {
    test('of a generated bigint key makes it a read-only string', async () => {
      const { client, port } = started;
      const created = await client.post('/rest/v1/typed/ledger/', { id: '77', note: 'a' });
      expect([created.status, created.json, created.headers.location]).toEqual([
        201,
        { id: '1', note: 'a' },
        `http://127.0.0.1:${port}/rest/v1/typed/ledger/1/`,
      ]);
      expect((await client.patch('/rest/v1/typed/ledger/1/', { note: 'b' })).json).toEqual({
        id: '1',
        note: 'b',
      });
      expect((await client.get('/rest/v1/typed/ledger/')).json).toEqual([{ id: '1', note: 'b' }]);
      expect((await client.get('/rest/v1/typed/ledger/9223372036854775808/')).status).toBe(404);
    });
  }

  test('in TypeScript does not change the field', async () => {
    const body = {
      id: '5',
      asNumber: '12',
      price: '3.50',
      day: '2022-10-02',
      dayText: '2022-10-03',
      flag: true,
    };
    const created = await started.client.post('/rest/v1/typed/typed/', body);
    expect([created.status, created.json]).toMatchObject([201, body]);
    expect((await started.client.get('/rest/v1/typed/typed/5/')).json).toEqual(created.json);
    const changed = await started.client.patch('/rest/v1/typed/typed/5/', {
      day: '2024-02-29',
      price: 4,
      flag: 0,
      asNumber: 13,
    });
    expect([changed.status, changed.json]).toMatchObject([
      200,
      { day: '2024-02-29', dayText: '2022-10-03', price: '4.00', flag: false, asNumber: '13' },
    ]);
  });

  test('bigint keys keep every digit in fields, links, Location and foreign keys', async () => {
    const { client, port } = started;
    const path = '/rest/v1/typed/typed/9007199254740993/';
    const created = await client.post('/rest/v1/typed/typed/', { id: '9007199254740993' });
    expect([created.status, created.json, created.headers.location]).toMatchObject([
      201,
      { id: '9007199254740993', children: `${path}children/` },
      `http://127.0.0.1:${port}${path}`,
    ]);
    expect((await client.get('/rest/v1/typed/typed/9007199254740992/')).status).toBe(404);
    const child = await client.post('/rest/v1/typed/typedchild/', { parent: '9007199254740993' });
    expect([child.status, child.json]).toEqual([201, { id: 1, parent: '9007199254740993' }]);
    expect((await client.get(`${path}children/`)).json).toEqual([child.json]);
    expect((await client.delete('/rest/v1/typed/typedchild/1/')).status).toBe(204);
    expect((await client.delete(path)).status).toBe(204);
    expect((await client.get('/rest/v1/typed/typed/?id=9007199254740993')).json).toEqual([]);
  });

  test('bigint keys that are equal as JSON numbers identify two objects, for every method', async () => {
    const { client } = started;
    const [even, odd] = ['/rest/v1/typed/typed/9007199254740994/', '/rest/v1/typed/typed/9007199254740995/'];
    for (const id of ['9007199254740994', '9007199254740995'])
      expect((await client.post('/rest/v1/typed/typed/', { id, price: 1 })).status).toBe(201);
    const changed = await client.patch(odd, { price: 2 });
    expect([changed.status, changed.json]).toMatchObject([200, { id: '9007199254740995', price: '2.00' }]);
    const put = await client.put(odd, { price: 3 });
    expect([put.status, put.json]).toMatchObject([200, { id: '9007199254740995', price: '3.00' }]);
    expect((await client.get(even)).json).toMatchObject({ id: '9007199254740994', price: '1.00' });
    expect((await client.delete(odd)).status).toBe(204);
    expect((await client.get(even)).status).toBe(200);
    expect((await client.get(odd)).status).toBe(404);
  });

  test("a change of a bigint key's object makes no other object", async () => {
    const { client } = started;
    await client.post('/rest/v1/typed/typed/', { id: '9007199254740997' });
    await client.patch('/rest/v1/typed/typed/9007199254740997/', { price: 1 });
    const rows = (await client.get('/rest/v1/typed/typed/')).json as readonly { id: string }[];
    expect(rows.map(({ id }) => id).filter((id) => id.startsWith('900719925474099'))).not.toContain(
      '9007199254740996',
    );
    expect(rows).toContainEqual(expect.objectContaining({ id: '9007199254740997', price: '1.00' }));
  });
});
