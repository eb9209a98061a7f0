import type { Json } from '../schema.js';
import type { Access, Actor } from './access.js';
import { fitsRows } from './conditions.js';
import { invalid, refuse, Refusal } from './expected.js';
import type { ErrorFields } from './expected.js';
import { fieldsOf } from './fields.js';
import { filterNames, matchesFilter, parseTerm } from './filters.js';
import type { FilterExpression, FilterName } from './filters.js';
import { parseGroup } from './groups.js';
import { isRank, orderOf, orderRows } from './ordering.js';
import type { OrderTerm } from './ordering.js';
import type { Parameters } from './parameters.js';
import type { Resource } from './resources.js';
import { searchRows, searchTerms } from './search.js';
import type { Row, State } from './state.js';
import { limitsOf } from './values.js';

export interface ListContext {
  readonly state: State;
  readonly resource: Resource;
  readonly access: Access;
  readonly actor: Actor;
  readonly parameters: Parameters;
}

/** The rows of a list in order, before pagination. */
export function listRows(context: ListContext): {
  readonly rows: Row[];
  readonly order: readonly OrderTerm[];
} {
  const { state, resource, access, actor, parameters } = context;
  const rows = narrowedRows(context);
  const ordering = { state, actor, readable: access.readable };
  const order = orderOf(resource, parameters.listed('ordering'), ordering);
  if (order.some(isRank) && searchTerms(parameters.last('search') ?? '').length === 0)
    throw invalid({ ordering: ['Objects have a rank only in a search.'] });
  return { rows: orderRows(resource, rows, { order, context: ordering }), order };
}

/** The unordered rows that the caller may see and has requested. */
export function narrowedRows(context: ListContext): Row[] {
  const { state, resource, access, actor, parameters } = context;
  const { entity } = resource;
  const asked = parseFilters(context);
  const granted = resource
    .rows()
    .filter((row) => !access.rows || fitsRows(state, { entity: entity, row: row }, access.rows))
    .filter((row) => matchesFilter({ state, actor }, { entity, row }, asked));
  const text = parameters.last('search') ?? '';
  return searchRows({ state, actor }, { resource, readable: access.readable }, { rows: granted, text });
}

/** The filters of a query string; throws their errors. */
export function parseFilters(context: ListContext): FilterExpression {
  const { state, resource, access, actor, parameters } = context;
  const names = filterNames({ state, actor }, { ...resource, readable: access.readable });
  const errors: ErrorFields = {};
  const parts: FilterExpression[] = [];
  for (const name of plainNames(parameters)) {
    const filter = names.get(name);
    const text = filter && parameterText(parameters, name, filter);
    if (!filter || text === undefined || text === '') continue;
    const outcome = parseTerm({ state, entity: resource.entity }, filter, {
      text,
      limits: limitsOf(state.database),
    });
    if ('errors' in outcome) errors[name] = [...outcome.errors];
    else parts.push({ kind: 'term', term: outcome.value });
  }
  const group = groupOf(context, names);
  if (group && 'message' in group) {
    if (group.message === undefined) throw new Refusal({ status: 400, bodies: [], anyBody: true });
    errors.filter = [group.message];
  } else if (group) parts.push(group.asked);
  if (Object.keys(errors).length > 0) throw invalid(errors);
  return { kind: 'and', parts };
}

function groupOf(
  { state, resource, parameters }: ListContext,
  names: ReadonlyMap<string, FilterName>,
): ReturnType<typeof parseGroup> | undefined {
  const text = resource.options.filterGroups ? (parameters.last('filter') ?? '') : '';
  if (text === '') return undefined;
  return parseGroup(state, resource.entity, { text, names, limits: limitsOf(state.database) });
}

function plainNames(parameters: Parameters): string[] {
  return [...new Set(parameters.names.map((name) => name.replace(/\[\]$/, '')))];
}

function parameterText(parameters: Parameters, name: string, { lookup }: FilterName): string | undefined {
  return lookup === 'in' || lookup === 'range' ? parameters.listed(name) : parameters.last(name);
}

/** Rejects unknown parameters in a strict model. */
export function unknownParameters(context: ListContext, others: readonly string[]): ErrorFields {
  const { state, resource, access, actor, parameters } = context;
  if (!resource.options.strict) return {};
  const filters = filterNames({ state, actor }, { ...resource, readable: access.readable });
  const known = new Set([...filters.keys(), ...others]);
  const listed = [...known].filter((name) => /__(?:in|range)$|^(?:ordering|fields|omit|expand)$/.test(name));
  for (const name of listed) known.add(`${name}[]`);
  return unknownNames(parameters, [...known]);
}

/** 400 for `<field>__<rest>` that is no filter of a field that the caller may read. The text is another test's. */
export function refuseUnknownFilters({ state, resource, access, actor, parameters }: ListContext): void {
  const filters = filterNames({ state, actor }, { ...resource, readable: access.readable });
  const shown = fieldsOf(state, resource, actor)
    .filter(({ name, isReadable }) => isReadable && (access.readable === 'all' || access.readable.has(name)))
    .map(({ name }) => name);
  const isUnknown = (name: string): boolean =>
    !filters.has(name) && shown.some((field) => name.startsWith(`${field}__`));
  if (plainNames(parameters).some(isUnknown)) throw new Refusal({ status: 400, bodies: [], anyBody: true });
}

export function unknownNames(parameters: Parameters, known: readonly string[]): ErrorFields {
  return Object.fromEntries(
    parameters.names
      .filter((name) => !known.includes(name))
      .map((name): [string, Json] => [name, ['Unknown parameter.']]),
  );
}

export function refuseErrors(errors: ErrorFields): void {
  if (Object.keys(errors).length > 0) throw refuse(400, errors);
}
