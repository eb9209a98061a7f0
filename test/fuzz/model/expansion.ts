import type { Json, RelationSpec } from '../schema.js';
import { decideAll } from './access.js';
import { fitsRows } from './conditions.js';
import type { FieldView } from './fields.js';
import type { ReadContext } from './filters.js';
import { listRows } from './lists.js';
import { represent } from './represent.js';
import { childrenOf, collectionOf, throughOf } from './resources.js';
import type { Resource } from './resources.js';
import type { Shape } from './shape.js';
import { relatedRows } from './state.js';
import type { Row, State } from './state.js';

/** What replaces a key or a link, and whether a list is cut. */
interface Expanded {
  readonly value: Json;
  readonly isCut?: boolean;
}

/** The objects that replace a key or a link, represented as by GET; undefined if it is not expanded. */
export function expandedValue(
  { state, actor }: ReadContext,
  { resource, row }: { readonly resource: Resource; readonly row: Row },
  { field, shape }: { readonly field: FieldView; readonly shape: Shape },
): Expanded | undefined {
  const { relation } = field;
  if (!relation) return undefined;
  const target = targetOf(state, { resource, row }, relation);
  const access = decideAll(target.options.permissions, { entity: target.entity, actor, method: 'GET' });
  if (access.kind === 'refusal') return undefined;
  const fits = (each: Row): boolean =>
    !access.rows || fitsRows(state, { entity: target.entity, row: each }, access.rows);
  const shown = (each: Row): Json =>
    represent(target, each, { state, actor, readable: access.readable, shape });
  if (relation.kind === 'to-one' || relation.kind === 'reverse-one') {
    const related = relatedRows(state, { entity: resource.entity, row }, relation.name)[0];
    return related && fits(related) ? { value: shown(related) } : undefined;
  }
  const { rows } = listRows({ state, actor, resource: target, access, parameters: shape.own });
  const limit = shape.own.last('limit') ?? '';
  if (limit === '') return rows.length > shape.maxChildren ? undefined : { value: rows.map(shown) };
  const count = Math.min(Number(limit), shape.maxChildren);
  return { value: rows.slice(0, count).map(shown), isCut: rows.length > count };
}

/** The list or the object to which a relation of a row leads. */
export function targetOf(
  state: State,
  { resource, row }: { readonly resource: Resource; readonly row: Row },
  relation: RelationSpec,
): Resource {
  if (relation.kind === 'many-to-many')
    return throughOf(state, relation, { entity: resource.entity, key: row.key });
  const target = state.entity(relation.target);
  return relation.kind === 'to-many'
    ? childrenOf(state, target, { forward: relation.forward, key: row.key })
    : collectionOf(state, target);
}
