import { IncomingMessage, Server, ServerResponse } from 'node:http';
import { Socket } from 'node:net';

/** What Node's HTTP server knows about a connection. */
export interface HttpSockets {
  /** False for a connection that is no longer one of HTTP, such as a WebSocket. */
  readonly speaksHttp: (socket: Socket) => boolean;
  /** The response that is in progress. */
  readonly responseOn: (socket: Socket) => ServerResponse | undefined;
}

interface HttpSocket {
  readonly parser?: object | null;
  readonly _httpMessage?: ServerResponse | null;
}

const HTTP_SOCKETS: HttpSockets = {
  speaksHttp: (socket) => Boolean((socket as HttpSocket).parser),
  responseOn: (socket) => (socket as HttpSocket)._httpMessage ?? undefined,
};

/** Undefined if Node's HTTP server keeps the state of connections in another way, which is tried with one that has no peer. */
export function probeHttpSockets(): HttpSockets | undefined {
  const socket = new Socket();
  try {
    return showsState(socket) ? HTTP_SOCKETS : undefined;
  } catch {
    return undefined;
  } finally {
    socket.destroy();
  }
}

function showsState(socket: Socket): boolean {
  const { speaksHttp, responseOn } = HTTP_SOCKETS;
  const before = speaksHttp(socket);
  new Server().emit('connection', socket);
  const response = new ServerResponse(new IncomingMessage(socket));
  response.assignSocket(socket);
  const during = responseOn(socket);
  response.detachSocket(socket);
  return !before && speaksHttp(socket) && during === response && responseOn(socket) === undefined;
}

/** The warning at start of connections whose state is not found. */
export function describeUnknownSockets(): string {
  return `Node ${process.versions.node} keeps the state of HTTP connections in another way than this package knows, so that a shutdown leaves them to Node: requests that have just arrived may get no response, and idle clients may delay the end. Please report it.`;
}
