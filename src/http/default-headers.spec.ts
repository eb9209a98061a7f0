import { expect, test } from '@jest/globals';
import { FIXED_HEADERS, mergeVary } from './default-headers.js';

test('the fixed headers are those of contract 7.1', () => {
  expect(Object.fromEntries(FIXED_HEADERS)).toEqual({
    'Cross-Origin-Opener-Policy': 'same-origin',
    'Referrer-Policy': 'same-origin',
    'X-Content-Type-Options': 'nosniff',
    'X-Frame-Options': 'DENY',
  });
});

test.each<[before: string | readonly string[] | number | undefined, after: string]>([
  [undefined, 'Accept, Cookie'],
  ['', 'Accept, Cookie'],
  [' , ', 'Accept, Cookie'],
  ['Origin', 'Origin, Accept, Cookie'],
  ['Origin, Accept-Encoding', 'Origin, Accept-Encoding, Accept, Cookie'],
  ['Accept, Cookie', 'Accept, Cookie'],
  ['Cookie', 'Cookie, Accept'],
  ['Cookie, Accept', 'Cookie, Accept'],
  ['accept,COOKIE', 'accept, COOKIE'],
  ['Accept-Language', 'Accept-Language, Accept, Cookie'],
  [['Origin', 'Accept'], 'Origin, Accept, Cookie'],
  [['Origin, X-Tenant', 'Cookie'], 'Origin, X-Tenant, Cookie, Accept'],
  [[], 'Accept, Cookie'],
  ['*', '*'],
  ['Origin, *', '*'],
])('Vary %j becomes %j', (before, after) => {
  expect(mergeVary(before)).toBe(after);
});
