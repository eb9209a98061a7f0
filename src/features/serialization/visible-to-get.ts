import type { Json } from '../../core/errors/rest-exception.js';
import { conjunction } from '../../core/query/condition.js';
import type { Condition } from '../../core/query/condition.js';
import type { Representation } from '../../core/contracts/serializer.js';
import { keyText } from '../../core/values/keys.js';
import type { RestContext } from '../../request/rest-context.js';
import type { DataAdapter } from '../../core/data-adapter.js';
import { restrictFields } from '../permissions/restrict-fields.js';
import { keyFieldsOf } from '../../request/plan/key-fields.js';
import { represent } from '../../request/represent-row.js';

/** The representation that GET would return to this caller, whatever the method of the request; only the key if GET hides more. */
export async function visibleToGet(
  context: RestContext,
  where: Condition,
  adapter: DataAdapter,
): Promise<Representation> {
  const { route } = context;
  const access = await context.access.tryAuthorize(route.resource, 'GET');
  if (!access) return keyOnly(context);
  const resource = restrictFields(route.resource, access);
  const row = await adapter.read(
    { kind: 'retrieve', resource, where: conjunction([where, access.rows]), forWriting: true },
    'rows',
  );
  if (!row) return keyOnly(context);
  const visible = represent(row, context.fork({ resource, shape: undefined }));
  // Values of the application may have no JSON: nothing is written then.
  JSON.stringify(visible);
  return visible;
}

function keyOnly({ route, keys }: RestContext): Representation {
  const key: readonly Json[] = (route.parent ? keys.childKey : keys.key) ?? [];
  const fields = keyFieldsOf(route.resource);
  return Object.fromEntries(
    fields.map(({ name }, index) => [
      name,
      fields.length === 1 && key.length > 1 ? keyText(key) : (key[index] ?? null),
    ]),
  );
}
