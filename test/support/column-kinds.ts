import { restify } from 'nestjs-restify';
import type { Lookup, RestifyOptions } from 'nestjs-restify';
import { Column, Entity, PrimaryGeneratedColumn } from 'typeorm';
import type { ColumnOptions } from 'typeorm';
import type { TestDatabase } from './databases.js';
import { WORLD } from './world.js';

/** A sent value, and its representation in responses. */
type Taken = readonly (readonly [sent: unknown, shown: unknown])[];

/** A sent value, and the message with which it is rejected. */
type Refused = readonly (readonly [sent: unknown, message: string])[];

/** A column type with sample values. */
export interface Kind {
  readonly column: ColumnOptions;
  /** Values in canonical form, including both ends of the range, in the order of the database. */
  readonly ordered: readonly unknown[];
  /** Other accepted formats of a value. */
  readonly taken?: Taken;
  readonly refused?: Refused;
  /** Filter texts that are not valid for the type, and the message. */
  readonly refusedFilters?: readonly (readonly [text: string, message: string])[];
  /** Whether values cannot be compared in a URL. */
  readonly uncompared?: true;
}

export enum Colour {
  Red = 'red',
  Blue = 'blue',
  Odd = '100%, _',
}

/** Neither consecutive nor ordered, so that an index is not mistaken for a value. */
export enum Level {
  High = 20,
  Low = 10,
  None = 0,
}

const NUMBER = 'A valid number is required.';
const INTEGER = 'A valid integer is required.';
const BOOLEAN = 'Must be a valid boolean.';
const STRING = 'Not a valid string.';
const NUL = 'Null characters are not allowed.';
const DATE = 'Date has wrong format. Use one of these formats instead: YYYY-MM-DD.';
const TIME = 'Time has wrong format. Use one of these formats instead: hh:mm[:ss[.uuuuuu]].';
const DATETIME =
  'Datetime has wrong format. Use one of these formats instead: YYYY-MM-DDThh:mm[:ss[.uuuuuu]][+HH:MM|-HH:MM|Z].';
const DURATION =
  'Duration has wrong format. Use one of these formats instead: P[n]Y[n]M[n]W[n]DT[n]H[n]M[n]S, [DD] [HH:[MM:]]ss[.uuuuuu].';
const BASE64 = 'Must be valid base64.';
const UNHELD = 'The database cannot hold this value.';
const NO_LIST = 'Expected a list of items but got type "str".';
const ENTER_NUMBER = [
  ['abc', 'Enter a number.'],
  ['1e', 'Enter a number.'],
  ['0x10', 'Enter a number.'],
  ['NaN', 'Enter a number.'],
] as const;
const atMost = (max: unknown): string => `Ensure this value is less than or equal to ${String(max)}.`;
const atLeast = (min: unknown): string => `Ensure this value is greater than or equal to ${String(min)}.`;
const letters = (count: number): string => `Ensure this field has no more than ${count} characters.`;
const bytes = (count: number): string => `Ensure this field has no more than ${count} bytes.`;

function integer(column: ColumnOptions, min: number, max: number): Kind {
  return {
    column,
    ordered: min < 0 ? [min, -1, 0, 1, max] : [min, min + 1, max - 1, max],
    taken: [
      [String(max), max],
      [`${min}.0`, min],
    ],
    refused: [
      [max + 1, atMost(max)],
      [String(BigInt(min) - 1n), atLeast(min)],
      [1e30, atMost(max)],
      [1.5, INTEGER],
      ['', INTEGER],
      ['1e2', INTEGER],
      ['NaN', INTEGER],
      [true, INTEGER],
      [[1], INTEGER],
      [{}, INTEGER],
    ],
    refusedFilters: [
      ...ENTER_NUMBER,
      ['1.5', 'Enter a number.'],
      [String(max + 1), atMost(max)],
      [String(min - 1), atLeast(min)],
    ],
  };
}

function bigint(column: ColumnOptions, min: string, max: string): Kind {
  return {
    column,
    ordered: [
      min,
      ...(min === '0' ? [] : ['-9007199254740993', '-1', '0']),
      '1',
      '9007199254740991',
      '9007199254740992',
      '9007199254740993',
      String(BigInt(max) - 1n),
      max,
    ],
    taken: [
      [5, '5'],
      ['+7', '7'],
      ['007', '7'],
      ['9.0', '9'],
      [Number.MAX_SAFE_INTEGER, '9007199254740991'],
    ],
    refused: [
      [String(BigInt(max) + 1n), atMost(max)],
      [String(BigInt(min) - 1n), atLeast(min)],
      [2 ** 53, 'Send this number as a string.'],
      [1.5, INTEGER],
      ['', INTEGER],
      ['x', INTEGER],
      ['1e3', INTEGER],
      [false, INTEGER],
      [['1'], INTEGER],
      ['9'.repeat(1001), 'String value too large.'],
    ],
    refusedFilters: [
      ...ENTER_NUMBER,
      [String(BigInt(max) + 1n), atMost(max)],
      [String(BigInt(min) - 1n), atLeast(min)],
    ],
  };
}

function decimal(
  type: 'decimal' | 'numeric' | 'dec' | 'fixed',
  ends: readonly [string, string] = ['-99999999.9999', '99999999.9999'],
): Kind {
  return {
    column: { type, precision: 12, scale: 4 },
    ordered: [ends[0], '-0.0001', '0.0000', '0.1000', '0.3000', '1.0000', '10.5000', '9007199.2541', ends[1]],
    taken: [
      ['1', '1.0000'],
      [1.5, '1.5000'],
      ['+2.50', '2.5000'],
      ['-0', '0.0000'],
      ['.5', '0.5000'],
      ['00012.3', '12.3000'],
      ['2E+1', '20.0000'],
      ['-125e-4', '-0.0125'],
    ],
    refused: [
      ['1.00001', 'Ensure that there are no more than 4 decimal places.'],
      ['123456789', 'Ensure that there are no more than 8 digits before the decimal point.'],
      ['123456789.12345', 'Ensure that there are no more than 12 digits in total.'],
      [0.1234567890123456, 'Send this number as a string.'],
      ['NaN', NUMBER],
      ['Infinity', NUMBER],
      ['1e', NUMBER],
      ['1e400', NUMBER],
      ['1e8', 'Ensure that there are no more than 8 digits before the decimal point.'],
      ['', NUMBER],
      [true, NUMBER],
      [['1'], NUMBER],
      ['1,5', NUMBER],
    ],
    refusedFilters: ENTER_NUMBER,
  };
}

/** A 64-bit float, under any of its names. */
function double(type: ColumnOptions['type']): Kind {
  return {
    column: { ...(type ? { type } : {}) },
    ordered: [
      -1.7976931348623157e308, -1.5, -5e-324, 0, 5e-324, 0.1, 0.30000000000000004, 1, 123456789.12345679,
      9007199254740992, 1.7976931348623157e308,
    ],
    taken: [
      ['2.5', 2.5],
      ['1e3', 1000],
      ['.5', 0.5],
      ['-1E-2', -0.01],
    ],
    refused: [
      ['NaN', NUMBER],
      ['Infinity', NUMBER],
      ['-Infinity', NUMBER],
      ['nan', NUMBER],
      ['1e400', NUMBER],
      ['', NUMBER],
      [true, NUMBER],
      [[1], NUMBER],
      ['0x10', NUMBER],
    ],
    refusedFilters: [...ENTER_NUMBER, ['Infinity', 'Enter a number.'], ['1e999', 'Enter a number.']],
  };
}

/** A 32-bit float: seven decimal digits, and some more for integers. */
function single(type: ColumnOptions['type']): Kind {
  const most = 3.4028234663852886e38;
  return {
    column: { ...(type ? { type } : {}) },
    ordered: [
      -3.4028235e38, -2.5, -1.1754944e-38, 0, 0.1, 0.33333334, 1, 123456.79, 16777200, 16777215, 16777216,
      3.4028235e38,
    ],
    taken: [
      ['2.5', 2.5],
      [123456.789, 123456.79],
      [1e-60, 0],
    ],
    refused: [
      [1e39, atMost(most)],
      [-1e39, atLeast(-most)],
      ['NaN', NUMBER],
      ['Infinity', NUMBER],
      [true, NUMBER],
    ],
    refusedFilters: [...ENTER_NUMBER, ['1e39', atMost(most)]],
  };
}

const boolean: Kind = {
  column: { type: 'boolean' },
  ordered: [false, true],
  taken: [
    [1, true],
    [0, false],
    ['true', true],
    ['false', false],
    ['1', true],
    ['0', false],
  ],
  refused: [
    ['yes', BOOLEAN],
    ['', BOOLEAN],
    [2, BOOLEAN],
    ['TRUE', BOOLEAN],
    [[], BOOLEAN],
  ],
  refusedFilters: [
    ['yes', BOOLEAN],
    ['2', BOOLEAN],
  ],
};

/** Trailing blanks are padding of the column, and not part of the value. */
function text(column: ColumnOptions, length: number): Kind {
  return {
    column,
    ordered: ['%_\\', '0', 'a', 'ab', 'b', '\u{1f600}'.repeat(length)],
    taken: [
      [' a ', 'a'],
      ['\ta\n', 'a'],
      [5, '5'],
      [1.5, '1.5'],
      ['', ''],
      ['\u00fc', '\u00fc'],
      ['e\u0301', 'e\u0301'],
      ["';--", "';--"],
      ['null', 'null'],
      ['\u{1f469}\u200d\u{1f467}', '\u{1f469}\u200d\u{1f467}'],
    ],
    refused: [
      ['\u{1f600}'.repeat(length + 1), letters(length)],
      [true, STRING],
      [['a'], STRING],
      [{ a: 1 }, STRING],
      ['a\u0000', NUL],
      ['\ud83d', 'Surrogate characters are not allowed: U+D83D.'],
    ],
    refusedFilters: [['a%00b', NUL]],
  };
}

function longText(type: 'text' | 'tinytext' | 'mediumtext' | 'longtext' | 'clob', limit?: number): Kind {
  const base = text({ type }, 10);
  const refused = (base.refused ?? []).slice(1);
  const fits = limit === undefined ? 'x'.repeat(90_000) : 'x'.repeat(limit);
  return {
    ...base,
    taken: [...(base.taken ?? []), [fits, fits], ['two\nlines', 'two\nlines']],
    refused:
      limit === undefined
        ? refused
        : [
            ...refused,
            ['x'.repeat(limit + 1), bytes(limit)],
            ['\u{1f600}'.repeat(Math.floor(limit / 4) + 1), bytes(limit)],
          ],
  };
}

const date: Kind = {
  column: { type: 'date' },
  ordered: [
    '0001-01-01',
    '0099-12-31',
    '1582-10-10',
    '1969-12-31',
    '1970-01-01',
    '2022-03-27',
    '2024-02-29',
    '9999-12-31',
  ],
  taken: [[' 2022-10-02 ', '2022-10-02']],
  refused: [
    ['2023-02-29', DATE],
    ['2022-13-01', DATE],
    ['0000-00-00', DATE],
    ['10000-01-01', DATE],
    ['', DATE],
    ['now', DATE],
    ['infinity', DATE],
    [20220101, DATE],
    [true, DATE],
    ['2022-10-02T00:00:00Z', 'Expected a date but got a datetime.'],
  ],
  refusedFilters: [
    ['2023-02-29', 'Enter a valid date.'],
    ['infinity', 'Enter a valid date.'],
    ['0000-00-00', 'Enter a valid date.'],
    ['today', 'Enter a valid date.'],
  ],
};

function time(column: ColumnOptions, digits: number): Kind {
  const cut = (micros: string): string => (digits === 0 ? '' : `.${micros.slice(0, digits)}`);
  return {
    column,
    ordered: [
      '00:00:00',
      ...(digits === 6 ? ['00:00:00.000001'] : []),
      '09:05:00',
      ...(digits >= 3 ? ['09:05:00.5'] : []),
      `23:59:59${cut('999999')}`,
    ],
    taken: [
      ['09:23', '09:23:00'],
      ['09:23:28.987654', `09:23:28${cut('987654')}`],
      [' 09:23:28 ', '09:23:28'],
      ['09:23:28.500000', `09:23:28${digits === 0 ? '' : '.5'}`],
    ],
    refused: [
      ['24:00:00', TIME],
      ['-01:00:00', TIME],
      ['9:05', TIME],
      ['09:05:60', TIME],
      ['09:05+02:00', TIME],
      ['', TIME],
      ['noon', TIME],
      [905, TIME],
      [true, TIME],
    ],
    refusedFilters: [
      ['24:00', 'Enter a valid time.'],
      ['noon', 'Enter a valid time.'],
    ],
  };
}

/** The column stores `stored` of the `shown` digits. */
function datetime(
  column: ColumnOptions,
  shown: number,
  { stored = shown, from = '0001-01-01T00:00:00', to = '9999-12-31T23:59:59', wrong = [] as Refused } = {},
): Kind {
  const instant = (seconds: string, micros = '000000'): string =>
    `${seconds}.${micros.slice(0, stored).padEnd(6, '0').slice(0, shown)}Z`;
  return {
    column,
    ordered: [
      instant(from),
      ...(from < '1969' ? [instant('1969-12-31T23:59:59', '999999')] : []),
      instant('1970-01-02T00:00:00'),
      instant('2022-03-27T01:30:00'),
      instant('2022-03-27T02:30:00'),
      ...(stored === 6 ? [instant('2022-10-02T09:23:28', '297122')] : []),
      ...(stored >= 3 ? [instant('2022-10-02T09:23:28', '297123')] : []),
      instant('2022-10-30T00:30:00'),
      instant('2022-10-30T01:30:00'),
      instant(to, '999999'),
    ],
    taken: [
      ['2022-10-02T09:23Z', instant('2022-10-02T09:23:00')],
      ['2022-10-02 09:23:28', instant('2022-10-02T09:23:28')],
      ['2022-10-02T09:23:28+05:30', instant('2022-10-02T03:53:28')],
      ['2022-10-01T23:53:28-04:00', instant('2022-10-02T03:53:28')],
      ['2022-10-02T09:23:28.987654Z', instant('2022-10-02T09:23:28', '987654')],
      ['2022-10-02T09:23:28.000001Z', instant('2022-10-02T09:23:28', '000001')],
    ],
    refused: [
      ['2022-10-02', 'Expected a datetime but got a date.'],
      ['2022-10-02T24:00:00Z', DATETIME],
      ['2022-02-30T00:00:00Z', DATETIME],
      ['0000-00-00 00:00:00', DATETIME],
      ['0001-01-01T00:00:00+14:00', DATETIME],
      ['10000-01-01T00:00:00Z', DATETIME],
      ['infinity', DATETIME],
      ['now', DATETIME],
      ['', DATETIME],
      [1664702608, DATETIME],
      [true, DATETIME],
      ...wrong,
    ],
    refusedFilters: [
      ['infinity', 'Enter a valid date/time.'],
      ['2022-02-30T00:00:00Z', 'Enter a valid date/time.'],
      ['now', 'Enter a valid date/time.'],
    ],
  };
}

const uuid: Kind = {
  column: { type: 'uuid' },
  ordered: [
    '00000000-0000-0000-0000-000000000000',
    '6f1c24f2-3a53-4a0b-8b7e-0c9a3f0f1d11',
    'ffffffff-ffff-ffff-ffff-ffffffffffff',
  ],
  taken: [
    ['6F1C24F2-3A53-4A0B-8B7E-0C9A3F0F1D22', '6f1c24f2-3a53-4a0b-8b7e-0c9a3f0f1d22'],
    ['6f1c24f23a534a0b8b7e0c9a3f0f1d33', '6f1c24f2-3a53-4a0b-8b7e-0c9a3f0f1d33'],
  ],
  refused: [
    ['6f1c24f2', 'Must be a valid UUID.'],
    ['', 'Must be a valid UUID.'],
    ['{6f1c24f2-3a53-4a0b-8b7e-0c9a3f0f1d11}', 'Must be a valid UUID.'],
    [5, 'Must be a valid UUID.'],
    [true, 'Must be a valid UUID.'],
  ],
  refusedFilters: [
    ['abc', 'Must be a valid UUID.'],
    ["'", 'Must be a valid UUID.'],
  ],
};

function choice(column: ColumnOptions, ordered: readonly string[]): Kind {
  return {
    column,
    ordered,
    refused: [
      ['green', '"green" is not a valid choice.'],
      ['Red', '"Red" is not a valid choice.'],
      ['', '"" is not a valid choice.'],
      [1, '"1" is not a valid choice.'],
      [true, '"true" is not a valid choice.'],
      [['red'], '"["red"]" is not a valid choice.'],
    ],
    refusedFilters: [
      ['green', '"green" is not a valid choice.'],
      ['1', '"1" is not a valid choice.'],
    ],
  };
}

function numericChoice(column: ColumnOptions, ordered: readonly number[]): Kind {
  return {
    column,
    ordered,
    taken: [['10', 10]],
    refused: [
      [1, '"1" is not a valid choice.'],
      [3, '"3" is not a valid choice.'],
      ['Low', '"Low" is not a valid choice.'],
    ],
    refusedFilters: [
      ['1', '"1" is not a valid choice.'],
      ['Low', '"Low" is not a valid choice.'],
    ],
  };
}

const JSON_VALUES = [
  { a: [1, null, { b: '\u00fc' }] },
  [1, 'two', false],
  [],
  {},
  'text',
  '123',
  '1e5',
  'true',
  'null',
  '',
  '{"a":1}',
  '2022-10-02',
  5,
  0,
  -1.5,
  1e300,
  9007199254740991,
  true,
  false,
];

function json(type: 'json' | 'jsonb' | 'simple-json'): Kind {
  return {
    column: { type },
    ordered: JSON_VALUES,
    uncompared: true,
    refused: [
      ['a\u0000', NUL],
      [{ 'a\u0000': 1 }, NUL],
      [['\ud83d'], 'Surrogate characters are not allowed: U+D83D.'],
    ],
  };
}

const simpleArray: Kind = {
  column: { type: 'simple-array' },
  ordered: [[], ['a'], [' a ', '\u00fc'], ['', ''], ['a', '', 'b'], ['"', "'", '\\', '[', '{}']],
  uncompared: true,
  taken: [
    [
      [1, 2.5],
      ['1', '2.5'],
    ],
  ],
  refused: [
    ['a,b', NO_LIST],
    [{ a: 1 }, 'Expected a list of items but got type "dict".'],
    [['a,b'], 'Item 0: A comma is not allowed here.'],
    [[''], 'Item 0: This field may not be blank.'],
    [[null], 'Item 0: This field may not be null.'],
    [[true], `Item 0: ${STRING}`],
  ],
};

function binary(column: ColumnOptions, limit?: number): Kind {
  return {
    column,
    ordered: [
      '',
      'AAEC/w==',
      'aGVsbG8=',
      '/+8=',
      ...(limit === undefined
        ? [Buffer.alloc(70_000, 255).toString('base64')]
        : [Buffer.alloc(limit, 255).toString('base64')]),
    ],
    uncompared: true,
    refused: [
      ['abc', BASE64],
      ['*', BASE64],
      ['AAEC_w==', BASE64],
      [5, BASE64],
      [[0], BASE64],
      ...(limit === undefined ? [] : [[Buffer.alloc(limit + 1).toString('base64'), bytes(limit)] as const]),
    ],
  };
}

/** A native array of PostgreSQL. */
function list(item: Kind, refused: Refused = []): Kind {
  const values = item.ordered;
  return {
    column: { ...item.column, array: true },
    ordered: [[], [...values], [values[0]], [...values].reverse(), [values[0], values[0]]],
    uncompared: true,
    taken: (item.taken ?? []).map(([sent, shown]) => [[sent], [shown]] as const),
    refused: [
      ['{}', NO_LIST],
      [{}, 'Expected a list of items but got type "dict".'],
      [[values[0], null], 'Item 1: This field may not be null.'],
      ...refused,
      ...(item.refused ?? []).map(([sent, message]) => [[sent], `Item 0: ${message}`] as const),
    ],
  };
}

const interval: Kind = {
  column: { type: 'interval' },
  ordered: [
    'P-1Y',
    'P-1DT-2H',
    'PT-0.5S',
    'PT0S',
    'PT0.000001S',
    'PT1M',
    'PT26H',
    'P2D',
    'P1M',
    'P1Y2M3DT4H5M6.789S',
    'P10Y',
  ],
  taken: [
    ['3 04:05:06', 'P3DT4H5M6S'],
    ['04:05:06.5', 'PT4H5M6.5S'],
    ['05:06', 'PT5M6S'],
    ['30', 'PT30S'],
    [30, 'PT30S'],
    [1.5, 'PT1.5S'],
    ['-00:00:30', 'PT-30S'],
    ['-1 23:00:00', 'P-1DT23H'],
    ['P2W', 'P14D'],
    ['P1DT-5M', 'P1DT-5M'],
    ['P1Y14M', 'P2Y2M'],
    ['PT90M', 'PT1H30M'],
    ['PT0.1234567S', 'PT0.123456S'],
    ['1 year 2 mons 3 days 04:05:06', 'P1Y2M3DT4H5M6S'],
    ['1 day', 'P1D'],
    ['-1 days +02:03:00', 'P-1DT2H3M'],
    [' P1D ', 'P1D'],
  ],
  refused: [
    ['', DURATION],
    ['P', DURATION],
    ['PT', DURATION],
    ['P1.5Y', DURATION],
    ['1 fortnight', DURATION],
    ["1 day'", DURATION],
    ['1 day; DROP', DURATION],
    ['infinity', DURATION],
    [true, DURATION],
    [[], DURATION],
    ['P999999999Y', DURATION],
    ['PT9999999999999999S', DURATION],
    ['P2147483648D', DURATION],
  ],
  refusedFilters: [
    ['abc', 'Enter a valid duration.'],
    ['P', 'Enter a valid duration.'],
    ['1;2', 'Enter a valid duration.'],
  ],
};

const COMMON: Readonly<Record<string, Kind>> = {
  bigint: bigint({ type: 'bigint' }, '-9223372036854775808', '9223372036854775807'),
  boolean,
  varchar: text({ type: 'varchar', length: '10' }, 10),
  date,
  uuid,
  json: json('json'),
  simple_json: json('simple-json'),
  simple_array: simpleArray,
};

const SAFE = [Number.MIN_SAFE_INTEGER, Number.MAX_SAFE_INTEGER] as const;

/** SQLite keeps 15 digits of a decimal; it has no ranges of integers. */
function liteInteger(type: 'int' | 'integer' | 'tinyint' | 'smallint' | 'mediumint' | 'int2'): Kind {
  const kind = integer({ type }, ...SAFE);
  // JSON cannot represent the next number exactly.
  return { ...kind, refused: (kind.refused ?? []).slice(1), refusedFilters: [...ENTER_NUMBER] };
}

export const KINDS: Readonly<Record<TestDatabase['name'], Readonly<Record<string, Kind>>>> = {
  sqlite: {
    ...COMMON,
    int: liteInteger('int'),
    integer: liteInteger('integer'),
    tinyint: liteInteger('tinyint'),
    smallint: liteInteger('smallint'),
    mediumint: liteInteger('mediumint'),
    int2: liteInteger('int2'),
    int8: bigint({ type: 'int8' }, '-9223372036854775808', '9223372036854775807'),
    unsigned_big_int: bigint({ type: 'unsigned big int' }, '-9223372036854775808', '9223372036854775807'),
    decimal: decimal('decimal'),
    numeric: decimal('numeric'),
    real: double('real'),
    double: double('double'),
    double_precision: double('double precision'),
    float: double('float'),
    character: text({ type: 'character', length: '10' }, 10),
    varying: text({ type: 'varying character', length: '10' }, 10),
    nchar: text({ type: 'nchar', length: '10' }, 10),
    native: text({ type: 'native character', length: '10' }, 10),
    nvarchar: text({ type: 'nvarchar', length: '10' }, 10),
    text: longText('text'),
    clob: longText('clob'),
    time: time({ type: 'time' }, 6),
    datetime: datetime({ type: 'datetime' }, 3),
    simple_enum: choice({ type: 'simple-enum', enum: Colour }, ['100%, _', 'blue', 'red']),
    level: numericChoice({ type: 'simple-enum', enum: Level }, [0, 10, 20]),
    // TypeORM 0.3 does not support the type on SQLite.
    ...(WORLD.name === 'nest-11' ? {} : { jsonb: json('jsonb') }),
    blob: binary({ type: 'blob' }),
  },
  postgres: {
    ...COMMON,
    smallint: integer({ type: 'smallint' }, -32768, 32767),
    int2: integer({ type: 'int2' }, -32768, 32767),
    int: integer({ type: 'int' }, -2147483648, 2147483647),
    int4: integer({ type: 'int4' }, -2147483648, 2147483647),
    int8: bigint({ type: 'int8' }, '-9223372036854775808', '9223372036854775807'),
    decimal: decimal('decimal'),
    numeric: {
      ...decimal('numeric'),
      column: { type: 'numeric' },
      ordered: [
        '-123456789012345678901234567890.123456789',
        '0',
        '0.000000000000000000000000000001',
        '1.1',
        '1e',
      ].slice(0, 4),
      taken: [['1.10', '1.1']],
      refused: [
        ['NaN', NUMBER],
        ['Infinity', NUMBER],
      ],
    },
    real: single('real'),
    float4: single('float4'),
    float: double('float'),
    float8: double('float8'),
    double_precision: double('double precision'),
    char: text({ type: 'char', length: '10' }, 10),
    character_varying: text({ type: 'character varying', length: '10' }, 10),
    text: longText('text'),
    time: time({ type: 'time' }, 6),
    time3: time({ type: 'time', precision: 3 }, 3),
    time0: time({ type: 'time without time zone', precision: 0 }, 0),
    timestamp: datetime({ type: 'timestamp' }, 6),
    timestamp0: datetime({ type: 'timestamp', precision: 0 }, 3, { stored: 0 }),
    timestamp3: datetime({ type: 'timestamp without time zone', precision: 3 }, 3),
    timestamptz: datetime({ type: 'timestamptz' }, 6),
    timestamptz3: datetime({ type: 'timestamp with time zone', precision: 3 }, 3),
    interval,
    interval0: {
      ...interval,
      column: { type: 'interval', precision: 0 },
      ordered: ['P-1Y', 'PT0S', 'P2D', 'P10Y'],
      taken: [
        ['PT1.9S', 'PT1S'],
        ['PT-1.9S', 'PT-1S'],
      ],
    },
    enum: choice({ type: 'enum', enum: Colour }, ['red', 'blue', '100%, _']),
    simple_enum: choice({ type: 'simple-enum', enum: Colour }, ['red', 'blue', '100%, _']),
    level: numericChoice({ type: 'enum', enum: Level }, [20, 10, 0]),
    jsonb: json('jsonb'),
    bytea: binary({ type: 'bytea' }),
    smallints: list(integer({ type: 'smallint' }, -32768, 32767)),
    bigints: list(bigint({ type: 'bigint' }, '-9223372036854775808', '9223372036854775807')),
    decimals: list(decimal('numeric')),
    reals: list(single('real')),
    doubles: list(double('double precision')),
    booleans: list(boolean),
    chars: list(text({ type: 'char', length: '10' }, 10)),
    varchars: list(text({ type: 'varchar', length: '10' }, 10)),
    texts: list({
      column: { type: 'text' },
      ordered: ['a,b', '{c}', '"', '\\', '', 'NULL', 'null', '\u00fc'],
    }),
    dates: list(date),
    times: list(time({ type: 'time' }, 6)),
    timestamps: list(datetime({ type: 'timestamp' }, 6)),
    instants: list(datetime({ type: 'timestamptz' }, 6)),
    intervals: list(interval),
    uuids: list(uuid),
    colours: list(choice({ type: 'enum', enum: Colour }, ['red', 'blue', '100%, _'])),
    levels: list(numericChoice({ type: 'enum', enum: Level }, [20, 10, 0])),
    jsons: list(json('json')),
    jsonbs: list(json('jsonb')),
    byteas: list(binary({ type: 'bytea' })),
  },
  mariadb: {
    ...COMMON,
    tinyint: integer({ type: 'tinyint' }, -128, 127),
    smallint: integer({ type: 'smallint' }, -32768, 32767),
    mediumint: integer({ type: 'mediumint' }, -8388608, 8388607),
    int: integer({ type: 'int' }, -2147483648, 2147483647),
    integer: integer({ type: 'integer' }, -2147483648, 2147483647),
    unsigned_tinyint: integer({ type: 'tinyint', unsigned: true }, 0, 255),
    unsigned_smallint: integer({ type: 'smallint', unsigned: true }, 0, 65535),
    unsigned_mediumint: integer({ type: 'mediumint', unsigned: true }, 0, 16777215),
    unsigned_int: integer({ type: 'int', unsigned: true }, 0, 4294967295),
    unsigned_bigint: bigint({ type: 'bigint', unsigned: true }, '0', '18446744073709551615'),
    year: integer({ type: 'year' }, 1901, 2155),
    decimal: decimal('decimal'),
    dec: decimal('dec'),
    fixed: decimal('fixed'),
    plain_decimal: {
      column: { type: 'decimal' },
      ordered: ['-9999999999', '0', '9999999999'],
      refused: [
        ['1.5', 'Ensure that there are no more than 0 decimal places.'],
        ['10000000000', 'Ensure that there are no more than 10 digits in total.'],
      ],
    },
    unsigned_decimal: {
      column: { type: 'decimal', precision: 5, scale: 2, unsigned: true },
      ordered: ['0.00', '999.99'],
      refused: [
        ['-0.01', atLeast(0)],
        ['1000', 'Ensure that there are no more than 3 digits before the decimal point.'],
      ],
      refusedFilters: [['-1', atLeast(0)]],
    },
    float: single('float'),
    double: double('double'),
    unsigned_double: {
      column: { type: 'double', unsigned: true },
      ordered: [0, 0.1, 1e300],
      refused: [[-0.1, atLeast(0)]],
      refusedFilters: [['-1', atLeast(0)]],
    },
    real: double('real'),
    char: text({ type: 'char', length: '10' }, 10),
    nchar: text({ type: 'nchar', length: '5' }, 5),
    nvarchar: text({ type: 'nvarchar', length: '10' }, 10),
    text: longText('text', 65535),
    tinytext: longText('tinytext', 255),
    mediumtext: longText('mediumtext'),
    longtext: longText('longtext'),
    time: time({ type: 'time' }, 0),
    time3: time({ type: 'time', precision: 3 }, 3),
    time6: time({ type: 'time', precision: 6 }, 6),
    datetime: datetime({ type: 'datetime' }, 3, { stored: 0 }),
    datetime3: datetime({ type: 'datetime', precision: 3 }, 3),
    datetime6: datetime({ type: 'datetime', precision: 6 }, 6),
    timestamp: datetime({ type: 'timestamp', precision: 6 }, 6, {
      from: '1970-01-01T00:00:01',
      to: '2038-01-19T03:14:07',
      wrong: [
        ['1969-12-31T23:59:59Z', UNHELD],
        ['1970-01-01T00:00:00Z', UNHELD],
        ['9999-12-31T23:59:59Z', UNHELD],
      ],
    }),
    enum: choice({ type: 'enum', enum: Colour }, ['red', 'blue', '100%, _']),
    simple_enum: choice({ type: 'simple-enum', enum: Colour }, ['red', 'blue', '100%, _']),
    level: numericChoice({ type: 'enum', enum: Level }, [20, 10, 0]),
    set: {
      column: { type: 'set', enum: ['a', 'b', '7'] },
      ordered: [[], ['a'], ['a', 'b'], ['a', 'b', '7'], ['7']],
      taken: [
        [
          ['b', 'a', 'b'],
          ['a', 'b'],
        ],
      ],
      refused: [
        ['a', NO_LIST],
        [['c'], '"c" is not a valid choice.'],
        [['A'], '"A" is not a valid choice.'],
        [[7], '"7" is not a valid choice.'],
        [[null], '"null" is not a valid choice.'],
      ],
      uncompared: true,
    },
    blob: binary({ type: 'blob' }, 65535),
    tinyblob: binary({ type: 'tinyblob' }, 255),
    mediumblob: binary({ type: 'mediumblob' }),
    longblob: binary({ type: 'longblob' }),
    varbinary: binary({ type: 'varbinary', length: '16' }, 16),
    binary: {
      column: { type: 'binary', length: '4' },
      ordered: ['AAAAAA==', 'AAEC/w==', '/////w=='],
      uncompared: true,
      refused: [
        ['AAEC', 'Ensure this field has at least 4 bytes.'],
        ['AAECAwQ=', bytes(4)],
        ['', 'Ensure this field has at least 4 bytes.'],
      ],
    },
  },
};

/** One type of each kind of value in bodies, responses and URLs. */
const FAMILIES: Readonly<Record<TestDatabase['name'], readonly string[]>> = {
  sqlite: [
    'int',
    'bigint',
    'decimal',
    'double',
    'boolean',
    'varchar',
    'text',
    'date',
    'time',
    'datetime',
    'uuid',
    'simple_enum',
    'level',
    'json',
    'simple_array',
    'blob',
  ],
  postgres: [
    'smallint',
    'bigint',
    'decimal',
    'float4',
    'float8',
    'boolean',
    'char',
    'varchar',
    'text',
    'date',
    'time',
    'timestamp',
    'timestamptz',
    'interval',
    'uuid',
    'enum',
    'level',
    'jsonb',
    'simple_array',
    'bytea',
    'instants',
    'jsons',
  ],
  mariadb: [
    'int',
    'unsigned_bigint',
    'decimal',
    'float',
    'double',
    'boolean',
    'char',
    'varchar',
    'text',
    'date',
    'time6',
    'datetime',
    'timestamp',
    'uuid',
    'enum',
    'level',
    'set',
    'json',
    'simple_array',
    'varbinary',
  ],
};

export function familyKinds(
  database: TestDatabase['name'],
): readonly (readonly [name: string, kind: Kind])[] {
  return Object.entries(KINDS[database]).filter(([name]) => FAMILIES[database].includes(name));
}

const EQUALITIES: readonly Lookup[] = ['exact', 'ne', 'in', 'isnull'];
const ORDERS: readonly Lookup[] = ['gt', 'gte', 'lt', 'lte', 'range'];

/** The lookups of a type: booleans, for example, have no order. */
export function lookupsOf({ uncompared, column }: Kind): readonly Lookup[] {
  if (uncompared) return ['isnull'];
  return column.type === 'boolean' || column.type === Boolean ? EQUALITIES : [...EQUALITIES, ...ORDERS];
}

/** The lookups that compare a column with one value, and the `ordered` values that each of them matches. */
export function comparisonsOf(kind: Kind): readonly LookupCase[] {
  const { ordered } = kind;
  const places = new Set([0, Math.floor(ordered.length / 2), ordered.length - 1]);
  const lookups = lookupsOf(kind);
  return ordered.flatMap((value, at) => {
    const equal: readonly Found[] = [
      ['exact', [value]],
      ['ne', ordered.filter((each) => each !== value)],
    ];
    const beside: readonly Found[] = [
      ['gt', ordered.slice(at + 1)],
      ['gte', ordered.slice(at)],
      ['lt', ordered.slice(0, at)],
      ['lte', ordered.slice(0, at + 1)],
    ];
    return [...equal, ...(places.has(at) ? beside : [])]
      .filter(([lookup]) => lookups.includes(lookup))
      .map(([lookup, found]) => ({
        parameter: lookup === 'exact' ? 'value' : `value__${lookup}`,
        value,
        found,
      }));
  });
}

type Found = readonly [lookup: Lookup, values: readonly unknown[]];

export interface LookupCase {
  readonly parameter: string;
  readonly value: unknown;
  readonly found: readonly unknown[];
}

type KindOptions = { readonly table: string } & Pick<
  RestifyOptions<object>,
  'computed' | 'filterFields' | 'orderingNulls' | 'pagination'
>;

/** An entity of the app `types`, named after the kind: a key, and one nullable column `value` in `table`. */
export function kindEntity(
  name: string,
  { column }: Kind,
  { table, ...options }: KindOptions,
): new () => object {
  const made = {
    [name]: class {
      readonly id: number;
      readonly value: unknown;
    },
  }[name];
  if (!made) throw new Error('No class');
  PrimaryGeneratedColumn()(made.prototype, 'id');
  Column({ ...column, nullable: true })(made.prototype, 'value');
  Entity({ name: table })(made);
  restify(made, { app: 'types', name, ...options });
  return made;
}
