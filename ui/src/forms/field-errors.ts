import { fieldsOf } from '../values/error-messages.js';
import type { FieldSpec } from './field-spec.js';

/** The messages of a rejected form. */
export interface FormErrors {
  /** By the name of the field; of an embedded object by the path with dots: `address.city`. */
  readonly fields: Readonly<Record<string, readonly string[]>>;
  /** Those that belong to no field of the form. */
  readonly general: readonly string[];
}

export const NO_ERRORS: FormErrors = { fields: {}, general: [] };

/** Sorts the messages of an error body by the fields of a form. */
export function toFormErrors(value: unknown, specs: readonly FieldSpec[]): FormErrors {
  const found = collect(value, '');
  const known = new Set(namesOf(specs, ''));
  const fields: Record<string, readonly string[]> = {};
  const general: string[] = [];
  for (const [name, messages] of found)
    if (known.has(name)) fields[name] = messages;
    else general.push(...messages.map((each) => (isGeneral(name) ? each : `${name}: ${each}`)));
  return { fields, general };
}

function isGeneral(name: string): boolean {
  return name === '' || name === 'detail' || name === 'non_field_errors';
}

function collect(value: unknown, path: string): readonly (readonly [string, readonly string[]])[] {
  if (typeof value === 'string') return [[path, [value]]];
  if (Array.isArray(value)) {
    const texts = value.filter((each): each is string => typeof each === 'string');
    const others = value.flatMap((each: unknown) => (typeof each === 'string' ? [] : collect(each, path)));
    return texts.length > 0 ? [[path, texts], ...others] : others;
  }
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(fieldsOf(value)).flatMap(([name, inner]) =>
    collect(inner, path === '' ? name : `${path}.${name}`),
  );
}

function namesOf(specs: readonly FieldSpec[], path: string): readonly string[] {
  return specs.flatMap(({ name, children }) => [path + name, ...namesOf(children ?? [], `${path}${name}.`)]);
}
