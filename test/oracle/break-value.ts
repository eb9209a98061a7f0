import type { Schema } from './api-document.js';
import type { Making } from './make-value.js';
import { typesOf } from './make-value.js';

/** A body that is invalid against its schema, and the invalid field; undefined if the body is invalid as a whole. */
export interface Broken {
  readonly body: unknown;
  readonly field: string | undefined;
}

const WRONG_VALUES = [
  null,
  true,
  {},
  [],
  [[]],
  { a: 1 },
  '',
  ' ',
  'wrong',
  '3',
  ' 3 ',
  '1e2',
  '2022-13-01',
  '2022-10-02 10:00',
  '2022-10-02T24:00:00Z',
  '25:00:00',
  '10:30',
  'P1',
  'not base64!',
  0,
  1,
  -1,
  0.5,
  -0.5,
  1e21,
  -1e300,
  'x'.repeat(5000),
  '6f1f1d3c3c5a4a0c9a637f5f0f8f2c11',
  '../..',
];

const MAX_BREAK_ATTEMPTS = 40;

/** Makes one part of a valid body invalid. Undefined if no invalid value was found. */
export function breakBody(given: Schema, body: unknown, making: Making): Broken | undefined {
  const schema = making.document.resolve(given);
  for (let tries = 0; tries < MAX_BREAK_ATTEMPTS; tries++) {
    const broken = attempt(schema, body, making);
    if (!making.document.fits(given, making.resolve(broken.body))) return broken;
  }
  return undefined;
}

function attempt(schema: Schema, body: unknown, making: Making): Broken {
  const { random } = making;
  const isObject = typeof body === 'object' && body !== null && !Array.isArray(body);
  if (!isObject || random.chance(0.05))
    return { body: random.pick([null, [], 'text', 5, true, [null], [[]]]), field: undefined };
  const properties = propertiesOf(schema, making);
  const names = Object.keys(properties);
  const required = ((schema.required ?? []) as readonly string[]).filter((name) => name in body);
  if (required.length > 0 && random.chance(0.15)) {
    const field = random.pick(required);
    return { body: Object.fromEntries(Object.entries(body).filter(([name]) => name !== field)), field };
  }
  if (schema.additionalProperties === false && random.chance(0.2))
    return { body: { ...body, no_such_field: 1 }, field: 'no_such_field' };
  if (names.length === 0) return { body: [], field: undefined };
  const field = random.pick(names);
  return { body: { ...body, [field]: wrongValue(properties[field] ?? {}, making) }, field };
}

function propertiesOf(schema: Schema, { document }: Making): Readonly<Record<string, Schema>> {
  const inner = Array.isArray(schema.anyOf)
    ? (schema.anyOf as Schema[]).map((each) => document.resolve(each)).find(({ properties }) => properties)
    : schema;
  return (inner?.properties ?? {}) as Readonly<Record<string, Schema>>;
}

function wrongValue(given: Schema, making: Making): unknown {
  const { random, document } = making;
  const schema = document.resolve(given);
  const near = nearMisses(schema);
  return near.length > 0 && random.chance(0.4) ? random.pick(near) : random.pick(WRONG_VALUES);
}

/** Values just outside of the limits of the schema. */
function nearMisses(schema: Schema): readonly unknown[] {
  const { minimum, maximum, maxLength, items } = schema;
  return [
    ...(typeof minimum === 'number' ? [minimum - 1] : []),
    ...(typeof maximum === 'number' ? [maximum + 1] : []),
    ...(typeof maxLength === 'number' && maxLength < 10_000
      ? ['y'.repeat(maxLength + 1), ` ${'z'.repeat(maxLength)} `]
      : []),
    ...(typesOf(schema).includes('array') && items !== undefined
      ? [[null], ['wrong', null], [{}], 'wrong']
      : []),
  ];
}
