import { fieldsOf } from '../values/error-messages.js';
import { sentChildren } from './draft.js';
import type { Draft, FieldDraft } from './draft.js';
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
export function toFormErrors(value: unknown, specs: readonly FieldSpec[], draft: Draft = {}): FormErrors {
  const nested = specs.filter((spec) => spec.nested);
  const given = typeof value === 'object' && value !== null ? { ...fieldsOf(value) } : value;
  const fields: Record<string, readonly string[]> = {};
  const general: string[] = [];
  for (const spec of nested) {
    const below = (given as Readonly<Record<string, unknown>>)[spec.name];
    Object.assign(fields, childErrors(below, spec, draft[spec.name] ?? null));
  }
  const found = collect(given, '').filter(
    ([name]) => !nested.some((spec) => name === spec.name || name.startsWith(`${spec.name}.`)),
  );
  const known = new Set(namesOf(specs, ''));
  for (const [name, messages] of found)
    if (known.has(name)) fields[name] = messages;
    else general.push(...messages.map((each) => (isGeneral(name) ? each : `${name}: ${each}`)));
  return { fields, general };
}

/**
 * The messages of children: those of a field by its path in the form, `comments.create.0.text`; others of one child by the path of the
 * child, and all others by the path of the relation.
 */
function childErrors(value: unknown, { name, nested }: FieldSpec, draft: FieldDraft): FormErrors['fields'] {
  const found: Record<string, readonly string[]> = {};
  const add = (path: string, messages: readonly string[]): void => {
    found[path] = [...(found[path] ?? []), ...messages];
  };
  const isVerbs = typeof value === 'object' && value !== null && !nested?.isNew && !Array.isArray(value);
  const verbs: Readonly<Record<string, unknown>> = isVerbs
    ? (value as Readonly<Record<string, unknown>>)
    : { create: value };
  const sent = sentChildren(draft);
  for (const [verb, given] of Object.entries(verbs)) {
    const isWritten = verb === 'create' || verb === 'update';
    const specs = isWritten ? nested?.[verb] : undefined;
    const keys = isWritten ? sent[verb] : [];
    const known = namesOf(specs ?? [], '');
    (Array.isArray(given) ? (given as readonly unknown[]) : [given]).forEach((each, at) => {
      for (const [field, messages] of collect(each, '')) {
        const child =
          typeof each === 'object' && keys[at] !== undefined ? `${name}.${verb}.${keys[at]}` : name;
        if (known.includes(field)) add(`${child}.${field}`, messages);
        else
          add(
            child,
            messages.map((message) => (isGeneral(field) ? message : `${field}: ${message}`)),
          );
      }
    });
  }
  return found;
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
