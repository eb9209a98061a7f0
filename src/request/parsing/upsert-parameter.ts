import { InvalidInput } from '../../errors/request-errors.js';
import { UPSERT_PARAMETER } from '../../model/bulk.js';
import type { Bulk } from '../../model/bulk.js';

/** Whether objects that are there already are changed. Throws 400. */
export function asksForUpsert(parameters: ReadonlyMap<string, string>, { upsert }: Bulk): boolean {
  const asked = parameters.get(UPSERT_PARAMETER)?.toLowerCase();
  if (asked === undefined || ['', 'false', '0'].includes(asked)) return false;
  if (asked !== 'true' && asked !== '1') throw InvalidInput.of(UPSERT_PARAMETER, 'Must be a valid boolean.');
  if (upsert.length === 0)
    throw InvalidInput.of(UPSERT_PARAMETER, 'Objects of this model can only be created.');
  return true;
}
