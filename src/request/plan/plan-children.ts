import type { WrittenView } from '../../core/contracts/access-control.js';
import type { ParsedBody } from '../../core/contracts/serializer.js';
import { PermissionDenied } from '../../core/errors/http-exceptions.js';
import { addErrors, emptyFieldErrors, errorAt, NON_FIELD_ERRORS } from '../../core/errors/rest-exception.js';
import type { FieldErrors } from '../../core/errors/rest-exception.js';
import { mapMaybe } from '../../core/maybe-promise.js';
import type { MaybePromise } from '../../core/maybe-promise.js';
import { ALWAYS, conjunction } from '../../core/query/condition.js';
import type { Condition } from '../../core/query/condition.js';
import type { ChildWrites, CreatePlan, DeletePlan, ParentValues, UpdatePlan } from '../../core/query/plan.js';
import { isNested, isWritableIn, writtenColumns } from '../../core/schema/field.js';
import type { Field, NestedField } from '../../core/schema/field.js';
import type { OneToManyRelation } from '../../core/schema/relation.js';
import { resourceOf } from '../../core/schema/resource.js';
import type { Resource } from '../../core/schema/resource.js';
import { copyOf } from '../../core/values/exact-numbers.js';
import { keyText, noSuchObject } from '../../core/values/keys.js';
import type { NestedBody } from '../../core/values/nested-body.js';
import type { JsonObject } from '../request-input.js';
import type { RestContext } from '../rest-context.js';
import { throttleRequest } from '../throttle-request.js';
import { keyFieldsOf, keyOfItem } from './key-fields.js';
import type { KeyField } from './key-fields.js';
import { refuseNested, withoutNested } from './nested-values.js';
import { planItems, refusedPlan } from './plan-items.js';
import { belongsTo, columnsBelow, keyCondition } from './row-conditions.js';
import { FieldChildren } from './write-children.js';
import type { ChildSteps, PlannedStep } from './write-children.js';

const TOO_DEEP = 'Objects in objects are written at their own URL.';
const REPEATED = 'This object is in the list already.';
const ALSO_CHANGED = 'This object is also among those to update.';
const NOT_FOUND = 'Not found.';

/** A new child whose parent may not be written yet. */
export interface NewChild {
  readonly plan: CreatePlan;
  /** The plan once the values are known by which it refers to its parent. */
  readonly below: (parent: ParentValues) => CreatePlan;
}

/** Plans one row as at its own URL. */
export interface ChildPlans {
  create(context: RestContext, body: JsonObject): MaybePromise<NewChild>;
  update(context: RestContext, body: JsonObject, where: Condition): MaybePromise<UpdatePlan>;
  delete(context: RestContext, where: Condition): DeletePlan;
}

/** A body without its children, and what writes them. */
interface PlannedChildren {
  readonly body: ParsedBody;
  readonly children: ChildWrites | undefined;
}

/** Throws 401, 403 and 429 for children that the caller may not write. */
export function planChildren(
  context: RestContext,
  body: ParsedBody,
  plans: ChildPlans,
): MaybePromise<PlannedChildren> {
  if (!context.resource.hasNestedWrites) return { body, children: undefined };
  const values = new Map(body.values);
  const given = context.resource.fields.filter(isNested).flatMap((field) => {
    const nested = values.get(field.name) as NestedBody | null | undefined;
    values.delete(field.name);
    return nested && 'isByVerbs' in nested ? [{ field, nested }] : [];
  });
  const rest = { ...body, values };
  return given.length === 0
    ? { body: rest, children: undefined }
    : planFields(given, context, plans).then((children) => ({ body: rest, children }));
}

interface GivenChildren {
  readonly field: NestedField;
  readonly nested: NestedBody;
}

async function planFields(
  given: readonly GivenChildren[],
  context: RestContext,
  plans: ChildPlans,
): Promise<ChildWrites> {
  const authorized: AuthorizedChildren[] = [];
  // One after the other, as permissions are evaluated; those of all children before any other of their errors.
  for (const each of given) authorized.push(await authorizeChildren(each, context));
  for (const each of authorized) await countChildren(each, context);
  const fields: FieldChildren[] = [];
  for (const each of authorized)
    fields.push(new FieldChildren(each, context.route.resource, await planSteps(each, context, plans)));
  return FieldChildren.together(fields);
}

export interface AuthorizedChildren extends GivenChildren {
  readonly creates?: WrittenView | undefined;
  readonly updates?: WrittenView | undefined;
  readonly deletes?: WrittenView | undefined;
  /** The rows of the parent's model to which the caller may refer by the key of a new child. */
  readonly parents: Condition;
}

async function authorizeChildren(
  { field, nested }: GivenChildren,
  { access, route }: RestContext,
): Promise<AuthorizedChildren> {
  const { relation } = field.nested;
  const { target } = relation;
  const isCreated = nested.create.length > 0;
  const isDeleted = nested.delete.length > 0 || nested.deletesOne;
  const creates = isCreated ? await access.viewToWrite(target, 'POST') : undefined;
  if (creates) assertRefers(creates.resource, relation);
  return {
    field,
    nested,
    creates,
    updates: nested.update.length > 0 ? await access.viewToWrite(target, 'PATCH') : undefined,
    deletes: isDeleted ? await access.viewToWrite(target, 'DELETE') : undefined,
    parents: isCreated ? await access.readScope(route.resource) : ALWAYS,
  };
}

/** At its own URL, a caller who may not write the key of the parent creates no child of it. Throws 403. */
function assertRefers(view: Resource, { target, on }: OneToManyRelation): void {
  const columns = new Set(on.map(({ referencedColumn }) => referencedColumn.id));
  const keys = target.fields.filter((field) => {
    const written = writtenColumns(field);
    return isWritableIn(field, 'create') && written.length > 0 && written.every((id) => columns.has(id));
  });
  const isGranted = ({ name }: Field): boolean => {
    const field = view.fieldsByName.get(name);
    return field !== undefined && isWritableIn(field, 'create');
  };
  if (keys.length > 0 && !keys.some(isGranted)) throw new PermissionDenied();
}

/** The rate limit of the model counts each child. */
async function countChildren(
  { field, nested }: AuthorizedChildren,
  { exchange, actor }: RestContext,
): Promise<void> {
  const model = resourceOf(field.nested.relation.target);
  if (!exchange || !model.throttle) return;
  const count =
    nested.create.length + nested.update.length + nested.delete.length + (nested.deletesOne ? 1 : 0);
  for (let row = 0; row < count; row++) await throttleRequest(model, { actor, address: exchange.address });
}

async function planSteps(
  { field, nested, creates, updates, deletes }: AuthorizedChildren,
  context: RestContext,
  plans: ChildPlans,
): Promise<ChildSteps> {
  const contextOf = (view: WrittenView, method: string): RestContext =>
    childContext(context, field, { view, method });
  const creating = creates && contextOf(creates, 'POST');
  const updating = updates && contextOf(updates, 'PATCH');
  const deleting = deletes && contextOf(deletes, 'DELETE');
  const created = creating
    ? await planItems(nested.create, (item) => planNewChild(item, creating, plans), refused)
    : [];
  const updated = updating ? await planChanges(field, nested, { updating, plans }) : [];
  return {
    create: created,
    update: updated,
    delete: deleting ? planDeletions(field, nested, { deleting, plans, updated }) : [],
  };
}

function planNewChild(item: JsonObject, creating: RestContext, plans: ChildPlans): MaybePromise<PlannedStep> {
  return mapMaybe(plans.create(creating, item), ({ plan, below }) => {
    const errors = withErrors(plan.errors, refuseNested(creating.route.resource, item, TOO_DEEP));
    return { stepBelow: (parent, pending) => ({ ...(parent ? below(parent) : plan), errors, pending }) };
  });
}

interface Changing {
  readonly updating: RestContext;
  readonly plans: ChildPlans;
}

/** The changes of children, each of those of the parent that have its key; of the only child, whatever its key. */
function planChanges(
  { nested: { isOne, relation } }: NestedField,
  { update }: NestedBody,
  { updating, plans }: Changing,
): Promise<readonly PlannedStep[]> {
  const { resource, scope } = updating;
  const below = conditionBelow(relation);
  const fields = isOne ? [] : keyFieldsOf(resource);
  const seen = new Set<string>();
  const planChange = (item: JsonObject): MaybePromise<PlannedStep> => {
    const key = isOne ? undefined : keyOfItem(item, fields, resource);
    const text = key && keyText(key);
    if (text !== undefined && seen.has(text)) return refused(errorAt([nameOf(fields)], REPEATED));
    if (text !== undefined) seen.add(text);
    // A read-only key is not part of the change.
    const rest = Object.entries(item).filter(([each]) => !fields.some(({ name }) => name === each));
    const body = copyOf(item, Object.fromEntries(rest));
    const where = key ? conjunction([scope, keyCondition(key, resource)]) : scope;
    const missing = key
      ? errorAt([nameOf(fields)], noSuchObject(key))
      : errorAt([NON_FIELD_ERRORS], NOT_FOUND);
    return mapMaybe(plans.update(updating, body, where), (plan): PlannedStep => {
      const errors = withErrors(plan.errors, refuseNested(updating.route.resource, body, TOO_DEEP));
      return {
        key: text,
        missing,
        stepBelow: (parent, pending) => ({
          ...plan,
          errors,
          pending,
          where: conjunction([below(parent), plan.where]),
          fixed: columnsBelow(relation, parent ?? []),
        }),
      };
    });
  };
  return planItems(update, planChange, refused);
}

/** The rows of a parent: the same object for all of them, so that one statement selects several. */
function conditionBelow(relation: OneToManyRelation): (parent: ParentValues | undefined) => Condition {
  let known: { readonly parent: ParentValues | undefined; readonly rows: Condition } | undefined;
  return (parent) => {
    if (known?.parent !== parent || !known) known = { parent, rows: belongsTo(relation, parent ?? []) };
    return known.rows;
  };
}

function nameOf(fields: readonly KeyField[]): string {
  const [field, ...more] = fields;
  return field && more.length === 0 ? field.name : NON_FIELD_ERRORS;
}

function planDeletions(
  { nested: { relation } }: NestedField,
  nested: NestedBody,
  {
    deleting,
    plans,
    updated,
  }: { readonly deleting: RestContext; readonly plans: ChildPlans; readonly updated: readonly PlannedStep[] },
): readonly PlannedStep[] {
  const { resource, scope } = deleting;
  const below = conditionBelow(relation);
  const changed = new Set(updated.map(({ key }) => key));
  const planOne = (where: Condition, texts: Pick<PlannedStep, 'missing' | 'item'>): PlannedStep => {
    const plan = plans.delete(deleting, where);
    return {
      ...texts,
      stepBelow: (parent) => ({
        ...plan,
        where: conjunction([below(parent), plan.where]),
      }),
    };
  };
  if (nested.deletesOne) return [planOne(scope, { missing: errorAt([NON_FIELD_ERRORS], NOT_FOUND) })];
  return nested.delete.map(({ key, index }) => {
    if (changed.has(keyText(key)))
      return { ...refused(errorAt([NON_FIELD_ERRORS], ALSO_CHANGED)), item: index };
    const where = conjunction([scope, keyCondition(key, resource)]);
    return planOne(where, { item: index, missing: errorAt([NON_FIELD_ERRORS], noSuchObject(key)) });
  });
}

function refused(errors: FieldErrors): PlannedStep {
  return { stepBelow: () => refusedPlan(errors) };
}

function withErrors(errors: FieldErrors, more: FieldErrors | undefined): FieldErrors {
  if (!more) return errors;
  const all = emptyFieldErrors();
  for (const each of [errors, more]) addErrors(all, each);
  return all;
}

/** The request as one at the URL of the child. */
function childContext(
  context: RestContext,
  { nested: { relation } }: NestedField,
  { view, method }: { readonly view: WrittenView; readonly method: string },
): RestContext {
  const { route } = context;
  return context.fork({
    method,
    route: {
      ...route,
      kind: 'one-to-many',
      resource: resourceOf(relation.target),
      parent: route.resource,
      relation,
    },
    resource: withoutNested(view.resource),
    grantCondition: view.grantCondition,
    scope: view.grantCondition,
    parent: undefined,
    parentCheck: undefined,
    queryAccess: undefined,
    fieldSelection: undefined,
    selectedFrom: undefined,
    idempotency: undefined,
    precondition: undefined,
    deferredChecks: [],
  });
}
