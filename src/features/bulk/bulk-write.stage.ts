import { isDeepStrictEqual } from 'node:util';
import { BulkWriteError } from '../../core/errors/bulk-write-error.js';
import type { BulkStepError } from '../../core/errors/bulk-write-error.js';
import { InvalidInput, InvalidItems, PreconditionFailed } from '../../core/errors/http-exceptions.js';
import { emptyFieldErrors, isRestException, NON_FIELD_ERRORS } from '../../core/errors/rest-exception.js';
import type { FieldErrors, Json } from '../../core/errors/rest-exception.js';
import { KEYS_PARAMETER, UPSERT_PARAMETER } from '../../core/contracts/bulk.js';
import type { Bulk, BulkOperation } from '../../core/contracts/bulk.js';
import { allOf, equals } from '../../core/query/condition.js';
import type { Condition } from '../../core/query/condition.js';
import type {
  BatchPlan,
  CompletedRows,
  CreatePlan,
  DeletePlan,
  ListPlan,
  PagePlan,
  RefusedPlan,
  UpdatePlan,
  UpsertPlan,
} from '../../core/query/plan.js';
import { parameterName } from '../../core/schema/parameter-names.js';
import { fieldSelectionParameters } from '../../core/contracts/field-selection.js';
import type { Representation, Row } from '../../core/contracts/serializer.js';
import { inSlices } from '../../core/event-loop.js';
import type { MaybePromise } from '../../core/maybe-promise.js';
import { keyText, noSuchKey, parseKeySegment } from '../../core/values/keys.js';
import { withBody } from '../../request/rest-context.js';
import type { OperationResult, RestContext } from '../../request/rest-context.js';
import type { Stage } from '../../request/stage.js';
import { hasWriteCondition } from '../conditional-requests/conditional.stages.js';
import { selectFields } from '../field-selection/select-fields.stage.js';
import type { FieldSelector } from '../field-selection/select-fields.stage.js';
import { planRowsOf, queriedResource } from '../filtering/list-planner.js';
import type { DataAdapter } from '../../core/data-adapter.js';
import { assertNoIgnoredParameters } from '../filtering/ignored-parameters.js';
import type { IdempotentWrites } from '../idempotency/idempotency.stage.js';
import { objectOf } from '../../request/parse/parse-body.js';
import type { JsonObject } from '../../request/parse/parse-body.js';
import { foldLists, foldFieldSelection } from '../../request/parse/list-parameters.js';
import { parametersOf, valuesOf } from '../../request/parse/parse-query-string.js';
import { refuseParametersBut } from '../../request/parse/parse-url-keys.js';
import { asksForUpsert } from '../../request/parse/upsert-parameter.js';
import { restrictFields } from '../permissions/restrict-fields.js';
import { keyFieldsOf, keyOfItem } from '../../request/plan/key-fields.js';
import { keyCondition } from '../../request/plan/plan-read.js';
import { upsertedValues } from '../../request/plan/plan-upsert.js';
import { represent } from '../../request/represent-row.js';
import {
  parseBody,
  planCreate,
  planDelete,
  planUpdate,
  withOtherNames,
} from '../../request/plan/plan-write.js';

/** The services of the pipeline that bulk writes use. */
export interface BulkServices {
  readonly adapter: DataAdapter;
  readonly idempotentWrites: IdempotentWrites;
  readonly selector: FieldSelector;
  /** Runs the operation for a body of one object. */
  readonly one: Stage;
  /** The same URL authorized for another method. Throws 403. */
  readonly reauthorize: (context: RestContext, method: 'PATCH') => Promise<RestContext>;
}

/** Writes many objects, or one if the body is one object. Throws the errors of contract 6.1. */
export function writeMany(operation: BulkOperation, services: BulkServices): Stage {
  const writes = new BulkWrites(services);
  return (context) => writes.run(operation, context);
}

/** The objects selected by a request, and the data for the error of a missing one. */
interface Named {
  readonly conditions: readonly Condition[];
  /** Undefined if the rows were selected by a filter: a row deleted since then no longer matches it. */
  readonly keys: readonly (readonly Json[])[] | undefined;
  /** The name of the parameter with the keys. */
  readonly keysParameter: string;
}

/** Writes many objects in one request, all or none. */
class BulkWrites {
  private readonly adapter: DataAdapter;

  constructor(private readonly services: BulkServices) {
    this.adapter = services.adapter;
  }

  async run(operation: BulkOperation, context: RestContext): Promise<void> {
    const { bulk } = context.resource;
    if (!bulk) throw new Error(`${context.resource.label} has no bulk writes.`);
    const isConditional = hasWriteCondition(context);
    // A precondition refers to the state of one object.
    if (isConditional && operation !== 'create') throw new PreconditionFailed();
    switch (operation) {
      case 'create':
        await this.create(context, bulk, isConditional);
        return;
      case 'partialUpdate':
        context.result = await this.change(context, bulk);
        return;
      case 'destroy':
        await this.destroy(context, bulk);
        context.result = { value: undefined };
        return;
      default:
        operation satisfies never;
    }
  }

  /** Creates a list of objects, or one object if the body is one. */
  private async create(context: RestContext, bulk: Bulk, isConditional: boolean): Promise<void> {
    const { selector, one, reauthorize } = this.services;
    const upserts = asksForUpsert(await context.parameters(), bulk, context.resource);
    if (upserts && isConditional) throw new PreconditionFailed();
    // Errors of the query come before those of the body (contract 6.3).
    await selectFields(selector, false)(context);
    const body = await context.items();
    if (!Array.isArray(body) && !upserts) {
      const single = context.fork({ input: withBody(context.input, objectOf(body)) });
      await one(single);
      context.result = single.result;
      return;
    }
    const items: readonly unknown[] = Array.isArray(body) ? body : [body];
    refuseTooMany(items.length, bulk);
    refuseParametersBut(
      foldFieldSelection(await context.parameters(), context.resource),
      context.resource.strict,
      () => [
        ...fieldSelectionParameters(context.resource.shape),
        ...(bulk.upsert.length > 0 ? [parameterName(UPSERT_PARAMETER, context.resource)] : []),
      ],
    );
    const changing = upserts ? await reauthorize(context, 'PATCH') : undefined;
    if (changing) await selectFields(selector, false)(changing);
    const { rows, replayed } = await this.services.idempotentWrites.runOnce(
      context,
      (read, completed) => this.made(items, { making: read, changing, bulk, completed }),
      changing,
    );
    const value = await shownIn(rows, (row) => (row.changed === true ? (changing ?? context) : context));
    const status = !upserts || rows.some(({ changed }) => changed !== true) ? 201 : 200;
    const result = { status, isReplayed: replayed };
    const [row] = rows;
    context.result = Array.isArray(body)
      ? { ...result, value }
      : { ...result, value: value[0], ...(row && row.changed !== true ? { key: row.key } : {}) };
  }

  private async made(
    items: readonly unknown[],
    {
      making,
      changing,
      bulk,
      completed,
    }: {
      readonly making: RestContext;
      readonly changing: RestContext | undefined;
      readonly bulk: Bulk;
      readonly completed: CompletedRows | undefined;
    },
  ): Promise<readonly Row[]> {
    const named = new Map<object, string>();
    const plans = await eachOf(items, (item): MaybePromise<CreatePlan | UpsertPlan> =>
      changing ? this.upsertOf(item, { making, changing, bulk, named }) : planCreate(making, item),
    );
    const steps = refuseTwice(
      plans,
      (plan) => named.get(plan),
      bulk.upsert.length === 1 ? (bulk.upsert[0] ?? '') : NON_FIELD_ERRORS,
    );
    return this.writing({ kind: 'batch', steps, skipsMissing: false, completed }, (refusals) =>
      itemsRefused(refusals, items.length),
    );
  }

  /**
   * Plans an update with the caller's permission to update, or a creation with the one to create. `named` collects the
   * texts that identify the rows.
   */
  private async upsertOf(
    item: JsonObject,
    {
      making,
      changing,
      bulk,
      named,
    }: {
      readonly making: RestContext;
      readonly changing: RestContext;
      readonly bulk: Bulk;
      readonly named: Map<object, string>;
    },
  ): Promise<CreatePlan | UpsertPlan> {
    const create = await planCreate(making, item);
    const values = upsertedValues(create, bulk.upsert);
    if (!values) return create;
    // These fields identify the row, and the application may have set them: they are not part of the change.
    const body = parseBody(changing, 'update', item, bulk.upsert);
    const update = await planUpdate(changing, {
      operation: 'update',
      body,
      where: allOf([changing.scope, ...values.map(({ column, value }) => equals(column, value))]),
    });
    const found = withOtherNames(bulk.upsert, changing.resource);
    const keys = create.keys.filter(({ path: [name] }) => name !== undefined && found.has(name));
    const plan: UpsertPlan = {
      kind: 'upsert',
      create,
      update: { ...update, keys: [...update.keys, ...keys] },
    };
    named.set(plan, keyText(values.map(({ value }) => value)));
    return plan;
  }

  /**
   * Changes a list of objects with their keys, each by its own values; or all objects that the parameters select, by one
   * body.
   */
  private async change(context: RestContext, bulk: Bulk): Promise<OperationResult> {
    await selectFields(this.services.selector, false)(context);
    const body = await context.items();
    if (Array.isArray(body)) {
      const items: readonly unknown[] = body;
      refuseParametersBut(foldFieldSelection(await context.parameters(), context.resource), true, () =>
        fieldSelectionParameters(context.resource.shape),
      );
      refuseTooMany(items.length, bulk);
      const { steps, keys, name } = await changesOf(items, context);
      const written = await this.writing({ kind: 'batch', steps, skipsMissing: false }, (refusals) =>
        itemsRefused(refusals, items.length, (index) =>
          messageAt(name, noSuchKey(keyText(keys.get(index) ?? []))),
        ),
      );
      return { value: await shownIn(written, () => context) };
    }
    const named = await this.named(context, bulk);
    const parsed = parseBody(context, 'partialUpdate', objectOf(body));
    const steps: UpdatePlan[] = [];
    for await (const where of inSlices(named.conditions))
      steps.push(await planUpdate(context, { operation: 'partialUpdate', body: parsed, where }));
    // An invalid body is an error even if no object is selected.
    if (steps.length === 0 && Object.keys(parsed.errors).length > 0) throw new InvalidInput(parsed.errors);
    const written = await this.writing(
      { kind: 'batch', steps, skipsMissing: named.keys === undefined },
      (refusals) => namedRefused(refusals, named),
    );
    return { value: await shownIn(written, () => context) };
  }

  private async destroy(context: RestContext, bulk: Bulk): Promise<void> {
    const named = await this.named(context, bulk);
    const steps: readonly DeletePlan[] = named.conditions.map((where) => planDelete(context, where));
    await this.writing({ kind: 'batch', steps, skipsMissing: named.keys === undefined }, (refusals) =>
      namedRefused(refusals, named),
    );
  }

  /**
   * The objects selected by parameters: keys, filters, or both. An unknown or empty parameter would select more objects
   * than intended: it is an error. An object that the caller may not read can be selected by its key alone.
   */
  private async named(context: RestContext, bulk: Bulk): Promise<Named> {
    const { resource } = context;
    const parameters = foldFieldSelection(await context.parameters(), resource);
    const keysParameter = parameterName(KEYS_PARAMETER, resource);
    const filters = parametersOf(
      parameters,
      (name) => name !== keysParameter && !fieldSelectionParameters(resource.shape).includes(name),
    );
    const keysText = parameters.get(keysParameter);
    if (valuesOf(keysParameter, parameters).length > 1)
      throw InvalidInput.of(keysParameter, 'Give this parameter once.');
    if (filters.size === 0 && keysText === undefined)
      throw InvalidInput.ofNoField(`Name the objects: by "${keysParameter}", or by filters.`);
    const list = filters.size === 0 ? undefined : await this.filtered(context, filters);
    const keys = keysText === undefined ? undefined : parsedKeys(keysText, context, bulk);
    const within = list?.where ?? context.scope;
    if (keys)
      return {
        keys,
        keysParameter,
        conditions: keys.map((key) => allOf([within, keyCondition(key, resource)])),
      };
    if (!list) throw new Error('Nothing names the objects.');
    const plan: PagePlan = {
      ...list,
      kind: 'page',
      limit: bulk.max,
      offset: 0,
      from: undefined,
      edges: false,
      count: undefined,
      forWriting: true,
    };
    const page = await this.adapter.read(plan, 'rows');
    if (page.more)
      throw InvalidInput.ofNoField(`More than ${bulk.max} objects fit: name fewer of them at a time.`);
    return {
      keys: undefined,
      keysParameter,
      conditions: page.rows.map(({ key }) => allOf([within, keyCondition(key, resource)])),
    };
  }

  /** Filters by fields and rows that the caller may read: otherwise the response to the write would disclose others. */
  private async filtered(context: RestContext, given: ReadonlyMap<string, string>): Promise<ListPlan> {
    const { route, actor } = context;
    const access = await context.access.authorize(route.resource, 'GET');
    const asked = context.fork({
      resource: restrictFields(route.resource, access),
      scope: allOf([context.scope, access.rows]),
      shape: undefined,
      queryAccess: undefined,
    });
    // A list ignores parameters that its caller may not filter by; here that would select more than intended.
    const view = await queriedResource(asked);
    const filters = foldLists(given, view);
    refuseParametersBut(filters, true, () =>
      view.backends.flatMap((backend) => [...(backend.parameters?.(view) ?? [])]),
    );
    for (const name of given.keys())
      if (valuesOf(name, given).includes('')) throw InvalidInput.of(name, 'This field may not be blank.');
    const [list, all] = [await planWith(asked, filters), await planWith(asked, new Map())];
    // A parameter may also disable what a backend excludes by default.
    if ([all.where, asked.scope].some((where) => isDeepStrictEqual(list.where, where)))
      throw InvalidInput.ofNoField('These filters leave no object out.');
    const values = (name: string): readonly string[] => valuesOf(name, filters);
    await assertNoIgnoredParameters({ resource: view, parameters: filters, values, actor }, view.backends);
    return list;
  }

  private async writing(
    plan: BatchPlan,
    refused: (refusals: ReadonlyMap<number, BulkStepError>) => Error,
  ): Promise<readonly Row[]> {
    if (plan.steps.length === 0) return [];
    try {
      return await this.adapter.writeAll(plan);
    } catch (error) {
      throw error instanceof BulkWriteError ? refused(error.refusals) : error;
    }
  }
}

/** The representations in the order of the rows; expanded objects are read once for the rows of each view. */
async function shownIn(
  rows: readonly Row[],
  viewOf: (row: Row) => RestContext,
): Promise<readonly Representation[]> {
  const shown = new Map<Row, Representation>();
  for (const context of new Set(rows.map(viewOf))) {
    const seen = rows.filter((row) => viewOf(row) === context);
    const expanded = context.shape ? await context.shape.expanded(seen) : seen;
    for await (const [index, row] of inSlices(seen.entries()))
      shown.set(row, represent(expanded[index] ?? row, context));
  }
  return rows.map((row) => shown.get(row) ?? {});
}

function planWith(context: RestContext, parameters: ReadonlyMap<string, string>): MaybePromise<ListPlan> {
  const fork = context.fork();
  fork.setParameters(parameters);
  return planRowsOf(fork);
}

function refuseTooMany(count: number, { max }: Bulk): void {
  if (count > max) throw InvalidInput.ofNoField(`Ensure this field has no more than ${max} elements.`);
}

/** The change of each item, applied to the object of its key. */
async function changesOf(
  items: readonly unknown[],
  context: RestContext,
): Promise<{
  readonly steps: BatchPlan['steps'];
  readonly keys: ReadonlyMap<number, readonly Json[]>;
  readonly name: string;
}> {
  const { resource, scope } = context;
  const fields = keyFieldsOf(resource);
  const name = fields.length === 1 ? (fields[0]?.name ?? NON_FIELD_ERRORS) : NON_FIELD_ERRORS;
  const keys = new Map<number, readonly Json[]>();
  const plans = await eachOf(items, async (item, index) => {
    const key = keyOfItem(item, fields, resource);
    keys.set(index, key);
    // A read-only key is not part of the change.
    const own = Object.fromEntries(
      Object.entries(item).filter(([each]) => !fields.some((field) => field.name === each)),
    );
    const body = parseBody(context, 'partialUpdate', own);
    return planUpdate(context, {
      operation: 'partialUpdate',
      body,
      where: allOf([scope, keyCondition(key, resource)]),
    });
  });
  return {
    steps: refuseTwice(
      plans,
      (plan, index) => (plan.kind === 'update' ? keyText(keys.get(index) ?? []) : undefined),
      name,
    ),
    keys,
    name,
  };
}

/** Plans each item of a list; the errors of an item that cannot be planned are reported with those of the others. */
async function eachOf<Plan>(
  items: readonly unknown[],
  plan: (item: JsonObject, index: number) => MaybePromise<Plan>,
): Promise<readonly (Plan | RefusedPlan)[]> {
  const plans: (Plan | RefusedPlan)[] = [];
  for await (const [index, item] of inSlices(items.entries())) {
    try {
      plans.push(await plan(objectOf(item), index));
    } catch (error) {
      if (!isRestException(error) || !('fields' in error)) throw error;
      plans.push({ kind: 'refused', errors: (error as InvalidInput).fields });
    }
  }
  return plans;
}

/** Refuses two items of one list that identify the same row: the result would depend on their order. */
function refuseTwice<Plan extends { readonly kind: string }>(
  plans: readonly Plan[],
  textOf: (plan: Plan, index: number) => string | undefined,
  where: string,
): readonly (Plan | RefusedPlan)[] {
  const seen = new Set<string>();
  return plans.map((plan, index) => {
    const text = textOf(plan, index);
    if (text === undefined) return plan;
    const isKnown = seen.has(text);
    seen.add(text);
    return isKnown
      ? { kind: 'refused', errors: messageAt(where, 'This object is in the list already.') }
      : plan;
  });
}

function parsedKeys(text: string, { resource }: RestContext, bulk: Bulk): readonly (readonly Json[])[] {
  const name = parameterName(KEYS_PARAMETER, resource);
  const parts = text.split(resource.key.columns.length === 1 ? ',' : ';');
  if (parts.includes('')) throw InvalidInput.of(name, 'This field may not be blank.');
  if (parts.length > bulk.max)
    throw InvalidInput.of(name, `Ensure this field has no more than ${bulk.max} elements.`);
  const unknown: string[] = [];
  const keys = new Map<string, readonly Json[]>();
  for (const part of parts) {
    const key = parseKeySegment(part, resource.key);
    if (key) keys.set(keyText(key), key);
    else unknown.push(part);
  }
  if (unknown.length > 0) throw InvalidInput.of(name, ...unknown.map(noSuchKey));
  return [...keys.values()];
}

function messageAt(name: string, ...messages: string[]): FieldErrors {
  return InvalidInput.of(name, ...messages).fields;
}

function itemsRefused(
  refusals: ReadonlyMap<number, BulkStepError>,
  count: number,
  missing: (index: number) => FieldErrors = () => messageAt(NON_FIELD_ERRORS, 'Not found.'),
): InvalidItems {
  return new InvalidItems(
    Array.from({ length: count }, (_, index) => {
      const refusal = refusals.get(index);
      return refusal === 'missing' ? missing(index) : (refusal ?? emptyFieldErrors());
    }),
  );
}

/** Reports an error of the one body once: that of the first row. */
function namedRefused(
  refusals: ReadonlyMap<number, BulkStepError>,
  { keys, keysParameter }: Named,
): InvalidInput {
  const gone = [...refusals].flatMap(([index, refusal]) =>
    refusal === 'missing' ? [keys?.[index] ?? []] : [],
  );
  if (gone.length > 0) return InvalidInput.of(keysParameter, ...gone.map((key) => noSuchKey(keyText(key))));
  const [first] = [...refusals.values()].filter((refusal) => refusal !== 'missing');
  return new InvalidInput(first ?? emptyFieldErrors());
}
