import { columnNamed, relationNamed } from '../schema.js';
import type { ColumnKind, EntitySpec, FilterSpec, Json, JsonType, LookupName } from '../schema.js';
import type { State } from './state.js';

/** The kinds of columns as which the values of a type are parsed and compared. */
export const KINDS_OF_TYPES: Readonly<Record<JsonType, ColumnKind>> = {
  string: 'text',
  number: 'double',
  boolean: 'boolean',
  'string[]': 'text',
};

export function lookupsIn(spec: FilterSpec): readonly LookupName[] {
  return 'lookups' in spec ? spec.lookups : spec;
}

/** The type of the value at a path into a column of JSON; undefined for other paths. */
export function jsonTypeAt(
  state: State,
  {
    entity,
    path,
    filters,
  }: {
    readonly entity: EntitySpec;
    readonly path: readonly string[];
    readonly filters: Readonly<Record<string, FilterSpec>> | undefined;
  },
): JsonType | undefined {
  if (!leadsIntoJson(state, entity, path)) return undefined;
  const spec = filters?.[path.join('.')];
  return spec && 'type' in spec ? spec.type : 'string';
}

function leadsIntoJson(state: State, entity: EntitySpec, [name = '', ...rest]: readonly string[]): boolean {
  const relation = relationNamed(entity, name);
  if (relation) return leadsIntoJson(state, state.entity(relation.target), rest);
  return columnNamed(entity, name)?.kind === 'json' && rest.length > 0;
}

/**
 * The value to which keys lead, null for none; undefined where it has another type, or is a number that is not exact, and so satisfies
 * no comparison (contract 4.17).
 */
export function typedValue(document: Json, keys: readonly string[], type: JsonType): Json | undefined {
  const value = valueOf(document, keys);
  if (value === null) return null;
  switch (type) {
    case 'number':
      return typeof value === 'number' && Math.abs(value) <= Number.MAX_SAFE_INTEGER ? value : undefined;
    case 'string[]':
      return Array.isArray(value) ? value : undefined;
    default:
      return typeof value === type ? value : undefined;
  }
}

function valueOf(document: Json, [key, ...rest]: readonly string[]): Json {
  if (key === undefined) return document;
  if (typeof document !== 'object' || document === null || Array.isArray(document)) return null;
  const members = document as Readonly<Record<string, Json>>;
  return valueOf(Object.hasOwn(members, key) ? (members[key] ?? null) : null, rest);
}
