import { describe, expect, test } from '@jest/globals';
import { driverErrorProperty } from './dialect.js';
import { likePattern } from './text-syntax.js';

describe('likePattern', () => {
  test.each([
    ['whole', 'a b', 'a b'],
    ['start', 'a b', 'a b%'],
    ['end', 'a b', '%a b'],
    ['anywhere', 'a b', '%a b%'],
    ['whole', '', ''],
    ['start', '', '%'],
    ['end', '', '%'],
    ['anywhere', '', '%%'],
  ] as const)('matches the %s with %j by %j', (where, text, pattern) => {
    expect(likePattern({ text, where, insensitive: false })).toBe(pattern);
    expect(likePattern({ text, where, insensitive: true })).toBe(pattern);
  });

  test.each([
    ['%', '!%'],
    ['_', '!_'],
    ['!', '!!'],
    ['!%_!', '!!!%!_!!'],
    ['100%_!off', '100!%!_!!off'],
    ['\\', '\\'],
    ['\\%', '\\!%'],
    ["'", "'"],
    ['*?[a-z]{1}', '*?[a-z]{1}'],
    ['\uff05\uff3f', '\uff05\uff3f'],
    ['\u{1f600}', '\u{1f600}'],
    ['$&$1', '$&$1'],
  ])('escapes wildcards in %j: %j', (text, pattern) => {
    expect(likePattern({ text, where: 'whole', insensitive: false })).toBe(pattern);
  });

  test('escapes a million wildcards', () => {
    expect(likePattern({ text: '%'.repeat(1_000_000), where: 'anywhere', insensitive: true })).toBe(
      `%${'!%'.repeat(1_000_000)}%`,
    );
  });
});

test.each<[error: unknown, value: unknown]>([
  [{ code: 'A' }, 'A'],
  [{ driverError: { code: 'A' } }, 'A'],
  [{ code: 'A', driverError: { code: 'B' } }, 'B'],
  [{ code: 'A', driverError: {} }, 'A'],
  [{ code: 'A', driverError: undefined }, 'A'],
  [{}, undefined],
  [undefined, undefined],
  [null, undefined],
  ['text', undefined],
])("reads the driver's code of %j: %j", (error, value) => {
  expect(driverErrorProperty(error, 'code')).toBe(value);
});
