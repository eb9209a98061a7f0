import { IncomingMessage, Server, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import { Server as TlsServer, TLSSocket } from 'node:tls';

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

interface EncryptedSocket extends Socket {
  readonly _parent?: Socket | null;
}

/** The connection below the encryption of a socket: the socket itself if there is none, or if Node keeps it in another way. */
export function connectionBelow(socket: EncryptedSocket): Socket {
  return socket._parent ?? socket;
}

/** Whether the connection below the encryption is found, which is tried with one that has no peer. */
export function findsConnectionBelow(): boolean {
  const raw = new Socket();
  const encrypted = new TLSSocket(raw);
  try {
    return connectionBelow(encrypted) === raw;
  } finally {
    encrypted.destroy();
    raw.destroy();
  }
}

/** The warnings at start about the connections of a server with TLS. */
export function warningsOfTls(server: unknown): readonly string[] {
  if (!(server instanceof TlsServer) || findsConnectionBelow()) return [];
  return [
    `Node ${process.versions.node} keeps the connections below TLS in another way than this package knows, so that a client of HTTP/1.0 may take a list that breaks off for a whole one. Please report it.`,
  ];
}

/** The constructors by which Node's server creates requests and responses. */
type Constructor = new (...args: never[]) => object;

/** A constructor that is a function and not a class, so that it can initialize an existing object. */
type FunctionConstructor = (this: object, ...args: readonly unknown[]) => void;

/** The prototypes of the requests and responses of a server. */
export interface MessagePrototypes {
  readonly request: object;
  readonly response: object;
}

/** Makes a server of Node create requests and responses with these prototypes. */
export interface ServerConstructors {
  /** @param applies is called for each request. A server whose classes the application has chosen keeps them. */
  replace(server: Server, prototypes: MessagePrototypes, applies: () => boolean): void;
}

/** Undefined if the constructors are classes, or Node's server does not hold them under symbols. */
export function probeConstructors(): ServerConstructors | undefined {
  return [IncomingMessage, ServerResponse].every(isPlainFunction) && findConstructors(new Server())
    ? { replace: replaceConstructors }
    : undefined;
}

function isPlainFunction(base: Constructor): boolean {
  return Function.prototype.toString.call(base).startsWith('function');
}

/** The symbols under which a server stores the constructors; undefined if they are not Node's own. */
function findConstructors(server: Server): readonly [request: symbol, response: symbol] | undefined {
  const find = (base: Constructor): symbol | undefined =>
    Object.getOwnPropertySymbols(server).find(
      (symbol) => (server as unknown as Readonly<Record<symbol, unknown>>)[symbol] === base,
    );
  const [request, response] = [find(IncomingMessage), find(ServerResponse)];
  return request && response && [request, response];
}

function replaceConstructors(
  server: Server,
  { request, response }: MessagePrototypes,
  applies: () => boolean,
): void {
  const symbols = findConstructors(server);
  if (!symbols) return;
  // A request is created just before its response: the same decision applies to both.
  let applied = false;
  const forRequests = createConstructor(IncomingMessage, request);
  const forResponses = createConstructor(ServerResponse, response);
  overrideConstructor(server, symbols[0], () => ((applied = applies()) ? forRequests : IncomingMessage));
  overrideConstructor(server, symbols[1], () => (applied ? forResponses : ServerResponse));
}

function overrideConstructor(server: Server, place: symbol, to: () => Constructor): void {
  Object.defineProperty(server, place, {
    get: to,
    set: (value: unknown) => {
      Object.defineProperty(server, place, { value, writable: true, enumerable: true, configurable: true });
    },
    enumerable: true,
    configurable: true,
  });
}

/** A constructor with another prototype. A request is created from its socket; a response from its request and options. */
function createConstructor(base: Constructor, prototype: object): Constructor {
  const begin = base as unknown as FunctionConstructor;
  function Overridden(this: object, first: unknown, second: unknown): void {
    begin.call(this, first, second);
  }
  Overridden.prototype = prototype;
  return Overridden as unknown as Constructor;
}

/** The warning at start of requests and responses that Express changes after they are made. */
export function describeUnknownConstructors(): string {
  return `Node ${process.versions.node} creates requests and responses in another way than this package knows, so that each request on Express takes longer. Please report it.`;
}
