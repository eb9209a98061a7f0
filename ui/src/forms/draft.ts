import { exactMember, parseJson as parseExactJson, writeJson } from '../api/parse-json.js';
import { fromLocalInput, toLocalInput } from '../values/local-time.js';
import type { Children } from './children.js';
import type { FieldSpec } from './field-spec.js';

/** What a person has typed into one field: a text, a choice, several choices, the fields of an object, or null. */
export type FieldDraft = string | boolean | readonly string[] | Draft | null;

/** What a person has typed, by the names of the fields that were touched. */
export interface Draft {
  readonly [name: string]: FieldDraft | undefined;
}

/** A text that is not a value of its field. */
export class DraftError extends Error {
  constructor(
    readonly field: string,
    message: string,
  ) {
    super(message);
  }
}

/** The value of a body as a draft. */
export function toDraft(value: unknown, spec: FieldSpec): FieldDraft {
  if (value === null || value === undefined || spec.startsEmpty) return null;
  switch (spec.kind) {
    case 'boolean':
      return value === true;
    case 'set':
    case 'keys':
      return Array.isArray(value) ? value.map(String) : [];
    case 'json':
    case 'list':
      return writeJson(value, 2);
    case 'datetime':
      return toLocalInput(String(value));
    case 'embedded':
      return Object.fromEntries(
        (spec.children ?? []).map((child) => [child.name, toDraft(exactMember(value, child.name), child)]),
      );
    default:
      return String(value);
  }
}

/** The body of the fields that were touched. Throws DraftError. @param initial the values before anything was typed. */
export function toBody(
  draft: Draft,
  specs: readonly FieldSpec[],
  initial: Draft = {},
): Record<string, unknown> {
  const touched = specs.filter(({ name, readOnly }) => !readOnly && draft[name] !== undefined);
  const values = touched.map((spec) => {
    const given = draft[spec.name] ?? null;
    return [
      spec.name,
      spec.nested ? toChildren(given, spec.name, spec.nested) : toValue(given, spec, initial),
    ];
  });
  return Object.fromEntries(values.filter(([, value]) => value !== undefined)) as Record<string, unknown>;
}

function toValue(given: FieldDraft, spec: FieldSpec, initial: Draft): unknown {
  if (given === null || typeof given === 'boolean') return given;
  if (typeof given === 'string') return textToValue(given, spec);
  if (Array.isArray(given)) return spec.kind === 'keys' ? toKeys(given, initial[spec.name]) : given;
  return atPath(spec.name, () => toBody(given as Draft, spec.children ?? []));
}

/** Of keys that the object has, what is added and removed, so that those which others have added stay. */
function toKeys(given: readonly string[], had: FieldDraft | undefined): unknown {
  if (!Array.isArray(had)) return given;
  const before = had as readonly string[];
  return {
    add: given.filter((key) => !before.includes(key)),
    remove: before.filter((key) => !given.includes(key)),
  };
}

/** What was typed for the objects of a relation, by verb and then by a number or the key. */
export interface ChildDrafts {
  readonly create: Readonly<Record<string, Draft>>;
  readonly update: Readonly<Record<string, Draft>>;
  readonly delete: Readonly<Record<string, true>>;
}

export function childDrafts(given: FieldDraft): ChildDrafts {
  return { create: {}, update: {}, delete: {}, ...(given as object | null) };
}

/** The numbers of new children and the keys of changed ones, in the order of a body. */
export function sentChildren(given: FieldDraft): Readonly<Record<'create' | 'update', readonly string[]>> {
  const { create, update } = childDrafts(given);
  const isTouched = (key: string): boolean => Object.keys(update[key] ?? {}).length > 0;
  return { create: Object.keys(create), update: Object.keys(update).filter(isTouched) };
}

/** Undefined where nothing was typed. */
function toChildren(given: FieldDraft, field: string, nested: Children): unknown {
  const drafts = childDrafts(given);
  const sent = sentChildren(given);
  const create = sent.create.map((key) =>
    atPath(`${field}.create.${key}`, () => toBody(drafts.create[key] ?? {}, nested.create ?? [])),
  );
  if (nested.isNew) {
    if (create.length === 0) return undefined;
    return nested.isOne ? create[0] : create;
  }
  const nameOf = (key: string): Children['rows'][number]['named'] =>
    nested.rows.find((each) => each.key === key)?.named ?? {};
  const update = sent.update.map((key) => ({
    ...(nested.isOne ? {} : nameOf(key)),
    ...atPath(`${field}.update.${key}`, () => toBody(drafts.update[key] ?? {}, nested.update ?? [])),
  }));
  const removed = Object.keys(drafts.delete).map((key) => {
    const values = Object.values(nameOf(key));
    return values.length === 1 ? values[0] : key;
  });
  const verbs = Object.entries({ create, update, delete: removed }).filter(([, each]) => each.length > 0);
  if (verbs.length === 0) return undefined;
  if (!nested.isOne) return Object.fromEntries(verbs);
  return Object.fromEntries(verbs.map(([verb, [first]]) => [verb, verb === 'delete' ? true : first]));
}

/** Names a wrong text by its path in the form. */
function atPath<T>(path: string, make: () => T): T {
  try {
    return make();
  } catch (error) {
    throw error instanceof DraftError ? new DraftError(`${path}.${error.field}`, error.message) : error;
  }
}

/** How the texts of each kind become values; texts of the other kinds are values. */
const VALUES: Partial<Readonly<Record<FieldSpec['kind'], (text: string, spec: FieldSpec) => unknown>>> = {
  integer: toNumber,
  float: toNumber,
  // What the browser cannot represent is sent as it is: the server says what is wrong with it.
  datetime: (text) => fromLocalInput(text) || text,
  enum: (text, { choices }) => choices?.find(({ value }) => String(value) === text)?.value ?? text,
  json: parseJson,
  list: parseJson,
};

function textToValue(text: string, spec: FieldSpec): unknown {
  if (spec.kind === 'string') return text;
  if (text.trim() === '') return spec.nullable ? null : '';
  return VALUES[spec.kind]?.(text, spec) ?? (spec.kind === 'json' ? null : text);
}

/** Numbers that JavaScript cannot represent stay texts. */
function toNumber(text: string): number | string {
  const number = Number(text);
  const isExact = Number.isFinite(number) && (!Number.isInteger(number) || Number.isSafeInteger(number));
  return isExact ? number : text;
}

function parseJson(text: string, { name }: FieldSpec): unknown {
  try {
    return parseExactJson(text);
  } catch (error) {
    throw new DraftError(name, error instanceof Error ? error.message : String(error));
  }
}
