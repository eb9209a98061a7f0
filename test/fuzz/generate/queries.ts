import { defaultFilters, operandOf } from '../model/filters.js';
import { collectionOf, throughOf } from '../model/resources.js';
import type { Resource } from '../model/resources.js';
import type { Row, State } from '../model/state.js';
import { isStringKind } from '../model/values.js';
import { relationNamed } from '../schema.js';
import type { LookupName } from '../schema.js';
import type { Random } from './random.js';
import { makeRelatedKey } from './requests.js';
import type { Target } from './requests.js';
import { rightValue, textValue } from './values.js';

type Entries = [string, string][];

/** What there is, and the list that is asked for. */
export interface Listed {
  readonly state: State;
  readonly resource: Resource;
}

export function makeQuery(
  random: Random,
  state: State,
  { target, method }: { readonly target: Target; readonly method: string },
): string {
  const resource = resourceOf(state, target);
  const isList = target.kind !== 'object' && target.kind !== 'through-detail';
  if (!resource) return '';
  const entries: Entries = [];
  if (isList && (method === 'GET' || method === 'HEAD')) listEntries(random, { state, resource }, entries);
  if (random.chance(0.02)) entries.push([random.pick(['nothing', 'x__gt', 'page', 'search__x']), '1']);
  return entries.length > 0
    ? `?${entries.map(([name, value]) => `${encode(name)}=${encode(value)}`).join('&')}`
    : '';
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
  if (random.chance(0.35)) entries.push(['ordering', makeOrdering(random, listed)]);
  if (random.chance(0.15))
    entries.push(['search', random.pick(['a', 'te', 'A', 'x_', '%', 'k', 'a b', '"a b"', 'a,i', '', '\\'])]);
}

function makeOrdering(random: Random, { state, resource }: Listed): string {
  const names = resource.options.orderingFields ?? Object.keys(defaultFilters(state, resource));
  const chosen = random.shuffled([...names, 'unknown']).slice(0, random.between(1, 3));
  return chosen.map((name) => `${random.chance(0.5) ? '-' : ''}${name.replaceAll('.', '__')}`).join(',');
}

/** All filters of a model, as name and value. */
export function filterEntries(random: Random, listed: Listed, entries: Entries): void {
  const { state, resource } = listed;
  const declared = Object.entries(resource.options.filterFields ?? defaultFilters(state, resource));
  if (declared.length === 0) return;
  for (let count = random.pick([1, 1, 1, 2, 3]); count > 0; count--) {
    const [path, lookups] = random.pick(declared);
    const lookup = random.pick(lookups);
    entries.push([filterName(random, path, lookup), filterValue(random, listed, { path, lookup })]);
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
  { path, lookup }: { readonly path: string; readonly lookup: LookupName },
): string {
  if (random.chance(0.03)) return '';
  if (lookup === 'isnull') return random.pick(['true', 'false', '1', '0', 'maybe']);
  const count = { in: random.between(1, 3), range: 2 }[lookup as string] ?? 1;
  const one = (): string => operandText(random, listed, path.split('.'));
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
