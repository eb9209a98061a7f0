import type { ParsedBody } from '../../core/contracts/serializer.js';
import { addErrors, emptyFieldErrors, errorAt, NON_FIELD_ERRORS } from '../../core/errors/rest-exception.js';
import type { Json } from '../../core/errors/rest-exception.js';
import { mapMaybe } from '../../core/maybe-promise.js';
import type { MaybePromise } from '../../core/maybe-promise.js';
import type { Condition } from '../../core/query/condition.js';
import type {
  ColumnValue,
  CreatePlan,
  DeletePlan,
  Expectation,
  UpdatePlan,
  ViewCheck,
} from '../../core/query/plan.js';
import { fieldColumns } from '../../core/query/readable-paths.js';
import { isWritableIn } from '../../core/schema/field.js';
import type { Field, ToOneField } from '../../core/schema/field.js';
import type { Through } from '../../core/schema/relation.js';
import type { ResourceSchema } from '../../core/schema/resource-schema.js';
import type { Route } from '../../core/schema/route.js';
import { unmergeableErrors } from '../../core/values/merge-patch.js';
import type { JsonObject } from '../request-input.js';
import type { RestContext } from '../rest-context.js';
import {
  conditionAfterWrite,
  planHiddenKeys,
  planKeyChecks,
  assignKeyChecks,
  resolveDuplicateReferences,
} from './key-checks.js';
import { unaddressableKeyErrors } from './key-fields.js';
import { planAddedValues } from './plan-hook-values.js';
import { hookContextOf, originOf, transactionHooks } from './transaction-hooks.js';
import type { ResolvedReferences } from './key-checks.js';
import { planPairs } from './plan-pairs.js';
import type { PairPlans } from './plan-pairs.js';
import { joiningPairs } from './row-conditions.js';

/**
 * The relations, and columns of the key, that a body does not name because their columns have a value already: from the URL or the
 * application, or from a relation of the body that has all of them (contract 5.17).
 */
export function suppliedFields(
  { fields, overlapping, identity }: ResourceSchema,
  body: JsonObject,
  { operation, set }: { readonly operation: 'create' | 'update'; readonly set: readonly ColumnValue[] },
): readonly string[] {
  const isOfKey = (field: Field): boolean =>
    field.kind === 'column' && identity.some(({ id }) => id === field.column.id);
  const composite = fields.some((field) => field.kind === 'to-one' && field.relation.on.length > 1);
  if (overlapping.length === 0 && set.length === 0 && !composite) return [];
  const isSent = ({ name }: Field): boolean => Object.hasOwn(body, name) && body[name] !== undefined;
  const sent = fields.filter(
    (field): field is ToOneField =>
      field.kind === 'to-one' &&
      isWritableIn(field, operation) &&
      isSent(field) &&
      body[field.name] !== null &&
      body[field.name] !== '',
  );
  const isSet = (id: string): boolean => set.some(({ column }) => column.id === id);
  const isSupplied = (field: Field): boolean => {
    const columns = fieldColumns(field);
    return (
      columns.every(isSet) ||
      sent.some(({ relation: { on } }) => columns.every((id) => on.some(({ near }) => near.id === id)))
    );
  };
  return fields
    .filter((field) => (field.kind === 'to-one' || isOfKey(field)) && !isSent(field) && isSupplied(field))
    .map(({ name }) => name);
}

const NO_FIELDS: ReadonlySet<string> = new Set();

/** Pairs are planned as through objects at their own URL. */
const PAIR_PLANS: PairPlans = { create: planCreate, delete: planDelete };

const UNREFERABLE_PARENT = 'The object in the URL has no value by which another object could refer to it.';

/**
 * Plans a new row. Errors of the body are part of the plan, so that they are reported together with those of the
 * database.
 */
export function planCreate(context: RestContext, body: JsonObject): MaybePromise<CreatePlan> {
  const { resource, requester } = context;
  const fixed = columnsOfUrl(context);
  return mapMaybe(
    resource.hooks.values?.(hookContextOf(context)) ?? {},
    (given: Readonly<Record<string, Json>>) => {
      // Values of the URL have precedence over those of hooks.
      const added = planAddedValues(given, { resource, fixed });
      const { body: resolved, duplicateReferences } = resolveReferences(
        withErrors(
          parseNewBody(context, body, { names: Object.keys(given), set: [...fixed, ...added] }),
          context,
          fixed,
        ),
        resource,
        'create',
      );
      const { body: parsed, pairs } = planPairs(context, resolved, PAIR_PLANS);
      return mapMaybe(planKeyChecks(context, parsed), (keys) =>
        mapMaybe(planHiddenKeys(context, parsed), (hiddenKeys) =>
          mapMaybe(afterWrite(context, parsed), (where) => ({
            kind: 'create',
            resource,
            requester,
            values: parsed.values,
            sent: parsed.sent,
            errors: parsed.errors,
            keys: pairs ? [...keys, ...pairs.keys] : keys,
            hiddenKeys,
            duplicateReferences,
            fixed,
            added,
            where,
            pairs,
            hooks: transactionHooks('create', context),
            recording: resource.recording,
            origin: originOf('create', context),
          })),
        ),
      );
    },
  );
}

/** The columns of a through object that the parent in the URL sets: no other nested URL writes. */
function columnsOfUrl({ parent, route }: RestContext): readonly ColumnValue[] {
  return parent && route.relation
    ? joiningPairs(route.relation).map((pair, index) => ({ column: pair.far, value: parent[index] ?? null }))
    : [];
}

function withErrors(
  parsed: ParsedBody,
  { resource }: RestContext,
  fixed: readonly ColumnValue[],
): ParsedBody {
  const wrongKey = unaddressableKeyErrors(parsed.values, resource);
  const isUnreferable = fixed.some(({ value }) => value === null);
  if (!wrongKey && !isUnreferable) return parsed;
  const errors = emptyFieldErrors();
  addErrors(errors, parsed.errors);
  if (wrongKey) addErrors(errors, wrongKey);
  // The row would have no parent, or the database would reject it.
  if (isUnreferable) addErrors(errors, errorAt([NON_FIELD_ERRORS], UNREFERABLE_PARENT));
  return { ...parsed, errors };
}

/** Only models with a relation and the plain column of its foreign key have references that repeat each other. */
function resolveReferences(
  body: ParsedBody,
  resource: ResourceSchema,
  kind: 'create' | 'change',
): ResolvedReferences {
  return resource.foreignKeyAliases.length === 0
    ? { body, duplicateReferences: [] }
    : resolveDuplicateReferences(body, resource, kind);
}

/** Only in models with relations that share a column, a write may change what another relation refers to. */
function afterWrite(context: RestContext, body: ParsedBody): MaybePromise<Condition> {
  return context.resource.overlapping.length === 0 ? context.scope : conditionAfterWrite(context, body);
}

/** Plans the update of the row that `where` selects. */
export function planUpdate(
  context: RestContext,
  {
    operation,
    body: parsed,
    where,
    expected,
  }: {
    readonly operation: 'update' | 'partialUpdate';
    readonly body: ParsedBody;
    readonly where: Condition;
    readonly expected?: Expectation | undefined;
  },
): MaybePromise<UpdatePlan> {
  const { resource, requester } = context;
  const { merges } = context.input;
  const { body: resolved, duplicateReferences } = resolveReferences(
    merges ? withoutUnmergeable(parsed, resource) : parsed,
    resource,
    'change',
  );
  const { body, pairs } = planPairs(context, resolved, PAIR_PLANS);
  return mapMaybe(planKeyChecks(context, body), (checks) =>
    mapMaybe(planHiddenKeys(context, body), (hiddenKeys) =>
      mapMaybe(afterWrite(context, body), (after) => {
        const assigned = assignKeyChecks(checks, duplicateReferences);
        // Written out: V8 copies objects by a spread in 5 to 10 µs.
        return {
          kind: 'update',
          resource,
          requester,
          where,
          after,
          values: body.values,
          sent: body.sent,
          errors: body.errors,
          keys: assigned.keys,
          hiddenKeys,
          duplicateReferences: assigned.duplicateReferences,
          given: givenFields(context.route),
          errorsOfStored: body.errorsOfStored,
          merges,
          fixed: columnsOfUrl(context),
          expected,
          mayView: viewCheck(context),
          pairs,
          hooks: transactionHooks(operation, context),
          recording: resource.recording,
          origin: originOf(operation, context),
        };
      }),
    ),
  );
}

function withoutUnmergeable(parsed: ParsedBody, { fields }: ResourceSchema): ParsedBody {
  const errors = emptyFieldErrors();
  addErrors(errors, parsed.errors);
  addErrors(errors, unmergeableErrors(parsed.values, fields));
  return { ...parsed, errors };
}

/** Plans the deletion of the row that `where` selects. */
export function planDelete(context: RestContext, where: Condition, expected?: Expectation): DeletePlan {
  return {
    kind: 'delete',
    resource: context.resource,
    requester: context.requester,
    where,
    expected,
    mayView: viewCheck(context),
    hooks: transactionHooks('destroy', context),
    recording: context.resource.recording,
    origin: originOf('destroy', context),
  };
}

/** A permission that throws for this caller counts as a denial. */
function viewCheck({ access }: RestContext): ViewCheck {
  return (model) =>
    access.tryAuthorize(model, 'GET').then(
      (granted) => granted !== undefined,
      () => false,
    );
}

/** Parses the body of an update with the serializer of the model. */
export function parseBody(
  { resource, route, actor }: RestContext,
  operation: 'update' | 'partialUpdate',
  body: JsonObject,
): ParsedBody {
  const supplied = suppliedFields(resource, body, { operation: 'update', set: [] });
  const given = withSupplied(givenFields(route), supplied);
  return resource.serializer.parse(body, { resource, operation, actor, given });
}

/** The same for a new row. `names` are the properties that the application sets, and `set` all columns that are set. */
function parseNewBody(
  context: RestContext,
  body: JsonObject,
  { names, set }: { readonly names: readonly string[]; readonly set: readonly ColumnValue[] },
): ParsedBody {
  const { resource, actor } = context;
  const supplied = suppliedFields(resource, body, { operation: 'create', set });
  const given = withSupplied(givenFieldsWith(context, names), supplied);
  return resource.serializer.parse(body, { resource, operation: 'create', actor, given });
}

export function withSupplied(given: ReadonlySet<string>, supplied: readonly string[]): ReadonlySet<string> {
  return supplied.length === 0 ? given : new Set([...given, ...supplied]);
}

/** The fields that the URL sets, and those of `added`. */
export function givenFieldsWith(
  { resource, route }: RestContext,
  added: readonly string[],
): ReadonlySet<string> {
  const given = givenFields(route);
  return added.length === 0 ? given : withAliases([...given, ...added], resource);
}

const GIVEN = new WeakMap<Through, ReadonlySet<string>>();

/** The fields that the URL sets: the parent's side of a through object, and other fields on the same columns only. */
export function givenFields({ relation }: Route): ReadonlySet<string> {
  if (relation?.kind !== 'many-to-many') return NO_FIELDS;
  const { through } = relation;
  const known = GIVEN.get(through);
  if (known) return known;
  const columns = new Set(through.parent.map(({ far }) => far.id));
  const isGiven = (field: Field): boolean =>
    (field.kind === 'column' && columns.has(field.column.id)) ||
    (field.kind === 'to-one' && field.relation.on.every(({ near }) => columns.has(near.id)));
  const given = new Set(through.resource.fields.filter(isGiven).map(({ name }) => name));
  GIVEN.set(through, given);
  return given;
}

/** A given relation includes the plain column of its foreign key, and vice versa. */
export function withAliases(
  names: readonly string[],
  { foreignKeyAliases }: ResourceSchema,
): ReadonlySet<string> {
  const given = new Set(names);
  for (const { within, names: both } of foreignKeyAliases)
    if (within.length === 0 && both.some((name) => given.has(name))) for (const name of both) given.add(name);
  return given;
}
