import { aggregateNames, aggregateParameters } from '../../core/contracts/aggregates.js';
import { fieldSelectionParameters } from '../../core/contracts/field-selection.js';
import type { Page, PageRequest, PageResponse, Pagination } from '../../core/contracts/pagination.js';
import type { DataAdapter } from '../../core/data-adapter.js';
import { InvalidInput, InvalidPage } from '../../core/errors/http-exceptions.js';
import { emptyFieldErrors } from '../../core/errors/rest-exception.js';
import type { MaybePromise } from '../../core/maybe-promise.js';
import { InexactResult } from '../../core/query/aggregate.js';
import type { AggregatePlan, AggregateResult } from '../../core/query/aggregate.js';
import { parameterName } from '../../core/schema/resource-schema.js';
import type { Resource } from '../../core/schema/resource.js';
import { ZONE_YEARS } from '../../core/values/time-zones.js';
import { selectParameters } from '../../request/parse/parse-query-string.js';
import { foldAggregates } from '../../request/parse/query-parameters.js';
import { pageLinks } from '../../request/resource-urls.js';
import { pageValue } from '../../request/response/json-page.js';
import type { RestContext, Stage } from '../../request/rest-context.js';
import { planRowsOf } from '../filtering/plan-rows.stage.js';
import { grantAggregates } from './grant-groups.js';
import { labelGroups } from './label-groups.js';
import type { GroupLabels } from './label-groups.js';
import { parseAggregates } from './parse-aggregates.js';
import type { ParsedAggregates } from './parse-aggregates.js';
import { flatGroup, flatNames, groupPresenter, INEXACT_SUM } from './present-groups.js';

/** Of responses from which groups are left out because they are too small. */
const OMITTED_HEADER = { 'X-Groups-Omitted': 'true' };

/** Throws 400 for parameters of aggregates in a request for rows: a group without an aggregate must not return all rows. */
export const rejectGroups: Stage = async (context) => {
  const { resource } = context;
  const parameters = foldAggregates(await context.parameters(), resource);
  const { aggregate, group, having, tz } = aggregateNames(resource);
  const errors = emptyFieldErrors();
  for (const [name, value] of parameters)
    if (value !== '' && (name === group || name === tz || name.startsWith(`${having}.`)))
      errors[name] = [`Only with "${aggregate}".`];
  if (Object.keys(errors).length > 0) throw new InvalidInput(errors);
  context.setParameters(withoutNames(parameters, resource));
};

/** The parameters without those of aggregates. */
function withoutNames(
  parameters: ReadonlyMap<string, string>,
  resource: Resource,
): ReadonlyMap<string, string> {
  const names = new Set(aggregateParameters(resource));
  const { having } = aggregateNames(resource);
  return selectParameters(parameters, (name) => !names.has(name) && !name.startsWith(`${having}.`));
}

/**
 * Sets the result to the aggregates of the rows that a list with the same parameters has: the condition is that of its plan.
 * Throws 400.
 */
export function aggregateRows(adapter: DataAdapter): Stage {
  return async (context) => {
    const { resource } = context;
    const { aggregates } = resource;
    if (!aggregates) throw new Error(`${resource.className} has no aggregates.`);
    const parameters = foldAggregates(await context.parameters(), resource);
    rejectShape(parameters, resource);
    const granted = await grantAggregates(aggregates, context.access);
    const parsed = parseAggregates(parameters, resource, granted.aggregates);
    const ordering = parameterName('ordering', resource);
    const rest = withoutNames(parameters, resource);
    const done = [ordering, addingParameter(resource)];
    context.setParameters(selectParameters(rest, (name) => !done.includes(name)));
    const list = await planRowsOf(context);
    const plan: Omit<AggregatePlan, 'limit' | 'offset' | 'counts'> = {
      list,
      groups: parsed.groups.map(({ name, field, bucket }) => ({
        ...field,
        bucket,
        within: granted.within(name),
      })),
      measures: parsed.measures,
      having: parsed.having,
      order: parsed.order,
      minGroup: aggregates.minGroup,
    };
    const { pagination } = resource;
    const read = (window: Pick<AggregatePlan, 'limit' | 'offset' | 'counts'>): Promise<AggregateResult> => {
      context.moveChecksIntoStatement();
      return readExactly({ ...plan, ...window }, parsed, { adapter, resource });
    };
    const { result, page } =
      pagination && context.exchange
        ? await readPage(pagination, { context, parameters, read, isGrouped: parsed.groups.length > 0 })
        : { result: await readAll(resource, read), page: {} };
    setResult(context, {
      parsed,
      result,
      page,
      labels: await labelGroups(result, parsed, { context, adapter }),
    });
  };
}

/** Fields of objects are not selected from groups. */
function rejectShape(parameters: ReadonlyMap<string, string>, resource: Resource): void {
  const { aggregate } = aggregateNames(resource);
  for (const name of [...fieldSelectionParameters(resource.fieldSelection), addingParameter(resource)])
    if (name !== undefined && (parameters.get(name) ?? '') !== '')
      throw InvalidInput.of(name, `Not with "${aggregate}".`);
}

/** The parameter that adds members to objects, labels or counts. */
function addingParameter({ labelsParameter, counts }: Resource): string | undefined {
  return labelsParameter ?? counts?.parameter;
}

/** What cannot be given exactly is the client's error. */
async function readExactly(
  plan: AggregatePlan,
  { groups }: ParsedAggregates,
  { adapter, resource }: { readonly adapter: DataAdapter; readonly resource: Resource },
): Promise<AggregateResult> {
  try {
    return await adapter.aggregate(plan);
  } catch (error) {
    if (!(error instanceof InexactResult)) throw error;
    const { aggregate, group } = aggregateNames(resource);
    const name = error.group === undefined ? undefined : groups[error.group]?.name;
    throw name === undefined
      ? InvalidInput.of(aggregate, INEXACT_SUM)
      : InvalidInput.of(
          group,
          `"${name}" has dates outside of the years ${ZONE_YEARS.from} to ${ZONE_YEARS.to - 1}, or that are none.`,
        );
  }
}

type ReadGroups = (window: Pick<AggregatePlan, 'limit' | 'offset' | 'counts'>) => Promise<AggregateResult>;

/** All groups, if there are not too many. */
async function readAll(resource: Resource, read: ReadGroups): Promise<AggregateResult> {
  const limit = resource.queryLimits.aggregatedGroups;
  const result = await read({ limit, offset: 0, counts: false });
  if (result.more)
    throw InvalidInput.of(
      aggregateNames(resource).group,
      `There are more than ${limit} groups. Filter the rows, or name fewer or longer groups.`,
    );
  return result;
}

interface PagedGroups {
  readonly context: RestContext;
  readonly parameters: ReadonlyMap<string, string>;
  readonly read: ReadGroups;
  readonly isGrouped: boolean;
}

interface PresentedGroups {
  readonly result: AggregateResult;
  readonly page: PageResponse;
}

/** One page of groups, in the envelope of the model's pagination. A cursor has the number of groups before the page. */
async function readPage(
  pagination: Pagination,
  { context, parameters, read }: PagedGroups,
): Promise<PresentedGroups> {
  const { exchange, resource } = context;
  if (!exchange) throw new Error(`A page of ${resource.className} has no request.`);
  const place = placeOf(context, parameters);
  const query = { parameters, place };
  // A pagination of the application may return a promise.
  const request = await (pagination.page(query) as MaybePromise<PageRequest>);
  const counts = request.count !== undefined;
  const { limit } = request.window;
  const window = await startOf(request, read);
  const result = await read({ limit, offset: window.offset, counts });
  const count = result.count ?? window.count;
  const page: Page = {
    size: result.groups.length,
    limit,
    offset: request.window.kind === 'cursor' ? undefined : window.offset,
    more: result.more,
    count: count === undefined ? undefined : { rows: count, exact: true, atLeast: false },
    ...neighbours(request, { limit, offset: window.offset, more: result.more }),
  };
  const link = pageLinks(context, exchange);
  return { result, page: pagination.present(page, { ...query, link }) };
}

/** Identifies the aggregate, whose cursors are valid in no other one. */
function placeOf({ base, route, keys }: RestContext, parameters: ReadonlyMap<string, string>): string {
  const { resource, parent, relation } = route;
  const asked = [...parameters].filter(([name]) =>
    aggregateParameters(resource).some((each) => name.startsWith(each)),
  );
  const ordering = parameters.get(parameterName('ordering', resource)) ?? '';
  return JSON.stringify(['groups', base, resource.id, parent?.id, relation?.name, keys.key, ordering, asked]);
}

async function startOf(
  { window }: PageRequest,
  read: ReadGroups,
): Promise<{ readonly offset: number; readonly count?: number | undefined }> {
  switch (window.kind) {
    case 'offset':
      return { offset: assertOffset(window.offset) };
    case 'cursor':
      return { offset: assertOffset(Number(window.position?.values[0] ?? 0)) };
    case 'last': {
      const { count = 0 } = await read({ limit: 1, offset: 0, counts: true });
      const offset = Math.floor(Math.max(count - 1, 0) / window.limit) * window.limit;
      if (offset > window.maxOffset) throw new InvalidPage();
      return { offset, count };
    }
    default:
      return window satisfies never;
  }
}

/** It becomes part of the text of the statement. */
function assertOffset(offset: number): number {
  if (!Number.isSafeInteger(offset) || offset < 0) throw new InvalidPage();
  return offset;
}

function neighbours(
  { window }: PageRequest,
  { limit, offset, more }: { readonly limit: number; readonly offset: number; readonly more: boolean },
): Pick<Page, 'before' | 'after'> {
  const at = (start: number): Page['after'] => ({ values: [start], backward: false, inclusive: false });
  if (window.kind !== 'cursor') return { before: undefined, after: undefined };
  return {
    before: offset > 0 ? at(Math.max(0, offset - limit)) : undefined,
    after: more ? at(offset + limit) : undefined,
  };
}

function setResult(
  context: RestContext,
  {
    parsed,
    result,
    page,
    labels,
  }: PresentedGroups & { readonly parsed: ParsedAggregates; readonly labels: GroupLabels | undefined },
): void {
  const present = groupPresenter(parsed, aggregateNames(context.resource).aggregate);
  const groups = result.groups.map((group, index) => present(group, labels?.[index]));
  const { renderer } = context;
  const fields = flatNames(parsed);
  // JSON in another frame has nested objects, too.
  const isFlat = renderer !== undefined && !/json/i.test(renderer.mediaType);
  context.result = {
    value: pageValue(isFlat ? groups.map((group) => flatGroup(group, fields)) : groups, page),
    headers: { ...page.headers, ...(result.omits ? OMITTED_HEADER : {}) },
    rowsMember: page.envelope?.rows,
    fields,
  };
}
