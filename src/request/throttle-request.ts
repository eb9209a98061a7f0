import { Throttled } from '../core/errors/http-exceptions.js';
import { callerKey } from '../core/schema/caller.js';
import type { Caller } from '../core/schema/caller.js';
import type { Resource } from '../core/schema/resource.js';

/** Throws 429 if the caller exceeds the rate limit of the model. */
export async function throttleRequest(resource: Resource, caller: Caller): Promise<void> {
  const { throttle, counter } = resource;
  if (!throttle || !counter) return;
  const seconds = await counter.count(`restify:${resource.id}:${callerKey(caller, throttle.key)}`, throttle);
  if (seconds > 0) throw new Throttled(seconds);
}
