import { EventEmitter } from 'node:events';
import { IncomingMessage, ServerResponse } from 'node:http';
import type { Server } from 'node:http';

/** The part of an Express application that is used here: what its requests and responses inherit from. */
interface ExpressApplication {
  readonly request: object;
  readonly response: object;
}

/** What Node's server makes requests and responses by. */
type Constructor = new (...args: never[]) => object;

/** Such a maker where it is a function and no class: it can begin an object that another function made. */
type Beginning = (this: object, ...args: readonly unknown[]) => void;

/** Listeners of a server that are given requests which Express never sees. */
const ELSEWHERE = ['upgrade', 'connect', 'checkContinue', 'checkExpectation', 'dropRequest'] as const;

/**
 * Express gives each request and each response its own prototype when it is handed them, and everything that Node, Express and
 * the application do with an object whose prototype has changed is several times as slow. So the server makes them with
 * Express's prototypes from the beginning, as Node offers it (`http.createServer({ IncomingMessage, ServerResponse })`), and
 * Express finds nothing to change.
 *
 * Only while all that the server receives goes to Express: whoever else listens is given Node's own objects, as ever. A server
 * that was made with classes of somebody's keeps them, and one that Node keeps otherwise stays as it is.
 */
export function useExpressPrototypes(server: unknown, application: unknown): void {
  if (!isServer(server) || !isApplication(application)) return;
  const places = [placeOf(server, IncomingMessage), placeOf(server, ServerResponse)] as const;
  if (!places[0] || !places[1] || !isFunction(IncomingMessage) || !isFunction(ServerResponse)) return;
  // A request is made just before its response: what holds for the one holds for the other.
  let alone = false;
  const forRequests = constructOverridden(IncomingMessage, application.request);
  const forResponses = constructOverridden(ServerResponse, application.response);
  overrideConstructor(server, places[0], () =>
    (alone = isAlone(server, application)) ? forRequests : IncomingMessage,
  );
  overrideConstructor(server, places[1], () => (alone ? forResponses : ServerResponse));
}

function isServer(server: unknown): server is Server {
  const { listeners, listenerCount } = (server ?? {}) as Partial<Server>;
  return typeof listeners === 'function' && typeof listenerCount === 'function';
}

function isApplication(application: unknown): application is ExpressApplication {
  const { request, response } = application as Partial<ExpressApplication>;
  return request instanceof IncomingMessage && response instanceof ServerResponse;
}

/** The symbol below which a server keeps what it makes objects by, while that is Node's own. */
function placeOf(server: Server, maker: Constructor): symbol | undefined {
  return Object.getOwnPropertySymbols(server).find(
    (symbol) => (server as unknown as Readonly<Record<symbol, unknown>>)[symbol] === maker,
  );
}

function isFunction(maker: Constructor): boolean {
  return Function.prototype.toString.call(maker).startsWith('function');
}

function isAlone(server: Server, application: unknown): boolean {
  const listeners = server.listeners('request');
  // Whoever has put himself round `emit` (tracing does) sees a request before Express does.
  return (
    server.emit === EventEmitter.prototype.emit &&
    listeners.length === 1 &&
    listeners[0] === application &&
    ELSEWHERE.every((event) => server.listenerCount(event) === 0)
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

/** Makes what `maker` makes, of another prototype. A request is made of its socket; a response of its request, and options. */
function constructOverridden(maker: Constructor, prototype: object): Constructor {
  const begin = maker as unknown as Beginning;
  function Made(this: object, first: unknown, second: unknown): void {
    begin.call(this, first, second);
  }
  Made.prototype = prototype;
  return Made as unknown as Constructor;
}
