import type { Operation } from '../schema/operation.js';
import { parameterName } from '../schema/resource-schema.js';
import type { ResourceSchema } from '../schema/resource-schema.js';

/** Operations that have a bulk variant, which writes many objects in one request. */
export const BULK_OPERATIONS = ['create', 'partialUpdate', 'destroy'] as const satisfies readonly Operation[];

/** What one request may do with many objects. */
export type BulkOperation = (typeof BULK_OPERATIONS)[number];

/** Options of a model's bulk writes, given as `bulk`. */
export interface BulkOptions {
  /** Operations that are allowed in bulk. Default: those of the three that the model has. */
  readonly operations?: readonly BulkOperation[];
  /** The unique set of fields that identifies an object for `?upsert=true`, which updates an existing object. Default: upserts are disabled. */
  readonly upsert?: readonly string[];
  /** Maximum number of objects in one request. Default: 100. */
  readonly max?: number;
}

/** The compiled `BulkOptions`. */
export interface Bulk {
  readonly operations: ReadonlySet<Operation>;
  /** Names of fields; empty if upserts are disabled. */
  readonly upsert: readonly string[];
  readonly max: number;
}

/** The query parameter with the keys of the objects that a bulk PATCH or DELETE writes. */
export const KEYS_PARAMETER = 'keys';

/** The query parameter that turns a POST into an upsert. */
export const UPSERT_PARAMETER = 'upsert';

interface BulkModel extends Pick<ResourceSchema, 'renamed'> {
  readonly bulk: Bulk | undefined;
}

/** The query parameters of a model's bulk writes, in addition to those of its lists. */
export function bulkParameters(resource: BulkModel): readonly string[] {
  const { bulk } = resource;
  if (!bulk) return [];
  const writes = bulk.operations.has('partialUpdate') || bulk.operations.has('destroy');
  return [...(writes ? [KEYS_PARAMETER] : []), ...(bulk.upsert.length > 0 ? [UPSERT_PARAMETER] : [])].map(
    (name) => parameterName(name, resource),
  );
}

interface BulkRoute {
  /** A `RouteKind`. */
  readonly kind: string;
  readonly resource: Pick<BulkModel, 'bulk'>;
}

/** Whether an operation of this route may be a bulk write. */
export function takesMany({ kind, resource }: BulkRoute, operation: Operation): operation is BulkOperation {
  return (
    resource.bulk?.operations.has(operation) === true && (kind === 'collection' || kind === 'through-list')
  );
}

/** Whether an operation of this route is a bulk write regardless of the body, because its URL has no key. */
export function isOfMany(route: BulkRoute, operation: Operation): boolean {
  return operation !== 'create' && takesMany(route, operation);
}
