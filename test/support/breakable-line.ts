import { connect, createServer } from 'node:net';
import type { AddressInfo, Socket } from 'node:net';
import type { DataSourceOptions } from 'typeorm';
import type { OpenedDatabase, TestDatabase } from './databases.js';

/** A TCP proxy in front of a database server, whose connections tests can break and restore. */
export interface BreakableLine {
  readonly database: TestDatabase;
  /** Options for a direct connection to the database that was opened last. */
  direct(): DataSourceOptions;
  /** Closes all connections and refuses new ones. */
  cut(): Promise<void>;
  mend(): Promise<void>;
  /** Drops all data silently: connections stay open, new ones are accepted without a response. */
  stall(): void;
  flow(): void;
  /** Sends bytes to the application on all connections, in place of the server. */
  say(bytes: Buffer): void;
  /** For new connections: replaces chunks of the server, and closes the connection afterwards. */
  replaceOf(replacement: Replacement | undefined): void;
}

/** The replacement of a chunk from the server; undefined to forward it unchanged. */
export type Replacement = (chunk: Buffer) => Buffer | undefined;

/** Requires a database that is configured by a `url`. */
export function breakableLine(database: TestDatabase): BreakableLine {
  const sockets = new Set<Socket>();
  let opened: OpenedDatabase | undefined;
  let target = new URL('tcp://127.0.0.1:1');
  let port = 0;
  let stalled = false;
  let replacement: Replacement | undefined;
  const server = createServer((near) => {
    const far = connect(Number(target.port), target.hostname);
    for (const [socket, other] of [
      [near, far],
      [far, near],
    ] as const) {
      sockets.add(socket);
      socket.on('error', () => other.destroy());
      socket.on('close', () => {
        sockets.delete(socket);
        other.destroy();
      });
      if (socket === far && replacement) replaceChunk(far, near, replacement);
      else socket.pipe(other);
      if (stalled) socket.unpipe(other).pause();
    }
    flows.set(near, far);
  });
  const flows = new Map<Socket, Socket>();
  const each = (act: (socket: Socket, other: Socket) => void): void => {
    for (const [near, far] of flows) {
      if (near.destroyed || far.destroyed) flows.delete(near);
      else {
        act(near, far);
        act(far, near);
      }
    }
  };
  const mend = (): Promise<void> =>
    new Promise((resolve) => {
      server.listen(port, '127.0.0.1', () => {
        port = (server.address() as AddressInfo).port;
        resolve();
      });
    });
  const cut = (): Promise<void> =>
    new Promise((resolve) => {
      server.close(() => {
        resolve();
      });
      for (const socket of sockets) socket.destroy();
    });
  const open = async (): Promise<OpenedDatabase> => {
    const place = await database.open();
    opened = place;
    const url = new URL((place.options as { url: string }).url);
    target = new URL(`tcp://${url.hostname}:${url.port === '' ? defaultPort(url) : url.port}`);
    await mend();
    url.hostname = '127.0.0.1';
    url.port = String(port);
    const drop = async (): Promise<void> => {
      await cut();
      await place.drop();
    };
    return { options: { ...place.options, url: url.href } as DataSourceOptions, drop };
  };
  const direct = (): DataSourceOptions => {
    if (!opened) throw new Error('The database has not been opened');
    return opened.options;
  };
  return {
    database: { ...database, open },
    direct,
    cut,
    mend,
    stall: () => {
      stalled = true;
      each((socket, other) => socket.unpipe(other).pause());
    },
    flow: () => {
      stalled = false;
      each((socket, other) => socket.pipe(other));
    },
    say: (bytes) => {
      for (const near of flows.keys()) if (!near.destroyed) near.write(bytes);
    },
    replaceOf: (given) => {
      replacement = given;
    },
  };
}

function replaceChunk(from: Socket, to: Socket, replacement: Replacement): void {
  from.on('data', (chunk: Buffer) => {
    const other = replacement(chunk);
    if (other) to.end(other);
    else to.write(chunk);
  });
}

function defaultPort(url: URL): string {
  return url.protocol.startsWith('postgres') ? '5432' : '3306';
}
