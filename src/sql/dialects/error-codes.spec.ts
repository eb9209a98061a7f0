import { describe, expect, test } from '@jest/globals';
import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import type { DatabaseError } from './dialect.js';
import { isTemporary } from './dialect.js';
import { isConnectionLost, isSystemCode } from './error-codes.js';
import type { FaultCodes } from './error-codes.js';
import { mysql } from './mysql.js';
import { MYSQL_FAULTS } from './mysql-error-codes.js';
import { postgres } from './postgres.js';
import { POSTGRES_FAULTS } from './postgres-error-codes.js';
import { sqlite } from './sqlite.js';
import { SQLITE_FAULTS } from './sqlite-error-codes.js';
import { UTC } from './local-time.js';

const ROOT = createRequire(join(process.cwd(), 'package.json'));

function casesOf<Code>(
  codes: FaultCodes<Code>,
): readonly (readonly [name: string, code: Code, kind: string])[] {
  return Object.entries(codes).flatMap(([kind, named]) =>
    Object.entries(named).map(([name, code]) => [name, code, kind] as const),
  );
}

/** Every fault is independent of the request. */
function kindOf(error: DatabaseError | undefined): string | undefined {
  if (error) expect(isTemporary(error)).toBe(true);
  return error?.kind;
}

describe('errors of SQLite', () => {
  test.each(casesOf(SQLITE_FAULTS))('%s is classified by its cause', (_, code, kind) => {
    expect(kindOf(sqlite.errorFor({ driverError: { code, message: '' } }))).toBe(kind);
  });

  test.each([
    ['SQLITE_IOERR_FSYNC', 'away'],
    ['SQLITE_READONLY_DBMOVED', 'away'],
    ['SQLITE_CANTOPEN_ISDIR', 'away'],
    ['SQLITE_BUSY_RECOVERY', 'locked'],
    ['SQLITE_BUSY_TIMEOUT', 'locked'],
    ['SQLITE_LOCKED_SHAREDCACHE', 'timeout'],
    ['SQLITE_ERROR', undefined],
    ['SQLITE_CORRUPT', undefined],
    ['SQLITE_MISUSE', undefined],
    ['SQLITE_NOTADB', undefined],
  ])('%s is %s', (code, kind) => {
    expect(sqlite.errorFor({ driverError: { code, message: '' } })?.kind).toBe(kind);
  });

  test.each([
    ['database or disk is full', 'full'],
    ['out of memory', 'full'],
    ['disk I/O error', 'away'],
    ['database is locked', 'locked'],
    ['interrupted', 'timeout'],
    ['no such table: database is locked', undefined],
  ])('%j without a code, as sql.js has it, is %s', (message, kind) => {
    expect(sqlite.errorFor({ driverError: { message } })?.kind).toBe(kind);
  });

  test('each name is defined in the header file', () => {
    const header = join(dirname(ROOT.resolve('better-sqlite3/package.json')), 'deps', 'sqlite3', 'sqlite3.h');
    expect(existsSync(header)).toBe(true);
    const text = readFileSync(header, 'utf8');
    for (const [name] of casesOf(SQLITE_FAULTS)) expect(text).toContain(`#define ${name} `);
  });
});

describe('errors of PostgreSQL', () => {
  test.each(casesOf(POSTGRES_FAULTS))('%s (%s) is classified by its cause', (_, code, kind) => {
    expect(kindOf(postgres.errorFor({ driverError: { code: code.padEnd(5, '0') } }))).toBe(kind);
  });

  test.each([
    ['08006', 'away'],
    ['08P01', 'away'],
    ['57P01', 'away'],
    ['57P02', 'away'],
    ['57P03', 'away'],
    ['57P05', 'away'],
    ['53300', 'away'],
    ['53100', 'full'],
    ['53200', 'full'],
    ['53400', 'full'],
    ['25P02', undefined],
    ['42P01', undefined],
    ['42501', 'denied'],
    ['58P01', undefined],
    ['XX000', undefined],
    ['XX001', undefined],
    ['P0001', 'raised'],
    ['2200H', undefined],
    ['57', undefined],
  ])('%s is %s', (code, kind) => {
    expect(postgres.errorFor({ driverError: { code } })?.kind).toBe(kind);
  });

  test('of what is not supported, moving a row into a foreign table is the error of a rule, in each language', () => {
    const errorOf = (properties: object): unknown =>
      postgres.errorFor({ driverError: { code: '0A000', ...properties } })?.kind;
    expect(errorOf({ routine: 'postgresBeginForeignInsert', message: 'nicht möglich' })).toBe('check');
    expect(errorOf({ message: 'cached plan must not change result type' })).toBe('unprepared');
    expect(errorOf({ routine: 'ExecInitModifyTable', message: 'other' })).toBeUndefined();
  });
});

describe('errors of MariaDB and MySQL', () => {
  test.each(casesOf(MYSQL_FAULTS))('%s (%i) is classified by its cause', (_, errno, kind) => {
    expect(kindOf(mysql(UTC).errorFor({ driverError: { errno } }))).toBe(kind);
  });

  /** mysql2 knows the names of MySQL only. */
  test('each name is known to the driver, except those of MariaDB', () => {
    const names = ROOT(
      join(dirname(ROOT.resolve('mysql2/package.json')), 'lib', 'constants', 'errors.js'),
    ) as Readonly<Record<string, unknown>>;
    const other = casesOf(MYSQL_FAULTS).filter(
      ([name, errno]) => names[name] !== errno && names[errno] !== name,
    );
    expect(other.map(([name, errno]) => `${name} ${errno}`)).toEqual([
      'ER_CONNECTION_KILLED 1927',
      'ER_INDEX_FILE_FULL 4139',
      'ER_STATEMENT_TIMEOUT 1969',
    ]);
  });

  test.each([
    [{ code: 'PROTOCOL_SEQUENCE_TIMEOUT' }, 'away'],
    [{ code: 'PROTOCOL_CONNECTION_LOST' }, 'away'],
    [{ code: 'POOL_NONEONLINE' }, 'away'],
    [
      {
        code: 'ER_GET_ERRNO',
        errno: 1030,
        sqlMessage: 'Got error 28 "No space left on device" from storage engine InnoDB',
      },
      'full',
    ],
    [
      {
        code: 'EE_WRITE',
        errno: 3,
        sqlMessage: "Error writing file '/tmp/x' (Errcode: 28 - No space left on device)",
      },
      'full',
    ],
    [
      {
        code: 'ER_GET_ERRNO',
        errno: 1030,
        sqlMessage: 'Got error 168 "Unknown (generic) error from engine" from storage engine InnoDB',
      },
      undefined,
    ],
    [{ code: 'ER_PARSE_ERROR', errno: 1064 }, undefined],
    [{ code: 'ER_CRASHED_ON_USAGE', errno: 1194 }, undefined],
    [{ errno: 4242 }, undefined],
  ] as const)('%j is %s', (driverError, kind) => {
    expect(mysql(UTC).errorFor({ driverError })?.kind).toBe(kind);
  });
});

describe('errors of the operating system', () => {
  const CODES = [
    'ECONNREFUSED',
    'ECONNRESET',
    'ECONNABORTED',
    'EPIPE',
    'ETIMEDOUT',
    'EHOSTUNREACH',
    'EHOSTDOWN',
    'ENETUNREACH',
    'ENETDOWN',
    'EADDRNOTAVAIL',
    'ENOTFOUND',
    'EAI_AGAIN',
    'ENOENT',
    'EMFILE',
  ];

  test.each(CODES)('%s means that the server cannot be reached', (code) => {
    expect(isSystemCode(code)).toBe(true);
    for (const dialect of [sqlite, postgres, mysql(UTC)])
      expect(dialect.errorFor({ driverError: { code } })?.kind).toBe('away');
  });

  test.each(CODES)('%s is not a database error unless a driver has thrown it', (code) => {
    for (const dialect of [sqlite, postgres, mysql(UTC)])
      expect(dialect.errorFor(Object.assign(new Error(code), { code }))).toBeUndefined();
  });

  test.each(['23505', 'EISDIR', 'EADDRINUSE', '', undefined, 1, null])(
    '%j is not a code of a lost connection',
    (code) => {
      expect(isSystemCode(code)).toBe(false);
    },
  );
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
  [
    Object.assign(new Error('Query runner already released.'), { name: 'QueryRunnerAlreadyReleasedError' }),
    true,
  ],
  [new Error('Connection terminated due to connection timeout'), true],
  [new Error('Queue limit reached.'), true],
  [Object.assign(new Error('Query failed'), { driverError: new Error('Connection terminated') }), true],
  [new Error('The mail server: read timeout'), false],
  [new Error('The connection is not established'), false],
  [new Error('duplicate key value violates unique constraint'), false],
  [new Error(''), false],
  [undefined, false],
  [null, false],
  ['text', false],
])('%p is a lost connection: %j', (error, lost) => {
  expect(isConnectionLost(error)).toBe(lost);
});
