import { Throttled } from '../../errors/request-errors.js';
import { callerKey } from '../../model/caller.js';
import type { Caller } from '../../model/caller.js';
import type { Resource } from '../../model/resource.js';

/** Throws 429 for a caller who has used the model too often. */
export async function throttleRequest(resource: Resource, caller: Caller): Promise<void> {
  const { throttle, counter } = resource;
  if (!throttle || !counter) return;
  const seconds = await counter.count(`restify:${resource.id}:${callerKey(caller, throttle.key)}`, throttle);
  if (seconds > 0) throw new Throttled(seconds);
}
