import type { Operation } from '../schema/operation.js';
import { parameterName } from '../schema/parameter-names.js';
import type { Resource } from '../schema/resource.js';
import type { Route } from '../schema/route.js';

/** Operations that may be done to many objects by one request. */
export const BULK_OPERATIONS = ['create', 'partialUpdate', 'destroy'] as const satisfies readonly Operation[];

export type BulkOperation = (typeof BULK_OPERATIONS)[number];

/** How a model is written many objects at a time. Given as `bulk`. */
export interface BulkOptions {
  /** Which operations of the model may be done to many. Default: all three that it has. */
  readonly operations?: readonly BulkOperation[];
  /** Fields that are unique together: a POST with `?upsert=true` changes the object that has their values already. Default: nobody may ask for it. */
  readonly upsert?: readonly string[];
  /** Objects of one request. Default: 100. */
  readonly max?: number;
}

/** The same, compiled. */
export interface Bulk {
  readonly operations: ReadonlySet<Operation>;
  /** Names of fields; empty where nobody may ask for it. */
  readonly upsert: readonly string[];
  readonly max: number;
}

/** Names the objects that a PATCH or DELETE of a list is about. */
export const KEYS_PARAMETER = 'keys';

/** Asks a POST to change what is there already. */
export const UPSERT_PARAMETER = 'upsert';

/** The parameters of bulk writes that a model has beside those of its lists. */
export function bulkParameters(resource: Pick<Resource, 'bulk' | 'renamed'>): readonly string[] {
  const { bulk } = resource;
  if (!bulk) return [];
  const writes = bulk.operations.has('partialUpdate') || bulk.operations.has('destroy');
  return [...(writes ? [KEYS_PARAMETER] : []), ...(bulk.upsert.length > 0 ? [UPSERT_PARAMETER] : [])].map(
    (name) => parameterName(name, resource),
  );
}

/** Whether an operation of this URL may be about many objects. */
export function takesMany(
  { kind, resource }: Pick<Route, 'kind' | 'resource'>,
  operation: Operation,
): operation is BulkOperation {
  return (
    resource.bulk?.operations.has(operation) === true && (kind === 'collection' || kind === 'through-list')
  );
}

/** Whether it is about many objects whatever the body says: the URL names none. */
export function isOfMany(route: Pick<Route, 'kind' | 'resource'>, operation: Operation): boolean {
  return operation !== 'create' && takesMany(route, operation);
}
