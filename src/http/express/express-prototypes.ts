import { EventEmitter } from 'node:events';
import { IncomingMessage, ServerResponse } from 'node:http';
import type { Server } from 'node:http';

/** The part of an Express application that is used: the prototypes of its requests and responses. */
interface PrototypeApplication {
  readonly request: object;
  readonly response: object;
}

/** The constructors by which Node's server creates requests and responses. */
type Constructor = new (...args: never[]) => object;

/** A constructor that is a function and not a class, so that it can initialize an existing object. */
type FunctionConstructor = (this: object, ...args: readonly unknown[]) => void;

/** Events of a server whose listeners receive requests that Express does not handle. */
const OTHER_REQUEST_EVENTS = [
  'upgrade',
  'connect',
  'checkContinue',
  'checkExpectation',
  'dropRequest',
] as const;

/**
 * Creates requests and responses with Express's prototypes. Express otherwise replaces the prototype of each one, and
 * every later access by Node, Express and the application to an object with a replaced prototype is several times
 * slower. The server therefore uses constructors with these prototypes, as with `http.createServer({ IncomingMessage,
 * ServerResponse })`.
 *
 * This applies only while Express is the server's only listener; otherwise other listeners receive Node's own objects.
 * A server with custom classes keeps them, and a server with other internals is left unchanged.
 */
export function useExpressPrototypes(server: unknown, application: unknown): void {
  if (!isServer(server) || !hasExpressPrototypes(application)) return;
  const symbols = [
    findConstructorSymbol(server, IncomingMessage),
    findConstructorSymbol(server, ServerResponse),
  ] as const;
  if (!symbols[0] || !symbols[1] || !isPlainFunction(IncomingMessage) || !isPlainFunction(ServerResponse))
    return;
  // A request is created just before its response: the same decision applies to both.
  let isOnly = false;
  const forRequests = createConstructor(IncomingMessage, application.request);
  const forResponses = createConstructor(ServerResponse, application.response);
  overrideConstructor(server, symbols[0], () =>
    (isOnly = isOnlyListener(server, application)) ? forRequests : IncomingMessage,
  );
  overrideConstructor(server, symbols[1], () => (isOnly ? forResponses : ServerResponse));
}

function isServer(server: unknown): server is Server {
  const { listeners, listenerCount } = (server ?? {}) as Partial<Server>;
  return typeof listeners === 'function' && typeof listenerCount === 'function';
}

function hasExpressPrototypes(application: unknown): application is PrototypeApplication {
  const { request, response } = application as Partial<PrototypeApplication>;
  return request instanceof IncomingMessage && response instanceof ServerResponse;
}

/** The symbol under which a server stores a constructor, if it is Node's own. */
function findConstructorSymbol(server: Server, base: Constructor): symbol | undefined {
  return Object.getOwnPropertySymbols(server).find(
    (symbol) => (server as unknown as Readonly<Record<symbol, unknown>>)[symbol] === base,
  );
}

function isPlainFunction(base: Constructor): boolean {
  return Function.prototype.toString.call(base).startsWith('function');
}

function isOnlyListener(server: Server, application: unknown): boolean {
  const listeners = server.listeners('request');
  // A wrapped `emit` (such as by tracing) receives a request before Express does.
  return (
    server.emit === EventEmitter.prototype.emit &&
    listeners.length === 1 &&
    listeners[0] === application &&
    OTHER_REQUEST_EVENTS.every((event) => server.listenerCount(event) === 0)
  );
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

/**
 * A constructor with another prototype. A request is created from its socket; a response from its request and options.
 */
function createConstructor(base: Constructor, prototype: object): Constructor {
  const begin = base as unknown as FunctionConstructor;
  function Overridden(this: object, first: unknown, second: unknown): void {
    begin.call(this, first, second);
  }
  Overridden.prototype = prototype;
  return Overridden as unknown as Constructor;
}
