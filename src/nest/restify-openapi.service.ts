import { Inject, Injectable } from '@nestjs/common';
import { describeApi } from '../openapi/describe-api.js';
import type { DescribedUrls, PlacedIndex, PlacedRoute } from '../openapi/describe-api.js';
import { toOpenApi31 } from '../openapi/convert-schema.js';
import type { OpenApiDocument, PathItem } from '../openapi/open-api-types.js';
import { REST_SERVER } from './tokens.js';
import type { RestServer } from '../http/rest-server.js';
import { getRoutePattern } from '../http/route-pattern.js';
import { SlicedWork } from '../core/event-loop.js';

/** What {@link RestifyOpenApi.extend} adds to a document. */
export interface OpenApiOptions {
  /** Whether OPTIONS of each URL is listed. Default: no, because generated clients would have a function for each. */
  readonly listOptions?: boolean;
  /** The version of OpenAPI. Only 3.2 can describe QUERY, which models with `query` serve. Default: `3.1`. */
  readonly version?: '3.1' | '3.2';
}

/**
 * Adds all generated routes to a document of @nestjs/swagger, which contains the application's own routes.
 *
 * ```ts
 * const document = app.get(RestifyOpenApi).extend(SwaggerModule.createDocument(app, config));
 * SwaggerModule.setup('docs', app, document);
 * ```
 */
@Injectable()
export class RestifyOpenApi {
  /** @internal */
  constructor(@Inject(REST_SERVER) private readonly server: RestServer) {}

  /**
   * Returns a new OpenAPI document, of version 3.1 unless `version` is 3.2, with the content of the given one and the generated routes, described from the compiled
   * model. Decorators of @nestjs/swagger on methods of a `@RestifyController` have precedence; without them, a method that
   * replaces an operation has the description of the operation. With `listOptions`, OPTIONS of each URL is listed as well, with
   * the schema of descriptions.
   */
  extend<Document extends { readonly paths: object }>(
    document: Document,
    options: OpenApiOptions = {},
  ): Document {
    const steps = this.steps(document, options);
    for (;;) {
      const step = steps.next();
      if (step.done === true) return step.value as unknown as Document;
    }
  }

  /**
   * Returns a function for a route of the application with the JSON of the extended document, in UTF-8. Its first call builds it in
   * parts, between which other requests are handled; the bytes are kept, and the document is not.
   *
   * ```ts
   * const json = app.get(RestifyOpenApi).jsonOf(() => SwaggerModule.createDocument(app, config));
   * ```
   *
   * @see extend
   */
  jsonOf(create: () => { readonly paths: object }, options: OpenApiOptions = {}): () => Promise<Buffer> {
    let bytes: Promise<Buffer> | undefined;
    return () =>
      (bytes ??= this.writeJson(create, options).catch((error: unknown) => {
        // The next call tries again.
        bytes = undefined;
        throw error;
      }));
  }

  private async writeJson(
    create: () => { readonly paths: object },
    options: OpenApiOptions,
  ): Promise<Buffer> {
    const work = new SlicedWork();
    const steps = this.steps(create(), options);
    let step = steps.next();
    for (; step.done !== true; step = steps.next()) if (work.isLong) await work.pause();
    const parts: Buffer[] = [];
    let text = '';
    for (const part of jsonParts(step.value)) {
      text += part;
      if (text.length < MIN_PART_LENGTH) continue;
      parts.push(Buffer.from(text));
      text = '';
      if (work.isLong) await work.pause();
    }
    return Buffer.concat([...parts, Buffer.from(text)]);
  }

  private *steps(
    document: { readonly paths: object },
    { listOptions = false, version = '3.1' }: OpenApiOptions,
  ): Generator<undefined, OpenApiDocument> {
    const given = toOpenApi31(document) as OpenApiDocument;
    const patterns = this.patterns();
    // The parts of paths before the generated ones: global prefix and version.
    const found = new Set(Object.keys(given.paths).flatMap((path) => mountOf(path, patterns) ?? []));
    const mounts = found.size === 0 ? [this.server.mounts.first()] : [...found];
    const declaresAllMethods = Object.keys(given.paths).some((path) =>
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
          declared: given.paths[path] ?? {},
          declaresAllMethods,
        };
      }),
    );
    const own = new Set(placed.map(({ path }) => path));
    const others = Object.fromEntries(Object.entries(given.paths).filter(([path]) => !own.has(path)));
    const urls = { routes: placed, indexes: this.indexes(mounts, others), listOptions, version };
    return yield* merged({ ...given, paths: others }, urls);
  }

  /** Paths by their part below a mount, in OpenAPI syntax. */
  private patterns(): ReadonlyMap<string, Pick<PlacedRoute, 'route' | 'prefix' | 'errorFormat'>> {
    return new Map(
      this.server.prefixes.flatMap(({ api: { prefix, routes }, errorFormat }) =>
        routes.map(
          (route) =>
            [
              `/${getRoutePattern(prefix, route)}`.replace(/[:*](pk|childId)(?=\/|$)/g, '{$1}'),
              { route, prefix, errorFormat },
            ] as const,
        ),
      ),
    );
  }

  /** The paths of the index and of the root of each prefix. A route of the application with the same path has precedence. */
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

/** The shortest mount, so that the prefix `v1` does not treat `/rest/v1/…` as its own. */
function mountOf(path: string, patterns: ReadonlyMap<string, unknown>): string | undefined {
  for (let at = 0; at !== -1; at = path.indexOf('/', at + 1))
    if (patterns.has(path.slice(at))) return path.slice(0, at);
  return undefined;
}

function* merged(document: OpenApiDocument, urls: DescribedUrls): Generator<undefined, OpenApiDocument> {
  const { paths, components, tags } = yield* describeApi(urls, document);
  const known = new Set((document.tags ?? []).map(({ name }) => name));
  const items = (path: string): PathItem => ({ ...document.paths[path], ...paths[path] });
  return {
    ...document,
    openapi: `${urls.version}.0`,
    // Without servers, OpenAPI means this one; linters require it explicitly.
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

/** The parts of the JSON of a document, none of them long: each URL and each component is one. */
function* jsonParts(value: unknown, depth = 0): Generator<string> {
  if (depth === MAX_PART_DEPTH || typeof value !== 'object' || value === null || Array.isArray(value)) {
    yield JSON.stringify(value);
    return;
  }
  let separator = '{';
  for (const [name, member] of Object.entries(value)) {
    if (member === undefined) continue;
    yield `${separator}${JSON.stringify(name)}:`;
    yield* jsonParts(member, depth + 1);
    separator = ',';
  }
  yield separator === '{' ? '{}' : '}';
}

/** `components/schemas/Name` */
const MAX_PART_DEPTH = 3;

/** In characters. */
const MIN_PART_LENGTH = 65_536;
