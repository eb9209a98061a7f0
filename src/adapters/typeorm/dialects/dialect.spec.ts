import { describe, expect, test } from '@jest/globals';
import { mysql } from './mysql.js';
import { postgres } from './postgres.js';
import { driverErrorProperty, isConnectionLost, isSocketCode, likePattern } from './dialect.js';

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
  ])('takes %j by the letter: %j', (text, pattern) => {
    expect(likePattern({ text, where: 'whole', insensitive: false })).toBe(pattern);
  });

  test('takes a million signs by the letter', () => {
    expect(likePattern({ text: '%'.repeat(1_000_000), where: 'anywhere', insensitive: true })).toBe(`%${'!%'.repeat(1_000_000)}%`);
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
])("of %j the driver's code is %j", (error, value) => {
  expect(driverErrorProperty(error, 'code')).toBe(value);
});

test.each<[code: unknown, is: boolean]>([['ECONNREFUSED', true], ['ECONNRESET', true], ['EPIPE', true], ['ETIMEDOUT', true], ['ENOTFOUND', true], ['23505', false], ['', false], [undefined, false], [1, false]])('%j is the code of a server that is not there: %j', (code, is) => {
  expect(isSocketCode(code)).toBe(is);
});

test.each<[error: unknown, lost: boolean]>([
  [{ name: 'ConnectionIsNotSetError' }, true],
  [new Error('Connection terminated unexpectedly'), true],
  [new Error('timeout exceeded when trying to connect'), true],
  [new Error('Pool is closed.'), true],
  [new Error('The database connection is not open'), true],
  [new Error('Client has encountered a connection error and is not queryable'), true],
  [new Error("Can't add new command when connection is in closed state"), true],
  [new Error('Query read timeout'), true],
  [Object.assign(new Error('Query runner already released.'), { name: 'QueryRunnerAlreadyReleasedError' }), true],
  [new Error('duplicate key value violates unique constraint'), false],
  [new Error(''), false],
  [undefined, false],
  [null, false],
  ['text', false],
])('%p says that the connection is lost: %j', (error, lost) => {
  expect(isConnectionLost(error)).toBe(lost);
});

test.each([
  ['40001', 'conflict'],
  ['40P01', 'conflict'],
  ['55P03', 'timeout'],
  ['57014', 'timeout'],
  ['57P01', 'away'],
  ['57P03', 'away'],
  ['53300', 'away'],
  ['08006', 'away'],
  ['25P03', 'away'],
  ['25006', 'away'],
  ['25P02', undefined],
  ['42P01', undefined],
] as const)("PostgreSQL's %s is %s", (code, kind) => {
  expect(postgres.refusal({ driverError: { code } })?.kind).toBe(kind);
});

test.each([
  [{ code: 'ER_LOCK_DEADLOCK', errno: 1213 }, 'conflict'],
  [{ code: 'ER_LOCK_WAIT_TIMEOUT', errno: 1205 }, 'timeout'],
  [{ errno: 1969 }, 'timeout'],
  [{ code: 'ER_QUERY_TIMEOUT', errno: 3024 }, 'timeout'],
  [{ code: 'ER_QUERY_INTERRUPTED', errno: 1317 }, 'timeout'],
  [{ code: 'ER_CON_COUNT_ERROR', errno: 1040 }, 'away'],
  [{ code: 'ER_OPTION_PREVENTS_STATEMENT', errno: 1290 }, 'away'],
  [{ code: 'PROTOCOL_SEQUENCE_TIMEOUT' }, 'away'],
  [{ code: 'POOL_NONEONLINE' }, 'away'],
  [{ code: 'ER_PARSE_ERROR', errno: 1064 }, undefined],
  [{ errno: 4242 }, undefined],
] as const)("MariaDB's %j is %s", (driverError, kind) => {
  expect(mysql('utc').refusal({ driverError })?.kind).toBe(kind);
});
