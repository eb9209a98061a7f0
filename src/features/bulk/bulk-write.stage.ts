import { UPSERT_PARAMETER } from '../../core/contracts/bulk.js';
import type { Bulk, BulkOperation } from '../../core/contracts/bulk.js';
import { fieldSelectionParameters } from '../../core/contracts/field-selection.js';
import type { Row } from '../../core/contracts/serializer.js';
import type { DataAdapter } from '../../core/data-adapter.js';
import { InvalidInput, PreconditionFailed } from '../../core/errors/http-exceptions.js';
import { NON_FIELD_ERRORS } from '../../core/errors/rest-exception.js';
import type { Json } from '../../core/errors/rest-exception.js';
import type { MaybePromise } from '../../core/maybe-promise.js';
import { conjunction, equalsAsKey } from '../../core/query/condition.js';
import type {
  CompletedRows,
  CreatePlan,
  UpsertPlan,
  ColumnValue,
  FieldValues,
} from '../../core/query/plan.js';
import type { Column } from '../../core/schema/column.js';
import type { Field } from '../../core/schema/field.js';
import { parameterName } from '../../core/schema/resource-schema.js';
import type { ToOneRelation } from '../../core/schema/relation.js';
import type { Resource } from '../../core/schema/resource.js';
import { foldFieldSelection, rejectParametersExcept } from '../../request/parse/query-parameters.js';
import {
  givenFieldsWith,
  suppliedFields,
  withAliases,
  withSupplied,
} from '../../request/plan/given-fields.js';
import { planItems, refusedPlan } from '../../request/plan/plan-items.js';
import { planCreate, planUpdate } from '../../request/plan/plan-write.js';
import { assertFewWrites, rejectNested } from '../../request/plan/nested-values.js';
import { WrittenRows } from '../../request/represent-row.js';
import { requireObject, withBody } from '../../request/request-input.js';
import type { JsonObject } from '../../request/request-input.js';
import type { OperationResult, RestContext, Stage } from '../../request/rest-context.js';
import { hasWriteCondition } from '../conditional-requests/precondition.stages.js';
import { selectFields } from '../field-selection/select-fields.stage.js';
import type { FieldSelector } from '../field-selection/select-fields.stage.js';
import type { IdempotentWrites, WriteRows } from '../idempotency/idempotency.stage.js';
import { errorsAt, itemErrors, assertItemCount, REPEATED, writeBatch } from './batch.js';
import { changeMany, deleteMany } from './change-many.js';
import type { ChangeServices } from './change-many.js';

/**
 * The values that identify the existing row of an upsert; undefined if one of these fields is absent or null, because
 * nothing equals null.
 */
function upsertedValues(
  { resource, values, fixed, added }: CreatePlan,
  names: readonly string[],
): readonly ColumnValue[] | undefined {
  const identifying: ColumnValue[] = [];
  for (const name of names) {
    const field = resource.fieldsByName.get(name);
    const columns = columnsOfField(field);
    if (!field || columns.length === 0) return undefined;
    const bodyValues = bodyValuesOf(field, values);
    for (const [index, column] of columns.entries()) {
      // In the precedence of a new row: URL, then application, then body.
      const higher = [...fixed, ...added].find((each) => each.column.id === column.id)?.value;
      const given = bodyValues[index];
      // No row is named by both together: the error of a new row is reported.
      if (columns.length > 1 && isDefinite(higher) && isDefinite(given) && String(higher) !== String(given))
        return undefined;
      const value = higher ?? given;
      const stored = storedValue(value, column);
      if (stored === null) return undefined;
      identifying.push({ column, value: stored });
    }
  }
  return identifying;
}

function isDefinite(value: Json | undefined): value is Exclude<Json, null> {
  return value !== undefined && value !== null;
}

function columnsOfField(field: Field | undefined): readonly Column[] {
  switch (field?.kind) {
    case 'column':
      return [field.column];
    case 'to-one':
      return field.relation.on.map(({ localColumn }) => localColumn);
    default:
      return [];
  }
}

/**
 * Rows are matched by the value that a transformer stores. Null if there is no value, or if the transformer stores none or
 * throws, which is then an error of the body.
 */
function storedValue(value: Json | undefined, { transform }: Column): Json {
  if (value === undefined || value === null) return null;
  if (!transform) return value;
  const outcome = transform.stored(value);
  return outcome.errors ? null : outcome.value;
}

/** The values of the columns of a field, or of the foreign key column that bodies may use instead. */
function bodyValuesOf(field: Field, values: FieldValues): readonly Json[] {
  const given = values.get(field.name);
  if (given !== undefined && given !== null)
    return field.kind === 'to-one' ? columnsOfKey(given as readonly Json[], field.relation) : [given as Json];
  const byColumn =
    field.kind === 'to-one' && field.foreignKeyAlias !== undefined
      ? values.get(field.foreignKeyAlias)
      : undefined;
  return byColumn === undefined || byColumn === null ? [] : [byColumn as Json];
}

/** The values of a key in the order of the relation's columns. */
function columnsOfKey(key: readonly Json[], { on, target, byKey }: ToOneRelation): readonly Json[] {
  return byKey
    ? on.map(
        ({ referencedColumn }) =>
          key[target.key.columns.findIndex(({ id }) => id === referencedColumn.id)] ?? null,
      )
    : key;
}

/** The services of the pipeline that bulk writes use. */
export interface BulkServices extends ChangeServices {
  readonly idempotentWrites: IdempotentWrites;
  /** Runs the operation for a body of one object. */
  readonly one: Stage;
  /** The same URL authorized for another method. Throws 403. */
  readonly reauthorize: (context: RestContext, method: 'PATCH') => Promise<RestContext>;
}

interface CreateOptions {
  readonly bulk: Bulk;
  /** Whether the request has a condition on the state of one object. */
  readonly isConditional: boolean;
}

interface WriteItemsOptions {
  readonly creating: RestContext;
  /** The context of the updates of an upsert; undefined if objects are only created. */
  readonly changing: RestContext | undefined;
  readonly bulk: Bulk;
  readonly completed: CompletedRows | undefined;
}

type UpsertOptions = Pick<WriteItemsOptions, 'creating' | 'bulk'> & { readonly changing: RestContext };

/** Writes many objects in one request, all or none; one if the body is one object. Throws the errors of contract 6.1. */
export function writeMany(operation: BulkOperation, services: BulkServices): Stage {
  return async (context) => {
    const { bulk } = context.resource;
    if (!bulk) throw new Error(`${context.resource.className} has no bulk writes.`);
    const isConditional = hasWriteCondition(context);
    // A precondition refers to the state of one object.
    if (isConditional && operation !== 'create') throw new PreconditionFailed();
    switch (operation) {
      case 'create':
        context.result = await createMany(context, { bulk, isConditional }, services);
        return;
      case 'partialUpdate':
        context.result = await changeMany(context, bulk, services);
        return;
      case 'destroy':
        await deleteMany(context, bulk, services);
        context.result = { value: undefined };
        return;
      default:
        operation satisfies never;
    }
  };
}

/** Creates a list of objects, or one object if the body is one. */
async function createMany(
  context: RestContext,
  { bulk, isConditional }: CreateOptions,
  services: BulkServices,
): Promise<OperationResult | undefined> {
  const { selector, one, reauthorize, idempotentWrites, adapter } = services;
  const query = await context.parameters();
  const upserts = parseUpsert(query, bulk, context.resource);
  if (upserts && isConditional) throw new PreconditionFailed();
  // Errors of the query come before those of the body (contract 6.3).
  await selectShape(context, selector);
  const body = await context.items();
  if (!Array.isArray(body) && !upserts) {
    const single = context.fork({ input: withBody(context.input, requireObject(body)) });
    await one(single);
    return single.result;
  }
  const items: readonly unknown[] = Array.isArray(body) ? body : [body];
  assertItemCount(items.length, bulk);
  rejectParametersExcept(
    foldFieldSelection(await context.parameters(), context.resource),
    context.resource.strict,
    () => [
      ...fieldSelectionParameters(context.resource.fieldSelection),
      ...(bulk.upsert.length > 0 ? [parameterName(UPSERT_PARAMETER, context.resource)] : []),
    ],
  );
  assertFewWrites(context.route, items);
  const changing = upserts ? await reauthorize(context, 'PATCH') : undefined;
  if (changing) {
    // The selection above has taken its own parameters out.
    changing.setParameters(query);
    await selectShape(changing, selector);
  }
  const write: WriteRows = (creating, completed) =>
    writeItems(items, { creating, changing, bulk, completed }, adapter);
  const written = new WrittenRows(context, changing);
  const { completed } = written;
  const { rows, replayed } = context.resource.idempotency
    ? await idempotentWrites.runOnce(context, { write, completed, changed: changing })
    : { rows: await write(context, completed), replayed: false };
  const value = await written.represent(rows);
  const status = !upserts || rows.some(({ changed }) => changed !== true) ? 201 : 200;
  const result = { status, isReplayed: replayed };
  if (Array.isArray(body)) return { ...result, value };
  const [row] = rows;
  // For `Location`: an updated object has none.
  return { ...result, value: value[0], ...(row && row.changed !== true && { key: row.key }) };
}

/** True if existing objects are to be updated. Throws 400. */
export function parseUpsert(
  parameters: ReadonlyMap<string, string>,
  { upsert }: Bulk,
  resource: Pick<Resource, 'renamed'>,
): boolean {
  const name = parameterName(UPSERT_PARAMETER, resource);
  const value = parameters.get(name)?.toLowerCase();
  if (value === undefined || ['', 'false', '0'].includes(value)) return false;
  if (value !== 'true' && value !== '1') throw InvalidInput.of(name, 'Must be a valid boolean.');
  if (upsert.length === 0) throw InvalidInput.of(name, 'Objects of this model can only be created.');
  return true;
}

async function selectShape(context: RestContext, selector: FieldSelector): Promise<void> {
  if (context.resource.fieldSelection) await selectFields(selector, false)(context);
}

async function writeItems(
  items: readonly unknown[],
  { creating, changing, bulk, completed }: WriteItemsOptions,
  adapter: DataAdapter,
): Promise<readonly Row[]> {
  const plan = (item: JsonObject): MaybePromise<CreatePlan | UpsertPlan> =>
    changing ? planUpsert(item, { creating, changing, bulk }) : planCreate(creating, item);
  const steps = await planItems(items, plan, refusedPlan);
  return writeBatch(adapter, { kind: 'batch', steps, skipsMissing: false, completed }, (rejections) =>
    itemErrors(rejections, items.length),
  );
}

/** Plans an update with the caller's permission to update, or a creation with the one to create. */
async function planUpsert(
  item: JsonObject,
  { creating, changing, bulk }: UpsertOptions,
): Promise<CreatePlan | UpsertPlan> {
  rejectNested(creating.route, item, 'Objects are not written by an upsert of the object that has them.');
  const create = await planCreate(creating, item);
  const values = upsertedValues(create, bulk.upsert);
  if (!values) return create;
  // These fields identify the row, and the application may have set them: they are not part of the change.
  const { resource, actor } = changing;
  const supplied = suppliedFields(resource, item, { operation: 'update', set: [] });
  const given = withSupplied(givenFieldsWith(changing, bulk.upsert), supplied);
  const body = resource.serializer.parse(item, { resource, operation: 'update', actor, given });
  const update = await planUpdate(changing, {
    operation: 'update',
    body,
    where: conjunction([changing.scope, ...values.map(({ column, value }) => equalsAsKey(column, value))]),
  });
  const found = withAliases(bulk.upsert, changing.resource);
  const keys = create.keys.filter(({ path: [name] }) => name !== undefined && found.has(name));
  const [name = '', ...more] = bulk.upsert;
  return {
    kind: 'upsert',
    create,
    update: { ...update, keys: [...update.keys, ...keys] },
    identifying: values,
    repeated: errorsAt(more.length === 0 ? name : NON_FIELD_ERRORS, REPEATED),
  };
}
