import { fieldsOf } from '../model/fields.js';
import type { FieldView } from '../model/fields.js';
import { throughOf } from '../model/resources.js';
import { keyJson } from '../model/state.js';
import type { State } from '../model/state.js';
import type { EntitySpec, Json } from '../schema.js';
import type { Random } from './random.js';
import { keysValue, nestedValue, relatedValue } from './related.js';
import type { Writing } from './related.js';
import type { Target } from './requests.js';
import { keyValue, rightValue, wrongValue } from './values.js';

export interface MadeBody {
  readonly text: string;
  readonly headers: Readonly<Record<string, string>>;
}

const JSON_TYPE = { 'Content-Type': 'application/json' };

export function makeBody(
  random: Random,
  state: State,
  asked: { readonly target: Target; readonly method: string; readonly query: string },
): MadeBody | undefined {
  if (random.chance(0.02)) return undefined;
  if (random.chance(0.03)) return oddBody(random);
  if (isMergePatch(random, asked))
    return {
      text: JSON.stringify(makePatch(random, makeObject(random, state, asked), asked.target.entity)),
      headers: { 'Content-Type': 'application/merge-patch+json' },
    };
  const body = isMany(random, asked) ? makeList(random, state, asked) : makeObject(random, state, asked);
  const type = random.chance(0.02)
    ? random.pick<Record<string, string>>([
        { 'Content-Type': 'application/json; charset=utf-8' },
        { 'Content-Type': 'text/plain' },
        { 'Content-Type': 'application/x-www-form-urlencoded' },
        {},
      ])
    : JSON_TYPE;
  return { text: JSON.stringify(body), headers: type };
}

function isMergePatch(
  random: Random,
  { target, method }: { readonly target: Target; readonly method: string },
): boolean {
  return random.chance(method === 'PATCH' && target.entity?.options.mergePatch ? 0.4 : 0.01);
}

/** Its objects for JSON columns are merged. */
function makePatch(
  random: Random,
  body: Readonly<Record<string, Json>>,
  entity: EntitySpec | undefined,
): Record<string, Json> {
  const columns = entity?.columns.filter(({ kind }) => kind === 'json') ?? [];
  const patches: readonly Json[] = [
    { a: null, c: 1 },
    { a: { b: null, x: [1] }, z: null },
    { a: { b: { c: null, d: '日' } }, bb: 2 },
    {},
    { z: 2 },
    [{ a: null }],
    7,
  ];
  const patched = columns.map(({ name }): [string, Json] => [name, random.pick(patches)]);
  return { ...body, ...Object.fromEntries(patched) };
}

function isMany(
  random: Random,
  { target, method, query }: { readonly target: Target; readonly method: string; readonly query: string },
): boolean {
  const isList = target.kind === 'collection' || target.kind === 'through-list';
  if (!isList || !target.entity?.options.bulk) return false;
  return method === 'PATCH' ? !/[?&](?!fields|omit)/.test(query) : random.chance(0.5);
}

/** Objects for a bulk write; those of a PATCH have distinct keys. */
function makeList(
  random: Random,
  state: State,
  { target, method }: { readonly target: Target; readonly method: string },
): Json[] {
  const { entity } = target;
  const rows = method === 'PATCH' && entity ? random.shuffled(state.rows(entity.name)) : [];
  return Array.from({ length: random.pick([1, 2, 2, 3, 3, 7]) }, (_, index) => {
    const body = makeObject(random, state, { target, method });
    const row = rows[index];
    if (!entity || method !== 'PATCH') return random.chance(0.03) ? 5 : body;
    const name = entity.key.columns[0]?.name ?? 'id';
    const missing =
      entity.key.columns[0]?.kind === 'uuid'
        ? `${'0'.repeat(8)}-0000-4000-8000-00000000000${index}`
        : 999_000 + index;
    return { ...body, [name]: row ? keyJson(entity, row.key) : missing };
  });
}

function oddBody(random: Random): MadeBody {
  const text = random.pick(['{', '[]', 'null', '5', '"x"', 'true', '{"a":}', '[1]', '{"a":1}x', '1.5', '']);
  return { text, headers: JSON_TYPE };
}

export function makeObject(
  random: Random,
  state: State,
  {
    target,
    method,
    isChild = false,
  }: { readonly target: Target; readonly method: string; readonly isChild?: boolean },
): Record<string, Json> {
  const { entity, through } = target;
  if (!entity) return {};
  const resource = through
    ? throughOf(state, through.relation, { entity: through.parent, key: through.parentKey })
    : { entity, options: entity.options };
  const body: Record<string, Json> = {};
  const faults = random.chance(0.25) ? 0.3 : 0;
  const row = through || target.key === undefined ? undefined : state.row(entity.name, target.key);
  for (const field of fieldsOf(state, resource)) {
    if (isLeftOut(random, field, { method, isChild })) continue;
    const stored = field.relation?.kind === 'to-one' ? row?.values[field.name] : undefined;
    body[field.name] =
      field.relation && typeof stored === 'string' && random.chance(0.3)
        ? keyJson(state.entity(field.relation.target), stored)
        : fieldValue(random, state, {
            field,
            writing: { isWrong: random.chance(faults), method, entity, key: row?.key },
          });
  }
  if (random.chance(0.03)) body.unknown = 1;
  return { ...body, ...upsertValues(random, state, { entity, method }) };
}

function isLeftOut(
  random: Random,
  { isWritable, nested }: FieldView,
  { method, isChild }: { readonly method: string; readonly isChild: boolean },
): boolean {
  return (
    (!isWritable && random.chance(0.9)) ||
    random.chance(method === 'PATCH' ? 0.5 : 0.1) ||
    (nested !== undefined && random.chance(isChild ? 0.95 : 0.4))
  );
}

/** The values by which an upsert finds an existing row. */
function upsertValues(
  random: Random,
  state: State,
  { entity, method }: { readonly entity: EntitySpec; readonly method: string },
): Record<string, Json> {
  const names = entity.options.bulk?.upsert ?? [];
  const rows = state.rows(entity.name);
  if (method !== 'POST' || names.length === 0 || rows.length === 0 || !random.chance(0.4)) return {};
  const { values } = random.pick(rows);
  return Object.fromEntries(names.map((name) => [name, values[name] ?? null]));
}

function fieldValue(
  random: Random,
  state: State,
  { field, writing }: { readonly field: FieldView; readonly writing: Writing },
): Json {
  const { isWrong } = writing;
  const { column, relation, isKey } = field;
  if (field.nested) return nestedValue(random, state, { field: field.nested, writing });
  if (field.keys) return keysValue(random, state, { relation: field.keys, writing });
  const isNullable = column?.nullable === true || (relation?.kind === 'to-one' && relation.nullable);
  if (random.chance(isNullable || isWrong ? 0.2 : 0)) return null;
  if (relation) return relatedValue(random, state, { target: state.entity(relation.target), isWrong });
  if (!column) return null;
  if (isWrong) return wrongValue(random, column);
  return isKey ? keyValue(random, column) : rightValue(random, column);
}
