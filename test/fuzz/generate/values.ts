import type { ColumnKind, ColumnSpec, Json } from '../schema.js';
import type { Random } from './random.js';

const TEXTS = [
  'a',
  'b',
  'A',
  'tea',
  'Tea',
  'milk',
  'a b',
  'x%',
  'x_y',
  'o\\k',
  "it's",
  '"q"',
  '日',
  'zz',
  '10',
];
const RIGHT: Readonly<Record<ColumnKind, readonly Json[]>> = {
  int: [0, 1, 2, 3, 7, -5, 100, '3', ' 4 ', 7.0, '7.0'],
  version: [1],
  bigint: ['9007199254740993', 5, '-3', '12', 0],
  decimal: ['1.50', '2', '2E+1', 12.5, '-0.25', 0, '999999.99', '1.5'],
  double: [0, 0.5, -1.25, 1e10, '2.5', 3],
  boolean: [true, false, 'true', '0', 1],
  varchar: TEXTS,
  text: [...TEXTS, '  around  '],
  date: ['2020-01-02', '1999-12-31', '2024-02-29'],
  datetime: [
    '2022-10-02T09:23:28.297Z',
    '2022-10-02 11:23:28+02:00',
    '2020-01-01T00:00',
    '2021-06-30t23:59:59.5-01:30',
    // The clock of Berlin is 02:30 in both.
    '2024-10-27T00:30:00Z',
    '2024-10-27T01:30:00Z',
  ],
  uuid: ['0f8fad5b-d9cb-469f-a165-70867728950e', '7C9E6679-7425-40DE-944B-E07FC1F90AE7'],
  enum: ['high', 'low', 'mid'],
  json: [
    { a: [1, null] },
    [1, 'x'],
    'text',
    5,
    { z: 1, a: { b: true } },
    [],
    true,
    { a: 'x', n: 2.5, t: ['x', 'Y'], b: true },
    { a: 'X', n: '2.5', t: 'x', b: 'true' },
    { a: null, n: Number.MAX_SAFE_INTEGER, t: ['x', 1, null], b: false },
    { a: { b: false }, n: Number.MAX_SAFE_INTEGER + 1, t: [] },
    { a: { b: 'true' }, n: -3, t: [['x']], b: 1 },
    { a: 'a b', n: [2], b: null, t: { x: 'x' } },
  ],
  list: [['a', 'b'], ['x'], [], [1, 'y']],
  deletion: ['2022-10-02T09:23:28.297Z'],
};
const WRONG: Readonly<Record<ColumnKind, readonly Json[]>> = {
  int: ['abc', 1.5, '1e2', true, [], {}, 1e15, 99_999_999_999, ''],
  version: ['abc'],
  bigint: ['abc', 1.5, 9_007_199_254_740_993, '9223372036854775808', [], true],
  decimal: ['abc', '1e400', '1.234', '1234567.5', [], true, ''],
  double: ['abc', [], true, ''],
  boolean: ['yes', 2, [], '', {}],
  varchar: [true, [], {}, 'far too long for any of these columns', 'nul\u0000'],
  text: [true, [], {}, 'nul\u0000'],
  date: ['2023-02-29', '2022-10-02T09:23:28Z', 5, 'today', [], ''],
  datetime: ['2022-10-02', '24:00', '2022-13-02T09:23:28Z', 5, '2022-10-02T24:00:00Z', [], ''],
  uuid: ['abc', 5, [], ''],
  enum: ['High', 5, [], true, ''],
  json: [],
  list: ['a', {}, 5, ['a,b'], [null], [true]],
  deletion: ['abc'],
};

/** Three words each, so that a word that occurs more often ranks higher in every database. */
export const WORDS = ['harbor', 'lights', 'market'];

export function rightValue(random: Random, column: ColumnSpec): Json {
  if (column.searched) return [0, 1, 2].map(() => random.pick(WORDS)).join(' ');
  if (column.kind === 'uuid' && random.chance(0.8)) return makeUuid(random);
  const fitting = RIGHT[column.kind].filter(
    (value) => column.length === undefined || String(value).length <= column.length,
  );
  if (column.unique && column.kind === 'int') return random.below(60);
  if (column.unique && column.kind === 'varchar') return `u${random.below(60)}`;
  return random.pick(fitting);
}

export function wrongValue(random: Random, column: ColumnSpec): Json {
  const values = WRONG[column.kind];
  return values.length === 0 ? null : random.pick(values);
}

function makeUuid(random: Random): string {
  const digits = Array.from({ length: 32 }, () => '0123456789abcdef'[random.below(16)] ?? '0').join('');
  return digits.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
}

/** A key that is set by the client. */
export function keyValue(random: Random, column: ColumnSpec): Json {
  if (column.kind === 'varchar')
    return random.chance(0.05)
      ? random.pick(['.', '..', '', ' pad '])
      : `${random.pick(['k', 'a b', 'ü/x', 'q?', 'x,y', '100%', 'K'])}${random.below(30)}`;
  if (column.kind === 'int') return random.below(column.below ?? 40);
  return rightValue(random, column);
}

/** A value in the format of a query string. */
export function textValue(random: Random, column: ColumnSpec): string {
  const value = random.chance(0.9) ? rightValue(random, column) : wrongValue(random, column);
  return typeof value === 'object' ? 'x' : String(value);
}
