import type { EntityDescription } from '../core/schema/entity-metadata.js';
import type { CacheControl, Conditional, ConditionalOptions } from '../core/contracts/conditional.js';
import type { Field } from '../core/schema/field.js';
import type { Resource } from '../core/schema/resource.js';

/** What a model, or its prefix, says of conditional requests and caches. */
export interface ConditionalRules {
  readonly conditional?: boolean | ConditionalOptions | undefined;
  readonly cacheControl?: string | false | undefined;
}

/** Of answers that a model does not let others share, and of those with an `ETag` where nothing is said. */
const PRIVATE = 'private, no-cache';

export function compileConditional(
  { conditional }: ConditionalRules,
  resource: Pick<Resource, 'fields' | 'key' | 'columns'>,
  entity: EntityDescription | undefined,
): Conditional | undefined {
  if (conditional === undefined || conditional === false) return undefined;
  const { require = false, etag } = conditional === true ? {} : conditional;
  const told =
    etag !== 'content' && entity !== undefined && isToldByItsRow(resource.fields, unversionedOf(entity));
  // A row with a key that was another's before begins with that one's versions again.
  const named =
    entity !== undefined &&
    resource.key.via === undefined &&
    resource.key.columns.some(({ id }) =>
      entity.columns.some((column) => column.id === id && column.primary && column.generated),
    );
  const version =
    told && named && entity.version !== undefined ? resource.columns.get(entity.version) : undefined;
  const modified = told && entity.modified !== undefined ? resource.columns.get(entity.modified) : undefined;
  return {
    require,
    version: version?.type.kind === 'integer' || version?.type.kind === 'bigint' ? version : undefined,
    modified: modified?.type.kind === 'datetime' ? modified : undefined,
  };
}

function unversionedOf({ columns }: EntityDescription): ReadonlySet<string> {
  return new Set(columns.filter(({ unversioned }) => unversioned).map(({ id }) => id));
}

/** Whether nothing of what is shown changes but by a write that the ORM counts. */
function isToldByItsRow(fields: readonly Field[], unversioned: ReadonlySet<string>): boolean {
  return fields.every((field) => !field.readable || isTold(field, unversioned));
}

function isTold(field: Field, unversioned: ReadonlySet<string>): boolean {
  switch (field.kind) {
    case 'column':
      return !unversioned.has(field.column.id);
    case 'embedded':
      return isToldByItsRow(field.fields, unversioned);
    case 'to-one':
      return field.relation.byKey && field.relation.on.every(({ near }) => !unversioned.has(near.id));
    case 'link':
      return true;
    // Their values stand in other rows, or are the application's.
    case 'reverse-one':
    case 'computed':
      return false;
    default:
      return field satisfies never;
  }
}

/** What a shared cache may keep is sent to callers whom nobody knows, and to no others. */
export function compileCacheControl({
  conditional,
  cacheControl,
}: ConditionalRules): CacheControl | undefined {
  const text = cacheControl ?? (conditional === undefined || conditional === false ? undefined : PRIVATE);
  if (text === undefined || text === false) return undefined;
  return { anonymous: text, actors: /(?:^|,)\s*(?:private|no-store)\s*(?:,|$)/i.test(text) ? text : PRIVATE };
}
