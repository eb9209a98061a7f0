import { kindsByCode } from './error-codes.js';
import type { FaultCodes, FaultKind } from './error-codes.js';

/**
 * Error numbers of MariaDB (errmsg-utf8.txt) and MySQL (messages_to_clients.txt, and the global ones of mysys), under their names.
 * Matched by number, because mysql2 knows only the names of MySQL. If both use a number for different errors, the other one
 * belongs to statements that write no rows.
 */
export const MYSQL_FAULTS: FaultCodes<number> = {
  away: {
    ER_CON_COUNT_ERROR: 1040,
    ER_BAD_HOST_ERROR: 1042,
    ER_HANDSHAKE_ERROR: 1043,
    // Galera, while the node is not part of the cluster.
    ER_UNKNOWN_COM_ERROR: 1047,
    ER_SERVER_SHUTDOWN: 1053,
    ER_NORMAL_SHUTDOWN: 1077,
    ER_GOT_SIGNAL: 1078,
    ER_SHUTDOWN_COMPLETE: 1079,
    ER_FORCING_CLOSE: 1080,
    ER_HOST_IS_BLOCKED: 1129,
    ER_CANT_CREATE_THREAD: 1135,
    ER_ABORTING_CONNECTION: 1152,
    ER_NET_READ_ERROR_FROM_PIPE: 1154,
    ER_NET_FCNTL_ERROR: 1155,
    ER_NET_PACKETS_OUT_OF_ORDER: 1156,
    ER_NET_UNCOMPRESS_ERROR: 1157,
    ER_NET_READ_ERROR: 1158,
    ER_NET_READ_INTERRUPTED: 1159,
    ER_NET_ERROR_ON_WRITE: 1160,
    ER_NET_WRITE_INTERRUPTED: 1161,
    ER_NEW_ABORTING_CONNECTION: 1184,
    ER_TOO_MANY_USER_CONNECTIONS: 1203,
    ER_USER_LIMIT_REACHED: 1226,
    // Galera, if the cluster does not confirm a COMMIT: its outcome is unknown.
    ER_ERROR_DURING_COMMIT: 1180,
    ER_CONNECT_TO_FOREIGN_DATA_SOURCE: 1429,
    // A primary that has become a replica, and storage that cannot be written.
    ER_OPEN_AS_READONLY: 1036,
    ER_OPTION_PREVENTS_STATEMENT: 1290,
    ER_CANT_EXECUTE_IN_READ_ONLY_TRANSACTION: 1792,
    ER_READ_ONLY_MODE: 1836,
    ER_INNODB_READ_ONLY: 1874,
    // MariaDB.
    ER_CONNECTION_KILLED: 1927,
    ER_SERVER_OFFLINE_MODE: 3032,
    // MySQL.
    ER_SERVER_ISNT_AVAILABLE: 3168,
    ER_SESSION_WAS_KILLED: 3169,
    ER_CLIENT_INTERACTION_TIMEOUT: 4031,
  },
  full: {
    EE_OUTOFMEMORY: 5,
    EE_DISK_FULL: 20,
    EE_OUT_OF_FILERESOURCES: 23,
    ER_DISK_FULL: 1021,
    ER_OUTOFMEMORY: 1037,
    ER_OUT_OF_SORTMEMORY: 1038,
    ER_OUT_OF_RESOURCES: 1041,
    ER_RECORD_FILE_FULL: 1114,
    ER_TRANS_CACHE_FULL: 1197,
    ER_LOCK_TABLE_FULL: 1206,
    ER_TOO_MANY_CONCURRENT_TRXS: 1637,
    ER_STMT_CACHE_FULL: 1705,
    ER_ENGINE_OUT_OF_MEMORY: 3015,
    ER_INNODB_UNDO_LOG_FULL: 3019,
    // MariaDB.
    ER_INDEX_FILE_FULL: 4139,
    // MySQL.
    ER_DISK_FULL_NOWAIT: 3675,
    ER_MDL_OUT_OF_RESOURCES: 3985,
  },
  timeout: {
    ER_FILSORT_ABORT: 1028,
    ER_LOCK_WAIT_TIMEOUT: 1205,
    ER_QUERY_INTERRUPTED: 1317,
    ER_XA_RBTIMEOUT: 1613,
    ER_LOCK_ABORTED: 1689,
    // MariaDB's `max_statement_time`.
    ER_STATEMENT_TIMEOUT: 1969,
    // MySQL's `max_execution_time`.
    ER_QUERY_TIMEOUT: 3024,
    ER_LOCK_NOWAIT: 3572,
  },
  conflict: {
    ER_CHECKREAD: 1020,
    ER_LOCK_DEADLOCK: 1213,
    ER_XA_RBDEADLOCK: 1614,
    // MySQL's group replication.
    ER_TRANSACTION_ROLLBACK_DURING_COMMIT: 3101,
  },
  locked: {},
};

const KINDS = kindsByCode(MYSQL_FAULTS);

/** Errors of mysql2 itself, which have no number. */
const AWAY_IN_DRIVER: ReadonlySet<unknown> = new Set([
  'PROTOCOL_CONNECTION_LOST',
  'PROTOCOL_SEQUENCE_TIMEOUT',
  'PROTOCOL_UNEXPECTED_PACKET',
  'POOL_CLOSED',
  'POOL_NOEXIST',
  'POOL_NONEONLINE',
  'HANDSHAKE_SSL_ERROR',
  'HANDSHAKE_UNKNOWN_ERROR',
]);

/** Write errors of files and the storage engine, whose message holds the error of the operating system, such as ENOSPC. */
const WRITE_ERRORS: ReadonlySet<unknown> = new Set([3, 1026, 1030]);
const NO_SPACE = /no space left|(?:errno|errcode|error):? 28\b/i;

export function mysqlFault(errno: unknown, code: unknown, message: string): FaultKind | undefined {
  if (AWAY_IN_DRIVER.has(code)) return 'away';
  if (WRITE_ERRORS.has(errno) && NO_SPACE.test(message)) return 'full';
  return typeof errno === 'number' ? KINDS.get(errno) : undefined;
}
