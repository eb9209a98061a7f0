import type { Method, Operation } from './operation.js';
import type { CompiledPermission } from '../contracts/compiled-permission.js';

/** URLs that an action can answer: one of its own, or a nested one in place of the default. */
export type ActionRouteKind =
  'one-to-many' | 'through-list' | 'through-object' | 'collection-action' | 'object-action';

/** A method of the application's that answers a route for one method of HTTP, compiled at boot. */
export interface RouteAction {
  /** The name of the method on the controller class. */
  readonly handler: string;
  /** In place of the resource's own. */
  readonly permission: CompiledPermission | undefined;
  /** Whether what the URL names, the parent or the object, is looked up first. */
  readonly lookUp: boolean;
  /** The generated operation that it stands in the place of. */
  readonly operation?: Operation;
  /** The status that `@HttpCode` says, if it says any. */
  readonly code?: number | undefined;
}

/** A method of the application's, and the URL and methods of HTTP that it answers. */
export interface CompiledAction {
  readonly kind: ActionRouteKind;
  /** The relation of a nested URL, or the segment of an action's own. */
  readonly segment: string;
  readonly methods: readonly Method[];
  readonly action: RouteAction;
}
