import type { EntitySpec, Json, ManySpec } from '../schema.js';
import { decideAll, mayName, visibleRows } from './access.js';
import type { Access, Actor } from './access.js';
import { relatedKey } from './bodies.js';
import type { ParsedWrite, WriteContext } from './bodies.js';
import { fitsRows } from './conditions.js';
import { destroy } from './deletions.js';
import { forbidden, invalid } from './expected.js';
import type { ErrorFields } from './expected.js';
import { newKey } from './learning.js';
import { compareKeys } from './ordering.js';
import { destroyPair, pairOf } from './pairs.js';
import { throughOf } from './resources.js';
import type { Resource, ThroughSide } from './resources.js';
import { keyJson, keyTextOf } from './state.js';
import type { Placed, Row, State } from './state.js';
import { typeName } from './values.js';
import { newValues } from './writes.js';

interface Sight {
  readonly state: State;
  readonly actor: Actor;
}

/** The keys that a body adds and removes; of a set, those that it leaves out are removed. */
export interface KeyChange {
  readonly relation: ManySpec;
  readonly isSet: boolean;
  readonly add: readonly string[];
  readonly remove: readonly string[];
}

type Side = Resource & { readonly through: ThroughSide };

function sideOf(state: State, entity: EntitySpec, relation: ManySpec, key = ''): Side {
  const side = throughOf(state, relation, { entity, key });
  if (!side.through) throw new Error(`${relation.name} has no pairs`);
  return { ...side, through: side.through };
}

function granted({ actor }: Sight, { options, entity }: Resource, method: string): Access | undefined {
  const access = decideAll(options.permissions, { entity, actor, method });
  return access.kind === 'grant' ? access : undefined;
}

/** Whether the caller has the field at all: it may view pairs, with the key (contract 24.1). */
export function viewsKeys(sight: Sight, entity: EntitySpec, relation: ManySpec): boolean {
  const side = sideOf(sight.state, entity, relation);
  const access = granted(sight, side, 'GET');
  return access !== undefined && (access.readable === 'all' || access.readable.has(side.through.otherField));
}

/** Whether the caller may write the field, apart from the grant of the object (contract 24.3). */
export function writesKeys(
  sight: Sight,
  entity: EntitySpec,
  { relation, isNew }: { readonly relation: ManySpec; readonly isNew: boolean },
): boolean {
  const side = sideOf(sight.state, entity, relation);
  const creates = granted(sight, side, 'POST');
  return (
    viewsKeys(sight, entity, relation) &&
    creates !== undefined &&
    (creates.writable === 'all' || creates.writable.has(side.through.otherField)) &&
    (isNew || granted(sight, side, 'DELETE') !== undefined)
  );
}

/** All pairs of an object by the key of the other side, those of deleted objects included. */
function allPairs(state: State, { entity, row }: Placed, relation: ManySpec): Map<string, Row> {
  const { through, ...side } = sideOf(state, entity, relation, row.key);
  if (through.isMapped)
    return new Map(side.rows().map((each) => [String(each.values[through.otherField]), each]));
  const other = state.entity(relation.target);
  const keys = state
    .pairs(relation)
    .filter((pair) => (through.ownsIt ? pair.owner : pair.other) === row.key)
    .map((pair) => (through.ownsIt ? pair.other : pair.owner));
  return new Map(
    keys.map((key) => [
      key,
      {
        key,
        values: {
          id: keyJson(other, key),
          [through.parentField]: row.key,
          [through.otherField]: key,
        },
      },
    ]),
  );
}

/** The pairs that the caller could GET, those of deleted objects included. */
function viewedPairs(sight: Sight, placed: Placed, relation: ManySpec): Map<string, Row> {
  const { state } = sight;
  const side = sideOf(state, placed.entity, relation, placed.row.key);
  const access = granted(sight, side, 'GET');
  const { rows } = access ?? {};
  const fits = ([, row]: [string, Row]): boolean =>
    access !== undefined && (!rows || fitsRows(state, { entity: side.entity, row }, rows));
  return new Map([...allPairs(state, placed, relation)].filter(fits));
}

/** Whether the caller may name the object of a key: it is there, and no grant hides it (contract 8.6). */
function isNamed({ state, actor }: Sight, relation: ManySpec, key: string): boolean {
  const entity = state.entity(relation.target);
  const row = state.row(entity.name, key);
  const visible = visibleRows(entity.options.permissions, { entity, actor, method: 'GET' });
  return row !== undefined && mayName(state, { entity, row }, visible);
}

/** The keys that the caller sees, in the order of the key. */
function seenKeys(sight: Sight, placed: Placed, relation: ManySpec): string[] {
  const target = sight.state.entity(relation.target);
  const order = (one: string, other: string): number => {
    const [first, second] = [one, other].map((key) => sight.state.row(target.name, key));
    return first && second ? compareKeys(target, first, second) : 0;
  };
  return [...viewedPairs(sight, placed, relation).keys()]
    .filter((key) => isNamed(sight, relation, key))
    .sort(order);
}

/** The field in responses. A deleted object is in no pair (contract 23.1). */
export function shownKeys(sight: Sight, placed: Placed, relation: ManySpec): Json[] {
  if (sight.state.isDeleted(placed.entity.name, placed.row)) return [];
  const target = sight.state.entity(relation.target);
  return seenKeys(sight, placed, relation).map((key) => keyJson(target, key));
}

/** What a replay shows of the keys that an answer had: those that the caller still sees (contract 24.9). */
export function replayedKeys(
  sight: Sight,
  { entity, options }: Pick<Resource, 'entity' | 'options'>,
  { body, key }: { readonly body: Json; readonly key: string },
): Json {
  if (typeof body !== 'object' || body === null) return body;
  const row = sight.state.row(entity.name, key);
  const cut = ([name, value]: [string, Json]): [string, Json] => {
    const relation = entity.relations.find((each) => each.name === name);
    if (relation?.kind !== 'many-to-many' || !options.relatedKeys?.includes(name)) return [name, value];
    const now = row ? shownKeys(sight, { entity, row }, relation) : [];
    return [name, (value as readonly Json[]).filter((each) => now.includes(each))];
  };
  return Object.fromEntries(Object.entries(body as Readonly<Record<string, Json>>).map(cut));
}

/** Whether the value of a body is what the caller reads (contract 5.18). */
export function sendsBack(
  context: WriteContext,
  relation: ManySpec,
  { input, row }: { readonly input: Json; readonly row: Row },
): boolean {
  const { entity } = context.resource;
  if (isLink(relation, { input, entity })) return true;
  if (!Array.isArray(input)) return false;
  const target = context.state.entity(relation.target);
  const sent = new Set((input as readonly Json[]).map((each) => relatedKey(context, target, each)));
  const seen = seenKeys(context, { entity, row }, relation);
  return sent.size === seen.length && seen.every((key) => sent.has(key));
}

/** The link that the field is without the option. */
function isLink(
  { name }: ManySpec,
  { input, entity }: { readonly input: Json; readonly entity: EntitySpec },
): boolean {
  const start = `/rest/v1/${entity.app}/${entity.model}/`;
  return typeof input === 'string' && input.startsWith(start) && input.endsWith(`/${name}/`);
}

type KeysOutcome = { readonly change?: KeyChange } | { readonly errors: Json };

/** The change of a body, or its errors; no change for the link of the relation (contract 24.2). */
export function parseKeyChange(
  context: WriteContext,
  relation: ManySpec,
  { input, write }: { readonly input: Json; readonly write: ParsedWrite },
): KeysOutcome {
  if (input === null) return { errors: ['This field may not be null.'] };
  if (isLink(relation, { input, entity: context.resource.entity })) return {};
  const isObject = typeof input === 'object' && !Array.isArray(input);
  if (!isObject || write.kind === 'create') {
    const outcome = parseList(context, relation, { input, write });
    if ('errors' in outcome) return { errors: outcome.errors };
    return { change: { relation, isSet: true, add: outcome.keys, remove: [] } };
  }
  // Objects are looked up where all keys can be keys.
  const errors: ErrorFields = {};
  const missing: ErrorFields = {};
  const members = input as Readonly<Record<string, Json>>;
  for (const name of Object.keys(members))
    if (name !== 'add' && name !== 'remove') errors[name] = ['Unknown field.'];
  const [add = [], remove = []] = ['add', 'remove'].map((verb) => {
    if (!Object.hasOwn(members, verb)) return [];
    const place = { input: members[verb] ?? null, write, isRemoval: verb === 'remove' };
    const outcome = parseList(context, relation, place);
    if (!('errors' in outcome)) return outcome.keys;
    if (outcome.isMissing) missing[verb] = outcome.errors;
    else errors[verb] = outcome.errors;
    return outcome.isMissing ? outcome.keys : [];
  });
  const both = remove.filter((key) => add.includes(key));
  if (both.length > 0) {
    const target = context.state.entity(relation.target);
    const listed = (members.remove as readonly Json[]).map((each) => relatedKey(context, target, each));
    errors.remove = both
      .map((key) => listed.indexOf(key))
      .sort((one, other) => one - other)
      .map((index) => `Item ${index}: This key is also among those to add.`);
  }
  const found = Object.keys(errors).length > 0 ? errors : missing;
  return Object.keys(found).length > 0
    ? { errors: found }
    : { change: { relation, isSet: false, add, remove } };
}

type ListOutcome =
  | { readonly keys: string[] }
  | { readonly keys: string[]; readonly errors: string[]; readonly isMissing: boolean };

/** The keys of a list, each once, or the messages with their places. */
function parseList(
  context: WriteContext,
  relation: ManySpec,
  {
    input,
    write,
    isRemoval = false,
  }: { readonly input: Json; readonly write: ParsedWrite; readonly isRemoval?: boolean },
): ListOutcome {
  if (!Array.isArray(input))
    return {
      keys: [],
      isMissing: false,
      errors: [`Expected a list of items but got type "${typeName(input)}".`],
    };
  const { state, resource } = context;
  const target = state.entity(relation.target);
  const viewed = write.row
    ? viewedPairs(context, { entity: resource.entity, row: write.row }, relation)
    : new Map<string, Row>();
  const wrong: string[] = [];
  const missing: string[] = [];
  const keys = new Set<string>();
  (input as readonly Json[]).forEach((each, index) => {
    const key = relatedKey(context, target, each);
    if (key === undefined)
      wrong.push(`Item ${index}: Incorrect type. Expected pk value, received ${typeName(each)}.`);
    else if (keys.has(key)) return;
    else if (!isRemoval && !write.isMerge && !viewed.has(key) && !isNamed(context, relation, key))
      missing.push(`Item ${index}: Invalid pk "${String(each)}" - object does not exist.`);
    if (key !== undefined) keys.add(key);
  });
  if (wrong.length > 0) return { keys: [], errors: wrong, isMissing: false };
  return missing.length > 0 ? { keys: [...keys], errors: missing, isMissing: true } : { keys: [...keys] };
}

interface PairWrites {
  readonly gone: readonly Row[];
  readonly added: readonly string[];
}

function pairWrites(
  context: WriteContext,
  row: Row,
  { relation, isSet, add, remove }: KeyChange,
): PairWrites {
  const placed = { entity: context.resource.entity, row };
  const viewed = viewedPairs(context, placed, relation);
  const gone = seenKeys(context, placed, relation)
    .filter((key) => (isSet ? !add.includes(key) : remove.includes(key)))
    .flatMap((key) => viewed.get(key) ?? []);
  return { gone, added: add.filter((key) => !viewed.has(key)) };
}

/** Whether a body changes pairs, and with them the version of the object (contract 24.6). */
export function changesKeys(context: WriteContext, row: Row, changes: readonly KeyChange[]): boolean {
  return changes.some((change) => {
    const { gone, added } = pairWrites(context, row, change);
    return gone.length + added.length > 0;
  });
}

/** Writes the pairs of an object, as at their own URLs; throws what they would answer (contract 24.4). */
export function writeKeys(context: WriteContext, row: Row, changes: readonly KeyChange[]): void {
  const { state, actor, resource } = context;
  for (const change of changes) {
    const { relation } = change;
    const side = sideOf(state, resource.entity, relation, row.key);
    const { gone, added } = pairWrites(context, row, change);
    const deletes = granted(context, side, 'DELETE')?.rows;
    for (const pair of gone) {
      if (deletes && !fitsRows(state, { entity: side.entity, row: pair }, deletes)) throw forbidden();
      if (side.through.isMapped) destroy(state, { entity: side.entity, row: pair }, actor);
      else destroyPair(state, side.through, pair.key);
    }
    const present = allPairs(state, { entity: resource.entity, row }, relation);
    for (const key of added) {
      if (present.has(key))
        throw invalid({ [relation.name]: ['An object with these values exists already.'] });
      addPair(context, side, key);
    }
  }
}

function addPair(context: WriteContext, side: Side, key: string): void {
  const { state } = context;
  const { through, entity } = side;
  const rows = granted(context, side, 'POST')?.rows;
  const given = { [through.parentField]: through.parentKey, [through.otherField]: key };
  const values = through.isMapped ? pairValues(context, entity, given) : { ...given, id: key };
  const row: Row = { key: through.isMapped ? keyTextOf(entity, values) : key, values };
  if (rows && !fitsRows(state, { entity, row }, rows)) throw forbidden();
  if (through.isMapped) state.put(entity.name, row);
  else state.setPairs(through.relation, [...state.pairs(through.relation), pairOf(through, key)]);
}

function pairValues(
  { state, stored }: WriteContext,
  entity: EntitySpec,
  given: Readonly<Record<string, Json>>,
): Readonly<Record<string, Json>> {
  const values = newValues(state, entity, given);
  return { ...values, [entity.key.columns[0]?.name ?? 'id']: newKey({ state, stored }, entity, values) };
}
