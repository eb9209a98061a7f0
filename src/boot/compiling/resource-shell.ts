import type { Bulk } from '../../model/bulk.js';
import type { Column } from '../../model/column.js';
import type { CacheControl, Conditional } from '../../model/conditional.js';
import type { Field } from '../../model/field.js';
import type { Idempotency } from '../../model/idempotency.js';
import { QUERY_LIMITS } from '../../model/limits.js';
import type { RequestCounter, Throttle } from '../../model/throttle.js';
import type { GuardLike } from '../../model/guard.js';
import type { ResourceHooks } from '../../model/hooks.js';
import type { InterceptorLike } from '../../model/interceptor.js';
import type { Pagination } from '../../model/pagination.js';
import type { Piping } from '../../model/pipe.js';
import type { FilterBackend } from '../../model/filter-backend.js';
import type { Renderer } from '../../model/renderer.js';
import type { Operation } from '../../model/operation.js';
import type { AuthenticationScheme } from '../../model/authentication.js';
import type { ResolvedPermission } from '../../model/resolved-permission.js';
import type { Relation, ToManyRelation, ToOneRelation } from '../../model/relation.js';
import type {
  FilterTerm,
  Key,
  OrderingField,
  OrderTerm,
  Resource,
  SearchField,
  StandIn,
} from '../../model/resource.js';
import { standInsOf } from './list-stand-ins.js';
import type { Serializer } from '../../model/serializer.js';
import type { ShapeRules } from '../../model/shape.js';

/**
 * A resource on its way: relations refer to each other's resources before those are finished. Compiling fills it step
 * by step, and freezes it at the end; nobody else sees it before.
 */
export class ResourceShell implements Resource {
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
  standIns: readonly StandIn[] = [];
  nested: readonly ToManyRelation[] = [];
  relations: ReadonlyMap<string, Relation> = new Map();
  overlapping: readonly ToOneRelation[] = [];
  operations: ReadonlySet<Operation> = new Set();
  renamed: ReadonlyMap<string, string> = new Map();
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
  shape: ShapeRules | undefined = undefined;
  conditional: Conditional | undefined = undefined;
  bulk: Bulk | undefined = undefined;
  cacheControl: CacheControl | undefined = undefined;
  idempotency: Idempotency | undefined = undefined;
  serializer: Serializer;
  grantsSomeFields = false;
  permission: ResolvedPermission = { kind: 'all-of', permissions: [] };
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
  returnDeleted = false;
  strict = false;

  constructor(
    identity: { id: string; app: string; model: string; label: string; entity: string; registered: boolean },
    table: { key: Key; identity: readonly Column[]; columns: ReadonlyMap<string, Column> },
    serializer: Serializer,
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
  }

  setFields(fields: readonly Field[]): void {
    this.fields = fields;
    this.fieldsByName = new Map(fields.map((field) => [field.name, field]));
    this.standIns = standInsOf(fields);
  }
}
