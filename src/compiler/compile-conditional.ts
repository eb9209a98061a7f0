import type { EntityDescription } from '../core/schema/entity-metadata.js';
import type { CacheControl, Conditional, ConditionalOptions } from '../core/contracts/conditional.js';
import type { Column } from '../core/schema/column.js';
import type { DataKind } from '../core/schema/data-type.js';
import type { Field } from '../core/schema/field.js';
import type { Resource } from '../core/schema/resource.js';

/** Options of a model, or of its prefix, on conditional requests and caches. */
export interface ConditionalRules {
  readonly conditional?: boolean | ConditionalOptions | undefined;
  readonly cacheControl?: string | false | undefined;
}

/** The default `Cache-Control` of responses with an `ETag`, and of responses that must not be shared. */
const PRIVATE = 'private, no-cache';

export function compileConditional(
  { conditional }: ConditionalRules,
  resource: Pick<Resource, 'fields' | 'key' | 'columns'>,
  entity: EntityDescription | undefined,
): Conditional | undefined {
  if (conditional === undefined || conditional === false) return undefined;
  const { require = false, etag } = conditional === true ? {} : conditional;
  if (etag === 'content' || !entity || !areVersioned(resource.fields, unversionedOf(entity)))
    return { require, version: undefined, modified: undefined };
  // A new row with the key of a deleted one would repeat its versions.
  const isNewKeyUnique = hasGeneratedKey(resource, entity);
  return {
    require,
    version: isNewKeyUnique ? columnOfKind(entity.version, resource, ['integer', 'bigint']) : undefined,
    modified: columnOfKind(entity.modified, resource, ['datetime']),
  };
}

/** Undefined if the column is of another kind. */
function columnOfKind(
  id: string | undefined,
  { columns }: Pick<Resource, 'columns'>,
  kinds: readonly DataKind[],
): Column | undefined {
  const column = id === undefined ? undefined : columns.get(id);
  return column && kinds.includes(column.type.kind) ? column : undefined;
}

function hasGeneratedKey({ key }: Pick<Resource, 'key'>, { columns }: EntityDescription): boolean {
  const generated = new Set(columns.filter((each) => each.primary && each.generated).map(({ id }) => id));
  return key.via === undefined && key.columns.some(({ id }) => generated.has(id));
}

function unversionedOf({ columns }: EntityDescription): ReadonlySet<string> {
  return new Set(columns.filter(({ unversioned }) => unversioned).map(({ id }) => id));
}

/** Whether every change of a visible value is a write that increments the ORM's version. */
function areVersioned(fields: readonly Field[], unversioned: ReadonlySet<string>): boolean {
  return fields.every((field) => !field.readable || isVersioned(field, unversioned));
}

function isVersioned(field: Field, unversioned: ReadonlySet<string>): boolean {
  switch (field.kind) {
    case 'column':
      return !unversioned.has(field.column.id);
    case 'embedded':
      return areVersioned(field.fields, unversioned);
    case 'to-one':
      return field.relation.byKey && field.relation.on.every(({ near }) => !unversioned.has(near.id));
    case 'link':
      return true;
    // Their values come from other rows or from the application.
    case 'reverse-one':
    case 'computed':
    case 'labels':
      return false;
    default:
      return field satisfies never;
  }
}

/** Restricts shared caching to responses for anonymous callers. */
export function compileCacheControl({
  conditional,
  cacheControl,
}: ConditionalRules): CacheControl | undefined {
  const text = cacheControl ?? (conditional === undefined || conditional === false ? undefined : PRIVATE);
  if (text === undefined || text === false) return undefined;
  return { anonymous: text, actors: /(?:^|,)\s*(?:private|no-store)\s*(?:,|$)/i.test(text) ? text : PRIVATE };
}
