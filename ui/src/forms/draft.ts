import { exactMember, parseJson as parseExactJson, writeJson } from '../api/parse-json.js';
import { fromLocalInput, toLocalInput } from '../values/local-time.js';
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

/** The body of the fields that were touched. Throws DraftError. */
export function toBody(draft: Draft, specs: readonly FieldSpec[]): Record<string, unknown> {
  const touched = specs.filter(({ name, readOnly }) => !readOnly && draft[name] !== undefined);
  return Object.fromEntries(touched.map((spec) => [spec.name, toValue(draft[spec.name] ?? null, spec)]));
}

function toValue(given: FieldDraft, spec: FieldSpec): unknown {
  if (given === null || typeof given === 'boolean') return given;
  if (typeof given === 'string') return textToValue(given, spec);
  if (Array.isArray(given)) return given as readonly string[];
  return toBody(given as Draft, spec.children ?? []);
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
