import type { Method, Operation } from './operation.js';
import type { FieldDescription } from '../contracts/field-description.js';
import type { CompiledPermission } from '../contracts/permission.js';

/** Routes that an action can handle: one of its own, or a nested one instead of the default. */
export type ActionRouteKind =
  'one-to-many' | 'through-list' | 'through-object' | 'collection-action' | 'object-action';

/** An application method that handles one HTTP method of a route. Compiled at boot. */
export interface RouteAction {
  /** The name of the method on the controller class. */
  readonly handler: string;
  /** Overrides the resource's permission. */
  readonly permission: CompiledPermission | undefined;
  /** Whether the parent or object of the URL is looked up first. */
  readonly lookUp: boolean;
  /** The generated operation that it replaces. */
  readonly operation?: Operation;
  /** True if the generated operation runs, inside of interceptors of the application. */
  readonly isWrapped?: boolean;
  /** The status of `@HttpCode`, if present. */
  readonly code?: number | undefined;
  /** The fields of the class of its body, if it declares one. */
  readonly body?: Readonly<Record<string, FieldDescription>>;
}

/** An application method with the URL and the HTTP methods that it handles. */
export interface CompiledAction {
  readonly kind: ActionRouteKind;
  /** The relation of a nested URL, or the action's own path segment. */
  readonly segment: string;
  readonly methods: readonly Method[];
  readonly action: RouteAction;
}

/** A parameter of an action with a key of the URL, by the decorator that declares it. */
export type KeyParameter = 'pk' | 'parentPk' | 'childPk';

/** The property of a parameter decorator's factory that says which key it is, in every copy of the package. */
export const KEY_PARAMETER = Symbol.for('nestjs-restify.keyParameter');
