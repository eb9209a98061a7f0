import { Throttled } from '../../errors/request-errors.js';
import { namesOf } from '../../model/caller.js';
import type { Caller } from '../../model/caller.js';
import type { Resource } from '../../model/resource.js';
import type { Throttle } from '../../model/throttle.js';

/** Throws 429 for a caller who has used the model too often. */
export async function throttleRequest(resource: Resource, caller: Caller): Promise<void> {
  const { throttle, counter } = resource;
  if (!throttle || !counter) return;
  const seconds = await counter.count(`restify:${resource.id}:${callerKey(caller, throttle)}`, throttle);
  if (seconds > 0) throw new Throttled(seconds);
}

/** An actor and an address never share a key, whatever they are called. */
function callerKey({ actor, address }: Caller, { key }: Throttle): string {
  const named = actor === null ? undefined : (key?.(actor) ?? actorName(actor));
  return named === undefined ? `address:${address}` : `actor:${named}`;
}

function actorName(actor: object): string | undefined {
  const found = namesOf(actor).find((each) => each !== undefined);
  return found === undefined ? undefined : String(found);
}
