import type { Access } from '../../core/contracts/access-control.js';
import type { FilterBackend, FilterContext, FilterResult } from '../../core/contracts/filters.js';
import { didYouMean } from '../../core/errors/declaration-error.js';
import { InvalidInput } from '../../core/errors/http-exceptions.js';
import { emptyFieldErrors } from '../../core/errors/rest-exception.js';
import { mapMaybe } from '../../core/maybe-promise.js';
import type { MaybePromise } from '../../core/maybe-promise.js';
import { conjunction, mapComparisons, ownKey } from '../../core/query/condition.js';
import type { Condition } from '../../core/query/condition.js';
import type { ListPlan } from '../../core/query/plan.js';
import { resolveRowFilter } from '../../core/query/resolve-row-filter.js';
import type { OrderTerm, ResourceSchema } from '../../core/schema/resource-schema.js';
import type { Resource } from '../../core/schema/resource.js';
import {
  joinRepeatedParameters,
  listParameters,
  rejectUnknownOfExpansion,
  rejectUnknownParameters,
} from '../../request/parse/query-parameters.js';
import { parameterValues } from '../../request/parse/parse-query-string.js';
import type { RestContext, Stage } from '../../request/rest-context.js';
import { queriedTargets, restrictQueries } from '../permissions/restrict-queries.js';
import { FieldFilter } from './field-filter.js';
import { JsonServerFilter, JsonServerOrdering, JsonServerSearch } from './json-server-filters.js';
import { OrderingFilter } from './ordering-filter.js';
import { rankBySearch } from './rank-order.js';
import { SearchFilter } from './search-filter.js';

const SEPARATOR = '__';
/** Of one response: a suggestion compares a name with all filters of its field. */
const MAX_ERRORS = 10;
/** In characters. A longer name gets no suggestion. */
const MAX_NAME = 100;

/**
 * Throws 400 for a parameter `<field>__<rest>` of a list that nothing reads, where the caller may read the field: a misspelt
 * lookup must not return all rows. `resource` is the model as the caller may query it, so that the error is the same
 * whether a filter of that name is hidden, undeclared or impossible; `fieldsByName` has its fields, selected or not. Does nothing without the field filter, or with a
 * backend that does not declare its parameters.
 */
function rejectUnknownFilters(
  parameters: ReadonlyMap<string, string>,
  resource: Resource,
  fieldsByName: Resource['fieldsByName'],
): void {
  const { filterTerms } = resource;
  const suspects = [...parameters.keys()].filter(
    (name) => !filterTerms.has(name) && fieldsByName.get(fieldOf(name))?.readable === true,
  );
  if (suspects.length === 0 || !readsAllFilters(resource)) return;
  const known = new Set(listParameters(resource));
  const unknown = suspects.filter((name) => !known.has(name)).slice(0, MAX_ERRORS);
  if (unknown.length === 0) return;
  const errors = emptyFieldErrors();
  for (const name of unknown)
    errors[name] = [
      name.length > MAX_NAME
        ? 'There is no such filter.'
        : `There is no such filter. ${didYouMean(name, filtersOf(fieldOf(name), resource))}`,
    ];
  throw new InvalidInput(errors);
}

/** The part before the first separator; empty without one. */
function fieldOf(name: string): string {
  return name.slice(0, Math.max(0, name.indexOf(SEPARATOR, 1)));
}

function readsAllFilters({ backends }: Resource): boolean {
  return (
    backends.some((backend) => backend instanceof FieldFilter) &&
    backends.every((backend) => backend.parameters !== undefined)
  );
}

/** The filters of a field that the caller has, without aliases. */
function filtersOf(field: string, { filterTerms }: Resource): readonly string[] {
  return [...filterTerms.keys()].filter(
    (name) =>
      (name === field || name.startsWith(`${field}${SEPARATOR}`)) &&
      !(name.endsWith('__exact') && filterTerms.has(name.slice(0, -'__exact'.length))),
  );
}

/** Evaluates the caller's permissions on the models that filters of this one reach, if any. */
export function authorizeQueries(resource: Resource): readonly Stage[] {
  if (queriedTargets(resource).length === 0) return [];
  return [
    async (context) => {
      context.queryAccess = await queryAccess(context, context.resource);
    },
  ];
}

/** Plans all rows that the parameters of a list select. Throws the errors of contract 6.1 in the order of contract 6.3. */
export const planRows: Stage = (context) =>
  mapMaybe(planRowsOf(context), (plan) => {
    context.list = plan;
  });

export function planRowsOf(context: RestContext): MaybePromise<ListPlan> {
  return mapMaybe(queriedResource(context), (resource) =>
    mapMaybe(filterResults(resource, context), (results) =>
      planList(resource, {
        within: context.scope,
        results,
        requester: context.requester,
        parent: context.parentCheck,
      }),
    ),
  );
}

/** The model with filters over relations under the grants of the models that they reach. */
export function queriedResource(context: RestContext): MaybePromise<Resource> {
  const { resource } = context;
  if (queriedTargets(resource).length === 0) return resource;
  return context.queryAccess
    ? restrictQueries(resource, context.queryAccess)
    : queryAccess(context, resource).then((access) => restrictQueries(resource, access));
}

async function queryAccess(
  { access }: RestContext,
  resource: Resource,
): Promise<ReadonlyMap<ResourceSchema, Access | undefined>> {
  const targets = queriedTargets(resource);
  return new Map(
    await Promise.all(
      targets.map(async (target) => [target, await access.tryAuthorize(target, 'GET')] as const),
    ),
  );
}

function filterResults(resource: Resource, context: RestContext): MaybePromise<readonly FilterResult[]> {
  return mapMaybe(context.parameters(), (given) => {
    if (given.size === 0 && resource.backends.every(({ constructor }) => NEED_PARAMETERS.has(constructor)))
      return [];
    const parameters = joinRepeatedParameters(given, resource);
    const { expandedIn } = context;
    if (expandedIn) rejectUnknownOfExpansion(parameters, resource, expandedIn);
    else rejectUnknownParameters(parameters, resource, 'list');
    rejectUnknownFilters(parameters, resource, (context.selectedFrom ?? resource).fieldsByName);
    const run = runFilterBackends(
      resource.backends,
      {
        resource,
        parameters,
        values: (name) => parameterValues(name, parameters),
        actor: context.actor,
        maxValues: context.isQuery ? resource.queryLimits.bodyValues : undefined,
      },
      [],
    );
    const found = mapMaybe(run, (results) => rankBySearch(results, resource));
    return context.isQuery ? mapMaybe(found, (results) => limitValues(results, resource)) : found;
  });
}

/** All values of a QUERY are parameters of one statement, of which databases limit the number. Throws 400. */
function limitValues(results: readonly FilterResult[], resource: Resource): readonly FilterResult[] {
  const { values, bodyValues } = resource.queryLimits;
  const resolved = results.map((result) => ({ ...result, rows: resolveFilterRows(result, resource) }));
  const count = resolved.reduce((sum, { rows }) => sum + countValues(rows), 0);
  if (count > bodyValues)
    throw InvalidInput.ofNoField(`Ensure there are no more than ${bodyValues} values in all.`);
  // A statement that long is unlikely to repeat.
  return count > values ? [...resolved, { oneOff: true }] : resolved;
}

function countValues(condition: Condition): number {
  let count = 0;
  mapComparisons(condition, (each) => {
    if (each.kind === 'related') count += countValues(each.condition);
    else if (each.kind === 'compare' && Array.isArray(each.value)) count += each.value.length;
    return each;
  });
  return count;
}

/** Backends that do not change a list without parameters. A subclass may. */
const NEED_PARAMETERS: ReadonlySet<unknown> = new Set([
  FieldFilter,
  SearchFilter,
  OrderingFilter,
  JsonServerFilter,
  JsonServerSearch,
  JsonServerOrdering,
]);

/** Runs the backends in sequence: an error of the query is reported by the first backend that finds it. */
function runFilterBackends(
  [backend, ...others]: readonly FilterBackend[],
  context: FilterContext,
  results: readonly FilterResult[],
): MaybePromise<readonly FilterResult[]> {
  return backend
    ? mapMaybe(backend.filter(context), (result) => runFilterBackends(others, context, [...results, result]))
    : results;
}

/** Combines the conditions and orders of all backends into the plan of a list. */
export function planList(
  resource: ResourceSchema,
  {
    within,
    results,
    requester,
    parent,
  }: Pick<ListPlan, 'requester' | 'parent'> & {
    readonly within: Condition;
    readonly results: readonly FilterResult[];
  },
): ListPlan {
  const rows = results.map((result) => resolveFilterRows(result, resource));
  const requested = results.find((result) => result.order !== undefined && result.order.length > 0)?.order;
  const uncacheable = results.some((result) => result.oneOff === true);
  return {
    kind: 'list',
    resource,
    where: conjunction([within, ...rows]),
    order: requested ? totalOrder(requested, resource) : defaultOrder(resource),
    parent,
    requester,
    uncacheable,
  };
}

function resolveFilterRows({ rows }: FilterResult, resource: ResourceSchema): Condition {
  if (rows === undefined) return { kind: 'always' };
  const isRowFilter = rows.kind === 'where' || 'filters' in rows || 'filter' in rows;
  return isRowFilter ? resolveRowFilter(rows, resource) : rows;
}

const DEFAULT_ORDERS = new WeakMap<ResourceSchema, readonly OrderTerm[]>();

/** The default order of the model, unless the request has one. */
function defaultOrder(resource: ResourceSchema): readonly OrderTerm[] {
  const known = DEFAULT_ORDERS.get(resource) ?? totalOrder(resource.ordering, resource);
  DEFAULT_ORDERS.set(resource, known);
  return known;
}

/** The key breaks ties, in the direction of the last term, so that the order is total and one index can serve it (contract 4.11). */
function totalOrder(order: readonly OrderTerm[], resource: ResourceSchema): readonly OrderTerm[] {
  const plain = order.flatMap(({ operand: { joinPath, column, present } }) =>
    joinPath.length === 0 && !present ? [column.id] : [],
  );
  const rest = ownKey(resource.key).filter(
    ({ joinPath, column }) => joinPath.length > 0 || !plain.includes(column.id),
  );
  const descending = order.at(-1)?.descending === true;
  return [...order, ...rest.map((operand) => ({ operand, descending }))];
}
