import type { NamedOperation } from '../schema.js';
import { bothNames, decideAll } from './access.js';
import type { Access, Actor, Names } from './access.js';
import { forbidden, notFound, Refusal } from './expected.js';
import type { Resource } from './resources.js';

/** The grant for a method at a resource; throws its denial (contract 8.5). */
export function admit(
  { entity, options }: Resource,
  actor: Actor,
  method: string,
  operation?: NamedOperation,
): Access {
  const access = decideAll(options.permissions, { entity, actor, method, operation });
  if (access.kind === 'grant') return access;
  if (access.reason === 'hidden') throw notFound();
  if (actor) throw forbidden();
  throw new Refusal({
    status: 401,
    bodies: [{ detail: 'Authentication credentials were not provided.' }],
    headers: { 'www-authenticate': 'Basic realm="api"' },
  });
}

/** The fields that are readable by both the grant of the write and that of GET, and the key (contract 8.7). */
export function readableAfterWrite({ options, entity }: Resource, access: Access, actor: Actor): Names {
  const read = decideAll(options.permissions, { entity, actor, method: 'GET' });
  const names = read.kind === 'grant' ? bothNames(access.readable, read.readable) : access.readable;
  return names === 'all' ? 'all' : new Set([...names, ...entity.key.columns.map(({ name }) => name)]);
}
