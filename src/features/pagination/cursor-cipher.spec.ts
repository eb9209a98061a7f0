import { describe, expect, test } from '@jest/globals';
import { inspect } from 'node:util';
import { CursorCipher } from './cursor-cipher.js';

const seal = new CursorCipher(['a secret of this test']);
const POSITION = { values: ['Ä', 1, null], backward: false, inclusive: false };

describe('a sealed position', () => {
  test.each([
    [{ values: [], backward: false, inclusive: false }],
    [{ values: ['', ' ', '\u0000', '\u{1f600}', '"', '9007199254740993'], backward: true, inclusive: false }],
    [{ values: [0, -1.5, 1e300, Infinity, -Infinity, NaN, 2n ** 70n], backward: false, inclusive: true }],
    [
      {
        values: [true, false, null, Buffer.from([0, 255, 128]), Buffer.alloc(0)],
        backward: true,
        inclusive: true,
      },
    ],
  ])('is opened as it was: %p', (position) => {
    const text = seal.seal(position, 'here') ?? '';
    expect(seal.open(text, 'here')).toEqual(position);
    // The first has remembered it.
    const other = new CursorCipher(['a secret of this test']);
    expect([other.open(text, 'here'), other.open(text, 'here')]).toEqual([position, position]);
    expect(other.seal(position, 'here')).toBe(text);
  });

  test('is one text, whether or not it is remembered', () => {
    const forgetful = new CursorCipher(['a secret of this test']);
    const texts = (): (string | undefined)[] =>
      Array.from({ length: 600 }, (_, value) => forgetful.seal({ ...POSITION, values: [value] }, 'here'));
    const first = texts();
    expect(new Set(first).size).toBe(600);
    expect(texts()).toEqual(first);
    expect(first.map((text) => forgetful.open(text ?? '', 'here')?.values[0])).toEqual(
      Array.from({ length: 600 }, (_, value) => value),
    );
  });

  test('is one text, of letters for a URL', () => {
    const text = seal.seal(POSITION, 'here');
    expect(text).toMatch(/^[\w-]+$/);
    expect(seal.seal({ ...POSITION }, 'here')).toBe(text);
  });

  test('is as long for one value as for another that is about as long', () => {
    const lengths = ['', 'a', 'ä', 'a'.repeat(30)].map(
      (value) => seal.seal({ ...POSITION, values: [value, 1] }, 'here')?.length,
    );
    expect(new Set(lengths).size).toBe(1);
  });

  test('cannot be decrypted for another list', () => {
    const text = seal.seal(POSITION, 'here') ?? '';
    for (const place of ['', 'her', 'here ', 'there']) expect(seal.open(text, place)).toBeUndefined();
    expect(new CursorCipher(['another secret']).open(text, 'here')).toBeUndefined();
    expect(new CursorCipher(['another secret', 'a secret of this test']).open(text, 'here')).toEqual(
      POSITION,
    );
  });

  test('has another text for every other position and place', () => {
    const texts = [
      seal.seal(POSITION, 'here'),
      seal.seal(POSITION, 'there'),
      seal.seal({ ...POSITION, backward: true }, 'here'),
      seal.seal({ ...POSITION, inclusive: true }, 'here'),
      seal.seal({ ...POSITION, values: ['Ä', '1', null] }, 'here'),
    ];
    expect(new Set(texts.map((text) => text?.slice(0, 16))).size).toBe(5);
  });

  test('is not made where it would not fit into a URL, and no longer one is decrypted', () => {
    expect(seal.seal({ ...POSITION, values: ['x'.repeat(2900)] }, 'here')).toEqual(expect.any(String));
    expect(seal.seal({ ...POSITION, values: ['x'.repeat(3000)] }, 'here')).toBeUndefined();
    expect(seal.open('A'.repeat(4001), 'here')).toBeUndefined();
  });

  test.each(['', 'A', 'AAAA', '====', 'A'.repeat(38), ' ', '\u{1f600}', '+/+/', '__proto__'])(
    'is not %j',
    (text) => {
      expect(seal.open(text, 'here')).toBeUndefined();
    },
  );
});

test('a cipher that is logged does not show its keys', () => {
  expect([JSON.stringify(seal), inspect(seal, { depth: 9 })]).toEqual(['{}', 'CursorCipher {}']);
});
