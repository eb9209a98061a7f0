// @tags core
import { describe, expect, test } from '@jest/globals';
import {
  copyOf,
  exactMember,
  ExactNumber,
  hasExactNumbers,
  isParsedFrom,
  isSameJson,
  keepNumbers,
  parseJson,
  setMember,
  writeJson,
} from './exact-numbers.js';

const NUMBERS = [
  '0',
  '-0',
  '-0.0',
  '1',
  '1.0',
  '0.1',
  '0.10',
  '1e2',
  '1E+2',
  '0.1e1',
  '-1.5e-7',
  '0.000001',
  '0.0000001',
  '0.00000012',
  '123456789012345',
  '123456789012345.6',
  '1234567890123456',
  '9007199254740993',
  '12345678901234567890',
  '123456789.123456789',
  '0.1234567890123456789',
  '100000000000000000000',
  '1000000000000000000000',
  '1e21',
  '1e400',
  '-1e400',
  '1e-400',
  '5e-324',
  '1.7976931348623157e308',
];

describe('the texts of numbers', () => {
  test.each(NUMBERS)('%s is written as it was read, anywhere', (number) => {
    const texts = [
      number,
      `[${number}]`,
      `{"a":${number}}`,
      `{"a":[1,{"b":${number}}],"c":"x, ${number}","d":${number}}`,
      `[[${number}],{"":${number},"__proto__":${number},"a b":${number}}]`,
    ];
    for (const text of texts) expect(writeJson(parseJson(text))).toBe(text);
    // The values are those of JavaScript.
    for (const text of texts.slice(1)) expect(parseJson(text)).toEqual(JSON.parse(text));
    expect(Number(parseJson(number))).toBe(Number(number));
    // So is what code of the application writes of them.
    for (const text of texts) expect(JSON.stringify(parseJson(text))).toBe(JSON.stringify(JSON.parse(text)));
  });

  test('blanks and escapes do not matter', () => {
    const text = '{ "a\\"}" : [ 1.0 ,\n"{[1.0," , 2.0 ] , "\\u0062":\t{ "c" : 3.0 } }';
    expect(writeJson(parseJson(text))).toBe('{"a\\"}":[1.0,"{[1.0,",2.0],"b":{"c":3.0}}');
  });

  test.each([
    ['{"a":1.0,"a":2}', '{"a":2}'],
    ['{"a":1.0,"a":1}', '{"a":1}'],
    ['{"a":1,"a":1.0}', '{"a":1.0}'],
    ['{"a":1.0,"a":"1.0"}', '{"a":"1.0"}'],
    ['{"a":{"b":1.0},"a":{"b":1}}', '{"a":{"b":1}}'],
    ['{"a":{"b":1.0,"c":2.0},"a":{"c":2}}', '{"a":{"c":2}}'],
    ['{"a":[1.0,2.0],"a":[1]}', '{"a":[1]}'],
    ['{"2":1.0,"1":2.0}', '{"1":2.0,"2":1.0}'],
  ])('of members that occur twice the last one counts: %s', (text, written) => {
    expect(writeJson(parseJson(text))).toBe(written);
  });

  test('what code changes counts, and nothing else', () => {
    const value = parseJson('{"a":1.0,"b":[2.0,3.0],"c":{"d":4.0}}') as unknown as Record<string, unknown>;
    value.a = 5;
    (value.b as number[]).push(6);
    (value.b as number[])[0] = 7;
    expect(writeJson(value)).toBe('{"a":5,"b":[7,3.0,6],"c":{"d":4.0}}');
    value.moved = value.c;
    delete value.c;
    expect(writeJson([value])).toBe('[{"a":5,"b":[7,3.0,6],"moved":{"d":4.0}}]');
    expect(writeJson({ ...(value.moved as object) })).toBe('{"d":4}');
  });

  test('a member that is called toJSON hides none', () => {
    const text = '{"toJSON":1.0,"a":{"toJSON":null,"b":2.0},"c":[{"toJSON":"x","d":3.0}]}';
    expect(writeJson(parseJson(text))).toBe(text);
  });

  test('a text that looks like a mark is a text', () => {
    const text = '["number 0","\\"number 0\\"",1.0]';
    expect(writeJson(parseJson(text))).toBe(text);
  });

  test('are not part of a text that code of the application writes', () => {
    const value = parseJson('[1.0]');
    expect(writeJson([value, { toJSON: () => JSON.stringify(value) }])).toBe('[[1],"[1]"]');
  });

  test('are remembered of values that another parser has made', () => {
    const value = { a: 1, b: [2, '3'], c: { d: 4 }, more: 1 };
    keepNumbers(value, '{"a":1.0,"b":[2.0,3.0],"c":{"d":5.0},"gone":[1.0]}');
    expect(writeJson(value)).toBe('{"a":1.0,"b":[2.0,"3"],"c":{"d":4},"more":1}');
    expect([exactMember(value, 'a'), exactMember(value, 'more')]).toEqual([new ExactNumber('1.0'), 1]);
    keepNumbers(null, '1.0');
    keepNumbers('x', '{"a":1.0}');
  });

  test('are remembered of copies', () => {
    const value = parseJson('{"a":1.0,"b":2.0}') as unknown as object;
    expect(writeJson(copyOf(value, { a: 1, c: 3 }))).toBe('{"a":1.0,"c":3}');
    const set: Record<string, unknown> = {};
    setMember(set, 'a', exactMember(value, 'a'));
    setMember(set, 'c', 3);
    expect([set, writeJson(set)]).toEqual([{ a: 1, c: 3 }, '{"a":1.0,"c":3}']);
  });

  test('are compared', () => {
    const same = (one: string, other: string): boolean => isSameJson(parseJson(one), parseJson(other));
    expect(same('{"a":1.0,"b":[1]}', '{"b":[1],"a":1.0}')).toBe(true);
    for (const [one, other] of [
      ['1.0', '1'],
      ['1', '1.0'],
      ['[1.0]', '[1]'],
      ['{"a":12345678901234567890}', '{"a":12345678901234567891}'],
      ['[1,2]', '[1]'],
      ['[]', '{}'],
      ['null', '{}'],
      ['{"a":1}', '{"b":1}'],
    ] as const)
      expect([one, other, same(one, other)]).toEqual([one, other, false]);
    expect(['1', '[1]', '{"a":[1.5]}', '"1.0"'].map((text) => hasExactNumbers(parseJson(text)))).toEqual([
      false,
      false,
      false,
      false,
    ]);
    expect(['1.0', '[1.0]', '{"a":[1.0]}'].map((text) => hasExactNumbers(parseJson(text)))).toEqual([
      true,
      true,
      true,
    ]);
  });

  test('are those of what a driver has parsed, rounded or as texts of integers', () => {
    const json = parseJson('{"n":12345678901234567890,"list":[9007199254740992,1.0],"t":"1"}');
    const parsed = (n: unknown, list: readonly unknown[], t: unknown = '1'): boolean =>
      isParsedFrom(json, { n, list, t });
    expect(parsed(12345678901234567890, [9007199254740992, 1])).toBe(true);
    expect(parsed('12345678901234567890', ['9007199254740992', 1])).toBe(true);
    expect(parsed('12345678901234567891', [9007199254740992, 1])).toBe(false);
    expect(parsed(12345678901234567890, ['9007199254740993', 1])).toBe(false);
    expect(parsed(12345678901234567890, [9007199254740992, '1'])).toBe(false);
    expect(parsed(12345678901234567890, [9007199254740992, 1], 1)).toBe(false);
    expect(isParsedFrom(json, {})).toBe(false);
    expect(isParsedFrom(parseJson('[]'), {})).toBe(false);
    expect(isParsedFrom(null, null)).toBe(true);
    expect(isParsedFrom(null, {})).toBe(false);
  });

  test('of random numbers are all found', () => {
    let state = 20_261_127;
    const random = (below: number): number =>
      ((state = (Math.imul(state, 1_664_525) + 1_013_904_223) | 0) >>> 8) % below;
    const digits = (most: number): string =>
      Array.from({ length: 1 + random(most) }, () => String(random(10))).join('');
    for (let round = 0; round < 50_000; round++) {
      const whole = random(3) === 0 ? '0' : digits(20).replace(/^0+(?=\d)/, '');
      const number = `${random(3) === 0 ? '-' : ''}${whole}${random(2) === 0 ? '' : `.${'0'.repeat(random(8))}${digits(20)}`}${random(4) === 0 ? `e${random(2) === 0 ? '-' : ''}${random(400)}` : ''}`;
      expect(writeJson(parseJson(`{"a": ${number}}`))).toBe(`{"a":${number}}`);
    }
  });
});
