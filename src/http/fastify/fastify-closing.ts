import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { ShuttingDown } from '../../core/errors/http-exceptions.js';
import type { RestServer } from '../rest-server.js';
import { createMiddlewareExchange } from './fastify-exchange.js';
import type { FastifyInstance } from './fastify-types.js';

/**
 * Rejects requests that arrive while Fastify closes in the form of the interface. Fastify would respond before any hook, in
 * a form of its own and without `Retry-After`. Requests are served if the application has set `return503OnClosing: false`.
 */
export function rejectWhileClosing(instance: FastifyInstance, server: RestServer): void {
  instance.addHook('preClose', (done) => {
    if (rejectsOnClosing(instance)) for (const each of listServers(instance)) rejectRequests(each, server);
    done();
  });
}

function rejectRequests(httpServer: Server, server: RestServer): void {
  const listeners = httpServer.listeners('request');
  httpServer.removeAllListeners('request');
  httpServer.on('request', (request: IncomingMessage, response: ServerResponse) => {
    const exchange = createMiddlewareExchange(request, response);
    if (server.isGenerated(exchange)) void server.sendError(exchange, new ShuttingDown());
    else for (const listener of listeners) listener.call(httpServer, request, response);
  });
}

/** False also if Fastify's internals differ. */
function rejectsOnClosing(instance: FastifyInstance): boolean {
  const options = getInternal(instance, 'fastify.options') as { return503OnClosing?: boolean } | undefined;
  return options !== undefined && options.return503OnClosing !== false;
}

/** The server, and those for the other addresses of its host name. */
function listServers(instance: FastifyInstance): readonly Server[] {
  const others = getInternal(instance, 'fastify.serverBindings') as readonly Server[] | undefined;
  return [instance.server, ...(others ?? [])];
}

/** A property that Fastify stores under a symbol. */
function getInternal(instance: object, description: string): unknown {
  const key = Object.getOwnPropertySymbols(instance).find((symbol) => symbol.description === description);
  return key && (instance as { readonly [key: symbol]: unknown })[key];
}
