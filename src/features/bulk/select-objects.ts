import { isDeepStrictEqual } from 'node:util';
import { KEYS_PARAMETER } from '../../core/contracts/bulk.js';
import type { Bulk } from '../../core/contracts/bulk.js';
import { fieldSelectionParameters } from '../../core/contracts/field-selection.js';
import type { FilterBackend, FilterContext, FilterResult } from '../../core/contracts/filters.js';
import type { DataAdapter } from '../../core/data-adapter.js';
import type { BulkStepError, Json } from '../../core/errors/rest-exception.js';
import { InvalidInput } from '../../core/errors/http-exceptions.js';
import { emptyFieldErrors, isRestException } from '../../core/errors/rest-exception.js';
import type { MaybePromise } from '../../core/maybe-promise.js';
import { conjunction } from '../../core/query/condition.js';
import type { Condition } from '../../core/query/condition.js';
import type { ListPlan, PagePlan } from '../../core/query/plan.js';
import { parameterName } from '../../core/schema/resource-schema.js';
import { keyText, noSuchKey, parseKeySegment } from '../../core/values/keys.js';
import {
  foldFieldSelection,
  joinRepeatedParameters,
  rejectParametersExcept,
} from '../../request/parse/query-parameters.js';
import { selectParameters, parameterValues } from '../../request/parse/parse-query-string.js';
import { keyCondition } from '../../request/plan/row-conditions.js';
import type { RestContext } from '../../request/rest-context.js';
import { planRowsOf, queriedResource } from '../filtering/plan-rows.stage.js';
import { restrictFields } from '../permissions/restrict-fields.js';

/**
 * Rejects parameters that exclude no row, and values overridden by a later one of the same parameter: a bulk write must
 * not select more rows than intended. Parameters of an ordering need not exclude rows.
 */
async function assertNoIgnoredParameters(
  context: FilterContext,
  backends: readonly FilterBackend[],
): Promise<void> {
  const { resource, parameters, values } = context;
  const errors = emptyFieldErrors();
  for (const backend of backends) {
    const names = (backend.parameters?.(resource) ?? []).filter((name) => parameters.has(name));
    if (names.length === 0) continue;
    const { rows, order } = await backend.filter(context);
    if (order) continue;
    for (const name of names) {
      if (isDeepStrictEqual(rows, await filterRows(backend, without(name, context))))
        errors[name] = ['This parameter leaves no object out.'];
      else if (
        values(name).length > 1 &&
        isDeepStrictEqual(rows, await filterRows(backend, once(name, context)))
      )
        errors[name] = ['Give this parameter once.'];
    }
  }
  if (Object.keys(errors).length > 0) throw new InvalidInput(errors);
}

/** `refused` if the backend rejects the parameters without the removed one. */
async function filterRows(
  backend: FilterBackend,
  context: FilterContext,
): Promise<FilterResult['rows'] | 'refused'> {
  try {
    return (await backend.filter(context)).rows;
  } catch (error) {
    if (!isRestException(error)) throw error;
    return 'refused';
  }
}

function without(left: string, context: FilterContext): FilterContext {
  const { parameters, values } = context;
  return {
    ...context,
    parameters: new Map([...parameters].filter(([name]) => name !== left)),
    values: (name) => (name === left ? [] : values(name)),
  };
}

/** The parameter with its last value only. */
function once(repeated: string, context: FilterContext): FilterContext {
  const { values } = context;
  return { ...context, values: (name) => (name === repeated ? values(name).slice(-1) : values(name)) };
}

/** The objects selected by a request, and the data for the error of a missing one. */
export interface SelectedObjects {
  readonly conditions: readonly Condition[];
  /** Undefined if the rows were selected by a filter: a row deleted since then no longer matches it. */
  readonly keys: readonly (readonly Json[])[] | undefined;
  /** The name of the parameter with the keys. */
  readonly keysParameter: string;
}

/**
 * The objects selected by parameters: keys, filters, or both. An unknown or empty parameter would select more objects
 * than intended: it is an error. An object that the caller may not read can be selected by its key alone.
 */
export async function selectObjects(
  context: RestContext,
  bulk: Bulk,
  adapter: DataAdapter,
): Promise<SelectedObjects> {
  const { resource } = context;
  const parameters = foldFieldSelection(await context.parameters(), resource);
  const keysParameter = parameterName(KEYS_PARAMETER, resource);
  const filters = selectParameters(
    parameters,
    (name) => name !== keysParameter && !fieldSelectionParameters(resource.fieldSelection).includes(name),
  );
  const keysText = parameters.get(keysParameter);
  if (parameterValues(keysParameter, parameters).length > 1)
    throw InvalidInput.of(keysParameter, 'Give this parameter once.');
  if (filters.size === 0 && keysText === undefined)
    throw InvalidInput.ofNoField(`Name the objects: by "${keysParameter}", or by filters.`);
  const list = filters.size === 0 ? undefined : await planFilters(context, filters);
  const keys = keysText === undefined ? undefined : parseKeyList(keysText, context, bulk);
  const within = list?.where ?? context.scope;
  if (keys)
    return {
      keys,
      keysParameter,
      conditions: keys.map((key) => conjunction([within, keyCondition(key, resource)])),
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
  const page = await adapter.read(plan, 'rows');
  if (page.more)
    throw InvalidInput.ofNoField(`More than ${bulk.max} objects fit: name fewer of them at a time.`);
  return {
    keys: undefined,
    keysParameter,
    conditions: page.rows.map(({ key }) => conjunction([within, keyCondition(key, resource)])),
  };
}

/** Filters by fields and rows that the caller may read: otherwise the response to the write would disclose others. */
async function planFilters(context: RestContext, parameters: ReadonlyMap<string, string>): Promise<ListPlan> {
  const { route, actor } = context;
  const access = await context.access.authorize(route.resource, 'GET');
  const fork = context.fork({
    resource: restrictFields(route.resource, access),
    scope: conjunction([context.scope, access.grantCondition]),
    fieldSelection: undefined,
    queryAccess: undefined,
  });
  // A list ignores parameters that its caller may not filter by; here that would select more than intended.
  const view = await queriedResource(fork);
  const filters = joinRepeatedParameters(parameters, view);
  rejectParametersExcept(filters, true, () =>
    view.backends.flatMap((backend) => [...(backend.parameters?.(view) ?? [])]),
  );
  for (const name of parameters.keys())
    if (parameterValues(name, parameters).includes(''))
      throw InvalidInput.of(name, 'This field may not be blank.');
  const [list, all] = [await planWith(fork, filters), await planWith(fork, new Map())];
  // A parameter may also disable what a backend excludes by default.
  if ([all.where, fork.scope].some((where) => isDeepStrictEqual(list.where, where)))
    throw InvalidInput.ofNoField('These filters leave no object out.');
  const values = (name: string): readonly string[] => parameterValues(name, filters);
  await assertNoIgnoredParameters({ resource: view, parameters: filters, values, actor }, view.backends);
  return list;
}

function planWith(context: RestContext, parameters: ReadonlyMap<string, string>): MaybePromise<ListPlan> {
  const fork = context.fork();
  fork.setParameters(parameters);
  return planRowsOf(fork);
}

function parseKeyList(text: string, { resource }: RestContext, bulk: Bulk): readonly (readonly Json[])[] {
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

/** Reports an error of the one body once: that of the first row. */
export function selectionErrors(
  rejections: ReadonlyMap<number, BulkStepError>,
  { keys, keysParameter }: SelectedObjects,
): InvalidInput {
  const gone = [...rejections].flatMap(([index, rejection]) =>
    rejection === 'missing' ? [keys?.[index] ?? []] : [],
  );
  if (gone.length > 0) return InvalidInput.of(keysParameter, ...gone.map((key) => noSuchKey(keyText(key))));
  const [first] = [...rejections.values()].filter((rejection) => rejection !== 'missing');
  return new InvalidInput(first ?? emptyFieldErrors());
}
