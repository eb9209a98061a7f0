import { NotFound } from '../errors/request-errors.js';
import type { Json } from '../errors/rest-error.js';
import type { Actor } from '../model/actor.js';
import { allOf, NEVER } from '../model/condition.js';
import type { Condition } from '../model/condition.js';
import type { Filtering } from '../model/filter-backend.js';
import type { HookQuestion } from '../model/hooks.js';
import type { Operation } from '../model/operation.js';
import type { ExistsPlan, KeyCheck, ParentValues, TransactionHooks } from '../model/plan.js';
import type { Resource } from '../model/resource.js';
import type { Route } from '../model/route.js';
import type { ParsedBody, Representation, Row } from '../model/serializer.js';
import type { DataAdapter } from './execution/data-adapter.js';
import type { JsonObject } from './parsing/json-body.js';
import { refuseUnknownParameters } from './parsing/rest-request.js';
import type { UrlKeys } from './parsing/rest-request.js';
import type { Accesses } from './permissions/accesses.js';
import { queriedTargets, restrictQueries } from './permissions/restrict-resource.js';
import { planAddedValues } from './planning/plan-added-values.js';
import { ModelSerializer } from './serializers/model-serializer.js';
import { belongsTo, joiningPairs, joiningValues, keyCondition, keysIn, planKeyChecks, planList, planParent } from './planning/plan-rows.js';

/** Who was let in, and to what. Made by `admit`; without one nothing is answered. */
export interface Admission {
  readonly actor: Actor;
  /** Whose fields are those that the caller may read and write. */
  readonly resource: Resource;
  readonly rows: Condition;
  readonly accesses: Accesses;
  /** Whether the caller only looks, so that rows may come from a replica. */
  readonly reading: boolean;
  /** As the HTTP library gives it; undefined where the application asks itself. */
  readonly request: object | undefined;
}

/** An operation as somebody asks for it: over HTTP, or the application itself. */
export interface Asked {
  readonly route: Route;
  readonly keys: UrlKeys;
  readonly admission: Admission;
  /** The path below which the links stand: `/rest/v1`. */
  readonly base: string;
  /** Read when their turn comes, because their errors have one (contract 6). */
  readonly parameters: () => ReadonlyMap<string, string> | Promise<ReadonlyMap<string, string>>;
  readonly body: () => Promise<JsonObject>;
  /** Whether nobody waits for the answer any more. */
  readonly gone?: () => boolean;
}

/** What was asked for, and the rows that it is about. */
export interface Located extends Asked {
  readonly resource: Resource;
  /** What the URL and the grants leave of the rows, without the object's own key. */
  readonly within: Condition;
  readonly parent: ParentValues | undefined;
  /** The parent, where nobody has looked for it yet: its list does. */
  readonly pending?: ExistsPlan;
}

/** A list, read page by page while it is taken. */
export interface ListAnswer {
  readonly pages: AsyncIterable<readonly Row[]>;
  readonly represent: (row: Row) => Representation;
  /** The same as texts, where the database writes the rows itself. */
  readonly texts: AsyncIterable<string> | undefined;
}

/** A row that was made, and how it is named. */
export interface Created {
  readonly value: Representation;
  readonly key: readonly Json[];
}

/** The six operations, on whichever way in: plan, execute, serialise. They throw what contract 6 says. */
export class Operations {
  constructor(private readonly adapter: DataAdapter) {}

  /** The parent that the URL names, if it names one. Throws 404. */
  async locate(asked: Asked): Promise<Located> {
    const { route, keys, admission } = asked;
    const { rows, resource, accesses } = admission;
    if (!route.parent || !route.relation || !keys.key) return { ...asked, resource, within: rows, parent: undefined };
    const parent = await this.adapter.findParent(planParent(keys.key, { parent: route.parent, relation: route.relation, rows: await accesses.visible(route.parent), forWriting: !admission.reading }));
    if (!parent) throw new NotFound();
    return { ...asked, resource, within: allOf([rows, belongsTo(route.relation, parent)]), parent };
  }

  /** As `locate`, for a list: where the URL's key says which rows belong to the parent, the list finds out by itself whether it is there. */
  async locateList(asked: Asked): Promise<Located> {
    const { route, keys, admission } = asked;
    const values = route.parent && route.relation && keys.key ? joiningValues(keys.key, route.parent, route.relation) : undefined;
    if (!route.parent || !route.relation || !keys.key || !values) return this.locate(asked);
    const { where, forWriting } = planParent(keys.key, { parent: route.parent, relation: route.relation, rows: await admission.accesses.visible(route.parent), forWriting: false });
    return { ...asked, resource: admission.resource, within: allOf([admission.rows, belongsTo(route.relation, values)]), parent: values, pending: { resource: route.parent, where, forWriting } };
  }

  /** The whole answer as a value: a list in memory; nothing for a row that is deleted. */
  async run(operation: Operation, located: Located): Promise<{ readonly value: unknown; readonly key?: readonly Json[] }> {
    switch (operation) {
      case 'list':
        return { value: await this.wholeList(located) };
      case 'create':
        return this.create(located);
      case 'retrieve':
        return { value: await this.retrieve(located) };
      case 'update':
      case 'partialUpdate':
        return { value: await this.update(located, operation) };
      case 'destroy':
        await this.destroy(located);
        return { value: undefined };
      default:
        return operation satisfies never;
    }
  }

  async list(located: Located): Promise<ListAnswer> {
    const { within, gone, pending } = located;
    const resource = await this.queriedBy(located);
    const filterings = await this.afterParent(located, () => filteringsOf(resource, located));
    const plan = { ...planList(resource, within, filterings), ...(gone ? { gone } : {}), ...(pending ? { parent: pending } : {}) };
    const writing = { basePath: basePathOf(located), represent: (row: Row) => represent(row, located) };
    const texts = isPlain(located) ? this.adapter.listTexts(plan, writing) : undefined;
    return { pages: this.adapter.list(plan), represent: writing.represent, texts };
  }

  private async wholeList(located: Located): Promise<readonly Representation[]> {
    const { pages, represent: shown } = await this.list(located);
    const rows: Representation[] = [];
    for await (const page of pages) for (const row of page) rows.push(shown(row));
    return rows;
  }

  async retrieve(located: Located): Promise<Representation> {
    await refuseParameters(located);
    const row = await this.adapter.retrieve({ kind: 'retrieve', resource: located.resource, where: objectCondition(located) });
    if (!row) throw new NotFound();
    return represent(row, located);
  }

  /** The row as JSON, or undefined where a serializer of the application's own has a say in it. */
  async retrieveText(located: Located): Promise<string | undefined> {
    if (!isPlain(located)) return undefined;
    await refuseParameters(located);
    const plan = { kind: 'retrieve', resource: located.resource, where: objectCondition(located) } as const;
    const text = await this.adapter.retrieveText(plan, { basePath: basePathOf(located), represent: (row) => represent(row, located) });
    if (text === undefined) throw new NotFound();
    return text;
  }

  async create(located: Located): Promise<Created> {
    await refuseParameters(located);
    const { resource, route, parent } = located;
    const added = await resource.hooks.values?.(questionOf(located));
    const body = await this.parseBody(located, 'create', Object.keys(added ?? {}));
    const fixed = parent && route.relation ? joiningPairs(route.relation).map((pair, index) => ({ column: pair.far, value: parent[index] ?? null })) : [];
    const row = await this.adapter.create({
      kind: 'create',
      resource,
      values: body.values,
      errors: body.errors,
      keys: await this.keyChecks(body, located),
      fixed,
      // What the URL says wins over what a hook says.
      added: added ? planAddedValues(added, resource).filter(({ column }) => !fixed.some((each) => each.column.id === column.id)) : [],
      where: located.within,
      hooks: transactionHooks('create', located),
    });
    return { value: represent(row, located), key: row.key };
  }

  async update(located: Located, operation: 'update' | 'partialUpdate'): Promise<Representation> {
    const { resource } = located;
    const where = objectCondition(located);
    const body = await this.afterObject(located, where, async () => {
      await refuseParameters(located);
      return this.parseBody(located, operation);
    });
    const row = await this.adapter.update({
      kind: 'update',
      resource,
      where,
      after: located.within,
      values: body.values,
      errors: body.errors,
      keys: await this.keyChecks(body, located),
      hooks: transactionHooks(operation, located),
    });
    if (!row) throw new NotFound();
    return represent(row, located);
  }

  async destroy(located: Located): Promise<void> {
    await refuseParameters(located);
    const deleted = await this.adapter.delete({ kind: 'delete', resource: located.resource, where: objectCondition(located), hooks: transactionHooks('destroy', located) });
    if (!deleted) throw new NotFound();
  }

  /** The parent comes before the query in the order of checks: an error of the query waits for the look at the parent. */
  private async afterParent<Result>({ pending }: Located, read: () => Promise<Result>): Promise<Result> {
    try {
      return await read();
    } catch (error) {
      if (pending && !(await this.adapter.exists(pending))) throw new NotFound();
      throw error;
    }
  }

  /** Queries over relations stand under the grants of the models that they lead to. */
  private async queriedBy({ resource, admission }: Located): Promise<Resource> {
    const targets = queriedTargets(resource);
    if (targets.length === 0) return resource;
    const accesses = await Promise.all(targets.map(async (target) => [target, await admission.accesses.find(target, 'GET')] as const));
    return restrictQueries(resource, new Map(accesses));
  }

  /** The keys of a body, each among the rows that the caller may name. */
  private async keyChecks(body: ParsedBody, { resource, admission }: Located): Promise<readonly KeyCheck[]> {
    const visible = new Map<Resource, Condition>();
    for (const { field } of keysIn(body.values, resource.fields)) visible.set(field.relation.target, await admission.accesses.visible(field.relation.target));
    return planKeyChecks(body, resource, (target) => visible.get(target) ?? NEVER);
  }

  /** The object comes before the body in the order of checks: a body's error waits for the look at the object. */
  private async afterObject<Result>({ resource }: Located, where: Condition, read: () => Promise<Result>): Promise<Result> {
    try {
      return await read();
    } catch (error) {
      // Also what a pipe of the application's throws.
      if (!(await this.adapter.exists({ resource, where, forWriting: true }))) throw new NotFound();
      throw error;
    }
  }

  private async parseBody({ resource, route, admission, body }: Located, operation: 'create' | 'update' | 'partialUpdate', added: readonly string[] = []): Promise<ParsedBody> {
    const given = added.length === 0 ? givenFields(route) : new Set([...givenFields(route), ...added]);
    return resource.serializer.parse(await body(), { resource, operation, actor: admission.actor, given });
  }
}

/** Fields that the URL fills: the parent's side of a through object. */
export function givenFields({ relation }: Route): ReadonlySet<string> {
  const side = relation?.kind === 'many-to-many' ? relation.through.parentField : undefined;
  return new Set(side === undefined ? [] : [side]);
}

/** A serializer of the application's own has a say in every row. */
function isPlain({ resource }: Located): boolean {
  return resource.serializer.constructor === ModelSerializer;
}

async function filteringsOf(resource: Resource, { admission, parameters: read }: Located): Promise<readonly Filtering[]> {
  const parameters = await read();
  refuseUnknownParameters(parameters, resource, true);
  const filterings: Filtering[] = [];
  for (const backend of resource.backends) filterings.push(await backend.filter({ resource, parameters, actor: admission.actor }));
  return filterings;
}

function objectCondition({ route, resource, keys, within }: Located): Condition {
  const key: readonly Json[] | undefined = route.parent ? keys.childKey : keys.key;
  if (!key) throw new NotFound();
  return allOf([within, keyCondition(key, resource)]);
}

async function refuseParameters(located: Located): Promise<void> {
  if (located.resource.strict) refuseUnknownParameters(await located.parameters(), located.resource, false);
}

function represent(row: Row, located: Located): Representation {
  const { resource, admission } = located;
  return resource.serializer.represent(row, { resource, actor: admission.actor, basePath: basePathOf(located) });
}

function basePathOf({ base, resource }: Located): string {
  return `${base}/${resource.app}/${resource.model}`;
}

function questionOf({ resource, admission }: Located): HookQuestion {
  return { actor: admission.actor, resource, request: admission.request };
}

function transactionHooks(operation: Exclude<Operation, 'list' | 'retrieve'>, located: Located): TransactionHooks {
  const { before, after } = located.resource.hooks;
  const question = questionOf(located);
  return {
    ...(before ? { before: (entity, transaction) => before({ ...question, operation, entity, transaction }) } : {}),
    ...(after ? { after: (entity, transaction) => after({ ...question, operation, entity, transaction }) } : {}),
  };
}
