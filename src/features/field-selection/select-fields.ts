import { copyOf } from '../../core/values/exact-numbers.js';
import type { Field } from '../../core/schema/field.js';
import { MAX_SELECTED_VIEWS } from '../../core/schema/limits.js';
import type { Resource } from '../../core/schema/resource.js';
import type { Representation } from '../../core/contracts/serializer.js';
import { choosesAll, includes, nestedChoice } from './parse-field-names.js';
import type { Choice, NameTree } from './parse-field-names.js';

const SELECTED_VIEWS = new WeakMap<Resource, Map<string, Resource>>();

/**
 * The resource with the fields that a client selects of those that it may read. Other fields are not read; they can still
 * be filtered, searched, ordered and written. Views are cached, and the least recently used is evicted first.
 */
export function chooseFields(resource: Resource, choice: Choice): Resource {
  if (choosesAll(choice)) return resource;
  const fields = resource.fields.map((field) => selectField(field, choice));
  const name = selectionKey(fields);
  const views = SELECTED_VIEWS.get(resource) ?? new Map<string, Resource>();
  SELECTED_VIEWS.set(resource, views);
  const view =
    views.get(name) ??
    Object.freeze({
      ...resource,
      fields,
      fieldsByName: new Map(fields.map((field) => [field.name, field])),
      isClientSelected: true,
    });
  views.delete(name);
  views.set(name, view);
  const [oldest] = views.keys();
  if (views.size > MAX_SELECTED_VIEWS && oldest !== undefined) views.delete(oldest);
  return view;
}

function selectField<Some extends Field>(field: Some, choice: Choice): Some {
  if (!field.readable) return field;
  if (!includes(choice, field.name)) return { ...field, readable: false };
  if (field.kind !== 'embedded') return field;
  const inner = nestedChoice(choice, field.name);
  return choosesAll(inner)
    ? field
    : { ...field, fields: field.fields.map((each) => selectField(each, inner)) };
}

/** A cache key: equal for the same fields, in whatever order they were given. */
function selectionKey(fields: readonly Field[]): string {
  return JSON.stringify(readableNames(fields));
}

function readableNames(fields: readonly Field[]): readonly unknown[] {
  return fields
    .filter(({ readable }) => readable)
    .map((field) => (field.kind === 'embedded' ? [field.name, readableNames(field.fields)] : field.name));
}

/** Selects from a body that other code has created: members by name, and within embedded objects. */
export function chooseMembers(
  body: Representation,
  choice: Choice,
  fields: readonly Field[],
): Representation {
  if (choosesAll(choice)) return body;
  const chosen = Object.entries(body)
    .filter(([name]) => includes(choice, name))
    .map(([name, value]) => [
      name,
      chooseEmbedded(value, {
        choice: nestedChoice(choice, name),
        field: fields.find((each) => each.name === name),
      }),
    ]);
  return copyOf(body, Object.fromEntries(chosen) as Representation);
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
  return [...(names?.inner ?? [])].flatMap(([name, nested]): readonly string[] => {
    const field = fields.find((each) => each.name === name && each.readable);
    if (!field) return [within + name];
    if (nested.inner.size === 0 || 'relation' in field) return [];
    return field.kind === 'embedded'
      ? unknownNames(nested, field.fields, `${within}${name}.`)
      : [...nested.inner.keys()].map((each) => `${within}${name}.${each}`);
  });
}
