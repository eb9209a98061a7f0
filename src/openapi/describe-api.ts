import type { ErrorFormat } from '../core/contracts/errors.js';
import type { Resource } from '../core/schema/resource.js';
import type { Route } from '../core/schema/route.js';
import { Components, operationName, UniqueNames, SharedParameters } from './components.js';
import { schemeNames, schemeName, securityScheme } from './describe-access.js';
import {
  errorReferences,
  SHARED_HEADERS,
  SHARED_RESPONSES,
  SHARED_SCHEMAS,
  SHARED_SCHEMAS_WITH_CHILDREN,
} from './describe-errors.js';
import { describedMethods } from './described-route.js';
import type { DescribedPlace } from './described-route.js';
import { describeOperation, describeQuery, tagOf } from './describe-operation.js';
import { DESCRIPTION_SCHEMAS, describeOptions, INDEX_DESCRIPTION } from './describe-options.js';
import { mergeOperation } from './merge-operation.js';
import type { DeclaredOperation } from './merge-operation.js';
import type { OpenApiDocument, OperationObject, PathItem, Schema } from './open-api-types.js';

/** One URL with its path in the document. */
export interface PlacedRoute {
  readonly route: Route;
  /** `/api/rest/v1/polls/question/{pk}` */
  readonly path: string;
  /** The path of its prefix, mount included. */
  readonly base: string;
  readonly prefix: string;
  readonly errorFormat: ErrorFormat;
  /** The document's descriptions of the application's methods at this URL. */
  readonly declared: PathItem;
  /** Whether the document describes all methods of the application, so that a missing one has been excluded. */
  readonly declaresAllMethods: boolean;
}

/** The additions to a document. */
export interface ApiDescription {
  readonly paths: Readonly<Record<string, PathItem>>;
  readonly components: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
  readonly tags: readonly { readonly name: string; readonly description: string }[];
}

/** An index and its path. */
export interface PlacedIndex {
  readonly path: string;
  /** The prefix whose models it lists; undefined for all prefixes. */
  readonly prefix?: string;
  readonly errorFormat: ErrorFormat;
}

/** What is described of all URLs. */
export interface DescribedUrls {
  readonly routes: readonly PlacedRoute[];
  readonly indexes: readonly PlacedIndex[];
  /** Whether OPTIONS is listed. */
  readonly listOptions: boolean;
  /** Of OpenAPI: 3.2 describes QUERY. */
  readonly version: '3.1' | '3.2';
}

/** Describes all URLs, in addition to those of the document. Yields after each of them, so that other work can run between. */
export function* describeApi(
  { routes: placed, indexes, listOptions, version }: DescribedUrls,
  document: OpenApiDocument,
): Generator<undefined, ApiDescription> {
  const components = new Components(Object.keys(document.components?.schemas ?? {}));
  const operationIds = new UniqueNames(idsOf(document));
  const hasSecurity = (document.security ?? []).length > 0;
  // The URLs of a model first, because they determine the names of its schemas.
  const nestedLast = [
    ...placed.filter(({ route }) => !route.parent),
    ...placed.filter(({ route }) => route.parent),
  ];
  const items = new Map<string, PathItem>();
  const parameters = new SharedParameters(Object.keys(document.components?.parameters ?? {}));
  const listParameters: DescribedPlace['listParameters'] = new Map();
  const objects: DescribedPlace['objects'] = new Map();
  for (const each of nestedLast) {
    const { base, prefix, errorFormat } = each;
    const names = { components, operationIds };
    const known = { listParameters, objects };
    const listed = { listOptions, listQuery: version === '3.2' };
    const item = pathItem(each, { base, prefix, errorFormat, ...names, ...known, hasSecurity, ...listed });
    parameters.count(item);
    items.set(each.path, item);
    yield;
  }
  const found = new Set<string>();
  for (const [path, item] of items) {
    items.set(path, parameters.replace(item));
    collectReferences(responsesOf(item), found);
    yield;
  }
  const routes = placed.map(({ path }) => [path, items.get(path) ?? {}] as const);
  const index = indexes.map(
    (each) =>
      [
        each.path,
        {
          get: describeIndex(operationIds, each),
          ...(listOptions ? { options: describeIndexOptions(operationIds, each) } : {}),
        },
      ] as const,
  );
  const resources = new Set(placed.map(({ route }) => route.resource));
  // A collection of another prefix has precedence over an index.
  const paths: Readonly<Record<string, PathItem>> = Object.fromEntries(
    [...index, ...routes].filter(([, item]) => Object.keys(item).length > 0),
  );
  for (const [, item] of index) collectReferences(responsesOf(item), found);
  const responses = usedIn(found, 'responses', SHARED_RESPONSES);
  collectReferences(responses, found);
  const hasChildren = placed.some(({ route }) => route.resource.hasNestedWrites);
  const schemas = hasChildren ? SHARED_SCHEMAS_WITH_CHILDREN : SHARED_SCHEMAS;
  collectReferences(schemas, found);
  return {
    paths,
    components: {
      schemas: {
        ...usedIn(found, 'schemas', schemas),
        ...(listOptions ? DESCRIPTION_SCHEMAS : {}),
        ...Object.fromEntries(components.schemas),
      },
      responses,
      parameters: Object.fromEntries(parameters.components),
      headers: usedIn(found, 'headers', SHARED_HEADERS),
      securitySchemes: securitySchemes(resources),
    },
    tags: tagsOf(placed),
  };
}

/** The place of a route, and whether its OPTIONS and its QUERY are listed. */
interface ListedPlace extends DescribedPlace {
  readonly listOptions: boolean;
  readonly listQuery: boolean;
}

function pathItem({ route, declared, declaresAllMethods }: PlacedRoute, place: ListedPlace): PathItem {
  const entries = describedMethods(route).flatMap(
    (described): readonly (readonly [string, OperationObject])[] => {
      const name = described.method.toLowerCase();
      const method = declared[name] as DeclaredOperation | undefined;
      if (!described.action) return [[name, describeOperation(described, place)]];
      // Excluded by the application.
      if (!method && declaresAllMethods) return [];
      const operation = describeOperation(described, place);
      return [
        [
          name,
          method
            ? mergeOperation(operation, method, {
                isOverride: described.operation !== undefined,
                unique: (id) => place.operationIds.take([id, operationName(place.prefix, id)]),
              })
            : operation,
        ],
      ];
    },
  );
  const options = place.listOptions && entries.length > 0 && declared.options === undefined;
  return {
    ...Object.fromEntries(entries),
    ...(place.listQuery && route.queryable ? { query: describeQuery(route, place) } : {}),
    ...(options ? { options: describeOptions(route, place) } : {}),
  };
}

/** An operation that is called `index` would be the file in which generators of clients export all others. */
function describeIndex(operationIds: UniqueNames, { prefix, errorFormat }: PlacedIndex): OperationObject {
  const schema: Schema = { type: 'object', additionalProperties: { type: 'string', format: 'uri' } };
  return {
    operationId: operationIds.take([prefix === undefined ? 'api_index' : operationName('index', prefix)]),
    summary: prefix === undefined ? 'The URLs of all models' : `The URLs of the models below ${prefix}`,
    tags: ['index'],
    parameters: [],
    responses: {
      200: { description: 'The response.', content: { 'application/json': { schema } } },
      ...errorReferences({ 406: true }, errorFormat),
    },
    security: [],
  };
}

function describeIndexOptions(
  operationIds: UniqueNames,
  { prefix, errorFormat }: PlacedIndex,
): OperationObject {
  return {
    operationId: operationIds.take([operationName('index', prefix ?? '', 'options')]),
    summary: prefix === undefined ? 'Describe the models' : `Describe the models below ${prefix}`,
    tags: ['index'],
    parameters: [],
    responses: { 200: INDEX_DESCRIPTION, ...errorReferences({ 406: true }, errorFormat) },
    security: [],
  };
}

/** The components that are referenced. */
function usedIn<Component>(
  references: ReadonlySet<string>,
  kind: string,
  components: Readonly<Record<string, Component>>,
): Readonly<Record<string, Component>> {
  return Object.fromEntries(
    Object.entries(components).filter(([name]) => references.has(`#/components/${kind}/${name}`)),
  );
}

function responsesOf(item: PathItem): readonly unknown[] {
  return Object.values(item).map((operation) => (operation as OperationObject).responses);
}

/** Adds all references in a value. */
function collectReferences(value: unknown, found: Set<string>): void {
  if (typeof value !== 'object' || value === null) return;
  for (const [name, each] of Object.entries(value)) {
    if (name === '$ref' && typeof each === 'string') found.add(each);
    else collectReferences(each, found);
  }
}

function idsOf({ paths }: OpenApiDocument): readonly string[] {
  const operations = Object.values(paths).flatMap((item) => Object.values(item)) as readonly ({
    readonly operationId?: unknown;
  } | null)[];
  return operations.flatMap((operation) =>
    typeof operation?.operationId === 'string' ? [operation.operationId] : [],
  );
}

function securitySchemes(resources: ReadonlySet<Resource>): Readonly<Record<string, Schema>> {
  return Object.fromEntries(
    schemeNames([...resources].flatMap(({ schemes }) => schemes)).map((place) => [
      schemeName(place),
      securityScheme(place),
    ]),
  );
}

function tagsOf(placed: readonly PlacedRoute[]): ApiDescription['tags'] {
  const descriptions = new Map(
    placed.map(({ route }) => {
      const { className, app, description } = route.parent ?? route.resource;
      return [tagOf(route), description === '' ? `${className}, of ${app}` : description];
    }),
  );
  return [
    { name: 'index', description: 'The URLs of all models' },
    ...[...descriptions].map(([name, description]) => ({ name, description })),
  ];
}
