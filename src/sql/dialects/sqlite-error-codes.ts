import { kindsByCode } from './error-codes.js';
import type { FaultCodes, FaultKind } from './error-codes.js';

/** SQLite's result codes (sqlite3.h), as in errors of better-sqlite3. A primary code includes all of its extended codes that are not listed themselves. */
export const SQLITE_FAULTS: FaultCodes<string> = {
  away: {
    SQLITE_IOERR: 'SQLITE_IOERR',
    SQLITE_CANTOPEN: 'SQLITE_CANTOPEN',
    SQLITE_READONLY: 'SQLITE_READONLY',
    SQLITE_PROTOCOL: 'SQLITE_PROTOCOL',
    // The transaction was rolled back while the statement ran.
    SQLITE_ABORT: 'SQLITE_ABORT',
  },
  full: {
    SQLITE_FULL: 'SQLITE_FULL',
    SQLITE_NOMEM: 'SQLITE_NOMEM',
    SQLITE_IOERR_NOMEM: 'SQLITE_IOERR_NOMEM',
  },
  timeout: {
    SQLITE_LOCKED: 'SQLITE_LOCKED',
    SQLITE_INTERRUPT: 'SQLITE_INTERRUPT',
  },
  // Another process has changed the database since the transaction read it.
  conflict: {
    SQLITE_BUSY_SNAPSHOT: 'SQLITE_BUSY_SNAPSHOT',
    SQLITE_ERROR_SNAPSHOT: 'SQLITE_ERROR_SNAPSHOT',
  },
  locked: {
    SQLITE_BUSY: 'SQLITE_BUSY',
  },
};

const KINDS = kindsByCode(SQLITE_FAULTS);

/** The messages of `sqlite3_errstr`, because errors of sql.js have no code. */
const CODES_OF_TEXTS: ReadonlyMap<string, string> = new Map([
  ['disk I/O error', 'SQLITE_IOERR'],
  ['unable to open database file', 'SQLITE_CANTOPEN'],
  ['attempt to write a readonly database', 'SQLITE_READONLY'],
  ['locking protocol', 'SQLITE_PROTOCOL'],
  ['database or disk is full', 'SQLITE_FULL'],
  ['out of memory', 'SQLITE_NOMEM'],
  ['database is locked', 'SQLITE_BUSY'],
  ['database table is locked', 'SQLITE_LOCKED'],
  ['interrupted', 'SQLITE_INTERRUPT'],
]);

export function sqliteFault(code: unknown, message: string): FaultKind | undefined {
  const known = typeof code === 'string' ? code : CODES_OF_TEXTS.get(message);
  return known === undefined
    ? undefined
    : (KINDS.get(known) ?? KINDS.get(known.split('_').slice(0, 2).join('_')));
}
