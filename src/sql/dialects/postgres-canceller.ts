import type { Duplex } from 'node:stream';
import type { StatementCanceller } from './statement-canceller.js';

/** Of pg's client. */
interface Client {
  readonly processID: number | null | undefined;
  readonly secretKey: number | null | undefined;
  readonly host: string;
  readonly port: number;
  readonly connection: Wire;
  query(text: string, answered: (error: Error | null | undefined) => void): unknown;
}

/** Of pg's connection: one socket, with or without TLS. */
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

/** A CancelRequest of the protocol over a socket of its own. `pg_cancel_backend` knows the sessions of the server, which behind a pooler are those of others too. */
export const postgresCanceller: StatementCanceller = {
  cancel(connection, given) {
    const client = connection as Client;
    return new Promise((resolve, reject) => {
      const { processID, secretKey, host, port } = client;
      if (typeof processID !== 'number' || typeof secretKey !== 'number') {
        reject(new Error('This client does not say by what its statements are cancelled'));
        return;
      }
      const wire = copyWire(client.connection);
      const send = (): void => {
        wire.cancel(processID, secretKey);
      };
      // Whoever waits no longer is not told; the socket need not stay.
      given.addEventListener('abort', () => wire.stream.destroy(), { once: true });
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
      (connection as Client).query('', (error) => {
        if (error && (error as { readonly code?: unknown }).code !== CANCELLED) reject(error);
        else resolve();
      });
    });
  },

  closeSocket(connection) {
    (connection as Client).connection.stream.destroy();
  },
};

/** Of the driver that made the other one, with the TLS of its pool. */
function copyWire(wire: Wire): Wire {
  const { ssl, sslNegotiation } = wire;
  return new (wire.constructor as unknown as MakeWire)({ ssl, sslNegotiation });
}
