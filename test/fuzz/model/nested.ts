import type { EntitySpec, Json, NestedVerb, ReverseSpec } from '../schema.js';
import { mayName, visibleRows } from './access.js';
import { admit, readableAfterWrite } from './admit.js';
import { asObject, parseBody, relatedKey, UNMERGEABLE } from './bodies.js';
import type { ParsedWrite, WriteContext } from './bodies.js';
import { fitsRows } from './conditions.js';
import { AmbiguousDeletion, destroy } from './deletions.js';
import { forbidden, Refusal } from './expected.js';
import type { ErrorFields } from './expected.js';
import { newKey, toldVersion } from './learning.js';
import { changesKeys, writeKeys } from './related-keys.js';
import type { KeyChange } from './related-keys.js';
import { childrenOf } from './resources.js';
import { keyTextOf } from './state.js';
import type { Row } from './state.js';
import { parseValue, typeName } from './values.js';
import { changedValues, newValues, store } from './writes.js';

/** A relation whose objects bodies write, and how. */
export interface NestedField {
  readonly relation: ReverseSpec;
  readonly verbs: readonly NestedVerb[];
}

interface ChildValues {
  readonly values: Readonly<Record<string, Json>>;
  readonly keys: readonly KeyChange[];
}

/** The children that a body writes. */
export interface ChildChange {
  readonly relation: ReverseSpec;
  /** Whether the body has verbs, which are in the paths of errors. */
  readonly isByVerbs: boolean;
  readonly creates: readonly ChildValues[];
  readonly updates: readonly (ChildValues & { readonly row: Row })[];
  readonly deletes: readonly Row[];
}

const TOO_DEEP = 'Objects in objects are written at their own URL.';
const BARE_LIST =
  'Send an object with the members "create", "update" and "delete": a list would not say what becomes of the objects that it leaves out.';
const METHODS = { create: 'POST', update: 'PATCH', delete: 'DELETE' } as const;

function isObject(input: Json | undefined): input is Readonly<Record<string, Json>> {
  return typeof input === 'object' && input !== null && !Array.isArray(input);
}

/** The errors of children where a body may not write them (contract 25.1, contract 25.7). */
export function refusedChildren(
  { options: { nested = {} } }: EntitySpec,
  body: Readonly<Record<string, Json>>,
  message: string,
): ErrorFields {
  const names = Object.keys(nested).filter((name) => typeof body[name] === 'object' && body[name] !== null);
  return Object.fromEntries(names.map((name) => [name, [message]]));
}

/** The request as one at the URL of the children; throws its denial. */
function childContext(
  context: WriteContext,
  { target, forward }: ReverseSpec,
  { method, parent }: { readonly method: string; readonly parent: string },
): WriteContext {
  const { state, actor, limits, stored } = context;
  const resource = childrenOf(state, state.entity(target), { forward, key: parent });
  const access = admit(resource, actor, method);
  const shown = readableAfterWrite(resource, access, actor);
  return { state, resource, access, shown, actor, limits, stored, isBelow: forward };
}

/** What the shape of a value says, or its errors. */
interface Said {
  readonly isByVerbs: boolean;
  readonly create: readonly Json[];
  readonly update: readonly Json[];
  /** Keys of children with their places; `only` for the child of a one-to-one. */
  readonly delete: readonly { readonly key: string; readonly index: number }[] | 'only';
}

const NOTHING: Said = { isByVerbs: false, create: [], update: [], delete: [] };

function noDictionary(input: Json): string {
  return `Invalid data. Expected a dictionary, but got ${typeName(input)}.`;
}

function noList(input: Json): string {
  return `Expected a list of items but got type "${typeName(input)}".`;
}

function said(
  context: WriteContext,
  { relation, verbs }: NestedField,
  { input, isNew }: { readonly input: Json; readonly isNew: boolean },
): Said | { readonly errors: Json } {
  const isOne = relation.kind === 'reverse-one';
  if (isNew && !verbs.includes('create')) return { errors: ['Method "POST" not allowed.'] };
  if (isNew && isOne)
    return isObject(input) ? { ...NOTHING, create: [input] } : { errors: [noDictionary(input)] };
  if (isNew)
    return Array.isArray(input) ? { ...NOTHING, create: input as Json[] } : { errors: [noList(input)] };
  if (Array.isArray(input) && !isOne) return { errors: [BARE_LIST] };
  if (!isObject(input)) return { errors: [noDictionary(input)] };
  const errors: ErrorFields = {};
  for (const name of Object.keys(input)) {
    if (!(name in METHODS)) errors[name] = ['Unknown field.'];
    else if (!verbs.includes(name as NestedVerb))
      errors[name] = [`Method "${METHODS[name as NestedVerb]}" not allowed.`];
  }
  return isOne ? saidOfOne(input, errors) : saidOfMany(context, relation, { input, errors });
}

function saidOfOne(input: Readonly<Record<string, Json>>, errors: ErrorFields): ReturnType<typeof said> {
  if (Object.keys(errors).length > 0) return { errors };
  const [verb, ...more] = Object.keys(input);
  if (verb === undefined || more.length > 0)
    return { errors: ['Send exactly one of "create", "update" and "delete".'] };
  const value = input[verb] ?? null;
  if (verb === 'delete')
    return value === true
      ? { ...NOTHING, isByVerbs: true, delete: 'only' }
      : { errors: { delete: ['Send true.'] } };
  return isObject(value)
    ? { ...NOTHING, isByVerbs: true, [verb]: [value] }
    : { errors: { [verb]: [noDictionary(value)] } };
}

function saidOfMany(
  context: WriteContext,
  { target }: ReverseSpec,
  { input, errors }: { readonly input: Readonly<Record<string, Json>>; readonly errors: ErrorFields },
): ReturnType<typeof said> {
  const [create = [], update = [], keys = []] = ['create', 'update', 'delete'].map(
    (verb): readonly Json[] => {
      const given = input[verb];
      if (given === undefined || errors[verb]) return [];
      if (Array.isArray(given)) return given as readonly Json[];
      errors[verb] = [noList(given)];
      return [];
    },
  );
  const entity = context.state.entity(target);
  const found = keys.map((each, index) => ({ key: relatedKey(context, entity, each), each, index }));
  const wrong = found.filter(({ key }) => key === undefined);
  if (wrong.length > 0)
    errors.delete = wrong.map(
      ({ each, index }) => `Item ${index}: Incorrect type. Expected pk value, received ${typeName(each)}.`,
    );
  if (Object.keys(errors).length > 0) return { errors };
  const deletes = found
    .flatMap(({ key, index }) => (key === undefined ? [] : [{ key, index }]))
    .filter(({ key }, at, all) => all.findIndex((each) => each.key === key) === at);
  return { isByVerbs: true, create, update, delete: deletes };
}

type ChildrenOutcome = { readonly change?: ChildChange } | { readonly errors: Json };

/** The children of a body, each as at its own URL, or their errors; throws their denial (contract 25.2 to 25.4). */
export function parseChildren(
  context: WriteContext,
  field: NestedField,
  { input, write }: { readonly input: Json; readonly write: ParsedWrite },
): ChildrenOutcome {
  const { relation } = field;
  if (isShown(context.resource.entity, relation, input)) return {};
  if (input === null) return { errors: ['This field may not be null.'] };
  const found = said(context, field, { input, isNew: write.kind === 'create' });
  if ('errors' in found) return { errors: found.errors };
  if (write.isMerge) return { errors: [UNMERGEABLE] };
  return planChildren(context, relation, { found, parent: write.row?.key ?? '' });
}

/** What reads show in the field: a link, or the key of the only child. */
function isShown({ app, model }: EntitySpec, { kind, name }: ReverseSpec, input: Json): boolean {
  if (kind === 'reverse-one') return input === null || typeof input === 'string' || typeof input === 'number';
  const link = `/rest/v1/${app}/${model}/`;
  return typeof input === 'string' && input.startsWith(link) && input.endsWith(`/${name}/`);
}

function planChildren(
  context: WriteContext,
  relation: ReverseSpec,
  { found, parent }: { readonly found: Said; readonly parent: string },
): ChildrenOutcome {
  const isOne = relation.kind === 'reverse-one';
  const within = (method: string): WriteContext => childContext(context, relation, { method, parent });
  // All denials precede the errors of fields.
  const creating = found.create.length > 0 ? within('POST') : undefined;
  if (creating && !(creating.access.writable === 'all' || creating.access.writable.has(relation.forward)))
    throw forbidden();
  const updating = found.update.length > 0 ? within('PATCH') : undefined;
  const deleting = found.delete === 'only' || found.delete.length > 0 ? within('DELETE') : undefined;
  const creates = creating ? found.create.map((each) => parseChild(creating, each, { kind: 'create' })) : [];
  const updates = updating ? parseUpdates(updating, found.update, isOne) : [];
  const deletes = deleting ? findDeleted(deleting, found, updates) : [];
  const errors: ErrorFields = {
    ...listed('create', creates, isOne),
    ...listed('update', updates, isOne),
    ...deletionErrors(deletes),
  };
  if (Object.keys(errors).length > 0) return { errors: found.isByVerbs ? errors : (errors.create ?? {}) };
  return { change: changeOf({ relation, isByVerbs: found.isByVerbs }, { creates, updates, deletes }) };
}

function changeOf(
  field: Pick<ChildChange, 'relation' | 'isByVerbs'>,
  {
    creates,
    updates,
    deletes,
  }: {
    readonly creates: readonly ParsedChild[];
    readonly updates: readonly ParsedChild[];
    readonly deletes: readonly Deleted[];
  },
): ChildChange {
  return {
    ...field,
    creates: creates.flatMap((each) => ('values' in each ? [each] : [])),
    updates: updates.flatMap((each) => ('values' in each && each.row ? [{ ...each, row: each.row }] : [])),
    deletes: deletes.flatMap((each) => ('row' in each ? [each.row] : [])),
  };
}

type ParsedChild = (ChildValues & { readonly row?: Row; readonly key?: string }) | Failed;
interface Failed {
  readonly errors: ErrorFields;
  readonly key?: string;
}

function parseChild(context: WriteContext, input: Json, write: ParsedWrite): ParsedChild {
  if (!isObject(input)) return { errors: errorsOf(() => asObject(input)) };
  const parsed = parseBody(context, input, write);
  const deep = refusedChildren(context.resource.entity, input, TOO_DEEP);
  if ('errors' in parsed || Object.keys(deep).length > 0)
    return { errors: { ...('errors' in parsed ? parsed.errors : {}), ...deep } };
  return { values: parsed.values, keys: parsed.keys, ...(write.row ? { row: write.row } : {}) };
}

function errorsOf(act: () => unknown): ErrorFields {
  try {
    act();
    return {};
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    return (error.expected.bodies[0] ?? {}) as ErrorFields;
  }
}

/** The rows that the caller may change or delete by the method of the context. */
function rowsOf({ state, resource, access }: WriteContext): Row[] {
  const { entity } = resource;
  return resource.rows().filter((row) => !access.rows || fitsRows(state, { entity, row }, access.rows));
}

function parseUpdates(context: WriteContext, list: readonly Json[], isOne: boolean): ParsedChild[] {
  const { entity } = context.resource;
  const seen = new Set<string>();
  return list.map((input): ParsedChild => {
    if (!isObject(input)) return { errors: errorsOf(() => asObject(input)) };
    if (isOne) {
      const [row] = rowsOf(context);
      if (!row) return { errors: { non_field_errors: ['Not found.'] } };
      return parseChild(context, input, { kind: 'partialUpdate', row });
    }
    const names = entity.key.columns.map(({ name }) => name);
    const missing = names.filter((name) => (input[name] ?? null) === null);
    if (missing.length > 0)
      return { errors: Object.fromEntries(missing.map((name) => [name, ['This field is required.']])) };
    const [column] = entity.key.columns;
    const id = column && input[column.name];
    if (column?.kind === 'uuid' && typeof id === 'string') {
      const outcome = parseValue(id, column, context.limits);
      if ('errors' in outcome) return { errors: { [column.name]: [...outcome.errors] } };
    }
    const key = keyTextOf(entity, input);
    const name = names.length === 1 ? (names[0] ?? '') : 'non_field_errors';
    if (seen.has(key)) return { errors: { [name]: ['This object is in the list already.'] } };
    seen.add(key);
    const row = rowsOf(context).find((each) => each.key === key);
    if (!row) return { errors: { [name]: [`Invalid pk "${key}" - object does not exist.`] }, key };
    return { ...parseChild(context, input, { kind: 'partialUpdate', row }), key };
  });
}

type Deleted = { readonly row: Row } | { readonly message: string };

function findDeleted(context: WriteContext, found: Said, updates: readonly ParsedChild[]): Deleted[] {
  const rows = rowsOf(context);
  if (found.delete === 'only') return rows[0] ? [{ row: rows[0] }] : [{ message: 'Not found.' }];
  return found.delete.map(({ key, index }): Deleted => {
    if (updates.some((each) => each.key === key))
      return { message: `Item ${index}: This object is also among those to update.` };
    const row = rows.find((each) => each.key === key);
    return row ? { row } : { message: `Item ${index}: Invalid pk "${key}" - object does not exist.` };
  });
}

function deletionErrors(deletes: readonly Deleted[]): ErrorFields {
  const messages = deletes.flatMap((each) => ('message' in each ? [each.message] : []));
  return messages.length > 0 ? { delete: messages } : {};
}

function listed(verb: string, children: readonly ParsedChild[], isOne: boolean): ErrorFields {
  const errors = children.map((each): ErrorFields => ('errors' in each ? each.errors : {}));
  if (errors.every((each) => Object.keys(each).length === 0)) return {};
  return { [verb]: isOne ? (errors[0] ?? {}) : errors };
}

/** Whether a body writes children, and with them another version of the object (contract 25.6). */
export function writesChildren(changes: readonly ChildChange[]): boolean {
  return changes.some(
    ({ creates, updates, deletes }) => creates.length + updates.length + deletes.length > 0,
  );
}

/** Writes the children of a row that is written already; throws what is wrong under the path of the child. */
export function writeChildren(context: WriteContext, row: Row, changes: readonly ChildChange[]): void {
  const { state, actor, resource } = context;
  for (const change of changes) {
    const { relation, creates, updates, deletes } = change;
    const { entity } = resource;
    const visible = visibleRows(entity.options.permissions, { entity, actor, method: 'GET' });
    if (creates.length > 0 && !mayName(state, { entity, row }, visible)) throw forbidden();
    const within = (verb: NestedVerb): WriteContext =>
      childContext(context, relation, { method: METHODS[verb], parent: row.key });
    const target = state.entity(relation.target);
    for (const each of deletes) {
      if (!state.row(target.name, each.key)) throw new AmbiguousDeletion();
      destroy(state, { entity: target, row: each }, actor);
    }
    updates.forEach((each, index) => {
      at(change, { verb: 'update', index }, () => {
        updateChild(within('update'), each);
      });
    });
    creates.forEach((each, index) => {
      at(change, { verb: 'create', index }, () => {
        createChild(within('create'), each, { [relation.forward]: row.key });
      });
    });
    if (!state.row(entity.name, row.key)) throw new AmbiguousDeletion();
  }
}

function updateChild(
  context: WriteContext,
  { row, values, keys }: ChildValues & { readonly row: Row },
): void {
  const { state, stored, resource } = context;
  const { entity } = resource;
  const current = state.row(entity.name, row.key);
  if (!current) throw new AmbiguousDeletion();
  const told = stored?.get(entity.name)?.find(({ key }) => key === row.key)?.values;
  const isTouched = changesKeys(context, current, keys);
  const version = toldVersion(told, entity);
  const next = changedValues(context, { row: current, told: version, isTouched }, values);
  writeKeys(context, store(context, next, current), keys);
}

function createChild(
  context: WriteContext,
  { values, keys }: ChildValues,
  parent: Readonly<Record<string, Json>>,
): void {
  const { state, resource } = context;
  const { entity } = resource;
  const made = newValues(state, entity, { ...values, ...parent });
  const [column] = entity.key.columns;
  const key = entity.key.generated && column ? { [column.name]: newKey(context, entity, made) } : {};
  writeKeys(context, store(context, { ...made, ...key }, undefined), keys);
}

/** Errors of a child are under its path; a denial or a conflict is that of the request. */
function at(
  { relation, isByVerbs, creates, updates }: ChildChange,
  { verb, index }: { readonly verb: 'create' | 'update'; readonly index: number },
  write: () => void,
): void {
  try {
    write();
  } catch (error) {
    if (!(error instanceof Refusal) || error.expected.status !== 400) throw error;
    const length = (verb === 'create' ? creates : updates).length;
    const placed = (errors: Json): Json => {
      const list = Array.from({ length }, (_, each) => (each === index ? errors : {}));
      const below = relation.kind === 'reverse-one' ? errors : list;
      return { [relation.name]: isByVerbs ? { [verb]: below } : below };
    };
    throw new Refusal({ ...error.expected, bodies: error.expected.bodies.map(placed) });
  }
}
