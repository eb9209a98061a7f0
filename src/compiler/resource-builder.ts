import type { Bulk } from '../core/contracts/bulk.js';
import type { ObjectLabel } from '../core/schema/object-label.js';
import type { Column } from '../core/schema/column.js';
import type { CacheControl, Conditional } from '../core/contracts/conditional.js';
import type { Field } from '../core/schema/field.js';
import type { Idempotency } from '../core/contracts/idempotency.js';
import { QUERY_LIMITS } from '../core/schema/limits.js';
import type { RequestCounter, Throttle } from '../core/contracts/throttle.js';
import type { GuardLike } from '../core/contracts/guard.js';
import type { ResourceHooks } from '../core/contracts/hooks.js';
import type { InterceptorLike } from '../core/contracts/interceptor.js';
import type { Pagination } from '../core/contracts/pagination.js';
import type { Piping } from '../core/contracts/pipe.js';
import type { FilterBackend } from '../core/contracts/filter-backend.js';
import type { Renderer } from '../core/contracts/renderer.js';
import type { Operation } from '../core/schema/operation.js';
import type { AuthenticationScheme } from '../core/contracts/authentication.js';
import type { CompiledPermission } from '../core/contracts/compiled-permission.js';
import type { Relation, ToManyRelation, ToOneRelation } from '../core/schema/relation.js';
import type {
  FilterTerm,
  Key,
  OrderTerm,
  OrderingField,
  ForeignKeyAlias,
  Referrer,
  SearchField,
} from '../core/schema/resource-schema.js';
import type { Resource, ResourceSerializer } from '../core/schema/resource.js';
import { listForeignKeyAliases } from './list-foreign-key-aliases.js';
import type { Serializer } from '../core/contracts/serializer.js';
import type { FieldSelection } from '../core/contracts/field-selection.js';

/**
 * A mutable resource during compilation: relations refer to each other's resources before those are complete. It is filled
 * step by step and frozen at the end.
 */
export class ResourceBuilder implements Resource {
  id: string;
  app: string;
  model: string;
  label: string;
  entity: string;
  registered: boolean;
  key: Key;
  identity: readonly Column[];
  columns: ReadonlyMap<string, Column>;
  fields: readonly Field[] = [];
  fieldsByName: ReadonlyMap<string, Field> = new Map();
  foreignKeyAliases: readonly ForeignKeyAlias[] = [];
  nested: readonly ToManyRelation[] = [];
  relations: ReadonlyMap<string, Relation> = new Map();
  overlapping: readonly ToOneRelation[] = [];
  operations: ReadonlySet<Operation> = new Set();
  referrers: readonly Referrer[] = [];
  referredColumns: ReadonlySet<string> = new Set();
  objectLabel: ObjectLabel | undefined = undefined;
  renamed: ReadonlyMap<string, string> = new Map();
  declares = { filters: false, ordering: false };
  filterTerms: ReadonlyMap<string, FilterTerm> = new Map();
  filterGroups = false;
  queryLimits = QUERY_LIMITS;
  searchFields: readonly SearchField[] = [];
  orderingFields: ReadonlyMap<string, OrderingField> = new Map();
  orderingNulls = false;
  ordering: readonly OrderTerm[] = [];
  backends: readonly FilterBackend[] = [];
  pagination: Pagination | undefined = undefined;
  renderers: readonly Renderer[] = [];
  shape: FieldSelection | undefined = undefined;
  labelsParameter: string | undefined = undefined;
  conditional: Conditional | undefined = undefined;
  bulk: Bulk | undefined = undefined;
  cacheControl: CacheControl | undefined = undefined;
  idempotency: Idempotency | undefined = undefined;
  serializer: Serializer;
  hasDefaultSerializer: boolean;
  grantsSomeFields = false;
  permission: CompiledPermission = { kind: 'all-of', permissions: [] };
  schemes: readonly AuthenticationScheme[] = [];
  guarded = false;
  refusalsThrottled = false;
  guards: readonly GuardLike[] = [];
  lateGuards: readonly GuardLike[] = [];
  interceptors: readonly InterceptorLike[] = [];
  piping: Piping | undefined = undefined;
  hooks: ResourceHooks = {};
  listenerRelations: readonly string[] = [];
  throttle: Throttle | undefined = undefined;
  counter: RequestCounter | undefined = undefined;
  description = '';
  returnDeleted = false;
  strict = false;

  constructor(
    identity: { id: string; app: string; model: string; label: string; entity: string; registered: boolean },
    table: { key: Key; identity: readonly Column[]; columns: ReadonlyMap<string, Column> },
    { serializer, hasDefaultSerializer }: ResourceSerializer,
  ) {
    this.id = identity.id;
    this.app = identity.app;
    this.model = identity.model;
    this.label = identity.label;
    this.entity = identity.entity;
    this.registered = identity.registered;
    this.key = table.key;
    this.identity = table.identity;
    this.columns = table.columns;
    this.serializer = serializer;
    this.hasDefaultSerializer = hasDefaultSerializer;
  }

  setFields(fields: readonly Field[]): void {
    this.fields = fields;
    this.fieldsByName = new Map(fields.map((field) => [field.name, field]));
    this.foreignKeyAliases = listForeignKeyAliases(fields);
  }
}
