import { describe, expect, test } from '@jest/globals';
import { isRestException } from '../../core/errors/rest-exception.js';
import { parseQueryString, parameterValues } from './parse-query-string.js';

const LONG = 1_000_000;

/** The answer of the error that a query string ends with; undefined where it is fine. */
function errorOf(query: string): unknown {
  try {
    parseQueryString(query);
    return undefined;
  } catch (error) {
    if (isRestException(error)) return error.response;
    throw error;
  }
}

test.each<[query: string, parameters: readonly (readonly [string, string])[]]>([
  ['', []],
  ['&', []],
  ['&&a=1&&', [['a', '1']]],
  ['a=1', [['a', '1']]],
  ['a=', [['a', '']]],
  ['a', [['a', '']]],
  ['=1', [['', '1']]],
  [
    'a=1&b=2',
    [
      ['a', '1'],
      ['b', '2'],
    ],
  ],
  ['a=1&a=2&a=3', [['a', '3']]],
  ['a=1&a', [['a', '']]],
  ['a=1=2==', [['a', '1=2==']]],
  ['a=1;b=2', [['a', '1;b=2']]],
  ['a=x+y%2Bz', [['a', 'x y+z']]],
  ['a+b=1', [['a b', '1']]],
  ['a%3Db=1', [['a=b', '1']]],
  ['a%26b=1%262', [['a&b', '1&2']]],
  ['a=%2525', [['a', '%25']]],
  ['a=%C3%A9%F0%9F%98%80', [['a', '\u00e9\u{1f600}']]],
  ['a[]=1&a[]=2', [['a[]', '2']]],
  ['a[b][c]=1', [['a[b][c]', '1']]],
  [
    '__proto__=1&constructor[prototype]=2&toString=3',
    [
      ['__proto__', '1'],
      ['constructor[prototype]', '2'],
      ['toString', '3'],
    ],
  ],
  [
    'A=1&a=2',
    [
      ['A', '1'],
      ['a', '2'],
    ],
  ],
  ['a=1?b=2', [['a', '1?b=2']]],
  ['a=%0A%09', [['a', '\n\t']]],
])('%j says %j', (query, parameters) => {
  expect([...parseQueryString(query)]).toEqual(parameters);
});

test('reads a hundred thousand parameters and a value of a million characters', () => {
  const many = parseQueryString(
    Array.from({ length: 100_000 }, (_, index) => `p${index}=${index}`).join('&'),
  );
  expect([many.size, many.get('p99999')]).toEqual([100_000, '99999']);
  expect(parseQueryString(`a=${'+'.repeat(LONG)}`)).toEqual(new Map([['a', ' '.repeat(LONG)]]));
  expect(parseQueryString('&'.repeat(LONG)).size).toBe(0);
  expect(parseQueryString('a=&'.repeat(100_000))).toEqual(new Map([['a', '']]));
});

describe('all values of a parameter', () => {
  test.each<[query: string, values: readonly string[]]>([
    ['', []],
    ['b=1', []],
    ['a=1', ['1']],
    ['a', ['']],
    ['a=1&a=2', ['1', '2']],
    ['a=2&b=x&%61=1&a=&a=2', ['2', '1', '', '2']],
  ])('of %j are those in its order', (query, values) => {
    expect(parameterValues('a', parseQueryString(query))).toEqual(values);
  });

  test('are those of one query string, and its last values stay', () => {
    const [first, second] = [parseQueryString('a=1&a=2&__proto__=1&__proto__=2'), parseQueryString('a=3')];
    expect([
      parameterValues('a', first),
      parameterValues('__proto__', first),
      parameterValues('constructor', first),
      parameterValues('a', second),
    ]).toEqual([['1', '2'], ['1', '2'], [], ['3']]);
    expect(first.get('a')).toBe('2');
  });

  test('are the one that there is where they are no query string', () => {
    expect(parameterValues('a', new Map([['a', '1']]))).toEqual(['1']);
  });
});

describe('what is not a text', () => {
  test.each([
    'a=%',
    'a=%zz',
    'a=%1',
    'a=%FF',
    'a=%C3',
    'a=%C0%80',
    'a=%ED%A0%80',
    'a=%ED%B0%80',
    'a=%F8%88%80%80%80',
    'a=%u0041',
    'a=%&a=1',
    `a=${'1'.repeat(LONG)}%`,
  ])('is a 400 under the parameter: %#', (query) => {
    expect(errorOf(query)).toEqual({ status: 400, body: { a: [expect.any(String)] } });
  });

  test.each(['a=%00', 'a=b%00c', 'a=1&a=%00&a=2', 'a=\u0000'])(
    'is a 400 under the parameter: NUL in %j',
    (query) => {
      expect(errorOf(query)).toEqual({ status: 400, body: { a: ['Null characters are not allowed.'] } });
    },
  );

  test('is a 400 under the parameter: a lone surrogate', () => {
    expect(errorOf('a=\ud800')).toMatchObject({ status: 400 });
  });

  test('is a 400 under a parameter of any name', () => {
    const answer = errorOf('__proto__=%00');
    expect(JSON.stringify(answer)).toBe(
      '{"status":400,"body":{"__proto__":["Null characters are not allowed."]}}',
    );
  });

  test.each(['%=1', '%zz', '%FF=1', '%ED%A0%80=1'])('is a 400 in a name: %j', (query) => {
    expect(errorOf(query)).toEqual({ status: 400, body: { detail: expect.any(String) } });
  });

  test.each(['%00=1', 'a%00', '\ud800=1'])('is a 400 in a name, whatever it names: %j', (query) => {
    expect(errorOf(query)).toMatchObject({ status: 400 });
  });
});
