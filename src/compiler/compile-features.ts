import { BULK_OPERATIONS } from '../core/contracts/bulk.js';
import type { Bulk, BulkOptions } from '../core/contracts/bulk.js';
import type { CompiledPermission, Permission } from '../core/contracts/permission.js';
import type { CacheControl, Conditional } from '../core/contracts/conditional.js';
import { LIMIT_PARAMETER } from '../core/contracts/field-selection.js';
import type { Counts, Expandable, FieldSelection } from '../core/contracts/field-selection.js';
import type { Idempotency } from '../core/contracts/idempotency.js';
import type { Column } from '../core/schema/column.js';
import type { DataKind } from '../core/schema/data-type.js';
import type { EntityDescription } from '../core/schema/entity-metadata.js';
import type { Field } from '../core/schema/field.js';
import { BULK_OBJECTS, IDEMPOTENCY_LIFE } from '../core/schema/limits.js';
import type { OperationName } from '../core/schema/operation.js';
import type { Resource } from '../core/schema/resource.js';
import { LABELS_PARAMETER } from '../core/schema/object-label.js';
import { compileLabel } from './compile-label.js';
import { createTrash } from './compile-trash.js';
import type { EffectiveOptions } from './effective-options.js';
import type { ResourceBuilder } from './resource-builder.js';
import type { ResourceParts } from './compiler-input.js';

/** Sets the features of a resource from its options: permission, filters, pagination, renderers, bulk and the others. */
export function compileFeatures(
  shell: ResourceBuilder,
  options: EffectiveOptions,
  {
    parts,
    target,
    entity,
  }: { parts: ResourceParts; target: object | undefined; entity: EntityDescription | undefined },
): void {
  const { hooks, scope } = parts.hooks(target);
  // The pairs of a join table without an entity have no hooks.
  shell.hooks = entity ? hooks : {};
  shell.recording = parts.recording(shell, target);
  shell.objectLabel = compileLabel(options.label, shell);
  shell.description = options.description ?? '';
  shell.labels = options.labels;
  shell.returnDeleted = options.returnDeleted;
  shell.respondsAfterCommit = options.responses === 'afterCommit';
  shell.trash = options.trash === true ? createTrash(shell) : undefined;
  shell.mergePatch = options.mergePatch === true;
  shell.queryMethod = options.query === true;
  shell.strict = options.strict !== false;
  shell.strictWrites = options.strict === 'writes';
  shell.listenerRelations = options.listenerRelations ?? [];
  shell.backends = parts.backends(options);
  shell.pagination = options.pagination === false ? undefined : options.pagination;
  shell.renderers = options.renderers ?? [];
  shell.fieldSelection = compileFieldSelection(options);
  shell.counts = compileCounts(options);
  shell.conditional = compileConditional(options, shell, entity);
  shell.cacheControl = compileCacheControl(options);
  shell.bulk = compileBulk(options, shell.operations);
  shell.idempotency = compileIdempotency(options);
  shell.permission = withScope(parts.permission(options), scope);
  shell.grantsSomeFields = grantsSomeFields(shell.permission);
  shell.interceptors = parts.interceptors(options);
  shell.piping = parts.piping(options, target);
  const { schemes, guards, lateGuards } = parts.authentication(options);
  shell.schemes = schemes;
  shell.guards = guards;
  shell.lateGuards = lateGuards;
  shell.guarded = schemes.some((scheme) => scheme.guards !== undefined);
  shell.refusalsThrottled = parts.refusalsThrottled && shell.schemes.length > 0;
  shell.throttle = options.throttle;
  shell.counter = shell.throttle && parts.counter;
}

/** Combines every permission with the scope, including the permissions of an action. */
export function withScope(permission: CompiledPermission, scope: Permission | undefined): CompiledPermission {
  return scope
    ? { kind: 'all-of', permissions: [permission, { kind: 'one', permission: scope, allFields: true }] }
    : permission;
}

function grantsSomeFields(permission: CompiledPermission): boolean {
  switch (permission.kind) {
    case 'anyone':
      return false;
    case 'one':
      return permission.allFields !== true;
    case 'not':
      // Neither a denial nor a negated grant restricts fields.
      return false;
    case 'all-of':
    case 'any-of':
      return permission.permissions.some(grantsSomeFields);
    default:
      return permission satisfies never;
  }
}

/** Compiles the option `bulk`; undefined if bulk writes are disabled. */
function compileBulk({ bulk }: EffectiveOptions, has: ReadonlySet<OperationName>): Bulk | undefined {
  if (bulk === undefined || bulk === false) return undefined;
  const {
    operations = BULK_OPERATIONS,
    upsert = [],
    max = BULK_OBJECTS,
  }: BulkOptions = isBulkOptions(bulk) ? bulk : {};
  const named: readonly unknown[] = Array.isArray(operations) ? operations : [];
  return {
    operations: new Set(
      BULK_OPERATIONS.filter((operation) => named.includes(operation) && has.has(operation)),
    ),
    upsert: Array.isArray(upsert) ? upsert : [],
    max,
  };
}

/** Ignores invalid values, which verification reports. */
function isBulkOptions(bulk: EffectiveOptions['bulk'] | null): bulk is BulkOptions {
  return typeof bulk === 'object' && bulk !== null;
}

function compileIdempotency({ idempotency }: EffectiveOptions): Idempotency | undefined {
  if (idempotency === undefined || idempotency === false) return undefined;
  const { require = false, life = IDEMPOTENCY_LIFE, key } = idempotency === true ? {} : idempotency;
  return { require, life, key };
}

/** Compiles field selection and expansion; undefined if both are disabled. */
function compileFieldSelection({
  shape: { selects, ...settings },
  expandable = [],
  expansionQueries,
}: Pick<EffectiveOptions, 'shape' | 'expandable' | 'expansionQueries'>): FieldSelection | undefined {
  const paths = stringsIn(expandable);
  if (!selects && paths.length === 0) return undefined;
  return {
    fieldsParameter: selects ? settings.fieldsParameter : undefined,
    omitParameter: selects ? settings.omitParameter : undefined,
    expandParameter: paths.length === 0 ? undefined : settings.expandParameter,
    limitParameter: paths.length > 0 && expansionQueries === true ? LIMIT_PARAMETER : undefined,
    expandable: treeOf(paths),
    maxChildren: settings.maxChildren,
    maxObjects: settings.maxObjects,
  };
}

/** The names that are no lists are reported after compilation. */
function compileCounts({ counts }: Pick<EffectiveOptions, 'counts'>): Counts | undefined {
  const names = stringsIn(counts);
  return names.length === 0 ? undefined : { parameter: LABELS_PARAMETER, names };
}

function stringsIn(given: unknown): readonly string[] {
  return Array.isArray(given) ? given.filter((each): each is string => typeof each === 'string') : [];
}

type Growing = Map<string, Growing>;

/** Every prefix of an expandable path is expandable too. */
function treeOf(paths: readonly string[]): Expandable {
  const tree: Growing = new Map();
  for (const path of paths) {
    let at = tree;
    for (const name of path.split('.')) {
      const next = at.get(name) ?? new Map<string, Growing>();
      at.set(name, next);
      at = next;
    }
  }
  return tree;
}

/** The default `Cache-Control` of responses with an `ETag`, and of responses that must not be shared. */
const PRIVATE = 'private, no-cache';

function compileConditional(
  { conditional }: EffectiveOptions,
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
      return (
        field.relation.byKey && field.relation.on.every(({ localColumn }) => !unversioned.has(localColumn.id))
      );
    case 'link':
      return true;
    // Their values come from other rows or from the application.
    case 'reverse-one':
    case 'keys':
    case 'computed':
    case 'labels':
    case 'counts':
      return false;
    default:
      return field satisfies never;
  }
}

/** Restricts shared caching to responses for anonymous callers. */
function compileCacheControl({ conditional, cacheControl }: EffectiveOptions): CacheControl | undefined {
  const text = cacheControl ?? (conditional === undefined || conditional === false ? undefined : PRIVATE);
  if (text === undefined || text === false) return undefined;
  return { anonymous: text, actors: /(?:^|,)\s*(?:private|no-store)\s*(?:,|$)/i.test(text) ? text : PRIVATE };
}
