import type { Representation } from '../../core/contracts/serializer.js';
import { evictOldest } from '../../core/evict-oldest.js';
import { readableKey } from '../../core/schema/field.js';
import type { Field } from '../../core/schema/field.js';
import { MAX_SELECTED_VIEWS } from '../../core/schema/limits.js';
import type { Resource } from '../../core/schema/resource.js';
import { copyOf } from '../../core/values/exact-numbers.js';

/** Dotted names as a tree. */
export interface NameTree {
  /** True if selected itself, with everything below it. */
  readonly whole: boolean;
  readonly inner: ReadonlyMap<string, NameTree>;
}

interface MutableNameTree extends NameTree {
  whole: boolean;
  readonly inner: Map<string, MutableNameTree>;
}

/** The names in a parameter: `id,question.pub_date`. Undefined if it has none, which is the same as leaving it out. */
export function parseFieldNames(text: string | undefined): NameTree | undefined {
  if (text === undefined) return undefined;
  const root = createNode();
  for (const path of text.split(',')) {
    const names = path.split('.').map((name) => name.trim());
    if (names.length === 1 && names[0] === '') continue;
    let at = root;
    for (const name of names) {
      const next = at.inner.get(name) ?? createNode();
      at.inner.set(name, next);
      at = next;
    }
    at.whole = true;
  }
  return root.inner.size === 0 ? undefined : root;
}

function createNode(): MutableNameTree {
  return { whole: false, inner: new Map() };
}

/** The fields that a client selects: `only` these, if given, and none of `omit`. */
export interface Choice {
  readonly only: NameTree | undefined;
  readonly omit: NameTree | undefined;
}

export const ALL_FIELDS: Choice = { only: undefined, omit: undefined };

export function choosesAll({ only, omit }: Choice): boolean {
  return only === undefined && omit === undefined;
}

export function includes({ only, omit }: Choice, name: string): boolean {
  return (only === undefined || only.inner.has(name)) && omit?.inner.get(name)?.whole !== true;
}

/** The selection below a name. */
export function nestedChoice({ only, omit }: Choice, name: string): Choice {
  const named = only?.inner.get(name);
  return { only: named?.whole === true ? undefined : named, omit: omit?.inner.get(name) };
}

const SELECTED_VIEWS = new WeakMap<Resource, Map<string, Resource>>();

/**
 * The resource with the fields that a client selects of those that it may read. Other fields are not read; they can still
 * be filtered, searched, ordered and written. Views are cached, and the least recently used is evicted first.
 */
export function chooseFields(resource: Resource, choice: Choice): Resource {
  if (choosesAll(choice)) return resource;
  const fields = resource.fields.map((field) => selectField(field, choice));
  const name = readableKey(fields);
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
  evictOldest(views, MAX_SELECTED_VIEWS);
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
