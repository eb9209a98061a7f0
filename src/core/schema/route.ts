import type { RouteAction } from './action.js';
import type { Method, Operation } from './operation.js';
import type { ToManyRelation } from './relation.js';
import type { Resource } from './resource.js';

export type RouteKind =
  | 'collection'
  | 'object'
  | 'one-to-many'
  | 'through-list'
  | 'through-object'
  | 'collection-action'
  | 'object-action';

/** One URL of the interface, and what it does for each method. Decided at boot. */
export interface Route {
  readonly kind: RouteKind;
  /** Whose rows it serves, and whose permissions rule it: on a nested URL the child or the through model (contract 8.1). */
  readonly resource: Resource;
  /** The model above a nested URL. */
  readonly parent: Resource | undefined;
  readonly relation: ToManyRelation | undefined;
  readonly operations: ReadonlyMap<Method, Operation>;
  /** What the application answers itself; it wins over an operation. */
  readonly actions: ReadonlyMap<Method, RouteAction>;
  /** The last segment of an action's path. */
  readonly segment?: string;
  /** The value of `Allow`. */
  readonly allow: string;
  /** `polls-question-list`; of a nested one `question-choices-list` (contract 9.3). */
  readonly name: string;
}

/** The route that a path leads to, with the texts of its keys as they were sent. */
export interface RouteMatch {
  readonly route: Route;
  readonly keySegment: string | undefined;
  readonly childSegment: string | undefined;
}

/** All URLs below one prefix. */
export interface Api {
  /** Without slashes around it: `rest/v1`. */
  readonly prefix: string;
  readonly resources: readonly Resource[];
  readonly routes: readonly Route[];
  /** By the path below the prefix, as it was sent, without its last slash; undefined for an unknown one. */
  match(path: string): RouteMatch | undefined;
}
