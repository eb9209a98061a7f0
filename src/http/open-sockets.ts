import { Server as HttpServer } from 'node:http';
import { Server as HttpsServer } from 'node:https';
import type { Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import type { HttpSockets } from '../internals/node.js';
import { markClosing } from './write-response.js';

/** An open connection, and its state while the server closes. */
interface OpenSocket {
  readonly socket: Socket;
  /** The bytes of the TLS handshake, before any HTTP. */
  readonly initialBytes: number;
  /** Whether the TLS handshake is incomplete, so that no HTTP state exists yet. */
  readonly isHandshake: boolean;
  lastBytesRead: number;
  /** The time of the last progress since the server started to close. */
  lastProgress: number | undefined;
  /** Whether a response was in progress at the last check. */
  hadResponse: boolean;
  /** Whether the connection was idle at the last check. */
  wasIdle: boolean;
}

const SOCKET_CHECK_INTERVAL = 100;
/** After this time without a byte on any connection, in milliseconds, the requests in transit have arrived. */
const QUIET_PERIOD = 50;
const POLL_INTERVAL = 10;
const MAX_QUIET_WAIT = 1000;

/**
 * The connections of an HTTP server during shutdown. Node closes idle keep-alive connections, and waits for all others,
 * including those without a byte, with half a request, and those that become idle after a response that was in
 * progress.
 */
export class OpenSockets {
  private readonly open = new Map<Socket, OpenSocket>();
  /** By the address of the client: TLS creates another socket object after the handshake. */
  private readonly handshakes = new Map<string, Socket>();

  private constructor(
    private readonly server: HttpServer | HttpsServer,
    private readonly states: HttpSockets,
  ) {
    if (server instanceof HttpsServer) this.trackEncrypted(server);
    else {
      server.on('connection', (socket: Socket) => {
        this.add(socket, false);
      });
    }
  }

  /** Undefined for another kind of server, such as HTTP/2, which has its own shutdown. */
  static of(server: unknown, states: HttpSockets): OpenSockets | undefined {
    return server instanceof HttpServer || server instanceof HttpsServer
      ? new OpenSockets(server, states)
      : undefined;
  }

  /**
   * Drains the connections before the server closes: it serves the requests that have arrived on keep-alive
   * connections, with `Connection: close` in the responses, and waits until responses are transmitted, which Node would
   * cut off.
   * @param grace how long a connection may make no progress, in milliseconds.
   */
  async drain(grace: number): Promise<void> {
    if (!this.server.listening) return;
    markClosing(this.server);
    const openSockets = [...this.open.values()];
    await this.waitUntilQuiet(openSockets);
    await this.waitUntilWritten(openSockets, grace);
    for (const each of openSockets) if (this.states.responseOn(each.socket)) each.hadResponse = true;
    let closed: number | undefined;
    const looking = setInterval(() => {
      const now = performance.now();
      if (!this.server.listening) this.closeFinished(grace, { now, closed: (closed ??= now) });
    }, SOCKET_CHECK_INTERVAL).unref();
    this.server.once('close', () => {
      clearInterval(looking);
    });
  }

  private trackEncrypted(server: HttpsServer): void {
    server.on('connection', (socket: Socket) => {
      const address = getClientAddress(socket);
      this.handshakes.set(address, socket);
      this.add(socket, true);
      socket.once('close', () => this.handshakes.delete(address));
    });
    server.on('secureConnection', (socket) => {
      const below = this.handshakes.get(getClientAddress(socket));
      if (below) this.open.delete(below);
      this.add(socket, false);
    });
  }

  private add(socket: Socket, isHandshake: boolean): void {
    const read = socket.bytesRead;
    this.open.set(socket, {
      socket,
      initialBytes: read,
      lastBytesRead: read,
      isHandshake,
      lastProgress: undefined,
      hadResponse: false,
      wasIdle: false,
    });
    socket.once('close', () => this.open.delete(socket));
  }

  private async waitUntilQuiet(openSockets: readonly OpenSocket[]): Promise<void> {
    const startedAt = performance.now();
    for (
      let last = startedAt;
      performance.now() - last < QUIET_PERIOD && performance.now() - startedAt < MAX_QUIET_WAIT;
    ) {
      if (openSockets.every(({ socket }) => socket.destroyed)) return;
      await pause(POLL_INTERVAL);
      if (openSockets.filter(recordProgress).length > 0) last = performance.now();
    }
  }

  private async waitUntilWritten(openSockets: readonly OpenSocket[], grace: number): Promise<void> {
    const leftOf = (): number =>
      openSockets.reduce(
        (sum, { socket }) =>
          sum +
          (socket.destroyed || this.states.responseOn(socket)?.writableEnded !== true
            ? 0
            : socket.writableLength),
        0,
      );
    let [left, last] = [leftOf(), performance.now()];
    while (left > 0 && performance.now() - last < grace) {
      await pause(POLL_INTERVAL);
      const now = leftOf();
      if (now < left) last = performance.now();
      left = now;
    }
  }

  private closeFinished(
    grace: number,
    { now, closed }: { readonly now: number; readonly closed: number },
  ): void {
    for (const each of this.open.values()) {
      if (recordProgress(each)) each.lastProgress = now;
      if (
        this.isFinished(each, {
          isLate: now - closed >= grace,
          isStill: now - (each.lastProgress ?? closed) >= grace,
        })
      )
        each.socket.destroy();
    }
  }

  /**
   * Whether an HTTP connection is finished: without a response in progress, and without an upload that makes progress or
   * that the application is not reading.
   */
  private isFinished(
    each: OpenSocket,
    { isLate, isStill }: { readonly isLate: boolean; readonly isStill: boolean },
  ): boolean {
    const { socket, isHandshake } = each;
    if (!isHandshake && !this.states.speaksHttp(socket)) return false;
    const response = this.states.responseOn(socket);
    if (response) {
      each.hadResponse = true;
      return isStill && !response.req.complete && response.req.readableLength === 0 && !response.headersSent;
    }
    if (each.hadResponse) return true;
    if (each.lastBytesRead > each.initialBytes) return isLate;
    // The request of a connection that was just accepted may still be in transit.
    const wasSilent = each.wasIdle;
    each.wasIdle = true;
    return wasSilent;
  }
}

function recordProgress(each: OpenSocket): boolean {
  const { bytesRead } = each.socket;
  const moved = bytesRead !== each.lastBytesRead;
  each.lastBytesRead = bytesRead;
  return moved;
}

function getClientAddress({ remoteAddress, remotePort }: Socket): string {
  return `${remoteAddress ?? ''} ${remotePort ?? 0}`;
}
