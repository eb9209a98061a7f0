/**
 * Why a statement failed although nothing is wrong with it, so that the same one may pass later: there is no connection, or it is of
 * no more use; there is no room, on the disk or in memory; it waited or ran too long;
 * another transaction stood in the way; or another process holds the file.
 */
export type FaultKind = 'away' | 'full' | 'timeout' | 'conflict' | 'locked';

/** The error codes of a driver by what they mean, each under the name that its source has for it. */
export type FaultCodes<Code> = Readonly<Record<FaultKind, Readonly<Record<string, Code>>>>;

export function kindsByCode<Code>(codes: FaultCodes<Code>): ReadonlyMap<Code, FaultKind> {
  const kinds: readonly FaultKind[] = ['away', 'full', 'timeout', 'conflict', 'locked'];
  return new Map(kinds.flatMap((kind) => Object.values(codes[kind]).map((code) => [code, kind] as const)));
}

/**
 * Node's codes for a server that is not there, or not any more: of libuv (uv.h), of getaddrinfo, and of Node's own streams. The last
 * five of libuv's: this process cannot open a socket.
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

/** Whether the operating system says that there is no server. It says the same of every other server, and of files. */
export function isSystemCode(code: unknown): boolean {
  return SYSTEM_CODES.has(code);
}

/** What drivers say without a code: pg and pg-pool, mysql2, better-sqlite3, TypeORM. */
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

/** TypeORM gives a connection of PostgreSQL back by itself when it breaks, also in the middle of a transaction: then it is released already. */
const LOST_NAMES: ReadonlySet<unknown> = new Set([
  'ConnectionIsNotSetError',
  'CannotConnectAlreadyConnectedError',
  'CannotExecuteNotConnectedError',
  'QueryRunnerAlreadyReleasedError',
  'QueryRunnerProviderAlreadyReleasedError',
]);

/** Whether the ORM or a driver says, without a code, that there is no connection. */
export function isConnectionLost(error: unknown): boolean {
  const { name, message, driverError } = (error ?? {}) as {
    name?: unknown;
    message?: unknown;
    driverError?: { message?: unknown };
  };
  const text = String(driverError?.message ?? message ?? '').replace(/^Error: /, '');
  return LOST_NAMES.has(name) || LOST.some((each) => each.test(text));
}
