import type { NestedField } from '../model/nested.js';
import { keyJson } from '../model/state.js';
import type { Row, State } from '../model/state.js';
import type { EntitySpec, Json, ManySpec, NestedVerb } from '../schema.js';
import { makeObject } from './bodies.js';
import type { Random } from './random.js';
import { makeRelatedKey } from './requests.js';

/** The object with the field, and how it is written. */
export interface Writing {
  readonly entity: EntitySpec;
  /** Undefined for a new object. */
  readonly key: string | undefined;
  readonly method: string;
  readonly isWrong: boolean;
}

const VERBS: readonly NestedVerb[] = ['create', 'update', 'delete'];

/** The children of a new object, or what a change does with those that there are. */
export function nestedValue(
  random: Random,
  state: State,
  { field, writing }: { readonly field: NestedField; readonly writing: Writing },
): Json {
  const { relation, verbs } = field;
  const { entity, method, isWrong } = writing;
  if (isWrong && random.chance(0.3)) return random.pick<Json>([null, 5, 'x', true, [1], {}, { set: [1] }]);
  if (random.chance(0.05)) return random.pick<Json>([null, linkOf(entity, relation.name)]);
  const target = state.entity(relation.target);
  const isOne = relation.kind === 'reverse-one';
  const child = (verb: string): Record<string, Json> => makeChild(random, state, { target, method: verb });
  if (method === 'POST' && random.chance(0.97))
    return isOne ? child('POST') : list(random, 3, () => (random.chance(0.02) ? 5 : child('POST')));
  const asked = verbs.length > 1 || random.chance(0.9) ? verbs : VERBS;
  if (!isOne) return verbsOf(random, state, { field, writing, asked });
  const verb = random.pick(asked);
  return { [verb]: verb === 'delete' ? true : child(verb === 'create' ? 'POST' : 'PATCH') };
}

function linkOf({ app, model }: EntitySpec, name: string): string {
  return `/rest/v1/${app}/${model}/1/${name}/`;
}

function makeChild(
  random: Random,
  state: State,
  { target, method }: { readonly target: EntitySpec; readonly method: string },
): Record<string, Json> {
  return makeObject(random, state, {
    target: { kind: 'object', path: '', entity: target },
    method,
    isChild: true,
  });
}

function list(random: Random, most: number, make: () => Json): Json[] {
  return Array.from({ length: random.between(random.chance(0.1) ? 0 : 1, most) }, make);
}

/** Mostly about children of the object, each once. */
function verbsOf(
  random: Random,
  state: State,
  {
    field: { relation },
    writing: { entity, key },
    asked,
  }: { readonly field: NestedField; readonly writing: Writing; readonly asked: readonly NestedVerb[] },
): Json {
  const target = state.entity(relation.target);
  const own = state.rows(target.name).filter((row) => row.values[relation.forward] === key);
  const rows = random.chance(0.9) && own.length > 0 ? own : state.allRows(target.name);
  // An object that is its own child is not deleted by its own body.
  const chosen = random.shuffled(rows.filter((row) => target.name !== entity.name || row.key !== key));
  const named = (): Row | undefined => (random.chance(0.9) ? chosen.pop() : chosen[0]);
  const made: Readonly<Record<NestedVerb, () => Json>> = {
    create: () => makeChild(random, state, { target, method: 'POST' }),
    update: () => ({
      ...makeChild(random, state, { target, method: 'PATCH' }),
      ...(random.chance(0.98) ? keyMembers(target, named()) : {}),
    }),
    delete: () => {
      const row = named();
      return row ? keyJson(target, row.key) : 99999;
    },
  };
  const chance = random.chance(0.5) ? 0.8 : 0.35;
  return Object.fromEntries(random.some(asked, chance).map((verb) => [verb, list(random, 2, made[verb])]));
}

function keyMembers({ key }: EntitySpec, row: Row | undefined): Record<string, Json> {
  return Object.fromEntries(
    key.columns.map(({ name, kind }): [string, Json] => [
      name,
      row?.values[name] ?? (kind === 'int' ? 99999 : 'x'),
    ]),
  );
}

/** The keys of a many-to-many relation: a list, or those to add and to remove. */
export function keysValue(
  random: Random,
  state: State,
  { relation, writing }: { readonly relation: ManySpec; readonly writing: Writing },
): Json {
  const { entity, method, isWrong } = writing;
  const target = state.entity(relation.target);
  if (isWrong && random.chance(0.4)) return random.pick<Json>([null, 5, 'x', true, { set: [1] }, { add: 1 }]);
  if (random.chance(0.05)) return linkOf(entity, relation.name);
  const keys = (): Json[] =>
    Array.from({ length: random.pick([0, 1, 1, 2, 3]) }, () =>
      relatedValue(random, state, { target, isWrong: isWrong && random.chance(0.4) }),
    );
  if (random.chance(method === 'POST' ? 0.97 : 0.55)) return keys();
  return {
    ...(random.chance(0.7) ? { add: keys() } : {}),
    ...(random.chance(0.6) ? { remove: keys() } : {}),
  };
}

export function relatedValue(
  random: Random,
  state: State,
  { target, isWrong }: { readonly target: EntitySpec; readonly isWrong: boolean },
): Json {
  if (isWrong) return random.pick<Json>([999999, true, [], {}, 1.5]);
  const key = makeRelatedKey(random, state, target);
  return typeof key === 'number' && random.chance(0.2) ? String(key) : key;
}
