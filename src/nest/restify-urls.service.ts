import { Inject, Injectable } from '@nestjs/common';
import type { Json } from '../core/errors/rest-exception.js';
import { keyText } from '../core/values/keys.js';
import type { Api, Route } from '../core/schema/route.js';
import { withoutSlashes } from '../restify.options.js';
import { REST_SERVER } from './tokens.js';
import type { RestServer } from '../http/rest-server.js';

/** The keys in a URL. A composite key is an array. */
export interface UrlParameters {
  readonly pk?: Json;
  readonly childPk?: string | number;
}

/** Which prefix `RestifyUrls.reverse` uses. */
export interface ReverseOptions {
  /** Default: the prefix of `request`, else the first one. */
  readonly prefix?: string;
  /** The current request. */
  readonly request?: object;
}

/**
 * Builds URLs from the names of routes (contract 9.3): `polls_question-list`, `polls_question-detail`,
 * `student-course_set-list`, `student-course_set-detail`; prefixed by the app if the name is ambiguous.
 *
 * ```ts
 * this.urls.reverse('student-course_set-detail', { pk: 1, childPk: 5 }); // '/rest/v1/edu/student/1/course_set/5/'
 * ```
 */
@Injectable()
export class RestifyUrls {
  /** @internal */
  constructor(@Inject(REST_SERVER) private readonly server: RestServer) {}

  /** Returns the path with the global prefix. Throws an `Error` for an unknown or ambiguous name, and for a missing key. */
  reverse(name: string, parameters: UrlParameters = {}, { prefix, request }: ReverseOptions = {}): string {
    const current = request ? this.server.findBase(this.server.getExchange(request, {})) : undefined;
    const api = this.findApi(prefix ?? current?.prefix);
    const route = findRoute(name, api);
    const base = joinPaths([current?.base ?? this.server.mounts.first(), api.prefix]);
    return [base, ...segmentsOf(route, parameters)].join('/') + '/';
  }

  private findApi(prefix: string | undefined): Api {
    const api =
      prefix === undefined
        ? this.server.apis[0]
        : this.server.apis.find((each) => each.prefix === withoutSlashes(prefix));
    if (!api)
      throw new Error(
        `There is no prefix "${prefix ?? ''}". Known: ${this.server.apis.map((each) => `"${each.prefix}"`).join(', ')}.`,
      );
    return api;
  }
}

function joinPaths(paths: readonly string[]): string {
  return paths
    .filter((path) => path !== '')
    .map((path) => (path.startsWith('/') ? path : `/${path}`))
    .join('');
}

function findRoute(name: string, { routes }: Api): Route {
  const found = routes.filter((route) => route.name === name || qualifiedName(route) === name);
  const [route, ...others] = found;
  if (!route) throw new Error(`No route is named "${name}".`);
  if (others.length > 0)
    throw new Error(
      `Several routes are named "${name}": use one of ${found.map((each) => `"${qualifiedName(each)}"`).join(', ')}.`,
    );
  return route;
}

/** Adds the app to names of nested routes, which begin with the parent's model. */
function qualifiedName({ name, parent }: Route): string {
  return parent ? `${parent.app}_${name}` : name;
}

function segmentsOf(
  { kind, resource, parent, relation, segment }: Route,
  { pk, childPk }: UrlParameters,
): readonly string[] {
  const { app, model } = parent ?? resource;
  const collection = [app, model];
  switch (kind) {
    case 'collection':
      return collection;
    case 'collection-action':
      return [...collection, String(segment)];
    case 'object':
      return [...collection, keySegment(pk)];
    case 'object-action':
      return [...collection, keySegment(pk), String(segment)];
    case 'one-to-many':
    case 'through-list':
      return [...collection, keySegment(pk), String(relation?.name)];
    case 'through-object':
      return [...collection, keySegment(pk), String(relation?.name), keySegment(childPk)];
    default:
      return kind satisfies never;
  }
}

function keySegment(key: Json | undefined): string {
  if (key === undefined || key === null)
    throw new Error('This URL needs a key: give pk, and for a through object childPk.');
  return keyText(Array.isArray(key) ? (key as readonly Json[]) : [key]);
}
