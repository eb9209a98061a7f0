import { JSON_MEDIA_TYPE, MERGE_PATCH_MEDIA_TYPE } from '../contracts/renderer.js';
import type { Json } from '../errors/rest-exception.js';
import type { RouteAction } from './action.js';
import { QUERY_METHOD, servedMethod } from './operation.js';
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

/** A URL of the interface with its operations and actions by HTTP method. Compiled at boot. */
export interface Route {
  readonly kind: RouteKind;
  /** The resource whose rows it serves and whose permissions apply: on a nested URL the child or the through model (contract 8.1). */
  readonly resource: Resource;
  /** The parent model of a nested URL. */
  readonly parent: Resource | undefined;
  readonly relation: ToManyRelation | undefined;
  readonly operations: ReadonlyMap<Method, Operation>;
  /** The application's actions, which take precedence over operations. */
  readonly actions: ReadonlyMap<Method, RouteAction>;
  /** The last segment of an action's path. */
  readonly segment?: string;
  /** Whether QUERY reads its list, as GET does. */
  readonly queryable: boolean;
  /** The value of `Allow`. */
  readonly allow: string;
  /** `polls-question-list`; for a nested one `question-choices-list` (contract 9.3). */
  readonly name: string;
}

/** The media types of a PATCH of this URL; the other methods take JSON alone. */
export function patchTypesOf({ kind, resource, operations, actions }: Route): readonly string[] {
  const isOfOne = kind === 'object' || kind === 'through-object';
  return resource.mergePatch && isOfOne && operations.has('PATCH') && !actions.has('PATCH')
    ? [JSON_MEDIA_TYPE, MERGE_PATCH_MEDIA_TYPE]
    : [JSON_MEDIA_TYPE];
}

/** The method by which a handler of this URL is looked up: GET for HEAD, and for a QUERY of its list. */
export function servedBy({ queryable }: Route, method: string): Method {
  return queryable && method === QUERY_METHOD ? 'GET' : servedMethod(method);
}

/** The keys in a URL, in the types of their columns. */
export interface UrlKeys {
  /** The key of the object; in a nested URL, of the parent. */
  readonly key: readonly Json[] | undefined;
  /** The key of the through object. */
  readonly childKey: readonly Json[] | undefined;
}

/** The matched route of a path, with the raw segments of its keys. */
export interface RouteMatch {
  readonly route: Route;
  readonly keySegment: string | undefined;
  readonly childSegment: string | undefined;
}

/** The URLs of a resource. A URL without any operation does not exist (contract 3.11). */
export interface ResourceRoutes {
  readonly resource: Resource;
  readonly collection: Route | undefined;
  readonly object: Route | undefined;
  readonly nested: ReadonlyMap<string, NestedRoutes>;
  /** The application's own URLs below the collection and below an object, by their segment. */
  readonly collectionActions: ReadonlyMap<string, Route>;
  readonly objectActions: ReadonlyMap<string, Route>;
}

export interface NestedRoutes {
  readonly list: Route | undefined;
  readonly object: Route | undefined;
}

/** The resources and routes below one prefix. */
export interface Api {
  /** Without slashes around it: `rest/v1`. */
  readonly prefix: string;
  readonly resources: readonly Resource[];
  readonly routes: readonly Route[];
  /** By the path of the collection below the prefix, in the order of the resources: `polls/question`. */
  readonly byPath: ReadonlyMap<string, ResourceRoutes>;
}
