// @tags core
import { describe, expect, test } from '@jest/globals';
import { parseJson, writeJson } from './exact-numbers.js';
import { JsonScanner, TEXT_SEPARATOR } from './json-scanner.js';

/** The values of joined texts; undefined if one of them is not read. */
function scanned(...texts: readonly string[]): readonly string[] | undefined {
  const scanner = new JsonScanner(texts.join(String.fromCharCode(TEXT_SEPARATOR)));
  const values: string[] = [];
  while (!scanner.isAtEnd) {
    const value = scanner.next();
    if (value === undefined) return undefined;
    values.push(value);
  }
  return values;
}

describe('JSON that needs no parsing', () => {
  test.each<[texts: readonly string[], values?: readonly string[]]>([
    [['1', '"a"', 'null', 'true', 'false']],
    [['0', '-1', '999999999999999']],
    [['-0.5', '0.000001', '123456789.123456']],
    [
      [
        '-0',
        '1.0',
        '1.50',
        '1e5',
        '1E5',
        '-0.0',
        '0.0000001',
        '1e400',
        '12345678901234567890',
        '0.12345678901234567',
      ],
    ],
    [['[]', '{}', '[[]]', '{"a":{}}']],
    [['{"b":1,"a":[1,{"b":2}]}', '[1,2]']],
    [['{"a": 1, "b": [1, 2, {"c": "x, y: z"}]}'], ['{"a":1,"b":[1,2,{"c":"x, y: z"}]}']],
    [['"\\"\\\\\\b\\f\\n\\r\\t"', '"é😀\u2028\u007f"']],
    [['{"__proto__":1,"toJSON":2,"-1":3,"a1":4,"":5}']],
    [['{"a":1}', '{"a":2}']],
  ])('%j', (texts, values = texts) => {
    expect(scanned(...texts)).toEqual(values);
    expect(texts.map((text) => writeJson(parseJson(text)))).toEqual(values);
  });

  test('does not take texts for others that are no JSON by themselves', () => {
    expect([
      scanned('[1', '2]'),
      scanned('1,2', '3'),
      scanned('1', ''),
      scanned('', '1'),
      scanned('1,2'),
      scanned('1\u001e2', '3'),
    ]).toEqual([undefined, undefined, undefined, undefined, undefined, ['1', '2', '3']]);
  });

  test.each([
    ['numbers of no form', ['5.', '01', '-01', '+1', '.5', '1e', '1e+', '1.e5', '1.5.5', '-', '1e5.5']],
    ['escapes of another form', ['"\\u0041"', '"\\/"', '"\\ud83d\\ude00"', '{"\\n":1}', '{"\\u0061":1}']],
    ['halves of characters', ['"\ud800"', '"a\udc00b"', '{"\ud800":1}']],
    ['keys that JavaScript orders', ['{"b":1,"1":2}', '{"0":1}', '{"1a":1}']],
    ['repeated keys', ['{"a":1,"a":2}', '{"a":1,"b":{"c":1,"c":2}}', '{"":1,"b":2,"":3}']],
    [
      'blanks that PostgreSQL does not write',
      ['[1 ,2]', ' 1', '1 ', '[ 1]', '{ "a":1}', '[1,  2]', '[1,\n2]'],
    ],
    [
      'no JSON',
      ['tru', 'nulls', '"a', '"a\nb"', '[1', '1]', '{"a"}', '{"a":}', '{a:1}', '1,', ',1', '1,,2', '\u0000'],
    ],
  ])('does not read %s', (_, texts) => {
    expect(texts.filter((text) => scanned(text) !== undefined)).toEqual([]);
  });

  test('does not read deep values and objects with many keys', () => {
    const object = (keys: number): string =>
      `{${Array.from({ length: keys }, (__, key) => `"k${key}":${key}`).join(',')}}`;
    expect([16, 17].map((depth) => scanned('['.repeat(depth) + ']'.repeat(depth))?.length)).toEqual([
      1,
      undefined,
    ]);
    expect([64, 65].map((keys) => scanned(object(keys))?.length)).toEqual([1, undefined]);
  });

  test('what it reads of random texts is what parsing gives', () => {
    const random = randomIntegers(20_261_125);
    const pick = (texts: readonly string[]): string => texts[random(texts.length)] ?? '';
    const valueOf = (depth: number): string => {
      const kind = depth > 3 ? random(2) : random(4);
      if (kind === 0) return pick(NUMBERS);
      if (kind === 1) return pick(TEXTS);
      const items = Array.from({ length: random(4) }, () => valueOf(depth + 1));
      const comma = pick([',', ',', ', ', ' ,']);
      return kind === 2
        ? `[${items.join(comma)}]`
        : `{${items.map((item) => pick(KEYS) + pick([':', ':', ': ', ' :']) + item).join(comma)}}`;
    };
    let read = 0;
    for (let round = 0; round < 20_000; round++) {
      const text = valueOf(0);
      const values = scanned(text);
      if (!values) continue;
      read++;
      expect([text, values]).toEqual([text, [writeJson(parseJson(text))]]);
    }
    expect(read).toBeGreaterThan(5000);
  });
});

const NUMBERS = [
  '0',
  '-0',
  '7',
  '-1.5',
  '1.50',
  '0.000001',
  '0.0000001',
  '1e5',
  '9007199254740993',
  '0.1',
  '999999999999999',
  '01',
  'null',
  'true',
  'nul',
];
const TEXTS = [
  '"a"',
  '"é😀"',
  '"a\\"b"',
  '"\\u0041"',
  '"\\/"',
  '"a, b: c"',
  '"\\n"',
  '"\n"',
  '"\ud800"',
  '""',
  '"\\\\"',
  '"',
];
const KEYS = ['"a"', '"b"', '"ab"', '"1"', '"__proto__"', '"a b"', '"\\u0061"', '""', '"é"'];

function randomIntegers(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) | 0;
    return (state >>> 8) % below;
  };
}
