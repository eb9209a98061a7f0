import type { DataAdapter } from '../core/data-adapter.js';
import { NotFound } from '../core/errors/http-exceptions.js';
import type { Json } from '../core/errors/rest-exception.js';
import { mapMaybe } from '../core/maybe-promise.js';
import type { MaybePromise } from '../core/maybe-promise.js';
import { conjunction } from '../core/query/condition.js';
import type { Condition } from '../core/query/condition.js';
import type { ParentPlan, ParentValues } from '../core/query/plan.js';
import type { DataType } from '../core/schema/data-type.js';
import type { ToManyRelation } from '../core/schema/relation.js';
import type { ResourceSchema } from '../core/schema/resource-schema.js';
import { belongsTo, joiningPairs, keyCondition } from '../request/plan/row-conditions.js';
import type { RestContext, Stage } from '../request/rest-context.js';

/** Restricts the rows of a nested URL to those of its parent. Throws 404 for a parent that the caller may not read. */
export function resolveParent(adapter: DataAdapter): Stage {
  return (context) => findParent(context, adapter);
}

/**
 * As `resolveParent`, for a list: if the key in the URL determines the rows of the parent, the statement of the list
 * checks that the parent exists. Not if application code may run before that statement, or read no row: an interceptor, a
 * method that replaces the operation, a renderer.
 */
export function resolveParentOfList(adapter: DataAdapter): Stage {
  return (context) => {
    const isRead = context.needsValue || context.renderer !== undefined;
    const values = isRead ? undefined : joiningValues(context);
    return values ? deferParent(context, values, adapter) : findParent(context, adapter);
  };
}

async function findParent(context: RestContext, adapter: DataAdapter): Promise<void> {
  const { route, keys, access, grantCondition, isReading, requester } = context;
  const { parent: model, relation } = route;
  if (!model || !relation || !keys.key) throw new NotFound();
  const parent = await adapter.read(
    planParent(keys.key, {
      parent: model,
      relation,
      grantCondition: await access.readScope(model),
      forWriting: !isReading,
      requester,
    }),
  );
  if (!parent) throw new NotFound();
  context.parent = parent;
  context.scope = conjunction([grantCondition, belongsTo(relation, parent)]);
}

/**
 * The values by which rows refer to the parent, if they follow from the key in the URL; undefined if the parent must be
 * read.
 */
function joiningValues({ route, keys: { key } }: RestContext): ParentValues | undefined {
  const { parent, relation } = route;
  if (!parent || !relation || !key || parent.key.via) return undefined;
  const values = joiningPairs(relation).map(({ localColumn }) => {
    const at = parent.key.columns.findIndex(({ id }) => id === localColumn.id);
    return at < 0 || !isExact(localColumn.type) ? undefined : key[at];
  });
  return values.every((value) => value !== undefined) ? values : undefined;
}

/** True if a row found by this value contains exactly the same value. */
function isExact(type: DataType): boolean {
  return type.kind === 'integer' || type.kind === 'bigint' || (type.kind === 'string' && type.loose !== true);
}

function deferParent(context: RestContext, values: ParentValues, adapter: DataAdapter): MaybePromise<void> {
  const { route, keys, access, requester } = context;
  const { parent, relation } = route;
  const { key } = keys;
  if (!parent || !relation || !key) throw new NotFound();
  return mapMaybe(access.readScope(parent), (rows) => {
    const { where } = planParent(key, { parent, relation, grantCondition: rows, forWriting: false });
    const check = { resource: parent, where, forWriting: false, requester };
    context.parent = values;
    context.scope = conjunction([context.grantCondition, belongsTo(relation, values)]);
    context.parentCheck = check;
    context.defer(async () => {
      if (!(await adapter.exists(check))) throw new NotFound();
    });
  });
}

/** Plans the lookup of the parent in a nested URL. */
function planParent(
  key: readonly Json[],
  {
    parent,
    relation,
    grantCondition,
    ...rest
  }: Pick<ParentPlan, 'forWriting' | 'requester'> & {
    readonly parent: ResourceSchema;
    readonly relation: ToManyRelation;
    readonly grantCondition: Condition;
  },
): ParentPlan {
  return {
    kind: 'parent',
    resource: parent,
    where: conjunction([grantCondition, keyCondition(key, parent)]),
    on: joiningPairs(relation),
    ...rest,
  };
}
