import { NEVER } from '../model/condition.js';
import type { Condition } from '../model/condition.js';
import type { HookQuestion, WriteOperation } from '../model/hooks.js';
import type { CreatePlan, DeletePlan, KeyCheck, TransactionHooks, UpdatePlan } from '../model/plan.js';
import type { Resource } from '../model/resource.js';
import type { Route } from '../model/route.js';
import type { ParsedBody } from '../model/serializer.js';
import type { Located } from './asked.js';
import type { JsonObject } from './parsing/json-body.js';
import { planAddedValues } from './planning/plan-added-values.js';
import { joiningPairs, keysIn, planKeyChecks } from './planning/plan-rows.js';

/** A new row. What is wrong with the body stands in the plan, so that all of it is told together. */
export async function planCreate(located: Located, body: JsonObject): Promise<CreatePlan> {
  const { resource, route, parent } = located;
  const added = await resource.hooks.values?.(questionOf(located));
  const parsed = parseBody(located, 'create', body, Object.keys(added ?? {}));
  const fixed = parent && route.relation ? joiningPairs(route.relation).map((pair, index) => ({ column: pair.far, value: parent[index] ?? null })) : [];
  return {
    kind: 'create',
    resource,
    values: parsed.values,
    errors: parsed.errors,
    keys: await keyChecks(parsed, located),
    fixed,
    // What the URL says wins over what a hook says.
    added: added ? planAddedValues(added, resource).filter(({ column }) => !fixed.some((each) => each.column.id === column.id)) : [],
    where: located.within,
    hooks: transactionHooks('create', located),
  };
}

/** The row that `where` names. */
export async function planUpdate(located: Located, { operation, body, where }: { readonly operation: 'update' | 'partialUpdate'; readonly body: ParsedBody; readonly where: Condition }): Promise<UpdatePlan> {
  const { resource, within } = located;
  return { kind: 'update', resource, where, after: within, values: body.values, errors: body.errors, keys: await keyChecks(body, located), hooks: transactionHooks(operation, located) };
}

/** The row that `where` names. */
export function planDelete(located: Located, where: Condition): DeletePlan {
  return { kind: 'delete', resource: located.resource, where, hooks: transactionHooks('destroy', located) };
}

/** `added`: fields that the application fills. */
export function parseBody({ resource, route, admission }: Located, operation: 'create' | 'update' | 'partialUpdate', body: JsonObject, added: readonly string[] = []): ParsedBody {
  const given = added.length === 0 ? givenFields(route) : new Set([...givenFields(route), ...added]);
  return resource.serializer.parse(body, { resource, operation, actor: admission.actor, given });
}

/** Fields that the URL fills: the parent's side of a through object. */
export function givenFields({ relation }: Route): ReadonlySet<string> {
  const side = relation?.kind === 'many-to-many' ? relation.through.parentField : undefined;
  return new Set(side === undefined ? [] : [side]);
}

/** The keys of a body, each among the rows that the caller may name. */
async function keyChecks(body: ParsedBody, { resource, admission }: Located): Promise<readonly KeyCheck[]> {
  const visible = new Map<Resource, Condition>();
  for (const { field } of keysIn(body.values, resource.fields)) visible.set(field.relation.target, await admission.accesses.visible(field.relation.target));
  return planKeyChecks(body, resource, (target) => visible.get(target) ?? NEVER);
}

function questionOf({ resource, admission }: Located): HookQuestion {
  return { actor: admission.actor, resource, request: admission.request };
}

function transactionHooks(operation: WriteOperation, located: Located): TransactionHooks {
  const { before, after } = located.resource.hooks;
  const question = questionOf(located);
  return {
    ...(before ? { before: (entity, transaction) => before({ ...question, operation, entity, transaction }) } : {}),
    ...(after ? { after: (entity, transaction) => after({ ...question, operation, entity, transaction }) } : {}),
  };
}
