import type { StatementCanceller } from './dialect.js';

/** The used part of mysql2's connection. */
interface Connection {
  readonly threadId: number | null | undefined;
  readonly config: ConnectionConfig;
  readonly stream: { destroy(): void };
  query(sql: string, answered: (error: Error | null) => void): unknown;
  on(event: 'error', listener: () => void): unknown;
  end(): unknown;
  destroy(): void;
}

/** The server and credentials of a connection. */
type ConnectionConfig = Readonly<Partial<Record<(typeof COPIED_OPTIONS)[number], unknown>>>;

const COPIED_OPTIONS = [
  'host',
  'port',
  'socketPath',
  'localAddress',
  'user',
  'password',
  'password2',
  'password3',
  'passwordSha1',
  'ssl',
  'insecureAuth',
  'authPlugins',
  'authSwitchHandler',
  'enableCleartextPlugin',
] as const;

/** The used part of the mysql2 module that TypeORM has loaded. */
export interface MysqlModule {
  createConnection(config: ConnectionConfig & { readonly connectTimeout: number }): Connection;
}

interface CancelConnection {
  readonly connection: Connection;
  readonly release: () => void;
  readonly destroy: () => void;
}

interface SharedConnection {
  readonly connection: Connection;
  users: number;
}

/** In milliseconds. */
const CONNECT_TIMEOUT = 2000;
const INTERRUPTED = 'ER_QUERY_INTERRUPTED';

/** Sends `KILL QUERY` over one connection per server outside of the pool, which is open while there are statements to cancel. */
export function mysqlCanceller(driver: MysqlModule): StatementCanceller {
  const shared = new Map<string, SharedConnection>();

  function acquireConnection({ config }: Connection): CancelConnection {
    const name = JSON.stringify([config.host, config.port, config.socketPath, config.user]);
    const used = shared.get(name) ?? { connection: openCopy(config, driver), users: 0 };
    const forget = (): void => {
      if (shared.get(name) === used) shared.delete(name);
    };
    if (used.users === 0) used.connection.on('error', forget);
    shared.set(name, used);
    used.users++;
    const release = (): void => {
      used.users--;
      if (used.users > 0) return;
      forget();
      used.connection.end();
    };
    const destroy = (): void => {
      forget();
      used.connection.destroy();
    };
    return { connection: used.connection, release, destroy };
  }

  return {
    cancel(connection, signal) {
      const { threadId } = connection as Connection;
      if (typeof threadId !== 'number')
        return Promise.reject(
          new Error('The connection has no thread ID, so its statements cannot be cancelled'),
        );
      const cancelling = acquireConnection(connection as Connection);
      return new Promise<void>((resolve, reject) => {
        const late = (): void => {
          cancelling.destroy();
          reject(new Error('The server has not answered KILL QUERY in time'));
        };
        signal.addEventListener('abort', late);
        cancelling.connection.query(`KILL QUERY ${threadId}`, (error) => {
          signal.removeEventListener('abort', late);
          if (error) reject(error);
          else resolve();
        });
      }).finally(cancelling.release);
    },

    runEmpty(connection) {
      return new Promise((resolve, reject) => {
        (connection as Connection).query('DO 0', (error) => {
          if (error && (error as { readonly code?: unknown }).code !== INTERRUPTED) reject(error);
          else resolve();
        });
      });
    },

    // mysql2's `destroy` would not call the callbacks of pending queries.
    closeSocket(connection) {
      (connection as Connection).stream.destroy();
    },
  };
}

function openCopy(config: ConnectionConfig, driver: MysqlModule): Connection {
  const options = COPIED_OPTIONS.filter((name) => config[name] !== undefined).map(
    (name) => [name, config[name]] as const,
  );
  return driver.createConnection({ ...Object.fromEntries(options), connectTimeout: CONNECT_TIMEOUT });
}
