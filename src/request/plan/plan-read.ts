import type { Json } from '../../core/errors/rest-exception.js';
import { conjunction, equals, NEVER, disjunction, ownKey } from '../../core/query/condition.js';
import type { Condition } from '../../core/query/condition.js';
import type { Field } from '../../core/schema/field.js';
import type { FilterResult } from '../../core/contracts/filter-backend.js';
import type { KeyCheck, ListPlan, ParentPlan, ParentValues, RetrievePlan } from '../../core/query/plan.js';
import type { ColumnPair, ToManyRelation, ToOneRelation } from '../../core/schema/relation.js';
import type { OrderTerm, ResourceSchema } from '../../core/schema/resource-schema.js';
import type { DataType } from '../../core/schema/data-type.js';
import { parseValue } from '../../core/values/parse-value.js';
import { resolveRowFilter } from '../../core/query/resolve-row-filter.js';
import { NotFound } from '../../core/errors/http-exceptions.js';
import type { RestContext } from '../rest-context.js';

/** The rows with this key. */
export function keyCondition(key: readonly Json[], resource: ResourceSchema): Condition {
  return conjunction(
    ownKey(resource.key).map((operand, index) => ({
      kind: 'compare',
      operand,
      lookup: 'exact',
      value: key[index] ?? null,
    })),
  );
}

/** Plans the lookup of the parent in a nested URL. */
export function planParent(
  key: readonly Json[],
  {
    parent,
    relation,
    rows,
    ...asked
  }: Pick<ParentPlan, 'forWriting' | 'requester'> & {
    readonly parent: ResourceSchema;
    readonly relation: ToManyRelation;
    readonly rows: Condition;
  },
): ParentPlan {
  return {
    kind: 'parent',
    resource: parent,
    where: conjunction([rows, keyCondition(key, parent)]),
    on: joiningPairs(relation),
    ...asked,
  };
}

/** near: columns of the parent; far: the columns of its rows that refer to them. */
export function joiningPairs(relation: ToManyRelation): readonly ColumnPair[] {
  return relation.kind === 'one-to-many' ? relation.on : relation.through.parent;
}

/**
 * The values by which rows refer to a parent, if they follow from the key in the URL; undefined if the parent must be
 * read.
 */
export function joiningValues(
  key: readonly Json[],
  parent: ResourceSchema,
  relation: ToManyRelation,
): ParentValues | undefined {
  if (parent.key.via) return undefined;
  const values = joiningPairs(relation).map(({ near }) => {
    const at = parent.key.columns.findIndex(({ id }) => id === near.id);
    return at < 0 || !isExact(near.type) ? undefined : key[at];
  });
  return values.every((value) => value !== undefined) ? values : undefined;
}

/** True if a row found by this value contains exactly the same value. */
function isExact(type: DataType): boolean {
  return type.kind === 'integer' || type.kind === 'bigint' || (type.kind === 'string' && type.loose !== true);
}

/** The rows that belong to the parent. */
export function belongsTo(relation: ToManyRelation, values: ParentValues): Condition {
  return conjunction(
    joiningPairs(relation).map((pair, index) => equalsOrNothing(pair, values[index] ?? null)),
  );
}

/** A parent without a value has no rows, and rows without one have no parent. */
function equalsOrNothing(pair: ColumnPair, value: Json): Condition {
  return value === null ? { kind: 'never' } : equals(pair.far, value);
}

/** Combines the conditions and orders of all backends into the plan of a list. */
export function planList(
  resource: ResourceSchema,
  {
    within,
    filterings,
    requester,
    parent,
  }: Pick<ListPlan, 'requester' | 'parent'> & {
    readonly within: Condition;
    readonly filterings: readonly FilterResult[];
  },
): ListPlan {
  const rows = filterings.map((filtering) => resolveFilterRows(filtering, resource));
  const asked = filterings.find(
    (filtering) => filtering.order !== undefined && filtering.order.length > 0,
  )?.order;
  const oneOff = filterings.some((filtering) => filtering.oneOff === true);
  return {
    kind: 'list',
    resource,
    where: conjunction([within, ...rows]),
    order: asked ? totalOrder(asked, resource) : ownOrder(resource),
    parent,
    requester,
    oneOff,
  };
}

function resolveFilterRows({ rows }: FilterResult, resource: ResourceSchema): Condition {
  if (rows === undefined) return { kind: 'always' };
  const authored = rows.kind === 'where' || 'filters' in rows || 'filter' in rows;
  return authored ? resolveRowFilter(rows, resource) : rows;
}

const OWN_ORDERS = new WeakMap<ResourceSchema, readonly OrderTerm[]>();

/** The default order of the model, unless the request has one. */
function ownOrder(resource: ResourceSchema): readonly OrderTerm[] {
  const known = OWN_ORDERS.get(resource) ?? totalOrder(resource.ordering, resource);
  OWN_ORDERS.set(resource, known);
  return known;
}

/** The key breaks ties, so that the order is total (contract 4.11). */
function totalOrder(order: readonly OrderTerm[], resource: ResourceSchema): readonly OrderTerm[] {
  const plain = order.filter((term) => term.operand.hops.length === 0).map((term) => term.operand.column.id);
  const rest = ownKey(resource.key).filter(
    ({ hops, column }) => hops.length > 0 || !plain.includes(column.id),
  );
  return [...order, ...rest.map((operand) => ({ operand, descending: false }))];
}

/** A key in a body. */
export interface NamedKey extends Omit<KeyCheck, 'where'> {
  /** The rows with this key; `NEVER` if it is invalid for the target. */
  readonly rows: Condition;
}

/** Restricts the rows to which a key in a body may refer. */
export function planKeyCheck({ rows: ofKey, ...named }: NamedKey, rows: Condition): KeyCheck {
  return { ...named, where: conjunction([rows, ofKey]) };
}

/** All keys in a body, by a relation or by its foreign key column, including those in embedded objects. */
export function keysIn(
  values: ReadonlyMap<string, unknown>,
  fields: readonly Field[],
  within: readonly string[] = [],
): readonly NamedKey[] {
  const named: NamedKey[] = [];
  for (const field of fields) {
    if (field.kind !== 'embedded' && field.kind !== 'to-one' && field.kind !== 'column') continue;
    const value = values.get(field.name);
    if (value === null || value === undefined) continue;
    const path = [...within, field.name];
    if (field.kind === 'embedded') named.push(...keysIn(new Map(Object.entries(value)), field.fields, path));
    else if (field.kind === 'to-one')
      named.push({
        relation: field.relation,
        path,
        key: value as readonly Json[],
        rows: keyCondition(value as readonly Json[], field.relation.target),
      });
    else if (field.refers)
      named.push({
        relation: field.refers,
        path,
        key: [value as Json],
        rows: foreignKeyCondition(value as Json, field.refers),
      });
  }
  return named;
}

/** The condition for a relation of one column. Its type may differ from that of the referring column. */
function foreignKeyCondition(value: Json, { on: [pair] }: ToOneRelation): Condition {
  const outcome = pair && parseValue(value, pair.far.type);
  return pair && outcome && !outcome.errors ? equals(pair.far, outcome.value) : NEVER;
}

/**
 * The condition that an overlapping relation, which shares a column with a written one, does not refer to a row that the
 * caller may not refer to.
 */
export function leadsNowhereElse(relation: ToOneRelation, rows: Condition): Condition {
  const empty = relation.on.map(({ near }): Condition => ({
    kind: 'compare',
    operand: { hops: [], column: near },
    lookup: 'isnull',
    value: true,
  }));
  return disjunction([...empty, { kind: 'related', hops: [], relation, condition: rows }]);
}

/** The row selected by the URL, among those that the caller may access. */
export function objectCondition({ route, resource, keys, scope }: RestContext): Condition {
  const key: readonly Json[] | undefined = route.parent ? keys.childKey : keys.key;
  if (!key) throw new NotFound();
  return conjunction([scope, keyCondition(key, resource)]);
}

export function planRetrieve(context: RestContext): RetrievePlan {
  return {
    kind: 'retrieve',
    resource: context.resource,
    where: objectCondition(context),
    requester: context.requester,
  };
}
