import { InvalidInput } from '../../core/errors/http-exceptions.js';
import { UPSERT_PARAMETER } from '../../core/contracts/bulk.js';
import { parameterName } from '../../core/schema/parameter-names.js';
import type { Resource } from '../../core/schema/resource.js';
import type { Bulk } from '../../core/contracts/bulk.js';

/** True if existing objects are to be updated. Throws 400. */
export function parseUpsert(
  parameters: ReadonlyMap<string, string>,
  { upsert }: Bulk,
  resource: Pick<Resource, 'renamed'>,
): boolean {
  const name = parameterName(UPSERT_PARAMETER, resource);
  const value = parameters.get(name)?.toLowerCase();
  if (value === undefined || ['', 'false', '0'].includes(value)) return false;
  if (value !== 'true' && value !== '1') throw InvalidInput.of(name, 'Must be a valid boolean.');
  if (upsert.length === 0) throw InvalidInput.of(name, 'Objects of this model can only be created.');
  return true;
}
