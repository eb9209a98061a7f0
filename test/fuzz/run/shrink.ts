import { Model } from '../model/answers.js';
import { AmbiguousDeletion } from '../model/deletions.js';
import type { SchemaSpec } from '../schema.js';
import { startApplication } from './application.js';
import type { Place } from './application.js';
import { differences } from './compare.js';
import { Transport } from './transport.js';
import type { FuzzRequest } from './transport.js';

/** Requests of one client, and what was answered otherwise to the last of them. */
export interface Reproduction {
  readonly requests: readonly FuzzRequest[];
  readonly differences: readonly string[];
}

export interface ShrinkLimits {
  /** Replays at most, each against an application of its own. */
  readonly replays: number;
}

/**
 * Fewer requests that still end with a disagreement, one after the other from an empty database: halves are left out, then
 * quarters, down to single requests. Undefined where the disagreement does not come again, as one that needs several
 * clients at once.
 */
export async function shrink(
  place: Place,
  failed: { readonly schema: SchemaSpec; readonly requests: readonly FuzzRequest[] },
  { replays }: ShrinkLimits,
): Promise<Reproduction | undefined> {
  let left = replays;
  const attempt = (requests: readonly FuzzRequest[]): Promise<Reproduction | undefined> => {
    left--;
    return replay(place, failed.schema, requests);
  };
  let best = await attempt(failed.requests);
  if (!best) return undefined;
  for (let size = Math.ceil(best.requests.length / 2); size >= 1; size = Math.floor(size / 2)) {
    // From the end: what stands there depends on what stands before it.
    for (let end: number = best.requests.length - 1; end > 0 && left > 0; end -= size) {
      const requests: readonly FuzzRequest[] = best.requests;
      const fewer: FuzzRequest[] = [...requests.slice(0, Math.max(0, end - size)), ...requests.slice(end)];
      best = (await attempt(fewer)) ?? best;
    }
  }
  return best;
}

/** Sends the requests one after the other, up to the first one that is answered otherwise than the model says. */
async function replay(
  place: Place,
  schema: SchemaSpec,
  requests: readonly FuzzRequest[],
): Promise<Reproduction | undefined> {
  const application = await startApplication([schema], place);
  const transport = new Transport(application.port);
  const model = new Model(schema, {
    database: place.database,
    origin: `http://127.0.0.1:${application.port}`,
  });
  try {
    for (const [index, asked] of requests.entries()) {
      const found = disagreements(model, asked, await transport.send(asked));
      if (found.length > 0) return { requests: requests.slice(0, index + 1), differences: found };
    }
    return undefined;
  } finally {
    transport.close();
    await application.close();
  }
}

/** A deletion that databases may answer in different ways proves nothing. */
function disagreements(
  model: Model,
  asked: FuzzRequest,
  given: Awaited<ReturnType<Transport['send']>>,
): readonly string[] {
  try {
    return differences(given, model.answer(asked, given));
  } catch (error) {
    if (error instanceof AmbiguousDeletion) return [];
    throw error;
  }
}
