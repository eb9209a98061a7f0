import type { ApiDocument, Schema } from './api-document.js';
import type { Random } from './random.js';

/** The context in which values of a body are generated. */
export interface Making {
  readonly random: Random;
  readonly document: ApiDocument;
  /** The key of an existing object for the field of this name; undefined if it is not a reference, or if no object is known. */
  keyFor(name: string): unknown;
  /** Replaces the tokens in a value. */
  resolve(value: unknown): unknown;
}

const TEXTS = [
  'a',
  'Ada Lovelace',
  'x y',
  'tea, milk',
  'Grüße',
  '100% _of_ it',
  '\'quoted" \\ text',
  '日本語',
  '😀 party',
  'null',
  '<b>&amp;</b>',
  'or(a=1)',
  '-1',
  '3',
  'é'.repeat(40),
  'long '.repeat(60).trim(),
];
const PATTERNED = [
  '0',
  '1',
  '-1',
  '7',
  '42',
  '9007199254740993',
  '0.5',
  '-2.25',
  '12.5',
  '99.99',
  '-0.01',
  '1234567.89',
  'P1DT2H',
  'P1Y2M3D',
  'PT0S',
  'PT1.5S',
  '09:23:28',
  '23:59:59.5',
  '00:00:00',
];
const DATETIMES = [
  '2022-10-02T09:23:28.297Z',
  '2000-02-29T23:59:59.999Z',
  '1999-12-31T00:00:00Z',
  '2024-06-01T12:00:00+05:30',
  '2038-01-19T03:14:07.5Z',
];
const DATES = ['2022-10-02', '2000-02-29', '1970-01-01', '9999-12-31', '1000-01-01'];
const NUMBERS = [0, 1, -1, 2, 3, 7, 42, 100, 1000, 32_767, -32_768, 2_147_483_647, 65_536];
const FLOATS = [0, 1, 1.5, -2.25, 0.1, 1000, 1e10, -1e-5];
const ANY = [null, true, 0, 'text', [], [1, [null]], {}, { a: { b: [1.5, 'é'] } }];

/** The maximum number of attempts to generate a valid value. */
const MAX_VALUE_ATTEMPTS = 50;

/** Generates a valid value. `name` is the name of the field. Throws if it finds none. */
export function makeValue(schema: Schema, making: Making, name = ''): unknown {
  for (let tries = 0; tries < MAX_VALUE_ATTEMPTS; tries++) {
    const value = candidate(schema, making, name);
    if (making.document.fits(schema, making.resolve(value))) return value;
  }
  throw new Error(`No value of "${name}" fits ${JSON.stringify(schema)}`);
}

function candidate(given: Schema, making: Making, name: string): unknown {
  const { random, document } = making;
  const schema = document.resolve(given);
  if (Array.isArray(schema.anyOf)) return candidate(random.pick(schema.anyOf as Schema[]), making, name);
  if (Array.isArray(schema.enum)) return random.pick(schema.enum as unknown[]);
  const types = typesOf(schema);
  if (types.length === 0) return schema.properties ? makeObject(schema, making) : random.pick(ANY);
  if (types.includes('null') && random.chance(0.15)) return null;
  const key = making.keyFor(name);
  if (key !== undefined && document.fits(schema, making.resolve(key))) return key;
  return ofType(random.pick(types.filter((each) => each !== 'null')), schema, { making, name });
}

function ofType(type: string, schema: Schema, place: { making: Making; name: string }): unknown {
  const { random } = place.making;
  switch (type) {
    case 'boolean':
      return random.chance(0.5);
    case 'integer':
      return random.pick([...NUMBERS, ...boundsOf(schema)]);
    case 'number':
      return random.pick([...FLOATS, ...boundsOf(schema)]);
    case 'string':
      return makeText(schema, place.making);
    case 'array':
      return makeArray(schema, place.making, place.name);
    case 'object':
      return makeObject(schema, place.making);
    default:
      throw new Error(`Nothing is known of the type ${type}`);
  }
}

/** Generates texts until one is valid against the pattern. */
function makeText(schema: Schema, making: Making): string {
  const { random } = making;
  const formed = FORMED[String(schema.format)]?.(random) ?? patterned(schema, making);
  if (formed !== undefined) return formed;
  if (schema.contentEncoding === 'base64') return makeBytes(schema, random);
  const text = random.chance(0.5) ? random.pick(TEXTS) : `${random.pick(TEXTS)} ${random.below(1000)}`;
  const cut = typeof schema.maxLength === 'number' ? [...text].slice(0, schema.maxLength).join('') : text;
  if (typeof schema.minLength === 'number') return cut.padEnd(schema.minLength, 'x');
  return random.chance(0.05) ? '' : cut;
}

const FORMED: Readonly<Record<string, (random: Random) => string>> = {
  'date-time': (random) => random.pick(DATETIMES),
  date: (random) => random.pick(DATES),
  uuid: (random) => random.uuid(),
  'idn-email': (random) => `ada${random.below(100_000)}@example.com`,
  uri: (random) => `https://example.com/${random.below(100_000)}`,
};

function patterned(schema: Schema, { random, document }: Making): string | undefined {
  const isFree = schema.pattern === undefined || schema.pattern === '\\S';
  if (isFree && schema.allOf === undefined) return undefined;
  const code = `CODE${random.below(100_000)}`;
  const texts = [code, ...PATTERNED, ...TEXTS, ...wordsOf(String(schema.pattern)), ...examplesOf(schema)];
  const fitting = texts.filter((text) => document.fits(schema, text));
  return fitting.length > 0 ? random.pick(fitting) : undefined;
}

/** Extracts the names from a pattern of names. */
function wordsOf(pattern: string): readonly string[] {
  return pattern.replace(/\\./g, ' ').match(/[A-Za-z_]\w+/g) ?? [];
}

function examplesOf({ examples }: Schema): readonly string[] {
  return Array.isArray(examples) ? examples.map(String) : [];
}

function makeBytes({ minLength = 0, maxLength = 24 }: Schema, random: Random): string {
  const least = Math.floor((Number(minLength) / 4) * 3);
  const most = Math.floor(Math.min(Number(maxLength), 24) / 4) * 3;
  const bytes = Buffer.from('ÿ\u0000bytes of some length');
  return bytes.subarray(0, least + random.below(most - least + 1)).toString('base64');
}

function makeArray(schema: Schema, making: Making, name: string): unknown[] {
  const least = Number(schema.minItems ?? 0);
  const most = Math.min(Number(schema.maxItems ?? 3), Math.max(3, least));
  const length = least + making.random.below(most - least + 1);
  const items = Array.from({ length }, () => makeValue((schema.items ?? {}) as Schema, making, name));
  return schema.uniqueItems === true ? [...new Set(items)] : items;
}

function makeObject(schema: Schema, making: Making): Record<string, unknown> {
  const properties = Object.entries((schema.properties ?? {}) as Readonly<Record<string, Schema>>);
  const required = (schema.required ?? []) as readonly string[];
  const share = making.random.pick([0, 0.3, 0.7, 1]);
  return Object.fromEntries(
    properties
      .filter(
        ([name, property]) =>
          required.includes(name) || (property.readOnly !== true && making.random.chance(share)),
      )
      .map(([name, property]) => [name, makeValue(property, making, name)]),
  );
}

export function typesOf({ type }: Schema): readonly string[] {
  if (type === undefined) return [];
  return Array.isArray(type) ? (type as readonly string[]) : [String(type)];
}

function boundsOf({ minimum, maximum }: Schema): readonly number[] {
  return [minimum, maximum].filter((each) => typeof each === 'number');
}
