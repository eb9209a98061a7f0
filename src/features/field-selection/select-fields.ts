import type { Field } from '../../core/schema/field.js';
import { KEPT_CHOICES } from '../../core/schema/limits.js';
import type { Resource } from '../../core/schema/resource.js';
import type { Representation } from '../../core/contracts/serializer.js';
import { choiceBehind, choosesAll, wants } from './parse-field-names.js';
import type { Choice, NameTree } from './parse-field-names.js';

const SELECTED_VIEWS = new WeakMap<Resource, Map<string, Resource>>();

/**
 * The resource with the fields that a client selects of those that it may read. Other fields are not read; they can still
 * be filtered, searched, ordered and written. Views are cached, and the least recently used is evicted first.
 */
export function chooseFields(resource: Resource, choice: Choice): Resource {
  if (choosesAll(choice)) return resource;
  const fields = resource.fields.map((field) => chosen(field, choice));
  const name = selectionKey(fields);
  const kept = SELECTED_VIEWS.get(resource) ?? new Map<string, Resource>();
  SELECTED_VIEWS.set(resource, kept);
  const view =
    kept.get(name) ??
    Object.freeze({
      ...resource,
      fields,
      fieldsByName: new Map(fields.map((field) => [field.name, field])),
      isClientSelected: true,
    });
  kept.delete(name);
  kept.set(name, view);
  const [oldest] = kept.keys();
  if (kept.size > KEPT_CHOICES && oldest !== undefined) kept.delete(oldest);
  return view;
}

function chosen<Some extends Field>(field: Some, choice: Choice): Some {
  if (!field.readable) return field;
  if (!wants(choice, field.name)) return { ...field, readable: false };
  if (field.kind !== 'embedded') return field;
  const inner = choiceBehind(choice, field.name);
  return choosesAll(inner) ? field : { ...field, fields: field.fields.map((each) => chosen(each, inner)) };
}

/** A cache key: equal for the same fields, in whatever order they were given. */
function selectionKey(fields: readonly Field[]): string {
  return JSON.stringify(shownNames(fields));
}

function shownNames(fields: readonly Field[]): readonly unknown[] {
  return fields
    .filter(({ readable }) => readable)
    .map((field) => (field.kind === 'embedded' ? [field.name, shownNames(field.fields)] : field.name));
}

/** Selects from a body that other code has created: members by name, and within embedded objects. */
export function chooseMembers(
  body: Representation,
  choice: Choice,
  fields: readonly Field[],
): Representation {
  if (choosesAll(choice)) return body;
  return Object.fromEntries(
    Object.entries(body)
      .filter(([name]) => wants(choice, name))
      .map(([name, value]) => [
        name,
        chooseEmbedded(value, {
          choice: choiceBehind(choice, name),
          field: fields.find((each) => each.name === name),
        }),
      ]),
  );
}

function chooseEmbedded(
  value: unknown,
  { choice, field }: { choice: Choice; field: Field | undefined },
): unknown {
  if (field?.kind !== 'embedded' || typeof value !== 'object' || value === null) return value;
  return chooseMembers(value as Representation, choice, field.fields);
}

/** The paths that these fields do not have, or not for this caller. Names below a relation are not checked. */
export function unknownNames(
  names: NameTree | undefined,
  fields: readonly Field[],
  within = '',
): readonly string[] {
  return [...(names?.inner ?? [])].flatMap(([name, behind]): readonly string[] => {
    const field = fields.find((each) => each.name === name && each.readable);
    if (!field) return [within + name];
    if (behind.inner.size === 0 || 'relation' in field) return [];
    return field.kind === 'embedded'
      ? unknownNames(behind, field.fields, `${within}${name}.`)
      : [...behind.inner.keys()].map((each) => `${within}${name}.${each}`);
  });
}
