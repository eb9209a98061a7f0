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
import type { Answered, Located } from '../../request/rest-context.js';
import type { DataAdapter } from '../../core/data-adapter.js';
import { assertNoIgnoredParameters } from '../filtering/ignored-parameters.js';
import { IdempotentWrites } from '../idempotency/idempotency.stage.js';
import { REPLAYED } from '../../pipeline/operations.js';
import type { Operations } from '../../pipeline/operations.js';
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

/** What a bulk write needs of the request that it belongs to. */
export interface BulkRequest {
  /** The same URL, as the caller may use it by another method. Throws 403. */
  readonly asking: (method: 'PATCH') => Promise<Located>;
  /** Whether the request asks something of the state of an object. */
  readonly conditional: boolean;
  /** One object, as if the model had no bulk writes. */
  readonly one: (located: Located) => Promise<Answered>;
}

/** Objects that a request names, and how it is told of one that is not there. */
interface Named {
  readonly conditions: readonly Condition[];
  /** Undefined where the rows were found by a filter: what has gone since does not fit it any more. */
  readonly keys: readonly (readonly Json[])[] | undefined;
  /** The parameter that names keys. */
  readonly keysParameter: string;
}

/** Writes of many objects by one request: all of them, or none. They throw the errors of contract 6.1. */
export class BulkWrites {
  private readonly idempotent: IdempotentWrites;

  constructor(
    private readonly adapter: DataAdapter,
    private readonly operations: Operations,
  ) {
    this.idempotent = new IdempotentWrites(adapter, adapter.answers);
  }

  async run(operation: BulkOperation, located: Located, request: BulkRequest): Promise<Answered> {
    const { bulk } = located.resource;
    if (!bulk) throw new Error(`${located.resource.label} has no bulk writes.`);
    switch (operation) {
      case 'create':
        return this.create(located, bulk, request);
      case 'partialUpdate':
        return this.change(located, bulk);
      case 'destroy':
        await this.destroy(located, bulk);
        return { value: undefined };
      default:
        return operation satisfies never;
    }
  }

  /** A list of objects; one object where the body is one. */
  private async create(
    located: Located,
    bulk: Bulk,
    { asking, conditional, one }: BulkRequest,
  ): Promise<Answered> {
    const upserts = asksForUpsert(await located.parameters(), bulk, located.resource);
    if (upserts && conditional) throw new PreconditionFailed();
    // What is wrong with the query is told before what is wrong with the body (contract 6.3).
    const making = await this.operations.shaped(located, false);
    const body = await bodyOf(located);
    if (!Array.isArray(body) && !upserts)
      return one({ ...located, body: () => Promise.resolve(objectOf(body)) });
    const items: readonly unknown[] = Array.isArray(body) ? body : [body];
    refuseTooMany(items.length, bulk);
    refuseParametersBut(
      foldFieldSelection(await located.parameters(), making.resource),
      making.resource.strict,
      () => [
        ...fieldSelectionParameters(making.resource.shape),
        ...(bulk.upsert.length > 0 ? [parameterName(UPSERT_PARAMETER, making.resource)] : []),
      ],
    );
    const changing = upserts ? await this.operations.shaped(await asking('PATCH'), false) : undefined;
    const { rows, replayed } = await this.idempotent.runOnce(
      { ...making, items: () => Promise.resolve(body) },
      (read, completed) => this.made(items, { making: read, changing, bulk, completed }),
      changing,
    );
    const value = await shownIn(rows, (row) => (row.changed === true ? (changing ?? making) : making));
    const status = !upserts || rows.some(({ changed }) => changed !== true) ? 201 : 200;
    const told = replayed ? REPLAYED : undefined;
    if (Array.isArray(body)) return { value, status, told };
    const [row] = rows;
    return { value: value[0], status, told, ...(row && row.changed !== true ? { key: row.key } : {}) };
  }

  private async made(
    items: readonly unknown[],
    {
      making,
      changing,
      bulk,
      completed,
    }: {
      readonly making: Located;
      readonly changing: Located | undefined;
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

  /** What it changes a row to is what its caller may change; where there is none, it makes what its caller may make. `named`: texts that name the rows. */
  private async upsertOf(
    item: JsonObject,
    {
      making,
      changing,
      bulk,
      named,
    }: {
      readonly making: Located;
      readonly changing: Located;
      readonly bulk: Bulk;
      readonly named: Map<object, string>;
    },
  ): Promise<CreatePlan | UpsertPlan> {
    const create = await planCreate(making, item);
    const values = upsertedValues(create, bulk.upsert);
    if (!values) return create;
    // The row is found by these fields, which the application may have said: they are no part of the change.
    const body = parseBody(changing, 'update', item, bulk.upsert);
    const update = await planUpdate(changing, {
      operation: 'update',
      body,
      where: allOf([changing.within, ...values.map(({ column, value }) => equals(column, value))]),
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

  /** A list of objects with their keys, each with its own changes; or one change of all objects that the parameters name. */
  private async change(asked: Located, bulk: Bulk): Promise<Answered> {
    const located = await this.operations.shaped(asked, false);
    const body = await bodyOf(located);
    if (Array.isArray(body)) {
      const items: readonly unknown[] = body;
      refuseParametersBut(foldFieldSelection(await located.parameters(), located.resource), true, () =>
        fieldSelectionParameters(located.resource.shape),
      );
      refuseTooMany(items.length, bulk);
      const { steps, keys, name } = await changesOf(items, located);
      const written = await this.writing({ kind: 'batch', steps, skipsMissing: false }, (refusals) =>
        itemsRefused(refusals, items.length, (index) =>
          messageAt(name, noSuchKey(keyText(keys.get(index) ?? []))),
        ),
      );
      return { value: await shownIn(written, () => located) };
    }
    const named = await this.named(located, bulk);
    const parsed = parseBody(located, 'partialUpdate', objectOf(body));
    const steps: UpdatePlan[] = [];
    for await (const where of inSlices(named.conditions))
      steps.push(await planUpdate(located, { operation: 'partialUpdate', body: parsed, where }));
    // Nobody is told by an empty answer that a body is wrong.
    if (steps.length === 0 && Object.keys(parsed.errors).length > 0) throw new InvalidInput(parsed.errors);
    const written = await this.writing(
      { kind: 'batch', steps, skipsMissing: named.keys === undefined },
      (refusals) => namedRefused(refusals, named),
    );
    return { value: await shownIn(written, () => located) };
  }

  private async destroy(located: Located, bulk: Bulk): Promise<void> {
    const named = await this.named(located, bulk);
    const steps: readonly DeletePlan[] = named.conditions.map((where) => planDelete(located, where));
    await this.writing({ kind: 'batch', steps, skipsMissing: named.keys === undefined }, (refusals) =>
      namedRefused(refusals, named),
    );
  }

  /**
   * The objects that parameters name: keys, filters, or both. A parameter that names nothing, or that is empty, would mean
   * more objects than somebody has in mind: it is an error. What a caller may not read can be named by its key alone.
   */
  private async named(located: Located, bulk: Bulk): Promise<Named> {
    const { resource } = located;
    const parameters = foldFieldSelection(await located.parameters(), resource);
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
    const list = filters.size === 0 ? undefined : await this.filtered(located, filters);
    const keys = keysText === undefined ? undefined : parsedKeys(keysText, located, bulk);
    const within = list?.where ?? located.within;
    if (keys)
      return {
        keys,
        keysParameter,
        conditions: keys.map((key) => allOf([within, keyCondition(key, resource)])),
      };
    if (!list) throw new Error('Nothing names the objects.');
    const page = await this.adapter.page({
      ...list,
      kind: 'page',
      limit: bulk.max,
      offset: 0,
      from: undefined,
      edges: false,
      count: undefined,
      forWriting: true,
    });
    if (page.more)
      throw InvalidInput.ofNoField(`More than ${bulk.max} objects fit: name fewer of them at a time.`);
    return {
      keys: undefined,
      keysParameter,
      conditions: page.rows.map(({ key }) => allOf([within, keyCondition(key, resource)])),
    };
  }

  /** By fields that the caller may read, among rows that the caller may read: else what is written would tell of them. */
  private async filtered(located: Located, given: ReadonlyMap<string, string>): Promise<ListPlan> {
    const { route, admission } = located;
    const access = await admission.accesses.authorize(route.resource, 'GET');
    const asked = {
      ...located,
      resource: restrictFields(route.resource, access),
      within: allOf([located.within, access.rows]),
      shape: undefined,
    };
    // A list passes over what its caller may not filter by; here that would name more than is meant.
    const view = await this.operations.queried(asked);
    const filters = foldLists(given, view);
    refuseParametersBut(filters, true, () =>
      view.backends.flatMap((backend) => [...(backend.parameters?.(view) ?? [])]),
    );
    for (const name of given.keys())
      if (valuesOf(name, given).includes('')) throw InvalidInput.of(name, 'This field may not be blank.');
    const [list, all] = [
      await this.operations.planned({ ...asked, parameters: () => filters }),
      await this.operations.planned({ ...asked, parameters: () => new Map<string, string>() }),
    ];
    // A parameter may also take away what a backend leaves out by itself.
    if ([all.where, asked.within].some((where) => isDeepStrictEqual(list.where, where)))
      throw InvalidInput.ofNoField('These filters leave no object out.');
    await assertNoIgnoredParameters({
      resource: view,
      parameters: filters,
      values: (name) => valuesOf(name, filters),
      actor: admission.actor,
    });
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

/** In the order of the rows; what is expanded is read once for those of one view. */
async function shownIn(
  rows: readonly Row[],
  viewOf: (row: Row) => Located,
): Promise<readonly Representation[]> {
  const shown = new Map<Row, Representation>();
  for (const located of new Set(rows.map(viewOf))) {
    const seen = rows.filter((row) => viewOf(row) === located);
    const expanded = located.shape ? await located.shape.expanded(seen) : seen;
    for await (const [index, row] of inSlices(seen.entries()))
      shown.set(row, represent(expanded[index] ?? row, located));
  }
  return rows.map((row) => shown.get(row) ?? {});
}

async function bodyOf(located: Located): Promise<JsonObject | readonly unknown[]> {
  return located.items ? located.items() : located.body();
}

function refuseTooMany(count: number, { max }: Bulk): void {
  if (count > max) throw InvalidInput.ofNoField(`Ensure this field has no more than ${max} elements.`);
}

/** The change of each item, of the object that its key names. */
async function changesOf(
  items: readonly unknown[],
  located: Located,
): Promise<{
  readonly steps: BatchPlan['steps'];
  readonly keys: ReadonlyMap<number, readonly Json[]>;
  readonly name: string;
}> {
  const { resource, within } = located;
  const fields = keyFieldsOf(resource);
  const name = fields.length === 1 ? (fields[0]?.name ?? NON_FIELD_ERRORS) : NON_FIELD_ERRORS;
  const keys = new Map<number, readonly Json[]>();
  const plans = await eachOf(items, async (item, index) => {
    const key = keyOfItem(item, fields, resource);
    keys.set(index, key);
    // A key that is not to be changed is no change.
    const own = Object.fromEntries(
      Object.entries(item).filter(([each]) => !fields.some((field) => field.name === each)),
    );
    const body = parseBody(located, 'partialUpdate', own);
    return planUpdate(located, {
      operation: 'partialUpdate',
      body,
      where: allOf([within, keyCondition(key, resource)]),
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

/** Each item of a list; one of which nothing can be made is refused together with the others. */
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

/** Two of one list would be one row: which of them it is to be, nobody says. */
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

function parsedKeys(text: string, { resource }: Located, bulk: Bulk): readonly (readonly Json[])[] {
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

/** One body is wrong in one way: as the first row is told it. */
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
