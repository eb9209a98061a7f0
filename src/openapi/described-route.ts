import type { RouteAction } from '../core/schema/action.js';
import type { ErrorFormat } from '../core/contracts/error-format.js';
import type { Method, Operation } from '../core/schema/operation.js';
import type { Renderer } from '../core/contracts/renderer.js';
import type { Route } from '../core/schema/route.js';
import { typeName } from './component-names.js';
import type { Components, UniqueNames } from './component-names.js';
import type { Schema } from './open-api-types.js';

/** Where a route is described. */
export interface DescribedPlace {
  /** The path of its prefix, mount included: `/api/rest/v1`. */
  readonly base: string;
  /** The prefix alone, for names that would be given twice. */
  readonly prefix: string;
  readonly components: Components;
  readonly operationIds: UniqueNames;
  readonly errorFormat: ErrorFormat;
  /** Whether the document says itself how callers say who they are, for models that do not. */
  readonly hasSecurity: boolean;
}

/** One method of one URL, as it is served. */
export interface DescribedRoute {
  readonly route: Route;
  readonly method: Method;
  /** The generated operation, also where a method of the application's stands in its place. */
  readonly operation: Operation | undefined;
  /** What the application answers itself. */
  readonly action: RouteAction | undefined;
}

/** All that a URL serves, but for HEAD and OPTIONS, which are the same everywhere. */
export function describedMethods(route: Route): readonly DescribedRoute[] {
  return [...new Set([...route.operations.keys(), ...route.actions.keys()])].map((method) => {
    const action = route.actions.get(method);
    return { route, method, action, operation: action ? action.operation : route.operations.get(method) };
  });
}

/** Forms beside JSON, in which the generated lists and objects can be read. */
export function formsOf({ route, operation, action }: DescribedRoute): readonly Renderer[] {
  return !action && (operation === 'list' || operation === 'retrieve') ? route.resource.renderers : [];
}

/** Whether it takes an `Idempotency-Key`. */
export function isRepeatable({ route, method, operation }: DescribedRoute): boolean {
  return operation === 'create' && method === 'POST' && route.resource.idempotency !== undefined;
}

export const JSON_TYPE = 'application/json';

/** What the application writes or reads itself has no shape that is known. */
export const FREE_OBJECT: Schema = { type: 'object', additionalProperties: true };

export const SUFFIXES = { create: 'Create', update: 'Update', partialUpdate: 'Patch' } as const;

/** Names of a model's schemas. A through object is written without the side that the URL says, so its bodies are named by the relation; and it may look different from either side. */
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
