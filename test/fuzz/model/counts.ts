import type { Json } from '../schema.js';
import { decideAll } from './access.js';
import type { Actor, Names } from './access.js';
import { fitsRows } from './conditions.js';
import { invalid } from './expected.js';
import { fieldsOf } from './fields.js';
import type { Parameters } from './parameters.js';
import { childrenOf, throughOf } from './resources.js';
import type { Resource } from './resources.js';
import type { Row, State } from './state.js';

/** The names of parameters that add counts. */
export function countParameters({ options }: Pick<Resource, 'options'>): string[] {
  return options.counts ? ['with'] : [];
}

/** Whether counts are requested; throws the error of another value (contract 12.10). */
export function asksForCounts({ options }: Pick<Resource, 'options'>, parameters: Parameters): boolean {
  if (!options.counts) return false;
  const given = (parameters.listed('with') ?? '').split(',').filter((each) => each !== '');
  const unknown = given.find((each) => each !== 'counts');
  if (unknown !== undefined) throw invalid({ with: [`"${unknown}" is not a valid choice.`] });
  return given.length > 0;
}

/** The number of objects that the caller would get of each declared list. */
export function countsOf(
  { state, actor, readable }: { readonly state: State; readonly actor: Actor; readonly readable: Names },
  resource: Resource,
  row: Row,
): Json {
  const { options } = resource;
  const counts: Record<string, Json> = {};
  const shown = fieldsOf(state, resource, actor).filter(
    ({ name, isReadable }) => isReadable && (readable === 'all' || readable.has(name)),
  );
  for (const name of options.counts ?? []) {
    const relation = shown.find((field) => field.name === name)?.relation;
    const list = relation && listOf(state, { resource, row }, relation.name);
    if (!list || resource.deleted) continue;
    const access = decideAll(list.options.permissions, { entity: list.entity, actor, method: 'GET' });
    if (access.kind === 'refusal') continue;
    const fits = (each: Row): boolean =>
      !access.rows || fitsRows(state, { entity: list.entity, row: each }, access.rows);
    counts[name] = list.rows().filter(fits).length;
  }
  return counts;
}

function listOf(
  state: State,
  { resource: { entity }, row }: { readonly resource: Resource; readonly row: Row },
  name: string,
): Resource | undefined {
  const relation = entity.relations.find((each) => each.name === name);
  if (relation?.kind === 'many-to-many') return throughOf(state, relation, { entity, key: row.key });
  return relation?.kind === 'to-many'
    ? childrenOf(state, state.entity(relation.target), { forward: relation.forward, key: row.key })
    : undefined;
}
