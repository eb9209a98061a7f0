import type { Actor } from '../../model/actor.js';

/** The actor that the application has put on the request is used as it is; nobody there is an anonymous caller. */
export function authenticate(found: unknown): Actor {
  return typeof found === 'object' && found !== null ? found : null;
}
