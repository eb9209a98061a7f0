import { describe, expect, test } from '@jest/globals';
import { parseJson, writeJson } from './exact-numbers.js';
import { mergePatch } from './merge-patch.js';

/** Merges texts, as numbers are remembered by theirs. */
function merged(target: string, patch: string): string {
  return writeJson(mergePatch(parseJson(target), parseJson(patch)));
}

describe('a merge patch', () => {
  // The examples of RFC 7396, appendix A.
  test.each([
    ['{"a":"b"}', '{"a":"c"}', '{"a":"c"}'],
    ['{"a":"b"}', '{"b":"c"}', '{"a":"b","b":"c"}'],
    ['{"a":"b"}', '{"a":null}', '{}'],
    ['{"a":"b","b":"c"}', '{"a":null}', '{"b":"c"}'],
    ['{"a":["b"]}', '{"a":"c"}', '{"a":"c"}'],
    ['{"a":"c"}', '{"a":["b"]}', '{"a":["b"]}'],
    ['{"a":{"b":"c"}}', '{"a":{"b":"d","c":null}}', '{"a":{"b":"d"}}'],
    ['{"a":[{"b":"c"}]}', '{"a":[1]}', '{"a":[1]}'],
    ['["a","b"]', '["c","d"]', '["c","d"]'],
    ['{"a":"b"}', '["c"]', '["c"]'],
    ['{"a":"foo"}', 'null', 'null'],
    ['{"a":"foo"}', '"bar"', '"bar"'],
    ['{"e":null}', '{"a":1}', '{"e":null,"a":1}'],
    ['[1,2]', '{"a":"b","c":null}', '{"a":"b"}'],
    ['{}', '{"a":{"bb":{"ccc":null}}}', '{"a":{"bb":{}}}'],
  ])('%s with %s is %s', (target, patch, result) => {
    expect(merged(target, patch)).toBe(result);
  });

  test.each([
    [
      'of both texts',
      {
        target: '{"a":1.0,"b":{"c":12345678901234567890}}',
        patch: '{"d":1e2}',
        result: '{"a":1.0,"b":{"c":12345678901234567890},"d":1e2}',
      },
    ],
    [
      'that replace others',
      {
        target: '{"a":12345678901234567890}',
        patch: '{"a":12345678901234567891}',
        result: '{"a":12345678901234567891}',
      },
    ],
    ['in lists', { target: '{"a":[1]}', patch: '{"a":[1.50]}', result: '{"a":[1.50]}' }],
    [
      'beside a member "toJSON"',
      { target: '{"toJSON":1}', patch: '{"b":2.0}', result: '{"toJSON":1,"b":2.0}' },
    ],
  ])('keeps the digits of numbers %s', (_, { target, patch, result }) => {
    expect(merged(target, patch)).toBe(result);
  });

  test('leaves prototypes and its arguments as they are', () => {
    const target = parseJson('{"a":{"b":1}}');
    const patch = parseJson('{"__proto__":{"c":2},"a":{"b":null}}');
    const result = mergePatch(target, patch) as object;
    expect(Object.getPrototypeOf(result)).toBe(Object.prototype);
    expect(JSON.stringify(result)).toBe('{"a":{},"__proto__":{"c":2}}');
    expect(mergePatch(result, parseJson('{"__proto__":{"d":3}}'))).toEqual(
      parseJson('{"a":{},"__proto__":{"c":2,"d":3}}'),
    );
    expect([target, patch]).toEqual([
      parseJson('{"a":{"b":1}}'),
      parseJson('{"__proto__":{"c":2},"a":{"b":null}}'),
    ]);
  });
});
