import { Inject, Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { aggregateNames } from '../core/contracts/aggregates.js';
import { mergeMissingIndexes } from '../core/contracts/missing-index.js';
import type { MissingIndex } from '../core/contracts/missing-index.js';
import { MISSING_INDEX_ROWS } from '../core/schema/limits.js';
import { MethodNotAllowed, NotFound } from '../core/errors/http-exceptions.js';
import type { Json } from '../core/errors/rest-exception.js';
import type { Actor } from '../core/schema/caller.js';
import { isOfMany } from '../core/contracts/bulk.js';
import { METHOD_OF } from '../core/schema/operation.js';
import type { Operation } from '../core/schema/operation.js';
import { parameterName } from '../core/schema/resource-schema.js';
import type { Resource } from '../core/schema/resource.js';
import type { Api, Route } from '../core/schema/route.js';
import type { Representation } from '../core/contracts/serializer.js';
import { RestContext } from '../request/rest-context.js';
import type { ApplicationOperations } from '../pipeline/application-operations.js';
import { keyText, parseKeySegment } from '../core/values/keys.js';
import { withoutSlashes } from '../restify.options.js';
import { REST_SERVER } from './tokens.js';
import type { RestServer } from '../http/rest-server.js';

/** A key: its value, or an array for a composite key. */
export type KeyInput = string | number | readonly Json[];

/** What `findMissingIndexes` reports. */
export interface MissingIndexOptions {
  /** The rows from which a table is reported. Default: 100,000. */
  readonly rows?: number;
  /** Default: the models of all prefixes. */
  readonly prefix?: string;
}

/** Which prefix `RestifyResources.of` uses. */
export interface ResourceOptions {
  /** Default: the first prefix that serves the entity. */
  readonly prefix?: string;
}

/** Where the operations of an actor run: `resources.of(Ticket).as(actor, { manager })`. */
export interface ActorOptions {
  /**
   * The manager of a transaction of the application, in which all operations then run. A write that fails changes nothing in
   * it, and the application commits it, or rolls it back.
   */
  readonly manager?: EntityManager;
}

/** What is computed of which rows, by the names of the option `aggregate`. */
export interface AggregateQuery {
  /** `count`, `sum.total`. */
  readonly aggregate: readonly string[];
  /** `status`, `created:month`. */
  readonly group?: readonly string[];
  /** The time zone of groups by time. Default: UTC. */
  readonly tz?: string;
  /** Conditions on groups: `{ count__gte: 2 }`. */
  readonly having?: Readonly<Record<string, string | number>>;
  /** `-count`. */
  readonly ordering?: readonly string[];
  /** The other parameters of the list: filters, search. */
  readonly parameters?: Readonly<Record<string, string>>;
}

/** A group: its keys by the names of their fields, and what was asked for. */
export interface AggregateGroup {
  readonly [key: string]: unknown;
  readonly count?: number;
  readonly sum?: Readonly<Record<string, string | number | null>>;
  readonly avg?: Readonly<Record<string, string | number | null>>;
  readonly min?: Readonly<Record<string, string | number | null>>;
  readonly max?: Readonly<Record<string, string | number | null>>;
}

/** The operations of a model for one actor, with the same bodies and errors as over HTTP. */
export interface ActorOperations {
  /** Returns all rows in memory, without pagination. `query` has the parameters of a list: filters, search, ordering. */
  list(parameters?: Readonly<Record<string, string>>): Promise<readonly Representation[]>;
  /** As `list`, but reads the rows in pages while the iterator is consumed. */
  stream(parameters?: Readonly<Record<string, string>>): AsyncIterable<Representation>;
  /** Computes aggregates of the rows of a list, with all groups in memory, in a model with the option `aggregate`. */
  aggregate(query: AggregateQuery): Promise<readonly AggregateGroup[]>;
  /** Creates an object, and returns what a 201 would have. @throws RestException, whose `answer` has status and body of the error */
  create(body: Readonly<Record<string, unknown>>): Promise<Representation>;
  /** Returns one object; a composite key is an array. @throws RestException with 404 */
  retrieve(pk: KeyInput): Promise<Representation>;
  /** As PUT: required fields must be there. @throws RestException */
  update(pk: KeyInput, body: Readonly<Record<string, unknown>>): Promise<Representation>;
  /** As PATCH. @throws RestException */
  partialUpdate(pk: KeyInput, body: Readonly<Record<string, unknown>>): Promise<Representation>;
  /** As `partialUpdate`, but merges objects into the values of JSON columns (RFC 7396), also without the option `mergePatch`. */
  mergePatch(pk: KeyInput, patch: Readonly<Record<string, unknown>>): Promise<Representation>;
  /** As DELETE. @throws RestException with 404 or 409 */
  destroy(pk: KeyInput): Promise<void>;
  /** Restores a deleted object of a model with `trash`. */
  restore(pk: KeyInput): Promise<Representation>;
  /** Deletes a deleted object of a model with `trash` for good. */
  purge(pk: KeyInput): Promise<void>;
}

/** A served model, for the code of the application. */
export interface ResourceAccess {
  /** The compiled, frozen schema: names, fields, relations. */
  readonly resource: Resource;
  /**
   * The operations for this actor; null is an anonymous caller. Permissions, grants, hooks and validation apply as over HTTP;
   * guards, interceptors, pipes, throttles and methods that replace operations do not.
   */
  as(
    actor: Actor,
    options?: ActorOptions,
  ): ActorOperations & {
    /** The nested objects of a row: a one-to-many list, or the through objects of a many-to-many, with their own permissions. */
    nested(pk: KeyInput, relation: string): ActorOperations;
  };
}

interface ServedResource {
  readonly api: Api;
  readonly operations: ApplicationOperations;
  readonly base: string;
  readonly actor: Actor;
  readonly manager: EntityManager | undefined;
  /** The routes of the collection and the object, or of the nested list and the through object. */
  readonly routes: readonly Route[];
  readonly parentPk: KeyInput | undefined;
}

/**
 * Runs the generated operations without HTTP.
 *
 * ```ts
 * const tickets = this.resources.of(Ticket).as(actor);
 * await tickets.create({ subject: 'Printer' });
 * await tickets.nested(1, 'comments').list({ ordering: '-id' });
 * ```
 */
@Injectable()
export class RestifyResources {
  /** @internal */
  constructor(@Inject(REST_SERVER) private readonly server: RestServer) {}

  /** `entity` is the decorated class or schema. Throws an `Error` if it is not served, or if the application has not started. */
  of(entity: object, { prefix }: ResourceOptions = {}): ResourceAccess {
    const plain = prefix === undefined ? undefined : withoutSlashes(prefix);
    for (const { api, operations, resourceOf } of this.server.prefixes) {
      const resource = plain === undefined || api.prefix === plain ? resourceOf(entity) : undefined;
      if (resource)
        return {
          resource,
          as: (actor, { manager } = {}) => this.operationsOf(resource, { api, operations, actor, manager }),
        };
    }
    throw new Error(
      `${(entity as { name?: string }).name ?? 'This entity'} is not served${plain === undefined ? '' : ` below "${plain}"`}: decorate it with @Restify, and ask when the application has started.`,
    );
  }

  /**
   * Finds the indexes that declared `filterFields`, `orderingFields`, default orders and foreign keys need, and that their tables do
   * not have. Leaves out what an index might not serve. Rejects with the error of the database if its catalogue cannot be read.
   */
  async findMissingIndexes({ rows = MISSING_INDEX_ROWS, prefix }: MissingIndexOptions = {}): Promise<
    readonly MissingIndex[]
  > {
    const plain = prefix === undefined ? undefined : withoutSlashes(prefix);
    const prefixes = this.server.prefixes.filter(({ api }) => plain === undefined || api.prefix === plain);
    const found: MissingIndex[] = [];
    for (const { findMissingIndexes } of prefixes) found.push(...(await findMissingIndexes(rows)));
    return mergeMissingIndexes(found);
  }

  /** For tests: resolves once every `afterCommit` has ended, those of writes that it has caused included. */
  afterCommitEnded(): Promise<void> {
    return this.server.commitCalls.ended();
  }

  private operationsOf(
    resource: Resource,
    { api, ...caller }: Pick<ServedResource, 'api' | 'operations' | 'actor' | 'manager'>,
  ): ReturnType<ResourceAccess['as']> {
    const base = [this.server.mounts.first(), ...(api.prefix === '' ? [] : [`/${api.prefix}`])].join('');
    const place = { api, base, ...caller };
    const own = api.routes.filter(
      (route) =>
        (route.resource === resource && (route.kind === 'collection' || route.kind === 'object')) ||
        route.resource.deleted?.of === resource,
    );
    return {
      ...operationsAt({ ...place, routes: own, parentPk: undefined }),
      nested: (pk, relation) => {
        const routes = api.routes.filter(
          (route) => route.parent === resource && route.relation?.name === relation,
        );
        if (routes.length === 0)
          throw new Error(
            `"${relation}" is not a nested list of ${resource.className}. Known: ${resource.nested.map(({ name }) => `"${name}"`).join(', ')}.`,
          );
        return operationsAt({ ...place, routes, parentPk: pk });
      },
    };
  }
}

function operationsAt(place: ServedResource): ActorOperations {
  const { operations, manager } = place;
  const run = (operation: Operation, call: OperationCall): Promise<unknown> =>
    operations.join(manager, async () => operations.run(operation, await begin(place, operation, call)));
  return {
    list: async (parameters = {}) => (await run('list', { parameters })) as readonly Representation[],
    aggregate: async (query) =>
      (await run('list', { parameters: aggregateParametersOf(query, place) })) as readonly AggregateGroup[],
    stream: async function* (parameters = {}) {
      const { pages, represent } = await operations.join(manager, async () =>
        operations.openList(await begin(place, 'list', { parameters })),
      );
      const iterator = pages[Symbol.asyncIterator]();
      const next = (): ReturnType<typeof iterator.next> => operations.join(manager, () => iterator.next());
      try {
        for (let page = await next(); page.done !== true; page = await next())
          for (const row of page.value) yield represent(row);
      } finally {
        await iterator.return?.();
      }
    },
    create: async (body) => (await run('create', { body })) as Representation,
    retrieve: async (pk) => (await run('retrieve', { pk })) as Representation,
    update: async (pk, body) => (await run('update', { pk, body })) as Representation,
    partialUpdate: async (pk, body) => (await run('partialUpdate', { pk, body })) as Representation,
    mergePatch: async (pk, body) =>
      (await run('partialUpdate', { pk, body, merges: true })) as Representation,
    destroy: async (pk) => {
      await run('destroy', { pk });
    },
    restore: async (pk) => (await run('restore', { pk })) as Representation,
    purge: async (pk) => {
      await run('purge', { pk });
    },
  };
}

/** The parameters of a request for the same. Throws 405 where the model has no list, and an `Error` without the option. */
function aggregateParametersOf(
  { aggregate, group = [], tz, having = {}, ordering = [], parameters = {} }: AggregateQuery,
  { routes }: Pick<ServedResource, 'routes'>,
): Readonly<Record<string, string>> {
  const resource = routes.find(({ operations }) => operations.get('GET') === 'list')?.resource;
  if (!resource) throw new MethodNotAllowed('GET');
  if (!resource.aggregates || aggregate.length === 0)
    throw new Error(`${resource.className} has no option "aggregate", or the query asks for nothing.`);
  const names = aggregateNames(resource);
  const conditions = Object.entries(having).map(
    ([name, value]) => [`${names.having}.${name}`, String(value)] as const,
  );
  return {
    ...parameters,
    ...Object.fromEntries(conditions),
    [names.aggregate]: aggregate.join(','),
    [names.group]: group.join(','),
    ...(tz === undefined ? {} : { [names.tz]: tz }),
    ...(ordering.length === 0 ? {} : { [parameterName('ordering', resource)]: ordering.join(',') }),
  };
}

interface OperationCall {
  readonly pk?: KeyInput;
  readonly body?: Readonly<Record<string, unknown>>;
  /** Whether the body is a merge patch. */
  readonly merges?: boolean;
  readonly parameters?: Readonly<Record<string, string>>;
}

/** Creates the authorized context of an operation, with its parent. Throws 401, 403, 404 and 405. */
async function begin(
  { operations, base, actor, routes, parentPk }: ServedResource,
  operation: Operation,
  { pk, body = {}, merges, parameters = {} }: OperationCall,
): Promise<RestContext> {
  const method = METHOD_OF[operation];
  const route = routes.find(
    (each) => [...each.operations.values()].includes(operation) && !isOfMany(each, operation),
  );
  if (!route) throw new MethodNotAllowed(method);
  const input = { parameters: () => new Map(Object.entries(parameters)), body: () => body, merges };
  const context = new RestContext({ route, base, method, input });
  context.actor = actor;
  return operations.begin(context, () => {
    const above = parentPk ?? pk;
    return {
      key: above === undefined ? undefined : parseKeyInput(above, route.parent ?? route.resource),
      childKey: parentPk === undefined || pk === undefined ? undefined : parseKeyInput(pk, route.resource),
    };
  });
}

/** Throws 404 for an invalid key. */
function parseKeyInput(input: KeyInput, resource: Resource): readonly Json[] {
  const key = parseKeySegment(keyText(typeof input === 'object' ? input : [input]), resource.key);
  if (!key) throw new NotFound();
  return key;
}
