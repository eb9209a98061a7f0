// @tags core
import { describe, expect, test } from '@jest/globals';
import addFormats from 'ajv-formats';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { constrainSchema } from '../../src/openapi/constrain-schema.js';
import { bodySchema, givenKeySchema, keySchema, textSchema } from '../../src/openapi/describe-value.js';
import type { DataType } from '../../src/core/schema/data-type.js';
import { parseValue } from '../../src/core/values/parse-value.js';

const ajv = new Ajv2020({ strict: false });
addFormats.default(ajv);
for (const name of ['decimal', 'double', 'int32']) ajv.addFormat(name, true);
ajv.addFormat('time-local', /^([01]\d|2[0-3]):[0-5]\d:[0-5]\d(\.\d+)?$/);

const DECIMALS = [
  ...['0', '7', '-7', '0.5', '1.25', '1.255', '999999.99', '1000000', '1000000.00', '12345678'],
  ...['123456789012345678', '1234567890.123456', '0.123456789012', '-0.01', '99999', '100000'],
];
const NUMBERS = [0, 1, -1, 0.5, 99_999, 100_000, 999_999.99, 1_000_000, -1_000_000, 1e15, 1e21];

/** Types with values of which some fit, and some do not. */
const CASES: readonly (readonly [DataType, readonly unknown[]])[] = [
  [{ kind: 'decimal', precision: 8, scale: 2 }, [...DECIMALS, 0.5, 999_999.99, 1_000_000, -1_000_000, 1e21]],
  [{ kind: 'decimal', precision: 5, scale: 0, unsigned: true }, [...DECIMALS, 99_999, 100_000, -1]],
  [{ kind: 'decimal', precision: 5 }, [...DECIMALS, 99_999, 100_000]],
  [{ kind: 'decimal', precision: 3, scale: 3 }, [...DECIMALS, '0.999', '1.0']],
  [{ kind: 'decimal', exact: 15 }, [...DECIMALS, ...NUMBERS]],
  [{ kind: 'decimal', precision: 40, scale: 10, exact: 15 }, [...DECIMALS, ...NUMBERS]],
  [
    { kind: 'bigint', min: -(2n ** 63n), max: 2n ** 63n - 1n },
    ['0', '-7', '9'.repeat(18), '9'.repeat(20), 7, 2 ** 53],
  ],
  [{ kind: 'bigint', min: 0n, max: 2n ** 64n - 1n }, ['0', '-7', '9'.repeat(19), '9'.repeat(21), 7, -7]],
  [{ kind: 'json' }, [null, true, 0, 'text', [null], { a: null }]],
  [{ kind: 'interval', digits: 6 }, ['P1D', 'P', 'PT', 'P1DT', 'PT1.5S', 'P1Y2M3DT4H5M6S']],
  [
    { kind: 'list', of: { kind: 'string', trim: true }, storage: 'text' },
    [[], ['a'], ['a', 'b'], ['a, b'], [''], [' '], ['', 'a'], [null], 'a'],
  ],
  [{ kind: 'list', of: { kind: 'string', trim: false }, storage: 'text' }, [['a'], ['a,b'], [''], [' ']]],
  [
    { kind: 'list', of: { kind: 'decimal', precision: 4, scale: 1 }, storage: 'array' },
    [['1.5'], ['1.55'], ['12345']],
  ],
  ...[1, 2, 3, 8].flatMap((bytes): (typeof CASES)[number][] => [
    [{ kind: 'binary', maxLength: bytes }, lengths(bytes)],
    [{ kind: 'binary', minLength: bytes }, lengths(bytes)],
    [{ kind: 'binary', minLength: bytes, maxLength: bytes }, lengths(bytes)],
  ]),
];

function lengths(bytes: number): readonly string[] {
  return [bytes - 1, bytes, bytes + 1].map((length) => Buffer.alloc(length, 0xff).toString('base64'));
}

describe.each(
  CASES.map(([type, values]) => ({
    type,
    values,
    name: JSON.stringify(type, (_, value: unknown) => (typeof value === 'bigint' ? String(value) : value)),
  })),
)('$name', ({ type, values }) => {
  const schema = bodySchema(type, true);

  test('a value that fits the schema of a body is taken', () => {
    const refused = values.filter(
      (value) =>
        ajv.validate(schema, value) && (value === null || parseValue(value, type).errors !== undefined),
    );
    expect(refused).toEqual([]);
  });

  test('a value in canonical form that is taken fits', () => {
    const left = values.filter(
      (value) => value !== null && isCanonical(value, type) && !ajv.validate(schema, value),
    );
    expect(left).toEqual([]);
  });

  test('some of the values fit, and some do not', () => {
    const fitting = values.filter((value) => ajv.validate(schema, value));
    expect(fitting.length).toBeGreaterThan(0);
    expect(fitting.length).toBeLessThan(values.length);
  });
});

function isCanonical(value: unknown, type: DataType): boolean {
  const outcome = parseValue(value, type);
  return outcome.errors === undefined && JSON.stringify(outcome.value) === JSON.stringify(value);
}

test('a parameter holds the digits that a body may have', () => {
  const schema = textSchema({ kind: 'decimal', precision: 8, scale: 2 });
  expect(DECIMALS.filter((text) => ajv.validate(schema, text))).toEqual(
    DECIMALS.filter((text) =>
      ajv.validate(bodySchema({ kind: 'decimal', precision: 8, scale: 2 }, false), text),
    ),
  );
  expect(ajv.validate(schema, 1)).toBe(false);
});

test('validators of each member of a set narrow its members', () => {
  const type = { kind: 'set', values: ['a', 'b', 'c'] } as const;
  const items = { refusesNull: true, patterns: [], values: ['a', 'b', 'z'] };
  const schema = constrainSchema(bodySchema(type, true), type, {
    refusesNull: false,
    patterns: [],
    minItems: 1,
    items,
  });
  expect([['a', 'b'], ['c'], ['z'], []].map((value) => ajv.validate(schema, value))).toEqual([
    true,
    false,
    false,
    false,
  ]);
});

test('a related key is not blank', () => {
  const schema = givenKeySchema({ columns: [{ type: { kind: 'string', trim: true } }] as never });
  expect([ajv.validate(schema, ''), ajv.validate(schema, 'a')]).toEqual([false, true]);
});

test('a key of several columns is described as it is written', () => {
  const integer = { type: { kind: 'integer', min: -9, max: 9 } } as const;
  const text = { type: { kind: 'string', trim: true } } as const;
  const schema = keySchema({ columns: [integer, text] as never });
  expect(['7,a', '-7,a%20b', '7,%C3%A9'].filter((key) => !ajv.validate(schema, key))).toEqual([]);
  expect(['7', 'a,b', '7,', ',a', '7,a,b', '7,100%'].filter((key) => ajv.validate(schema, key))).toEqual([]);
});
