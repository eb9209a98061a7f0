import { QUERY_LIMITS } from '../core/schema/limits.js';
import type { Field } from '../core/schema/field.js';
import type { ForeignKeyAlias } from '../core/schema/resource-schema.js';
import type { Resource, ResourceSerializer } from '../core/schema/resource.js';

/**
 * A resource during compilation: relations refer to each other's resources before those are complete. It is filled step by step
 * and frozen at the end.
 */
export type ResourceBuilder = { -readonly [Name in keyof Resource]: Resource[Name] };

/** What is known of a resource before all others. */
export type ResourceIdentity = Pick<Resource, 'id' | 'app' | 'model' | 'className' | 'entity' | 'registered'>;
export type ResourceTable = Pick<Resource, 'key' | 'identity' | 'columns'>;

export function createBuilder(
  identity: ResourceIdentity,
  table: ResourceTable,
  serializer: ResourceSerializer,
): ResourceBuilder {
  // Spread last: V8 of Node 20 gives each object that begins with a spread a hidden class of its own.
  return {
    fields: [],
    fieldsByName: new Map(),
    foreignKeyAliases: [],
    nested: [],
    relations: new Map(),
    overlapping: [],
    operations: new Set(),
    referrers: [],
    rowReferrers: [],
    referredColumns: new Set(),
    hasRelatedKeys: false,
    hasNestedWrites: false,
    objectLabel: undefined,
    renamed: new Map(),
    declares: { filters: false, ordering: false },
    filterTerms: new Map(),
    filterGroups: false,
    queryLimits: QUERY_LIMITS,
    searchFields: [],
    orderingFields: new Map(),
    orderingNulls: false,
    ordering: [],
    backends: [],
    pagination: undefined,
    renderers: [],
    fieldSelection: undefined,
    labelsParameter: undefined,
    counts: undefined,
    conditional: undefined,
    bulk: undefined,
    cacheControl: undefined,
    idempotency: undefined,
    grantsSomeFields: false,
    permission: { kind: 'all-of', permissions: [] },
    schemes: [],
    guarded: false,
    refusalsThrottled: false,
    guards: [],
    lateGuards: [],
    interceptors: [],
    piping: undefined,
    hooks: {},
    recording: undefined,
    listenerRelations: [],
    throttle: undefined,
    counter: undefined,
    description: '',
    labels: undefined,
    returnDeleted: false,
    respondsAfterCommit: false,
    trash: undefined,
    aggregates: undefined,
    mergePatch: false,
    queryMethod: false,
    strict: false,
    strictWrites: false,
    ...identity,
    ...table,
    ...serializer,
  };
}

export function setFields(builder: ResourceBuilder, fields: readonly Field[]): void {
  builder.fields = fields;
  builder.fieldsByName = new Map(fields.map((field) => [field.name, field]));
  builder.foreignKeyAliases = listForeignKeyAliases(fields);
}

/** All foreign key aliases of a model, including those in embedded objects. */
function listForeignKeyAliases(
  fields: readonly Field[],
  within: readonly string[] = [],
): readonly ForeignKeyAlias[] {
  return fields.flatMap((field): readonly ForeignKeyAlias[] => {
    if (field.kind === 'embedded') return listForeignKeyAliases(field.fields, [...within, field.name]);
    return field.kind === 'to-one' && field.foreignKeyAlias !== undefined
      ? [{ within, relation: field.relation, names: [field.name, field.foreignKeyAlias] }]
      : [];
  });
}
