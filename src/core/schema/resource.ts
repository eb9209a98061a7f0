import type { ModelLabels } from './object-label.js';
import type { AuthenticationScheme } from '../contracts/authentication.js';
import type { Bulk } from '../contracts/bulk.js';
import type { CompiledPermission } from '../contracts/permission.js';
import type { CacheControl, Conditional } from '../contracts/conditional.js';
import type { Counts, FieldSelection } from '../contracts/field-selection.js';
import type { FilterBackend } from '../contracts/filters.js';
import type { GuardLike, InterceptorLike, Piping } from '../contracts/enhancers.js';
import type { ResourceHooks } from '../contracts/hooks.js';
import type { Idempotency } from '../contracts/idempotency.js';
import type { Pagination } from '../contracts/pagination.js';
import type { Renderer } from '../contracts/renderer.js';
import type { Serializer } from '../contracts/serializer.js';
import type { RequestCounter, Throttle } from '../contracts/throttle.js';
import type { Aggregates } from '../query/aggregate.js';
import type { Recording } from '../query/plan.js';
import type { DeletedRows } from './operation.js';
import type { ResourceSchema } from './resource-schema.js';

/**
 * An exposed entity with the features of its interface, compiled and frozen at boot. Requests use only this, and neither
 * decorators nor the ORM's metadata.
 */
export interface Resource extends ResourceSchema {
  readonly backends: readonly FilterBackend[];
  /** Undefined if lists are not paginated. */
  readonly pagination: Pagination | undefined;
  /** Renderers of formats other than JSON. */
  readonly renderers: readonly Renderer[];
  /** Undefined if clients can neither select fields nor expand relations. */
  readonly fieldSelection: FieldSelection | undefined;
  /** The query parameter that adds the labels of related objects; undefined if no relation has a label. */
  readonly labelsParameter: string | undefined;
  /** Undefined if clients count no related objects. */
  readonly counts: Counts | undefined;
  /** Undefined if conditional requests are disabled. */
  readonly conditional: Conditional | undefined;
  /** Undefined if bulk writes are disabled. */
  readonly bulk: Bulk | undefined;
  /** Undefined if responses have no `Cache-Control`. */
  readonly cacheControl: CacheControl | undefined;
  /** Undefined if idempotency keys are disabled. */
  readonly idempotency: Idempotency | undefined;
  readonly serializer: Serializer;
  /** Whether it is the one of this package itself: the database may then write the JSON of rows. */
  readonly hasDefaultSerializer: boolean;
  readonly permission: CompiledPermission;
  /** Whether its permission may grant a subset of the fields. */
  readonly grantsSomeFields: boolean;
  /** Its authentication schemes, in the order in which they are tried. */
  readonly schemes: readonly AuthenticationScheme[];
  /** Whether the schemes include guards. */
  readonly guarded: boolean;
  /** Whether too many failed authentications of a caller are rejected with 429. */
  readonly refusalsThrottled: boolean;
  /** Nest guards: those of the schemes, and those that run after the permission has granted access. */
  readonly guards: readonly GuardLike[];
  readonly lateGuards: readonly GuardLike[];
  /** Nest interceptors around the handler. */
  readonly interceptors: readonly InterceptorLike[];
  /** Undefined if it has no pipes. */
  readonly piping: Piping | undefined;
  readonly hooks: ResourceHooks;
  /** Set if the application is told of committed writes. @internal */
  readonly recording: Recording | undefined;
  readonly throttle: Throttle | undefined;
  /** Counts the requests for `throttle`. */
  readonly counter: RequestCounter | undefined;
  /** What its objects are, for clients; may be empty. */
  readonly description: string;
  /** The names of one and of many objects to people; undefined without the option `labels`. */
  readonly labels: ModelLabels | undefined;
  /** Whether DELETE of an object responds with the deleted object. */
  readonly returnDeleted: boolean;
  /** Whether code of the application makes the responses to writes after their COMMIT. */
  readonly respondsAfterCommit: boolean;
  /** Its views on deleted objects; undefined if clients do not reach these. */
  readonly trash: Trash | undefined;
  /** What clients may compute of the rows of its lists; undefined if nothing. */
  readonly aggregates: Aggregates | undefined;
  /** Whether PATCH of one object takes merge patches. */
  readonly mergePatch: boolean;
  /** Whether lists are also read by QUERY. */
  readonly queryMethod: boolean;
}

/** The views of a model on its deleted objects, which have the date of their deletion. */
export type Trash = Readonly<Record<DeletedRows, Resource>>;

/** The resource of a schema that a relation refers to. */
export function resourceOf(schema: ResourceSchema): Resource {
  if (!isResource(schema)) throw new Error(`${schema.className} is the schema of no resource.`);
  return schema;
}

function isResource(schema: ResourceSchema): schema is Resource {
  return 'permission' in schema;
}

/** The serializer of a model, and whether it is the default one. */
export type ResourceSerializer = Pick<Resource, 'serializer' | 'hasDefaultSerializer'>;
