import type { Access } from '../../core/contracts/access-control.js';
import type { FilterBackend, FilterContext, FilterResult } from '../../core/contracts/filter-backend.js';
import { mapMaybe } from '../../core/maybe-promise.js';
import type { MaybePromise } from '../../core/maybe-promise.js';
import { conjunction, ownKey } from '../../core/query/condition.js';
import type { Condition } from '../../core/query/condition.js';
import type { ListPlan } from '../../core/query/plan.js';
import { resolveRowFilter } from '../../core/query/resolve-row-filter.js';
import type { OrderTerm, ResourceSchema } from '../../core/schema/resource-schema.js';
import type { Resource } from '../../core/schema/resource.js';
import { foldLists } from '../../request/parse/list-parameters.js';
import { parameterValues } from '../../request/parse/parse-query-string.js';
import { rejectUnknownParameters } from '../../request/parse/unknown-parameters.js';
import type { RestContext, Stage } from '../../request/rest-context.js';
import { queriedTargets, restrictQueries } from '../permissions/restrict-queries.js';
import { FieldFilter } from './field-filter.js';
import { JsonServerFilter } from './json-server-filter.js';
import { JsonServerOrdering } from './json-server-ordering.js';
import { JsonServerSearch } from './json-server-search.js';
import { OrderingFilter } from './ordering-filter.js';
import { rejectUnknownFilters } from './reject-unknown-filters.js';
import { SearchFilter } from './search-filter.js';

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
    if (given.size === 0 && resource.backends.every(needsParameters)) return [];
    const parameters = foldLists(given, resource);
    rejectUnknownParameters(parameters, resource, true);
    rejectUnknownFilters(parameters, resource);
    return runFilterBackends(
      resource.backends,
      {
        resource,
        parameters,
        values: (name) => parameterValues(name, parameters),
        actor: context.actor,
      },
      [],
    );
  });
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

function needsParameters({ constructor }: FilterBackend): boolean {
  return NEED_PARAMETERS.has(constructor);
}

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
  const oneOff = results.some((result) => result.oneOff === true);
  return {
    kind: 'list',
    resource,
    where: conjunction([within, ...rows]),
    order: requested ? totalOrder(requested, resource) : defaultOrder(resource),
    parent,
    requester,
    oneOff,
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
  const plain = order.filter((term) => term.operand.hops.length === 0).map((term) => term.operand.column.id);
  const rest = ownKey(resource.key).filter(
    ({ hops, column }) => hops.length > 0 || !plain.includes(column.id),
  );
  const descending = order.at(-1)?.descending === true;
  return [...order, ...rest.map((operand) => ({ operand, descending }))];
}
