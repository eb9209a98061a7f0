import { kindsByCode } from './error-codes.js';
import type { FaultCodes, FaultKind } from './error-codes.js';

/** SQLSTATEs of PostgreSQL (errcodes.txt). Two characters denote a class, for all codes of it that are not listed themselves. */
export const POSTGRES_FAULTS: FaultCodes<string> = {
  away: {
    connection_exception: '08',
    operator_intervention: '57',
    too_many_connections: '53300',
    // The outcome of the statement is unknown.
    statement_completion_unknown: '40003',
    idle_in_transaction_session_timeout: '25P03',
    // PostgreSQL 17; ends the session.
    transaction_timeout: '25P04',
    // A primary that has become a replica.
    read_only_sql_transaction: '25006',
    system_error: '58000',
    io_error: '58030',
  },
  full: {
    insufficient_resources: '53',
  },
  timeout: {
    query_canceled: '57014',
    lock_not_available: '55P03',
  },
  conflict: {
    serialization_failure: '40001',
    deadlock_detected: '40P01',
    transaction_rollback: '40000',
    // Up to PostgreSQL 16.
    snapshot_too_old: '72000',
  },
  locked: {},
};

const KINDS = kindsByCode(POSTGRES_FAULTS);

export function postgresFault(code: string): FaultKind | undefined {
  return /^[0-9A-Z]{5}$/.test(code) ? (KINDS.get(code) ?? KINDS.get(code.slice(0, 2))) : undefined;
}
