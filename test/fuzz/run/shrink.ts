import { Model } from '../model/answers.js';
import type { GivenAnswer } from '../model/answers.js';
import { AmbiguousDeletion } from '../model/deletions.js';
import type { SchemaSpec } from '../schema.js';
import { startApplication } from './application.js';
import type { Place } from './application.js';
import { differences } from './compare.js';
import { Transport } from './transport.js';
import type { FuzzRequest, FuzzResponse } from './transport.js';
import { unseenRows } from './rows.js';

/** The requests of one client, and the difference in the response to the last one. */
export interface Reproduction {
  readonly requests: readonly FuzzRequest[];
  readonly differences: readonly string[];
}

export interface ShrinkLimits {
  /** The maximum number of replays, each with a new application. */
  readonly replays: number;
}

/**
 * Minimizes the requests that end with a disagreement, sent in sequence to an empty database: removes halves, then
 * quarters, down to single requests. Undefined if the disagreement cannot be reproduced, for example because it needs several
 * concurrent clients.
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
    // From the end, because later requests depend on earlier ones.
    for (let end: number = best.requests.length - 1; end > 0 && left > 0; end -= size) {
      const requests: readonly FuzzRequest[] = best.requests;
      const fewer: FuzzRequest[] = [...requests.slice(0, Math.max(0, end - size)), ...requests.slice(end)];
      best = (await attempt(fewer)) ?? best;
    }
  }
  return best;
}

/** Sends the requests in sequence, up to the first response that differs from the model. */
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
      const given = await transport.send(asked);
      const stored = await unseenRows(application.dataSource, model, { asked, given });
      const found = disagreements(model, asked, { ...given, stored });
      if (found.length > 0) return { requests: requests.slice(0, index + 1), differences: found };
    }
    return undefined;
  } finally {
    transport.close();
    await application.close();
  }
}

/** The result of such a deletion depends on the database, and is not a disagreement. */
function disagreements(
  model: Model,
  asked: FuzzRequest,
  given: FuzzResponse & Pick<GivenAnswer, 'stored'>,
): readonly string[] {
  try {
    return differences(given, model.answer(asked, given));
  } catch (error) {
    if (error instanceof AmbiguousDeletion) return [];
    throw error;
  }
}
