import type { Model } from '../model/answers.js';
import { fieldsOf } from '../model/fields.js';
import { jsonTypeAt, lookupsIn } from '../model/json-paths.js';
import { defaultFilters, operandOf } from '../model/filters.js';
import { collectionOf, throughOf } from '../model/resources.js';
import type { Resource } from '../model/resources.js';
import type { OrderTerm } from '../model/ordering.js';
import { keyInUrl } from '../model/state.js';
import type { Row, State } from '../model/state.js';
import { isStringKind } from '../model/values.js';
import { rankedText, relationNamed } from '../schema.js';
import type { JsonType, LookupName } from '../schema.js';
import { aggregateEntries } from './aggregates.js';
import type { Random } from './random.js';
import { makeRelatedKey } from './requests.js';
import type { Target } from './requests.js';
import { rightValue, textValue, WORDS } from './values.js';

export type Entries = [string, string][];

/** The state, and the requested list. */
export interface Listed {
  readonly state: State;
  readonly resource: Resource;
}

export function makeQuery(
  random: Random,
  model: Model,
  { target, method }: { readonly target: Target; readonly method: string },
): string {
  const { state } = model;
  const resource = resourceOf(state, target);
  const isList = !['object', 'trash', 'through-detail'].includes(target.kind);
  if (!resource) return '';
  const entries: Entries = [];
  const listed = { state, resource };
  // Filters of the list would leave few objects whose lists are expanded.
  if (isRead(method) && mayExpandLists(resource) && random.chance(0.4)) {
    expandEntries(random, listed, entries, true);
    return queryText(entries);
  }
  if (isRead(method)) addedEntries(random, resource, entries);
  const isListRead = isList && isRead(method);
  const isAggregate = isListRead && resource.options.aggregate !== undefined && random.chance(0.5);
  if (isListRead) readEntries(random, model, { listed, path: target.path, entries, isAggregate });
  if (isList && method !== 'GET') bulkEntries(random, listed, { method, entries });
  if (method !== 'DELETE' && (!isAggregate || random.chance(0.04)))
    shapeEntries(random, listed, entries, isRead(method));
  if (!resource.options.strict || !isList || isListRead) unknownEntries(random, entries);
  return queryText(entries);
}

function mayExpandLists({ options }: Resource): boolean {
  return options.expansionQueries === true;
}

/** What reads of lists and objects show beside. */
function addedEntries(random: Random, { options }: Resource, entries: Entries): void {
  if (options.trash && random.chance(0.35))
    entries.push(['deleted', random.pick(['only', 'only', 'with', 'with', 'with', '', 'all'])]);
  if (options.counts && random.chance(0.3))
    entries.push(['with', random.pick(['counts', 'counts', 'counts', 'counts', '', 'x', 'counts,x'])]);
}

interface Reading {
  readonly listed: Listed;
  readonly path: string;
  readonly entries: Entries;
  readonly isAggregate: boolean;
}

/** The parameters of a list, or of aggregates of its rows. */
function readEntries(random: Random, model: Model, { listed, path, entries, isAggregate }: Reading): void {
  const { state, resource } = listed;
  listEntries(random, listed, entries);
  if (random.chance(0.02))
    entries.push([`${random.pick(fieldsOf(state, resource)).name}__${random.pick(['gtee', 'x', ''])}`, '1']);
  pageEntries(random, model, { resource, path, entries });
  if (isAggregate) aggregateEntries(random, model, { resource, path, entries });
  else if (random.chance(0.01)) entries.push([random.pick(['group', 'tz', 'having.count__gt']), '1']);
}

function isRead(method: string): boolean {
  return method === 'GET' || method === 'HEAD';
}

function unknownEntries(random: Random, entries: Entries): void {
  if (random.chance(0.02)) entries.push([random.pick(['nothing', 'x__gt', 'search__x']), '1']);
}

function queryText(entries: Entries): string {
  return entries.length > 0
    ? `?${entries.map(([name, value]) => `${encode(name)}=${encode(value)}`).join('&')}`
    : '';
}

function pageEntries(
  random: Random,
  model: Model,
  {
    resource,
    path,
    entries,
  }: { readonly resource: Resource; readonly path: string; readonly entries: Entries },
): void {
  const { pagination } = resource.options;
  if (!pagination || random.chance(0.25)) return;
  const size = pagination.kind === 'offset' ? 'limit' : 'page_size';
  if (random.chance(0.4)) entries.push([size, random.pick(['1', '2', '3', '5', '100', '', 'x'])]);
  if (pagination.kind === 'number')
    entries.push(['page', random.pick(['1', '2', '2', '3', '4', 'last', '0', 'x', '999', '-1', ''])]);
  if (pagination.kind === 'offset')
    entries.push(['offset', random.pick(['0', '1', '2', '3', '5', '9', '20000', 'x', ''])]);
  if (pagination.kind === 'cursor') cursorEntries(random, model, { path, entries });
}

/** A cursor that the list has returned, with its order; sometimes one of another list, or an invalid one. */
function cursorEntries(
  random: Random,
  model: Model,
  { path, entries }: { readonly path: string; readonly entries: Entries },
): void {
  const all = [...model.pages.cursors].slice(-60);
  const own = all.filter(([, { list }]) => list.includes(`${path} `));
  if (random.chance(0.05)) entries.push(['cursor', 'cD0y']);
  const chosen = own.length > 0 && random.chance(0.9) ? own : all;
  if (chosen.length === 0 || random.chance(0.2)) return;
  const [cursor, { list }] = random.pick(chosen);
  entries.push(['cursor', cursor]);
  if (random.chance(0.1)) return;
  const order = JSON.parse(list.slice(list.indexOf(' ') + 1)) as OrderTerm[];
  const kept = entries.filter(([name]) => name !== 'ordering');
  entries.splice(0, entries.length, ...kept);
  if (order.length > 0)
    entries.push([
      'ordering',
      order.map((term) => `${term.isDescending ? '-' : ''}${term.path.join('__')}`).join(','),
    ]);
}

function bulkEntries(
  random: Random,
  { state, resource }: Listed,
  { method, entries }: { readonly method: string; readonly entries: Entries },
): void {
  const { bulk } = resource.options;
  if (!bulk) return;
  if (method === 'POST' && bulk.upsert && random.chance(0.4)) entries.push(['upsert', 'true']);
  if (!['PATCH', 'DELETE'].includes(method) || random.chance(method === 'PATCH' ? 0.5 : 0.05)) return;
  const keys = random
    .shuffled(resource.rows())
    .slice(0, random.between(1, 3))
    .map(({ key }) => keyInUrl(state.entity(resource.entity.name), key));
  if (keys.length > 0) entries.push(['keys', [...keys, ...(random.chance(0.1) ? ['999999'] : [])].join(',')]);
}

function shapeEntries(
  random: Random,
  { state, resource }: Listed,
  entries: Entries,
  isReading: boolean,
): void {
  const { options, entity } = resource;
  const keys = entity.key.columns.map(({ name }) => name);
  const names = fieldsOf(state, resource)
    .filter(({ column }) => column?.kind !== 'version')
    .map(({ name }) => name);
  const others = names.filter((name) => !keys.includes(name));
  const versions = entity.columns.filter(({ kind }) => kind === 'version').map(({ name }) => name);
  if (options.shape && random.chance(0.25))
    entries.push(['fields', random.shuffled([...keys, ...versions, ...random.some(others, 0.5)]).join(',')]);
  const omitted = random.some(options.strict ? others : [...others, 'unknown'], 0.3);
  if (options.shape && omitted.length > 0 && random.chance(0.15)) entries.push(['omit', omitted.join(',')]);
  if (random.chance(0.35)) expandEntries(random, { state, resource }, entries, isReading);
}

function expandEntries(
  random: Random,
  { state, resource }: Listed,
  entries: Entries,
  isReading: boolean,
): void {
  const { options } = resource;
  if (!options.expandable) return;
  const chosen = random
    .shuffled([...options.expandable, ...(random.chance(0.1) ? ['unknown', 'm1.unknown'] : [])])
    .slice(0, 2);
  entries.push(['expand', chosen.join(',')]);
  if (!options.expansionQueries) return;
  // Parameters of a list that is not expanded, and of what is no list, are unknown.
  const unexpanded = isReading && random.chance(0.05) ? options.expandable : [];
  for (const path of [...chosen, ...unexpanded])
    expansionEntries(random, { state, resource, path, isReading }, entries);
}

/** Parameters of each list on an expanded path. */
function expansionEntries(
  random: Random,
  { state, resource, path, isReading }: Listed & { readonly path: string; readonly isReading: boolean },
  entries: Entries,
  prefix = '',
): void {
  const [name = '', ...rest] = path.split('.');
  const relation = resource.entity.relations.find((each) => each.name === name);
  if (!relation) return;
  const target =
    relation.kind === 'many-to-many'
      ? throughOf(state, relation, { entity: resource.entity, key: '' })
      : collectionOf(state, state.entity(relation.target));
  if (/many$/.test(relation.kind) || (isReading && random.chance(0.05))) {
    const own: Entries = [];
    if (random.chance(0.4)) own.push(['limit', String(random.between(1, 4))]);
    if (random.chance(0.25)) filterEntries(random, { state, resource: target }, own);
    if (target.options.filterGroups && random.chance(0.2))
      own.push(['filter', makeGroup(random, { state, resource: target }, 1)]);
    if (random.chance(0.4)) own.push(['ordering', makeOrdering(random, { state, resource: target })]);
    if (random.chance(0.15)) own.push(['search', random.pick(['a', 'te', '_', '"a b"', ''])]);
    if (random.chance(0.06)) own.push(random.pick(wrongParameters(random, { state, resource: target })));
    for (const [each, value] of own) entries.push([`${prefix}${name}.${each}`, value]);
  }
  if (rest.length > 0)
    expansionEntries(
      random,
      { state, resource: target, path: rest.join('.'), isReading },
      entries,
      `${prefix}${name}.`,
    );
}

/** Unknown names, a misspelt lookup, and limits that are no number of objects. */
function wrongParameters(random: Random, { state, resource }: Listed): Entries {
  const { name } = random.pick(fieldsOf(state, resource));
  return [
    ['limit', random.pick(['0', 'x', '-1', '500', ''])],
    ['unknown', '1'],
    ['page', '2'],
    [`${name}__gtee`, '1'],
    [`${name}__isnull`, 'maybe'],
  ];
}

function encode(text: string): string {
  return encodeURIComponent(text).replaceAll('%20', '+').replaceAll('%2C', ',');
}

export function resourceOf(state: State, { entity, through }: Target): Resource | undefined {
  if (through) return throughOf(state, through.relation, { entity: through.parent, key: through.parentKey });
  return entity ? collectionOf(state, entity) : undefined;
}

function listEntries(random: Random, listed: Listed, entries: Entries): void {
  if (random.chance(0.4)) filterEntries(random, listed, entries);
  if (listed.resource.options.filterGroups && random.chance(0.3))
    entries.push(['filter', makeGroup(random, listed, 2)]);
  if (random.chance(0.35)) entries.push(['ordering', makeOrdering(random, listed)]);
  if (random.chance(0.15))
    entries.push(['search', random.pick(['a', 'te', 'A', 'x_', '%', 'k', 'a b', '"a b"', 'a,i', '', '\\'])]);
  rankedEntries(random, listed, entries);
}

/** A ranked search, whose order is known only of a whole list; sometimes an order without a search. */
function rankedEntries(random: Random, { resource: { entity, options } }: Listed, entries: Entries): void {
  const ranked = rankedText({ columns: entity.columns, options });
  if (!ranked || random.chance(0.5)) return;
  const [one = '', other = ''] = random.shuffled(WORDS);
  const searches = [
    one,
    one,
    one,
    `"${one} ${other}"`,
    `${one} ${other}`,
    one.slice(0, 4),
    `-${one}`,
    `${one}*`,
  ];
  const isOrdered = ranked.isOrder && !options.pagination;
  const isSearched = !isOrdered || random.chance(0.9);
  entries.splice(0, entries.length, ...entries.filter(([name]) => name === 'deleted' || name === 'with'));
  if (isSearched) entries.push(['search', random.pick([...searches, '!', ''])]);
  if (isOrdered && random.chance(0.7)) entries.push(['ordering', random.pick(['-rank', '-rank', 'rank'])]);
}

function makeGroup(random: Random, listed: Listed, depth: number): string {
  const parts = Array.from({ length: random.between(1, 2) }, () => {
    if (depth > 0 && random.chance(0.3)) return makeGroup(random, listed, depth - 1);
    const entries: Entries = [];
    filterEntries(random, listed, entries);
    const [name = 'id', value = ''] = entries[0] ?? [];
    return `${name}=${JSON.stringify(value)}`;
  });
  const word = random.pick(['and', 'or', 'not']);
  return word === 'not' ? `not(${parts[0] ?? ''})` : `${word}(${parts.join(',')})`;
}

function makeOrdering(random: Random, { state, resource }: Listed): string {
  const names = resource.options.orderingFields ?? Object.keys(defaultFilters(state, resource));
  const chosen = random.shuffled([...names, 'unknown']).slice(0, random.between(1, 3));
  return chosen.map((name) => `${random.chance(0.5) ? '-' : ''}${name.replaceAll('.', '__')}`).join(',');
}

/** Some fit values of the column, one does not have the type. */
const TYPED_TEXTS: Readonly<Record<JsonType, readonly string[]>> = {
  string: ['x', 'X', 'a b', 'true', 'text', '2.5', 'null'],
  number: ['2.5', '-3', '0', String(Number.MAX_SAFE_INTEGER), '5', '3', 'x'],
  boolean: ['true', 'false', 'TRUE', '1', '0', 'yes'],
  'string[]': ['x', 'X', 'Y', '1', 'null', 'x,Y'],
};

/** All filters of a model, as name and value. */
export function filterEntries(random: Random, listed: Listed, entries: Entries): void {
  const { state, resource } = listed;
  const declared = Object.entries(resource.options.filterFields ?? defaultFilters(state, resource));
  if (declared.length === 0) return;
  for (let count = random.pick([1, 1, 1, 2, 3]); count > 0; count--) {
    const [path, spec] = random.pick(declared);
    const lookup = random.pick(lookupsIn(spec));
    const filters = resource.options.filterFields;
    const type = jsonTypeAt(state, { entity: resource.entity, path: path.split('.'), filters });
    entries.push([filterName(random, path, lookup), filterValue(random, listed, { path, lookup, type })]);
  }
}

function filterName(random: Random, path: string, lookup: LookupName): string {
  const name = path.replaceAll('.', '__');
  if (lookup === 'exact') return random.chance(0.8) ? name : `${name}__exact`;
  if (lookup === 'ne') return random.chance(0.5) ? `${name}!` : `${name}__ne`;
  return `${name}__${lookup}`;
}

export function filterValue(
  random: Random,
  listed: Listed,
  {
    path,
    lookup,
    type,
  }: { readonly path: string; readonly lookup: LookupName; readonly type: JsonType | undefined },
): string {
  if (random.chance(0.03)) return '';
  if (lookup === 'isnull') return random.pick(['true', 'False', 'TRUE', 'false', '1', '0', 'maybe']);
  const count = { in: random.between(1, 3), range: 2 }[lookup as string] ?? 1;
  const one = (): string =>
    type ? random.pick(TYPED_TEXTS[type]) : operandText(random, listed, path.split('.'));
  return Array.from({ length: count }, one)
    .map((text) => (count > 1 && /[,"]/.test(text) ? JSON.stringify(text) : text))
    .join(',');
}

function operandText(random: Random, { state, resource }: Listed, path: readonly string[]): string {
  const relation = relationNamed(resource.entity, path[0] ?? '');
  if (relation && path.length === 1)
    return String(makeRelatedKey(random, state, state.entity(relation.target)));
  if (relation) {
    const target = collectionOf(state, state.entity(relation.target));
    return operandText(random, { state, resource: target }, path.slice(1));
  }
  const column = operandOf(state, resource.entity, path);
  const stored = storedText(random, resource.rows(), column.name);
  if (stored !== undefined && random.chance(0.7)) return stored;
  return isStringKind(column.kind) ? String(rightValue(random, column)) : textValue(random, column);
}

function storedText(random: Random, rows: readonly Row[], name: string): string | undefined {
  const value = rows.length > 0 ? (random.pick(rows).values[name] ?? null) : null;
  return value === null || typeof value === 'object' ? undefined : String(value);
}
