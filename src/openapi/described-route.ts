import { isOfMany, takesMany } from '../core/contracts/bulk.js';
import type { RouteAction } from '../core/schema/action.js';
import type { ErrorFormat } from '../core/contracts/errors.js';
import type { Method, Operation } from '../core/schema/operation.js';
import type { Renderer } from '../core/contracts/renderer.js';
import type { Route } from '../core/schema/route.js';
import { typeName } from './components.js';
import type { Components, UniqueNames } from './components.js';
import type { Resource } from '../core/schema/resource.js';
import type { Parameter, Schema } from './open-api-types.js';

/** The document and prefix in which a route is described. */
export interface DescribedPlace {
  /** The path of its prefix, mount included: `/api/rest/v1`. */
  readonly base: string;
  /** The prefix, for names that would otherwise be ambiguous. */
  readonly prefix: string;
  readonly components: Components;
  /** The query parameters of lists, by the resource of the rows. */
  readonly listParameters: Map<Resource, readonly Parameter[]>;
  /** The schemas of objects in responses, by resource, then by its path and whether every caller may read all fields. */
  readonly objects: Map<Resource, Map<string, Schema>>;
  readonly operationIds: UniqueNames;
  readonly errorFormat: ErrorFormat;
  /** Whether the document declares security itself, for models without authentication. */
  readonly hasSecurity: boolean;
}

/** One method of one URL. */
export interface DescribedRoute {
  readonly route: Route;
  readonly method: Method;
  /** The generated operation, also if a method of the application replaces it. */
  readonly operation: Operation | undefined;
  /** The action of the application. */
  readonly action: RouteAction | undefined;
}

/** All methods of a URL except HEAD and OPTIONS, which are the same for all URLs. */
export function describedMethods(route: Route): readonly DescribedRoute[] {
  return [...new Set([...route.operations.keys(), ...route.actions.keys()])].map((method) => {
    const action = route.actions.get(method);
    return { route, method, action, operation: action ? action.operation : route.operations.get(method) };
  });
}

/** The number of objects that an operation may write. */
export type Amount = 'one' | 'one-or-many' | 'many';

export function amountOf({ route, operation, action }: DescribedRoute): Amount {
  if (!operation || action || !takesMany(route, operation)) return 'one';
  return isOfMany(route, operation) ? 'many' : 'one-or-many';
}

/** The schema of one object, of a list, or of either. */
export function schemaOfAmount(one: Schema, amount: Amount, { bulk }: Resource): Schema {
  const list: Schema = { type: 'array', items: one, ...(bulk ? { maxItems: bulk.max } : {}) };
  if (amount === 'one') return one;
  return amount === 'many' ? list : { anyOf: [one, list] };
}

/** The formats beside JSON of generated lists and objects. */
export function formatsOf({ route, operation, action }: DescribedRoute): readonly Renderer[] {
  return !action && (operation === 'list' || operation === 'retrieve') ? route.resource.renderers : [];
}

/** Whether the operation reads or returns the state of one object. */
export function isConditional(described: DescribedRoute): boolean {
  const { operation, route } = described;
  return (
    route.resource.conditional !== undefined &&
    operation !== undefined &&
    operation !== 'list' &&
    amountOf(described) !== 'many'
  );
}

/** Whether the operation accepts an `Idempotency-Key`. */
export function isRepeatable({ route, method, operation }: DescribedRoute): boolean {
  const isOnce = operation === 'create' || operation === 'restore' || operation === 'purge';
  return isOnce && method === 'POST' && route.resource.idempotency !== undefined;
}

export const JSON_TYPE = 'application/json';

/** The schema of objects that the application serializes or parses itself. */
export const FREE_OBJECT: Schema = { type: 'object', additionalProperties: true };

export const SUFFIXES = { create: 'Create', update: 'Update', partialUpdate: 'Patch' } as const;

/** Names of the schemas of a model. A through object may differ by side, and its bodies omit the side in the URL, so they are named after the relation. */
export function schemaNames(
  { resource, parent, relation }: Route,
  suffix: '' | 'PatchItem' | (typeof SUFFIXES)[keyof typeof SUFFIXES],
): readonly string[] {
  const own = typeName(resource.app, resource.model) + suffix;
  const seen =
    parent && relation?.kind === 'many-to-many'
      ? typeName(parent.app, parent.model, relation.name) + suffix
      : undefined;
  if (seen === undefined) return [own];
  return suffix === '' ? [own, seen] : [seen];
}
