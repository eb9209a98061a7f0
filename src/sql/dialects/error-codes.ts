/**
 * A temporary cause of a failed statement, which may succeed when retried: `away`, no connection or a broken one; `full`, no
 * disk space or memory; `timeout`, a statement or lock timeout; `conflict`, a concurrent transaction; `locked`, a database
 * file locked by another process.
 */
export type FaultKind = 'away' | 'full' | 'timeout' | 'conflict' | 'locked';

/** The error codes of a database by cause, each under its name in the source of the database. */
export type FaultCodes<Code> = Readonly<Record<FaultKind, Readonly<Record<string, Code>>>>;

export function kindsByCode<Code>(codes: FaultCodes<Code>): ReadonlyMap<Code, FaultKind> {
  const kinds: readonly FaultKind[] = ['away', 'full', 'timeout', 'conflict', 'locked'];
  return new Map(kinds.flatMap((kind) => Object.values(codes[kind]).map((code) => [code, kind] as const)));
}

/**
 * Node's codes for an unreachable server or a lost connection: of libuv (uv.h), of getaddrinfo, and of Node's streams. With
 * the last five of libuv, this process cannot open a socket.
 */
const SYSTEM_CODES: ReadonlySet<unknown> = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'ECONNABORTED',
  'EPIPE',
  'ETIMEDOUT',
  'ENOTCONN',
  'ESHUTDOWN',
  'ECANCELED',
  'EPROTO',
  'EHOSTUNREACH',
  'EHOSTDOWN',
  'ENETUNREACH',
  'ENETDOWN',
  'ENETRESET',
  'ENONET',
  'EADDRNOTAVAIL',
  'ENOENT',
  'EMFILE',
  'ENFILE',
  'ENOBUFS',
  'ENOMEM',
  'EAGAIN',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EAI_FAIL',
  'EAI_NODATA',
  'EAI_NONAME',
  'EAI_MEMORY',
  'EAI_CANCELED',
  'ERR_SOCKET_CLOSED',
  'ERR_SOCKET_CONNECTION_TIMEOUT',
  'ERR_STREAM_DESTROYED',
  'ERR_STREAM_PREMATURE_CLOSE',
  'ERR_STREAM_WRITE_AFTER_END',
  'ERR_TLS_HANDSHAKE_TIMEOUT',
]);

/** Whether this is a system code of a lost connection. The same codes occur for every other server, and for files. */
export function isSystemCode(code: unknown): boolean {
  return SYSTEM_CODES.has(code);
}

/** Messages of errors without a code: pg and pg-pool, mysql2, better-sqlite3, TypeORM. */
const LOST: readonly RegExp[] = [
  /^Connection terminated( unexpectedly| due to connection timeout)?$/,
  /^timeout exceeded when trying to connect$/,
  /^timeout expired$/,
  /^Query read timeout$/,
  /^Client (has encountered a connection error|was closed) and is not queryable$/,
  /^Cannot use a pool after calling end on the pool$/,
  /^There was an error establishing an SSL connection$/,
  /^Can't (add new command when connection is|write) in closed state$/,
  /^(Pool is closed|No connections available|Queue limit reached|Pool does Not (exist|have online node))\.$/,
  /^The database connection is not open$/,
  /^Driver not connected/i,
];

/** TypeORM releases a broken connection of PostgreSQL itself, also within a transaction; later uses throw AlreadyReleased errors. */
const LOST_NAMES: ReadonlySet<unknown> = new Set([
  'ConnectionIsNotSetError',
  'CannotConnectAlreadyConnectedError',
  'CannotExecuteNotConnectedError',
  'QueryRunnerAlreadyReleasedError',
  'QueryRunnerProviderAlreadyReleasedError',
]);

/** Whether an error without a code of TypeORM or a driver means a lost connection. */
export function isConnectionLost(error: unknown): boolean {
  const { name, message, driverError } = (error ?? {}) as {
    name?: unknown;
    message?: unknown;
    driverError?: { message?: unknown };
  };
  const text = String(driverError?.message ?? message ?? '').replace(/^Error: /, '');
  return LOST_NAMES.has(name) || LOST.some((each) => each.test(text));
}
