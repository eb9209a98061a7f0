import { connect, createServer } from 'node:net';
import type { AddressInfo, Socket } from 'node:net';
import type { DataSourceOptions } from 'typeorm';
import type { TestDatabase } from '../support/databases.js';

/** A way to a database server that can be cut and mended while an application uses it. */
export interface BreakableLine {
  readonly database: TestDatabase;
  cut(): Promise<void>;
  mend(): Promise<void>;
}

/** For a database that is reached by a `url`. */
export function breakableLine(database: TestDatabase): BreakableLine {
  const sockets = new Set<Socket>();
  let target = new URL('tcp://127.0.0.1:1');
  let port = 0;
  const server = createServer((near) => {
    const far = connect(Number(target.port), target.hostname);
    for (const [socket, other] of [[near, far], [far, near]] as const) {
      sockets.add(socket);
      socket.on('error', () => other.destroy());
      socket.on('close', () => {
        sockets.delete(socket);
        other.destroy();
      });
      socket.pipe(other);
    }
  });
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
  const open = async (): ReturnType<TestDatabase['open']> => {
    const opened = await database.open();
    const url = new URL((opened.options as { url: string }).url);
    target = new URL(`tcp://${url.hostname}:${url.port === '' ? defaultPort(url) : url.port}`);
    await mend();
    url.hostname = '127.0.0.1';
    url.port = String(port);
    const drop = async (): Promise<void> => {
      await cut();
      await opened.drop();
    };
    return { options: { ...opened.options, url: url.href } as DataSourceOptions, drop };
  };
  return { database: { ...database, open }, cut, mend };
}

function defaultPort(url: URL): string {
  return url.protocol.startsWith('postgres') ? '5432' : '3306';
}
