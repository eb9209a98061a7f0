import { EventEmitter } from 'node:events';
import { IncomingMessage, ServerResponse } from 'node:http';
import type { Server } from 'node:http';
import { probeConstructors } from '../../internals/node.js';
import type { MessagePrototypes } from '../../internals/node.js';

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
 * False if Node creates them in another way: the server is left unchanged.
 */
export function useExpressPrototypes(server: unknown, application: unknown): boolean {
  if (!isServer(server) || !hasExpressPrototypes(application)) return true;
  const constructors = probeConstructors();
  constructors?.replace(server, application, () => isOnlyListener(server, application));
  return constructors !== undefined;
}

function isServer(server: unknown): server is Server {
  const { listeners, listenerCount } = (server ?? {}) as Partial<Server>;
  return typeof listeners === 'function' && typeof listenerCount === 'function';
}

function hasExpressPrototypes(application: unknown): application is MessagePrototypes {
  const { request, response } = application as Partial<MessagePrototypes>;
  return request instanceof IncomingMessage && response instanceof ServerResponse;
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
