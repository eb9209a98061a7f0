import type { Json } from '../errors/rest-error.js';
import type { Condition } from '../model/condition.js';
import type { HookQuestion, WriteOperation } from '../model/hooks.js';
import type { CreatePlan, DeletePlan, KeyCheck, TransactionHooks, UpdatePlan } from '../model/plan.js';
import type { Route } from '../model/route.js';
import type { ParsedBody } from '../model/serializer.js';
import { whenThere } from '../values/soon.js';
import type { Soon } from '../values/soon.js';
import type { Admission, Located } from './asked.js';
import type { JsonObject } from './parsing/json-body.js';
import { planAddedValues } from './planning/plan-added-values.js';
import { joiningPairs, keysIn, planKeyCheck } from './planning/plan-rows.js';
import type { NamedKey } from './planning/plan-rows.js';

/** A new row. What is wrong with the body stands in the plan, so that all of it is told together. */
export function planCreate(located: Located, body: JsonObject): Soon<CreatePlan> {
  const { resource, route, parent } = located;
  return whenThere(resource.hooks.values?.(questionOf(located)) ?? {}, (given: Readonly<Record<string, Json>>) => {
    const parsed = parseBody(located, 'create', body, Object.keys(given));
    return whenThere(keyChecks(parsed, located), (keys) => {
      const fixed = parent && route.relation ? joiningPairs(route.relation).map((pair, index) => ({ column: pair.far, value: parent[index] ?? null })) : [];
      // What the URL says wins over what a hook says.
      const added = planAddedValues(given, resource).filter(({ column }) => !fixed.some((each) => each.column.id === column.id));
      return { kind: 'create', resource, values: parsed.values, errors: parsed.errors, keys, fixed, added, where: located.within, hooks: transactionHooks('create', located) };
    });
  });
}

/** The row that `where` names. */
export function planUpdate(located: Located, { operation, body, where }: { readonly operation: 'update' | 'partialUpdate'; readonly body: ParsedBody; readonly where: Condition }): Soon<UpdatePlan> {
  const { resource, within } = located;
  return whenThere(keyChecks(body, located), (keys) => ({ kind: 'update', resource, where, after: within, values: body.values, errors: body.errors, keys, hooks: transactionHooks(operation, located) }));
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
function keyChecks({ values }: ParsedBody, { resource, admission }: Located): Soon<readonly KeyCheck[]> {
  return checked(keysIn(values, resource.fields), admission, []);
}

/** One behind the other, as permissions are asked. */
function checked(named: readonly NamedKey[], admission: Admission, checks: readonly KeyCheck[]): Soon<readonly KeyCheck[]> {
  const next = named[checks.length];
  return next ? whenThere(admission.accesses.visible(next.field.relation.target), (rows) => checked(named, admission, [...checks, planKeyCheck(next, rows)])) : checks;
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
