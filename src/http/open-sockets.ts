import { Server as HttpServer } from 'node:http';
import type { ServerResponse } from 'node:http';
import { Server as HttpsServer } from 'node:https';
import type { Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { markClosing } from './send-response.js';

/** What Node's HTTP server keeps on a connection: no parser where it is none of HTTP's any more, such as a WebSocket. */
interface HttpSocket extends Socket {
  readonly parser?: object | null;
  readonly _httpMessage?: ServerResponse | null;
}

/** A connection, and what has been seen of it while its server closes. */
interface OpenSocket {
  readonly socket: HttpSocket;
  /** Bytes of TLS, before anything of HTTP. */
  readonly before: number;
  /** TLS that has not been agreed on yet: nothing of HTTP can be known of it. */
  readonly isHandshake: boolean;
  read: number;
  /** When it was last seen to move, since the server closes. */
  moved: number | undefined;
  /** Whether it was seen with an answer. */
  answering: boolean;
  /** Whether it was seen with nothing at all. */
  silent: boolean;
}

const LOOK_EVERY = 100;
/** Without a byte on any connection for so long, what clients had sent has come. */
const QUIET = 50;
const QUIET_LOOK = 10;
const LONGEST_WAIT = 1000;

/**
 * The connections of an HTTP server, for its end. Node closes those that are kept without being in use, and waits for all others:
 * also for one that has sent nothing, or half a request, and for one that falls idle behind an answer that had begun before.
 */
export class OpenSockets {
  private readonly open = new Map<Socket, OpenSocket>();
  /** By the address of the client: TLS gives another object when it is agreed on. */
  private readonly handshakes = new Map<string, Socket>();

  private constructor(private readonly server: HttpServer | HttpsServer) {
    if (server instanceof HttpsServer) this.trackEncrypted(server);
    else {
      server.on('connection', (socket: Socket) => {
        this.add(socket, false);
      });
    }
  }

  /** Undefined for a server of another kind, such as HTTP/2, which has its own way to end. */
  static of(server: unknown): OpenSockets | undefined {
    return server instanceof HttpServer || server instanceof HttpsServer
      ? new OpenSockets(server)
      : undefined;
  }

  /**
   * Before the server closes: serves what has arrived over kept connections, whose answers say `Connection: close` from now on,
   * and lets answers that have been given reach their clients, since Node would cut them off. `grace`: milliseconds that
   * something may stand still.
   */
  async drain(grace: number): Promise<void> {
    if (!this.server.listening) return;
    markClosing(this.server);
    const standing = [...this.open.values()];
    await this.untilQuiet(standing);
    await this.untilWritten(standing, grace);
    for (const each of standing) if (each.socket._httpMessage) each.answering = true;
    let closed: number | undefined;
    const looking = setInterval(() => {
      const now = performance.now();
      if (!this.server.listening) this.look(grace, { now, closed: (closed ??= now) });
    }, LOOK_EVERY).unref();
    this.server.once('close', () => {
      clearInterval(looking);
    });
  }

  private trackEncrypted(server: HttpsServer): void {
    server.on('connection', (socket: Socket) => {
      const address = addressOf(socket);
      this.handshakes.set(address, socket);
      this.add(socket, true);
      socket.once('close', () => this.handshakes.delete(address));
    });
    server.on('secureConnection', (socket) => {
      const below = this.handshakes.get(addressOf(socket));
      if (below) this.open.delete(below);
      this.add(socket, false);
    });
  }

  private add(socket: HttpSocket, isHandshake: boolean): void {
    const read = socket.bytesRead;
    this.open.set(socket, {
      socket,
      before: read,
      read,
      isHandshake,
      moved: undefined,
      answering: false,
      silent: false,
    });
    socket.once('close', () => this.open.delete(socket));
  }

  private async untilQuiet(standing: readonly OpenSocket[]): Promise<void> {
    const begun = performance.now();
    for (let last = begun; performance.now() - last < QUIET && performance.now() - begun < LONGEST_WAIT;) {
      if (standing.every(({ socket }) => socket.destroyed)) return;
      await pause(QUIET_LOOK);
      if (standing.filter(hasMoved).length > 0) last = performance.now();
    }
  }

  private async untilWritten(standing: readonly OpenSocket[], grace: number): Promise<void> {
    const leftOf = (): number =>
      standing.reduce(
        (sum, { socket }) =>
          sum + (socket.destroyed || socket._httpMessage?.writableEnded !== true ? 0 : socket.writableLength),
        0,
      );
    let [left, last] = [leftOf(), performance.now()];
    while (left > 0 && performance.now() - last < grace) {
      await pause(QUIET_LOOK);
      const now = leftOf();
      if (now < left) last = performance.now();
      left = now;
    }
  }

  private look(grace: number, { now, closed }: { readonly now: number; readonly closed: number }): void {
    for (const each of this.open.values()) {
      if (hasMoved(each)) each.moved = now;
      if (isOver(each, { isLate: now - closed >= grace, isStill: now - (each.moved ?? closed) >= grace }))
        each.socket.destroy();
    }
  }
}

/** Whether there is nothing to wait for on a connection that is HTTP's: no answer that has begun, no upload that moves or that the application does not read. */
function isOver(
  each: OpenSocket,
  { isLate, isStill }: { readonly isLate: boolean; readonly isStill: boolean },
): boolean {
  const { socket, isHandshake } = each;
  if (!isHandshake && !socket.parser) return false;
  const answer = socket._httpMessage;
  if (answer) {
    each.answering = true;
    return isStill && !answer.req.complete && answer.req.readableLength === 0 && !answer.headersSent;
  }
  if (each.answering) return true;
  if (each.read > each.before) return isLate;
  // One that was accepted just now may have its request on the way.
  const wasSilent = each.silent;
  each.silent = true;
  return wasSilent;
}

function hasMoved(each: OpenSocket): boolean {
  const { bytesRead } = each.socket;
  const moved = bytesRead !== each.read;
  each.read = bytesRead;
  return moved;
}

function addressOf({ remoteAddress, remotePort }: Socket): string {
  return `${remoteAddress ?? ''} ${remotePort ?? 0}`;
}
