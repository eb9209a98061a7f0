import { HttpRequester } from './http-requester.js';
import type { Stage } from './rest-context.js';

/** Sets the client on whose behalf rows are read and written; none for operations that the application runs itself. */
export const identifyRequester: Stage = (context) => {
  const { exchange, actor } = context;
  if (exchange) context.requester = new HttpRequester(exchange, actor);
};
