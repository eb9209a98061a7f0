import type { Duplex } from 'node:stream';
import type { StatementCanceller } from './dialect.js';

/** The used part of pg's client. */
interface PostgresClient {
  readonly processID: number | null | undefined;
  readonly secretKey: number | null | undefined;
  readonly host: string;
  readonly port: number;
  readonly connection: Wire;
  query(text: string, answered: (error: Error | null | undefined) => void): unknown;
}

/** The used part of pg's connection: one socket, with or without TLS. */
interface Wire {
  readonly ssl: unknown;
  readonly sslNegotiation: string | undefined;
  readonly stream: Duplex;
  connect(portOrPath: number | string, host?: string): void;
  requestSsl(): void;
  cancel(processID: number, secretKey: number): void;
  on(event: 'connect' | 'sslconnect' | 'error' | 'end', listener: (error: Error) => void): unknown;
}

type MakeWire = new (config: { readonly ssl: unknown; readonly sslNegotiation: string | undefined }) => Wire;

const CANCELLED = '57014';

/**
 * Sends a CancelRequest of the protocol over a separate socket. `pg_cancel_backend` addresses sessions of the
 * server, which behind a connection pooler also serve other clients.
 */
export const postgresCanceller: StatementCanceller = {
  cancel(connection, signal) {
    const client = connection as PostgresClient;
    return new Promise((resolve, reject) => {
      const { processID, secretKey, host, port } = client;
      if (typeof processID !== 'number' || typeof secretKey !== 'number') {
        reject(
          new Error('The client has no process ID and secret key, so its statements cannot be cancelled'),
        );
        return;
      }
      const wire = copyWire(client.connection);
      const send = (): void => {
        wire.cancel(processID, secretKey);
      };
      // After an abort, the result is not needed and the socket can be closed.
      signal.addEventListener('abort', () => wire.stream.destroy(), { once: true });
      wire.on('error', reject);
      wire.on('end', () => {
        resolve();
      });
      wire.on('sslconnect', send);
      wire.on('connect', () => {
        if (!wire.ssl) send();
        else if (wire.sslNegotiation !== 'direct') wire.requestSsl();
      });
      if (host.startsWith('/')) wire.connect(`${host}/.s.PGSQL.${port}`);
      else wire.connect(port, host);
    });
  },

  runEmpty(connection) {
    return new Promise((resolve, reject) => {
      (connection as PostgresClient).query('', (error) => {
        if (error && (error as { readonly code?: unknown }).code !== CANCELLED) reject(error);
        else resolve();
      });
    });
  },

  closeSocket(connection) {
    (connection as PostgresClient).connection.stream.destroy();
  },
};

/** A new connection of the same driver class, with the same TLS options. */
function copyWire(wire: Wire): Wire {
  const { ssl, sslNegotiation } = wire;
  return new (wire.constructor as unknown as MakeWire)({ ssl, sslNegotiation });
}
