import type { Actor } from '../core/schema/actor.js';
import { callerKey } from '../core/schema/caller.js';
import type { Requester } from '../core/contracts/requester.js';
import type { HttpExchange } from './http-exchange.js';
import type { Stage } from './rest-context.js';

/** The client of an HTTP request: identified by its actor, else by its address. */
export class HttpRequester implements Requester {
  constructor(
    private readonly exchange: Pick<HttpExchange, 'isAborted' | 'address'>,
    private readonly actor: Actor,
  ) {}

  isAborted(): boolean {
    return this.exchange.isAborted();
  }

  get caller(): string {
    return callerKey({ actor: this.actor, address: this.exchange.address });
  }
}

/** Sets the client on whose behalf rows are read and written; none for operations that the application runs itself. */
export const identifyRequester: Stage = (context) => {
  const { exchange, actor } = context;
  if (exchange) context.requester = new HttpRequester(exchange, actor);
};
