import { isDeepStrictEqual } from 'node:util';
import type { ColumnSpec, EntitySpec, Json, JsonObject, ManySpec, ToOneSpec } from '../schema.js';
import { mayName, visibleRows } from './access.js';
import type { Access, Actor, Names } from './access.js';
import { decideColumns, isSupplied } from './decide.js';
import { invalid, Refusal } from './expected.js';
import type { ErrorFields } from './expected.js';
import { fieldsOf } from './fields.js';
import type { FieldView } from './fields.js';
import type { StoredRows } from './learning.js';
import { parseChildren } from './nested.js';
import type { ChildChange } from './nested.js';
import { parseKeyChange, sendsBack, writesKeys } from './related-keys.js';
import type { KeyChange } from './related-keys.js';
import type { Resource } from './resources.js';
import { keyOfSegment } from './state.js';
import type { Row, State } from './state.js';
import { isStringKind, parseText, parseValue, typeName, wrong } from './values.js';
import type { Limits, Outcome } from './values.js';

export const REQUIRED = 'This field is required.';
const NO_NULL = 'This field may not be null.';
const NO_BLANK = 'This field may not be blank.';
const WITHHELD = 'You do not have permission to write this field.';
export const UNMERGEABLE =
  'This field cannot be merged. Send its whole value in a PATCH of application/json.';
const DOTS = 'A key cannot be "." or "..": no URL would lead to it.';

export interface WriteContext {
  readonly state: State;
  readonly resource: Resource;
  readonly access: Access;
  /** The fields that the caller may read (contract 8.7). */
  readonly shown: Names;
  readonly actor: Actor;
  readonly limits: Limits;
  readonly stored?: StoredRows | undefined;
  /** The relation to the parent of an object in its body, which is written with it. */
  readonly isBelow?: string;
}

export type WriteKind = 'create' | 'update' | 'partialUpdate';

export const MERGE_PATCH = 'application/merge-patch+json';

/** The parsed body of a request; `{}` if there is none. */
export function readBody(
  body: string | undefined,
  contentType: string | undefined,
  types: readonly string[] = ['application/json'],
): Json {
  if (body === undefined || body === '') return {};
  const [type = '', ...parameters] = (contentType ?? '').split(';').map((part) => part.trim());
  const charset = parameters.find((each) => /^charset=/i.test(each))?.slice('charset='.length);
  if (!types.includes(type.toLowerCase()) || (charset !== undefined && !/^"?utf-8"?$/i.test(charset)))
    throw new Refusal({ status: 415, bodies: [], detail: /^Unsupported media type ".*" in request\.$/ });
  try {
    return JSON.parse(body) as Json;
  } catch {
    throw new Refusal({ status: 400, bodies: [], detail: /^JSON parse error - / });
  }
}

export function asObject(body: Json): JsonObject {
  if (body === null) throw invalid({ non_field_errors: ['No data provided'] });
  if (typeof body !== 'object' || Array.isArray(body))
    throw invalid({
      non_field_errors: [`Invalid data. Expected a dictionary, but got ${typeName(body)}.`],
    });
  return body as JsonObject;
}

/** The canonical values of a body by field, or the errors by field. */
export type Parsed =
  | {
      readonly values: Readonly<Record<string, Json>>;
      readonly keys: readonly KeyChange[];
      readonly children: readonly ChildChange[];
    }
  | { readonly errors: ErrorFields; readonly others: Readonly<Record<string, Json>> };

export interface ParsedWrite {
  readonly kind: WriteKind;
  /** The one under change, if it is known. */
  readonly row?: Row | undefined;
  readonly isUpsert?: boolean;
  /** Whether the body is a merge patch (contract 5.19). */
  readonly isMerge?: boolean;
}

export function parseBody(context: WriteContext, body: JsonObject, write: ParsedWrite): Parsed {
  const { kind, row } = write;
  const errors: ErrorFields = {};
  const values: Record<string, Json> = {};
  const sent = new Map<string, string | null | undefined>();
  const keys: KeyChange[] = [];
  const children: ChildChange[] = [];
  const fields = fieldsOf(context.state, context.resource, context.actor);
  for (const field of fields.filter((each) => isTaken(context, each, kind))) {
    if (field.keys ?? field.nested) {
      const input = body[field.name];
      const found = input === undefined ? {} : parseBelow(context, field, { input, write });
      if ('errors' in found) errors[field.name] = found.errors;
      else if (found.keys) keys.push(found.keys);
      else if (found.children) children.push(found.children);
      continue;
    }
    const outcome = parseField(context, field, { body, ...write });
    if (!outcome) continue;
    if (field.relation && Object.hasOwn(body, field.name))
      sent.set(field.name, 'value' in outcome ? (outcome.value as string | null) : undefined);
    if ('errors' in outcome) errors[field.name] = [...outcome.errors];
    else values[field.name] = outcome.value;
  }
  Object.assign(errors, strictErrors(context, fields, { body, write }));
  if (kind === 'create' || row) {
    const { state, resource } = context;
    const decision = decideColumns({ state, entity: resource.entity, sent, stored: row });
    Object.assign(values, decision.values);
    for (const [name, found] of Object.entries(decision.errors)) errors[name] ??= found;
  }
  return Object.keys(errors).length > 0 ? { errors, others: values } : { values, keys, children };
}

type BelowOutcome =
  { readonly keys?: KeyChange; readonly children?: ChildChange } | { readonly errors: Json };

/** The related keys, or the children, of a field. */
function parseBelow(
  context: WriteContext,
  field: FieldView,
  given: { readonly input: Json; readonly write: ParsedWrite },
): BelowOutcome {
  const keys = field.keys ? parseKeyChange(context, field.keys, given) : {};
  const children = field.nested ? parseChildren(context, field.nested, given) : {};
  if ('errors' in keys) return keys;
  if ('errors' in children) return children;
  if (given.write.isMerge && keys.change) return { errors: [UNMERGEABLE] };
  return {
    ...(keys.change ? { keys: keys.change } : {}),
    ...(children.change ? { children: children.change } : {}),
  };
}

/** The errors of fields that are not known, or that the grant withholds (contract 5.18). */
function strictErrors(
  context: WriteContext,
  fields: readonly FieldView[],
  {
    body,
    write: { kind, row },
  }: { readonly body: JsonObject; readonly write: Pick<ParsedWrite, 'kind' | 'row'> },
): ErrorFields {
  const errors: ErrorFields = {};
  if (context.resource.options.strict) {
    const known = fields.filter((field) => isVisibleField(context, field, kind)).map(({ name }) => name);
    for (const name of Object.keys(body)) if (!known.includes(name)) errors[name] = ['Unknown field.'];
  }
  if (context.resource.options.strict === 'writes')
    for (const field of fields.filter((each) => isWithheld(context, each, kind)))
      if (isRefused(context, field, { body, kind, row })) errors[field.name] = [WITHHELD];
  return errors;
}

/** Whether the grant alone keeps the caller from writing a field that he reads (contract 5.18). */
function isWithheld(context: WriteContext, field: FieldView, kind: WriteKind): boolean {
  const { access, resource, shown } = context;
  const reads = field.isKey || (field.isReadable && (shown === 'all' || shown.has(field.name)));
  if (field.nested && context.isBelow !== undefined) return false;
  if (field.keys) return reads && field.isWritable && !isTaken(context, field, kind);
  return (
    reads &&
    isTaken({ ...context, resource, access: { ...access, writable: 'all' } }, field, kind) &&
    !isTaken(context, field, kind)
  );
}

/** A new object has no value that could be sent back as it is. */
function isRefused(
  context: WriteContext,
  field: FieldView,
  { body, kind, row }: { readonly body: JsonObject; readonly kind: WriteKind; readonly row: Row | undefined },
): boolean {
  if (!Object.hasOwn(body, field.name)) return false;
  if (kind === 'create') return true;
  if (!row) return false;
  if (field.keys) return !sendsBack(context, field.keys, { input: body[field.name] ?? null, row });
  if (field.nested) return typeof body[field.name] === 'object' && body[field.name] !== null;
  const [input, stored] = [body[field.name] ?? null, row.values[field.name] ?? null];
  if (input === null || stored === null) return input !== stored;
  if (field.relation?.kind === 'to-one')
    return relatedKey(context, context.state.entity(field.relation.target), input) !== stored;
  const outcome = field.column && parseColumn(context, field, { column: field.column, input });
  return !outcome || 'errors' in outcome || !isDeepStrictEqual(outcome.value, stored);
}

/** Whether the field is visible to the caller. */
function isVisibleField(context: WriteContext, field: FieldView, kind: WriteKind): boolean {
  const { access, shown } = context;
  const reads = field.isReadable && (shown === 'all' || shown.has(field.name));
  const writes = field.keys
    ? isTaken(context, field, kind)
    : field.isWritable && (access.writable === 'all' || access.writable.has(field.name));
  return reads || writes || field.isKey;
}

function isTaken(context: WriteContext, field: FieldView, kind: WriteKind): boolean {
  const { resource, access } = context;
  if (!field.isWritable || field.name === resource.through?.parentField) return false;
  if (context.isBelow !== undefined && (field.nested || field.name === context.isBelow)) return false;
  if (field.isKey && kind !== 'create') return false;
  if (field.keys && !takesKeys(context, field.keys, kind)) return false;
  return access.writable === 'all' || access.writable.has(field.name);
}

/** Related keys are written by whoever also sees them (contract 24.3). */
function takesKeys(context: WriteContext, relation: ManySpec, kind: WriteKind): boolean {
  const { resource, shown } = context;
  const isSeen = shown === 'all' || shown.has(relation.name);
  return isSeen && writesKeys(context, resource.entity, { relation, isNew: kind === 'create' });
}

function parseField(
  context: WriteContext,
  field: FieldView,
  { body, ...write }: ParsedWrite & { readonly body: JsonObject },
): Outcome<Json> | undefined {
  const { kind } = write;
  const { column, relation } = field;
  const spec = relation?.kind === 'to-one' ? relation : column;
  if (!spec) return undefined;
  const isNullable = spec.nullable ?? false;
  if (!Object.hasOwn(body, field.name))
    return kind === 'partialUpdate' || isOptional(spec) || supplies(context, field, { body, kind })
      ? undefined
      : wrong(REQUIRED);
  const input = body[field.name] ?? null;
  if (input === null) return isNullable ? { value: null } : wrong(NO_NULL);
  if (write.isMerge && write.row && column?.kind === 'json')
    return inOrderOf(context.state.database, { value: merge(write.row.values[field.name] ?? null, input) });
  return column
    ? parseColumn(context, field, { column, input })
    : parseRelated(context, relation as ToOneSpec, { input, write });
}

function supplies(
  { resource }: WriteContext,
  { name }: FieldView,
  { body, kind }: { readonly body: JsonObject; readonly kind: WriteKind },
): boolean {
  return isSupplied(resource.entity, name, { body, isNew: kind === 'create' });
}

function isOptional(spec: ColumnSpec | ToOneSpec): boolean {
  return spec.nullable === true || ('default' in spec && spec.default !== undefined);
}

function parseColumn(
  { limits, resource, state }: WriteContext,
  field: FieldView,
  { column, input }: { readonly column: ColumnSpec; readonly input: Json },
): Outcome<Json> {
  const outcome = parseValue(input, column, limits);
  if (column.kind === 'json') return inOrderOf(state.database, outcome);
  if ('errors' in outcome || !isStringKind(column.kind)) return outcome;
  const mayBeBlank = (column.nullable ?? false) || column.default !== undefined;
  if (outcome.value === '' && !mayBeBlank) return wrong(NO_BLANK);
  const isWholeKey = field.isKey && resource.entity.key.columns.length === 1;
  return isWholeKey && (outcome.value === '.' || outcome.value === '..') ? wrong(DOTS) : outcome;
}

/** RFC 7396: members of null are removed, and what is no object counts as an empty one. */
function merge(stored: Json, patch: Json): Json {
  if (typeof patch !== 'object' || patch === null || Array.isArray(patch)) return patch;
  const isObject = typeof stored === 'object' && stored !== null && !Array.isArray(stored);
  const merged = new Map<string, Json>(isObject ? Object.entries(stored as JsonObject) : []);
  for (const [name, value] of Object.entries(patch as JsonObject)) {
    if (value === null) merged.delete(name);
    else merged.set(name, merge(merged.get(name) ?? null, value));
  }
  return Object.fromEntries(merged);
}

function inOrderOf(database: string, outcome: Outcome<Json>): Outcome<Json> {
  if ('errors' in outcome || database !== 'postgres') return outcome;
  return { value: inJsonbOrder(outcome.value) };
}

/** `jsonb` orders members by the length of their names, then by the names (docs/reference/databases.md). */
function inJsonbOrder(value: Json): Json {
  if (Array.isArray(value)) return (value as readonly Json[]).map(inJsonbOrder);
  if (typeof value !== 'object' || value === null) return value;
  const members = Object.entries(value as Readonly<Record<string, Json>>).sort(
    ([one], [other]) => one.length - other.length || (one < other ? -1 : 1),
  );
  return Object.fromEntries(members.map(([name, each]) => [name, inJsonbOrder(each)]));
}

/** The text of the key of a related row, to which the caller may refer. */
function parseRelated(
  context: WriteContext,
  relation: ToOneSpec,
  { input, write }: { readonly input: Json; readonly write: ParsedWrite },
): Outcome<Json> {
  const { state, actor } = context;
  const target = state.entity(relation.target);
  const [column] = target.key.columns;
  if (column?.kind === 'uuid' && typeof input === 'string') {
    const outcome = parseValue(input, column, context.limits);
    if ('errors' in outcome) return outcome;
  }
  const key = relatedKey(context, target, input);
  if (key === undefined) return wrong(`Incorrect type. Expected pk value, received ${typeName(input)}.`);
  const row = keepsDeleted(context, relation, { key, write })
    ? state.anyRow(target.name, key)
    : state.row(target.name, key);
  const visible = visibleRows(target.options.permissions, { entity: target, actor, method: 'GET' });
  return row && mayName(state, { entity: target, row }, visible)
    ? { value: key }
    : wrong(`Invalid pk "${String(input)}" - object does not exist.`);
}

/** Whether a change may send back the stored key of an object that has been deleted since (contract 23.9). */
function keepsDeleted(
  { state, shown }: WriteContext,
  { name, target }: ToOneSpec,
  { key, write }: { readonly key: string; readonly write: ParsedWrite },
): boolean {
  const { kind, row, isUpsert } = write;
  if (kind === 'create' || isUpsert || !state.entity(target).options.trash) return false;
  if (shown !== 'all' && !shown.has(name)) return false;
  return row === undefined || row.values[name] === key;
}

/** The text of a key; undefined if it is invalid for the type. */
export function relatedKey({ limits }: WriteContext, target: EntitySpec, input: Json): string | undefined {
  if (typeof input !== 'string' && typeof input !== 'number') return undefined;
  const [column, ...others] = target.key.columns;
  if (others.length > 0) return typeof input === 'string' ? compositeKey(target, input, limits) : undefined;
  if (!column || isStringKind(column.kind)) return String(input);
  const outcome = parseValue(input, column, limits);
  if ('value' in outcome) return String(outcome.value);
  if (column.kind === 'uuid') return typeof input === 'string' ? input : undefined;
  return outcome.errors[0]?.startsWith('Ensure') ? String(input) : undefined;
}

/** The text of a composite key, whose parts must fit the types of their columns. */
function compositeKey(target: EntitySpec, input: string, limits: Limits): string | undefined {
  const key = keyOfSegment(target, input);
  const parts = key?.split(',') ?? [];
  const isWrong = target.key.columns.some((column, index) => {
    const outcome = parseText(parts[index] ?? '', column, limits);
    return column.kind === 'int' && 'errors' in outcome && !outcome.errors[0]?.startsWith('Ensure');
  });
  return isWrong ? undefined : key;
}
