import { Inject, Injectable } from '@nestjs/common';
import { describeApi } from '../openapi/describe-api.js';
import type { PlacedIndex, PlacedRoute } from '../openapi/describe-api.js';
import { toOpenApi31 } from '../openapi/convert-schema.js';
import type { OpenApiDocument, PathItem } from '../openapi/open-api-types.js';
import { REST_SERVER } from './tokens.js';
import type { RestServer } from '../http/rest-server.js';
import { getRoutePattern } from '../http/route-pattern.js';

/**
 * Describes everything that is served in a document of @nestjs/swagger, which knows the application's own routes.
 *
 * ```ts
 * const document = app.get(RestifyOpenApi).extend(SwaggerModule.createDocument(app, config));
 * SwaggerModule.setup('docs', app, document);
 * ```
 */
@Injectable()
export class RestifyOpenApi {
  constructor(@Inject(REST_SERVER) private readonly server: RestServer) {}

  /**
   * A new document of OpenAPI 3.1 with all that the given one says, in which the generated routes are described from the
   * compiled model. What decorators of @nestjs/swagger say of methods of a `@RestifyController` is kept; where they say
   * nothing of a method that replaces an operation, the operation's description holds.
   */
  extend<Document extends { readonly paths: object }>(document: Document): Document {
    const given = toOpenApi31(document) as OpenApiDocument;
    const patterns = this.patterns();
    const mounts = mountsOf(given, patterns) ?? [this.server.mounts.first()];
    const isTold = Object.keys(given.paths).some((path) =>
      mounts.some((mount) => patterns.has(path.slice(mount.length))),
    );
    const placed = mounts.flatMap((mount) =>
      [...patterns].map(([pattern, { route, prefix, errorFormat }]): PlacedRoute => {
        const path = mount + pattern;
        return {
          route,
          path,
          base: prefix === '' ? mount : `${mount}/${prefix}`,
          prefix,
          errorFormat,
          told: given.paths[path] ?? {},
          isTold,
        };
      }),
    );
    const own = new Set(placed.map(({ path }) => path));
    const others = Object.fromEntries(Object.entries(given.paths).filter(([path]) => !own.has(path)));
    return merged({ ...given, paths: others }, placed, this.indexes(mounts, others)) as unknown as Document;
  }

  /** By the path below a mount, in the form of OpenAPI. */
  private patterns(): ReadonlyMap<string, Pick<PlacedRoute, 'route' | 'prefix' | 'errorFormat'>> {
    return new Map(
      this.server.prefixes.flatMap(({ api: { prefix, routes }, errorFormat }) =>
        routes.map(
          (route) => [openApiPath(getRoutePattern(prefix, route)), { route, prefix, errorFormat }] as const,
        ),
      ),
    );
  }

  /** That of all prefixes, wherever it stands, and that of each at its root. An application's own route at the same path wins. */
  private indexes(mounts: readonly string[], others: OpenApiDocument['paths']): readonly PlacedIndex[] {
    const { prefixes } = this.server;
    const ofAll = prefixes.flatMap(({ index }) =>
      index === undefined
        ? []
        : [{ below: index === '' ? '' : `/${index}`, errorFormat: prefixes[0]?.errorFormat ?? 'drf' }],
    );
    const ofOne = prefixes.flatMap(({ index, api: { prefix }, errorFormat }) =>
      index === undefined || prefix === '' ? [] : [{ below: `/${prefix}`, prefix, errorFormat }],
    );
    const placed = mounts.flatMap((mount) =>
      [...ofAll, ...ofOne].map(({ below, ...index }): PlacedIndex => ({
        ...index,
        path: mount + below || '/',
      })),
    );
    const isOwn = (path: string): boolean =>
      (others[path] as { readonly get?: unknown } | undefined)?.get !== undefined ||
      this.server.applicationRoutes.has(path);
    return placed.filter(
      ({ path }, at) => !isOwn(path) && placed.findIndex((each) => each.path === path) === at,
    );
  }
}

/** `rest/v1/polls/question/:pk` → `/rest/v1/polls/question/{pk}` */
function openApiPath(pattern: string): string {
  return `/${pattern}`.replace(/[:*](pk|childId)(?=\/|$)/g, '{$1}');
}

/** What comes before the generated paths of a document: global prefix and versions. Undefined where it has none of them. */
function mountsOf(
  { paths }: OpenApiDocument,
  patterns: ReadonlyMap<string, unknown>,
): readonly string[] | undefined {
  const found = Object.keys(paths).flatMap((path) => mountOf(path, patterns) ?? []);
  return found.length === 0 ? undefined : [...new Set(found)];
}

/** The shortest: so that the prefix `v1` does not take `/rest/v1/…` for a mount of its own. */
function mountOf(path: string, patterns: ReadonlyMap<string, unknown>): string | undefined {
  for (let at = 0; at !== -1; at = path.indexOf('/', at + 1))
    if (patterns.has(path.slice(at))) return path.slice(0, at);
  return undefined;
}

function merged(
  document: OpenApiDocument,
  placed: readonly PlacedRoute[],
  indexes: readonly PlacedIndex[],
): OpenApiDocument {
  const { paths, components, tags } = describeApi(placed, indexes, document);
  const known = new Set((document.tags ?? []).map(({ name }) => name));
  const items = (path: string): PathItem => ({ ...document.paths[path], ...paths[path] });
  return {
    ...document,
    openapi: '3.1.0',
    // None means this one, which linters want to be said.
    servers: document.servers && document.servers.length > 0 ? document.servers : [{ url: '/' }],
    tags: [...(document.tags ?? []), ...tags.filter(({ name }) => !known.has(name))],
    paths: {
      ...document.paths,
      ...Object.fromEntries(Object.keys(paths).map((path) => [path, items(path)])),
    },
    components: {
      ...document.components,
      ...Object.fromEntries(
        Object.entries(components).map(([kind, own]) => [kind, { ...own, ...document.components?.[kind] }]),
      ),
    },
  };
}
