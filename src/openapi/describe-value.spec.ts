import { describe, expect, test } from '@jest/globals';
import addFormats from 'ajv-formats';
import { Ajv2020 } from 'ajv/dist/2020.js';
import type { DataType } from '../core/schema/data-type.js';
import { parseValue } from '../core/values/parse-value.js';
import { bodySchema, exampleValue, nullableSchema, valueSchema } from './describe-value.js';

const ajv = new Ajv2020({ strict: false });
addFormats.default(ajv);
for (const name of ['time-local', 'decimal', 'float', 'double', 'int32', 'int64']) ajv.addFormat(name, true);

const TYPES: readonly DataType[] = [
  { kind: 'integer', min: -128, max: 127 },
  { kind: 'integer', min: Number.MIN_SAFE_INTEGER, max: Number.MAX_SAFE_INTEGER },
  { kind: 'integer', min: 5, max: 9 },
  { kind: 'bigint', min: -5n, max: 5n },
  { kind: 'decimal' },
  { kind: 'decimal', precision: 5, scale: 0 },
  { kind: 'decimal', precision: 10, scale: 2, unsigned: true },
  { kind: 'decimal', precision: 40, scale: 10, exact: 15 },
  { kind: 'float', single: true },
  { kind: 'float', unsigned: true },
  { kind: 'boolean' },
  { kind: 'string', trim: true },
  { kind: 'string', maxLength: 3, trim: false },
  { kind: 'date' },
  { kind: 'time', digits: 6 },
  { kind: 'datetime', digits: 3, zoned: true },
  { kind: 'datetime', digits: 6, zoned: false },
  { kind: 'interval', digits: 6 },
  { kind: 'uuid' },
  { kind: 'enum', values: ['a', 'b'] },
  { kind: 'enum', values: [1, 2] },
  { kind: 'enum', values: ['a', 1] },
  { kind: 'set', values: ['a', 'b'] },
  { kind: 'json' },
  { kind: 'list', of: { kind: 'integer', min: 0, max: 9 }, storage: 'array' },
  { kind: 'binary' },
  { kind: 'binary', maxLength: 4 },
];

describe.each(
  TYPES.map((type) => ({
    type,
    name: JSON.stringify(type, (_, value: unknown) => (typeof value === 'bigint' ? String(value) : value)),
  })),
)('$name', ({ type }) => {
  const example = exampleValue(type, 'Name');

  test('its example fits what is described of answers and of bodies, and is taken as a body', () => {
    expect([
      ajv.validate(valueSchema(type), example),
      ajv.validate(bodySchema(type, false), example),
    ]).toEqual([true, true]);
    expect(parseValue(example, type)).toEqual({ value: example });
  });

  test('null is valid only in nullable columns and in JSON', () => {
    expect(ajv.validate(nullableSchema(valueSchema(type)), null)).toBe(true);
    expect(ajv.validate(valueSchema(type), null)).toBe(type.kind === 'json');
  });
});

test.each<readonly [DataType, unknown]>([
  [{ kind: 'integer', min: 0, max: 9 }, 10],
  [{ kind: 'bigint', min: 0n, max: 9n }, 'many'],
  [{ kind: 'decimal' }, '1e400'],
  [{ kind: 'decimal', unsigned: true }, '-1'],
  [{ kind: 'decimal', exact: 15 }, '1e400'],
  [{ kind: 'string', trim: true }, ''],
  [{ kind: 'string', trim: true }, '  '],
  [{ kind: 'string', trim: true, maxLength: 2 }, 'abc'],
  [{ kind: 'date' }, '2022-13-01'],
  [{ kind: 'time', digits: 3 }, 'noon'],
  [{ kind: 'interval', digits: 3 }, 'a week'],
  [{ kind: 'enum', values: ['a'] }, 'b'],
  [{ kind: 'set', values: ['a'] }, ['b']],
])('what no body of %j may hold does not fit: %j', (type, value) => {
  expect(ajv.validate(bodySchema(type, false), value)).toBe(false);
});
