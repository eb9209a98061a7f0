import { Throttled } from '../../errors/request-errors.js';
import type { Actor } from '../../model/actor.js';
import type { Resource } from '../../model/resource.js';
import type { Throttle } from '../../model/throttle.js';

/** Who asks, and from where: the address that the application's proxy setting vouches for. */
export interface ThrottledCaller {
  readonly actor: Actor;
  readonly address: string;
}

/** Throws 429 for a caller who has used the model too often. */
export async function throttleRequest(resource: Resource, caller: ThrottledCaller): Promise<void> {
  const { throttle, counter } = resource;
  if (!throttle || !counter) return;
  const seconds = await counter.count(`restify:${resource.id}:${callerKey(caller, throttle)}`, throttle);
  if (seconds > 0) throw new Throttled(seconds);
}

/** An actor and an address never share a key, whatever they are called. */
function callerKey({ actor, address }: ThrottledCaller, { key }: Throttle): string {
  const named = actor === null ? undefined : (key?.(actor) ?? actorName(actor));
  return named === undefined ? `address:${address}` : `actor:${named}`;
}

function actorName(actor: object): string | undefined {
  const { id, sub, username, name } = actor as Readonly<Record<string, unknown>>;
  const found = [id, sub, username, name].find((each) => typeof each === 'string' || typeof each === 'number');
  return found === undefined ? undefined : String(found);
}
