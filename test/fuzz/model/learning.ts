import type { ColumnSpec, EntitySpec, Json } from '../schema.js';
import type { GivenAnswer } from './answers.js';
import type { Row, State } from './state.js';
import { toOnesOf } from '../schema.js';

const GENERATED_UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

/** The rows of entities as they are stored after a request: their keys, foreign keys and versions, which no response shows. */
export type StoredRows = ReadonlyMap<string, readonly Row[]>;

/** The generated key of a new row that the response does not name: that of the first stored row which the model does not have. */
export function newKey(
  { state, stored }: { readonly state: State; readonly stored?: StoredRows | undefined },
  entity: EntitySpec,
  values: Readonly<Record<string, Json>>,
): string | number {
  const relations = toOnesOf(entity);
  const found = (stored?.get(entity.name) ?? [])
    .filter(({ key }) => state.anyRow(entity.name, key) === undefined)
    .filter((row) => relations.every(({ name }) => (row.values[name] ?? null) === (values[name] ?? null)))
    .map(({ key }) => Number(key))
    .sort((one, other) => one - other)[0];
  if (found === undefined || found <= (state.latest.get(entity.name) ?? 0)) return unusedKey(state, entity);
  state.latest.set(entity.name, found);
  return found;
}

function unusedKey(state: State, { name }: EntitySpec): number {
  let none = -1;
  while (state.anyRow(name, String(none)) !== undefined) none--;
  return none;
}

/** The generated key in a response, or a different one if it is invalid. */
export function learnKey(
  given: Pick<GivenAnswer, 'text' | 'headers'>,
  column: ColumnSpec,
  before: { readonly latest: number; has(key: string): boolean },
): string | number {
  const key = keyOfBody(given) ?? keyOfLocation(given);
  let none = -1;
  if (column.kind === 'uuid') {
    if (typeof key === 'string' && GENERATED_UUID.test(key) && !before.has(key)) return key;
    while (before.has(`no new uuid ${none}`)) none--;
    return `no new uuid ${none}`;
  }
  const number = Number(key);
  if (Number.isInteger(number) && number > before.latest) return number;
  while (before.has(String(none))) none--;
  return none;
}

export function parsedBody(given: Pick<GivenAnswer, 'text'>): Json | undefined {
  try {
    return JSON.parse(given.text) as Json;
  } catch {
    return undefined;
  }
}

function keyOfBody(given: Pick<GivenAnswer, 'text'>): string | number | undefined {
  const body = parsedBody(given);
  if (typeof body !== 'object' || body === null || Array.isArray(body)) return undefined;
  const id = (body as Readonly<Record<string, Json | undefined>>).id;
  return typeof id === 'number' || typeof id === 'string' ? id : undefined;
}

function keyOfLocation({ headers }: Pick<GivenAnswer, 'headers'>): string | undefined {
  const match = /\/([^/]+)\/$/.exec(headers.location ?? '');
  return match?.[1];
}

/** The value of a version column in a response. */
export function toldVersion(body: Json | undefined, entity: EntitySpec): number | undefined {
  const column = entity.columns.find(({ kind }) => kind === 'version');
  if (!column || typeof body !== 'object' || body === null || Array.isArray(body)) return undefined;
  const told = (body as Readonly<Record<string, Json | undefined>>)[column.name];
  return typeof told === 'number' ? told : undefined;
}
