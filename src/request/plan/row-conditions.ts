import { NotFound } from '../../core/errors/http-exceptions.js';
import type { Json } from '../../core/errors/rest-exception.js';
import { conjunction, equalsAsKey, mapComparisons, NEVER, ownKey } from '../../core/query/condition.js';
import type { Condition } from '../../core/query/condition.js';
import type { ColumnValue, ParentValues, RetrievePlan } from '../../core/query/plan.js';
import type { ColumnPair, ToManyRelation } from '../../core/schema/relation.js';
import type { ResourceSchema } from '../../core/schema/resource-schema.js';
import type { RestContext } from '../rest-context.js';

/** The rows with exactly this key, as a URL names them. */
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

/** The rows to which a foreign key with this value refers: the database decides which texts are equal. */
export function referredCondition(key: readonly Json[], resource: ResourceSchema): Condition {
  return mapComparisons(keyCondition(key, resource), (each) => ({ ...each, asKey: true }));
}

/** localColumn: columns of the parent; referencedColumn: the columns of its rows that refer to them. */
export function joiningPairs(relation: ToManyRelation): readonly ColumnPair[] {
  return relation.kind === 'one-to-many' ? relation.on : relation.through.parent;
}

/** The rows that belong to the parent: one without a value has no rows, and rows without one have no parent. */
export function belongsTo(relation: ToManyRelation, values: ParentValues): Condition {
  return conjunction(
    joiningPairs(relation).map(({ referencedColumn }, index) => {
      const value = values[index] ?? null;
      return value === null ? NEVER : equalsAsKey(referencedColumn, value);
    }),
  );
}

/** The values of the columns by which a row refers to its parent. */
export function columnsBelow(relation: ToManyRelation, values: ParentValues): readonly ColumnValue[] {
  return joiningPairs(relation).map(({ referencedColumn }, index) => ({
    column: referencedColumn,
    value: values[index] ?? null,
  }));
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
