import { NotFound } from '../core/errors/http-exceptions.js';
import type { Json } from '../core/errors/rest-exception.js';
import { allOf } from '../core/query/condition.js';
import type { Condition } from '../core/query/condition.js';
import type { FilterBackend, FilterContext, FilterResult } from '../core/contracts/filter-backend.js';
import type { Operation } from '../core/schema/operation.js';
import type { CompletedRows, ListPlan, RetrievePlan } from '../core/query/plan.js';
import type { Resource } from '../core/schema/resource.js';
import type { Representation, Row } from '../core/contracts/serializer.js';
import { locatedIn } from '../request/rest-context.js';
import type { Answered, Asked, ListAnswer, Located } from '../request/rest-context.js';
import { isPromise, mapMaybe } from '../core/maybe-promise.js';
import type { MaybePromise } from '../core/maybe-promise.js';
import { textsOf } from '../request/response/json-stream.js';
import {
  expandedList,
  expandedTexts,
  FieldSelector,
} from '../features/field-selection/select-fields.stage.js';
import type { DataAdapter, ValidatedJson } from '../core/data-adapter.js';
import { FieldFilter } from '../features/filtering/field-filter.js';
import { JsonServerFilter } from '../features/filtering/json-server-filter.js';
import { JsonServerSearch } from '../features/filtering/json-server-search.js';
import { SearchFilter } from '../features/filtering/search-filter.js';
import { JsonServerOrdering } from '../features/filtering/json-server-ordering.js';
import { OrderingFilter } from '../features/filtering/ordering-filter.js';
import { IdempotentWrites } from '../features/idempotency/idempotency.stage.js';
import { foldLists } from '../request/parse/list-parameters.js';
import { valuesOf } from '../request/parse/parse-query-string.js';
import { refuseUnknownParameters } from '../request/parse/parse-url-keys.js';
import { Preconditions } from '../features/conditional-requests/check-precondition.js';
import { shown, writingOf } from '../request/represent-row.js';
import { queriedTargets, restrictQueries } from '../features/permissions/restrict-queries.js';
import { visibleToGet } from '../features/serialization/visible-to-get.js';
import { ModelSerializer } from '../features/serialization/model-serializer.js';
import { belongsTo, joiningValues, keyCondition, planList, planParent } from '../request/plan/plan-read.js';
import { parseBody, planCreate, planDelete, planUpdate } from '../request/plan/plan-write.js';

/** Told of an answer that was given before. */
export const REPLAYED = { 'Idempotency-Replayed': 'true' };

/** The six operations, on whichever way in: plan, execute, serialise. They throw the errors of contract 6.1. */
export class Operations {
  private readonly shapes: FieldSelector;
  private readonly preconditions: Preconditions;
  private readonly idempotent: IdempotentWrites;

  constructor(private readonly adapter: DataAdapter) {
    this.shapes = new FieldSelector(adapter, async (located) => this.planned(located));
    this.preconditions = new Preconditions(adapter);
    this.idempotent = new IdempotentWrites(adapter, adapter.answers);
  }

  /** What is asked for on a URL that names no parent; undefined for one that does. */
  locateOwn(asked: Asked): Located | undefined {
    const { rows } = asked.admission;
    return asked.route.parent && asked.route.relation && asked.keys.key
      ? undefined
      : locatedIn(asked, { within: rows, parent: undefined });
  }

  /** The parent that the URL names, if it names one. Throws 404. */
  async locate(asked: Asked): Promise<Located> {
    const { route, keys, admission, requester } = asked;
    const { rows, accesses } = admission;
    if (!route.parent || !route.relation || !keys.key)
      return locatedIn(asked, { within: rows, parent: undefined });
    const parent = await this.adapter.findParent(
      planParent(keys.key, {
        parent: route.parent,
        relation: route.relation,
        rows: await accesses.readScope(route.parent),
        forWriting: !admission.reading,
        requester,
      }),
    );
    if (!parent) throw new NotFound();
    return locatedIn(asked, { within: allOf([rows, belongsTo(route.relation, parent)]), parent });
  }

  /** As `locate`, for a list: where the URL's key says which rows belong to the parent, the list finds out by itself whether it is there. */
  locateList(asked: Asked): MaybePromise<Located> {
    const { route, keys, admission, requester } = asked;
    const { parent, relation } = route;
    const { key } = keys;
    const values = parent && relation && key ? joiningValues(key, parent, relation) : undefined;
    if (!parent || !relation || !key || !values) return this.locate(asked);
    return mapMaybe(admission.accesses.readScope(parent), (rows) => {
      const { where } = planParent(key, { parent, relation, rows, forWriting: false });
      return locatedIn(asked, {
        within: allOf([admission.rows, belongsTo(relation, values)]),
        parent: values,
        pending: { resource: parent, where, forWriting: false, requester },
      });
    });
  }

  /** The whole answer as a value: a list in memory; nothing for a row that is deleted. */
  run(operation: Operation, located: Located): Promise<Answered> {
    switch (operation) {
      case 'list':
        return this.wholeList(located).then((value) => ({ value }));
      case 'create':
        return this.create(located);
      case 'retrieve':
        return this.retrieve(located);
      case 'update':
      case 'partialUpdate':
        return this.update(located, operation);
      case 'destroy':
        return this.destroy(located).then((value) => ({ value }));
      default:
        return operation satisfies never;
    }
  }

  /** All rows, whatever the pagination of the model. */
  list(asked: Located): MaybePromise<ListAnswer> {
    return this.listed(asked, (located, plan) => {
      const read = this.adapter.list(plan);
      return located.shape?.expands === true
        ? expandedList(read, located.shape)
        : { pages: read, represent: writingOf(located).represent };
    });
  }

  /** As `list`, as texts of rows with commas between; one where it is short, at once where nothing is waited for. */
  listTexts(asked: Located): MaybePromise<string | AsyncIterable<string>> {
    return this.listed(asked, (located, plan) => {
      if (located.shape?.expands === true) return expandedTexts(this.adapter.list(plan), located.shape);
      const writing = writingOf(located);
      return (
        (hasDefaultSerializer(located) ? this.adapter.listTexts(plan, writing) : undefined) ??
        textsOf(this.adapter.list(plan), writing.represent)
      );
    });
  }

  private listed<Answer>(
    asked: Located,
    answer: (located: Located, plan: ListPlan) => MaybePromise<Answer>,
  ): MaybePromise<Answer> {
    return mapMaybe(asked.resource.shape ? this.shaped(asked) : asked, (located) =>
      mapMaybe(this.planned(located), (plan) => answer(located, plan)),
    );
  }

  /** In the shape that the parameters say, where the model lets them. Throws 400, and 404 for a parent that is not there. */
  async shaped(located: Located, reading = true): Promise<Located> {
    const rules = located.resource.shape;
    return rules && !located.shape
      ? this.afterParent(located, () => this.shapes.of(located, rules, reading))
      : located;
  }

  /**
   * As `shaped`, for an object that is read. The object comes before the query in the order of checks: an error of the query
   * waits for the look at the object (contract 6.3).
   */
  async shapedObject(asked: Located): Promise<Located> {
    try {
      const located = await this.shaped(asked);
      await refuseParameters(located);
      return located;
    } catch (error) {
      const { resource, requester } = asked;
      const where = objectCondition(asked);
      if (!(await this.adapter.exists({ resource, where, forWriting: false, requester })))
        throw new NotFound();
      throw error;
    }
  }

  /** What the parameters ask for, all rows of it. Throws the errors of contract 6.1 in the order of contract 6.3. */
  planned(located: Located): MaybePromise<ListPlan> {
    const { within, requester, pending } = located;
    return mapMaybe(
      queriedTargets(located.resource).length === 0 ? located.resource : this.queried(located),
      (resource) =>
        mapMaybe(
          this.afterParent(located, () => filteringsOf(resource, located)),
          (filterings) => planList(resource, { within, filterings, requester, parent: pending }),
        ),
    );
  }

  private async wholeList(located: Located): Promise<readonly Representation[]> {
    const { pages, represent: shown } = await this.list(located);
    const rows: Representation[] = [];
    for await (const page of pages) for (const row of page) rows.push(shown(row));
    return rows;
  }

  async retrieve(asked: Located): Promise<Answered<Representation>> {
    const located = await this.shapedObject(asked);
    const row = await this.adapter.retrieve(retrievePlan(located));
    if (!row) throw new NotFound();
    return { value: await shown(row, located), row, shaped: located.shape !== undefined };
  }

  /** The row as JSON, or undefined where a serializer of the application's own has a say in it. At once, where nothing is waited for. */
  retrieveText(located: Located): MaybePromise<string | undefined> {
    const { resource } = located;
    if (resource.shape || resource.strict) return this.retrieveTextAsked(located);
    return hasDefaultSerializer(located) ? this.textOf(located) : undefined;
  }

  /** Of a model for which parameters say something. */
  private async retrieveTextAsked(asked: Located): Promise<string | undefined> {
    const located = await this.shapedObject(asked);
    if (!hasDefaultSerializer(located))
      return located.resource.shape && JSON.stringify((await this.retrieve(located)).value);
    return this.textOf(located);
  }

  private textOf(located: Located): MaybePromise<string> {
    return mapMaybe(this.adapter.retrieveText(retrievePlan(located), writingOf(located)), (text) => {
      if (text === undefined) throw new NotFound();
      return text;
    });
  }

  /** As `retrieveText`, with what validators are made of. Of the whole row: not in a shape that a client asks for. */
  async retrieveStamped(located: Located): Promise<ValidatedJson> {
    const stamped = await this.adapter.retrieveStamped(retrievePlan(located), writingOf(located));
    if (!stamped) throw new NotFound();
    return stamped;
  }

  async create(asked: Located): Promise<Answered> {
    const { shape, strict } = asked.resource;
    const located = shape ? await this.shaped(asked, false) : asked;
    if (strict) await refuseParameters(located);
    const { row, replayed } = located.repeatable
      ? await this.madeOnce(located)
      : { row: await this.made(located, undefined), replayed: false };
    return {
      value: await shown(row, located),
      row,
      key: row.key,
      shaped: located.shape !== undefined,
      told: replayed ? REPLAYED : undefined,
    };
  }

  private async madeOnce(located: Located): Promise<{ readonly row: Row; readonly replayed: boolean }> {
    const { rows, replayed } = await this.idempotent.runOnce(located, async (read, completed) => [
      await this.made(read, completed),
    ]);
    const [row] = rows;
    if (!row) throw new Error(`Nothing was made of ${located.resource.label}.`);
    return { row, replayed };
  }

  private made(located: Located, completed: CompletedRows | undefined): MaybePromise<Row> {
    return mapMaybe(located.body(), (body) =>
      mapMaybe(planCreate(located, body), (plan) =>
        this.adapter.create(completed ? { ...plan, completed } : plan),
      ),
    );
  }

  async update(located: Located, operation: 'update' | 'partialUpdate'): Promise<Answered> {
    const { precondition } = located;
    const where = objectCondition(located);
    const { shape, strict } = located.resource;
    const { body, asked } = await this.afterObject(located, where, async () => {
      const asked = shape ? await this.shaped(located, false) : located;
      if (strict) await refuseParameters(asked);
      return { asked, body: parseBody(asked, operation, await asked.body()) };
    });
    const plan = await planUpdate(located, {
      operation,
      body,
      where: precondition ? allOf([where, precondition.where]) : where,
    });
    const row = await this.adapter.update({ ...plan, expected: precondition?.expected });
    if (!row) throw await this.preconditions.explainFailure(located, where);
    return { value: await shown(row, asked), row, shaped: asked.shape !== undefined };
  }

  /** The object that is gone, where the model returns it. */
  async destroy(located: Located): Promise<Representation | undefined> {
    const { precondition } = located;
    const where = objectCondition(located);
    await this.afterObject(located, where, () => refuseParameters(located));
    const deleted = located.resource.returnDeleted
      ? await visibleToGet(located, where, this.adapter)
      : undefined;
    const plan = planDelete(located, precondition ? allOf([where, precondition.where]) : where);
    const isDeleted = await this.adapter.delete({ ...plan, expected: precondition?.expected });
    if (!isDeleted) throw await this.preconditions.explainFailure(located, where);
    return deleted;
  }

  /** The parent comes before the query in the order of checks: an error of the query waits for the look at the parent. */
  afterParent<Result>(
    { pending }: Pick<Located, 'pending'>,
    read: () => MaybePromise<Result>,
  ): MaybePromise<Result> {
    const failed = async (error: unknown): Promise<never> => {
      if (pending && !(await this.adapter.exists(pending))) throw new NotFound();
      throw error;
    };
    try {
      const given = read();
      return isPromise(given) && pending ? given.catch(failed) : given;
    } catch (error) {
      if (!pending) throw error;
      return failed(error);
    }
  }

  /** Queries over relations stand under the grants of the models that they lead to. */
  async queried({ resource, admission }: Located): Promise<Resource> {
    const targets = queriedTargets(resource);
    const accesses = await Promise.all(
      targets.map(async (target) => [target, await admission.accesses.tryAuthorize(target, 'GET')] as const),
    );
    return restrictQueries(resource, new Map(accesses));
  }

  /** The object comes before the body in the order of checks, and so do preconditions: a body's error waits for the look at the object. */
  private async afterObject<Result>(
    located: Located,
    where: Condition,
    read: () => Promise<Result>,
  ): Promise<Result> {
    try {
      return await read();
    } catch (error) {
      // Also what a pipe of the application's throws.
      await this.preconditions.assertMet(located, where);
      throw error;
    }
  }
}

/** A serializer of the application's own has a say in every row, and what is expanded comes from other rows. */
export function hasDefaultSerializer({ resource, shape }: Located): boolean {
  return resource.serializer.constructor === ModelSerializer && shape?.expands !== true;
}

function filteringsOf(
  resource: Resource,
  { admission, parameters: read }: Located,
): MaybePromise<readonly FilterResult[]> {
  return mapMaybe(read(), (given) => {
    const parameters = foldLists(given, resource);
    if (parameters.size === 0 && resource.backends.every(addsNothingWithoutParameters)) return [];
    refuseUnknownParameters(parameters, resource, true);
    const question: FilterContext = {
      resource,
      parameters,
      values: (name) => valuesOf(name, parameters),
      actor: admission.actor,
    };
    return runFilterBackends(resource.backends, question, []);
  });
}

/** Of a request without parameters. A class that extends one of ours may say something. */
const NEED_PARAMETERS: ReadonlySet<unknown> = new Set([
  FieldFilter,
  SearchFilter,
  OrderingFilter,
  JsonServerFilter,
  JsonServerSearch,
  JsonServerOrdering,
]);

function addsNothingWithoutParameters({ constructor }: FilterBackend): boolean {
  return NEED_PARAMETERS.has(constructor);
}

/** One behind the other: what is wrong with the query is told by the first that finds it. */
function runFilterBackends(
  [backend, ...more]: readonly FilterBackend[],
  question: FilterContext,
  told: readonly FilterResult[],
): MaybePromise<readonly FilterResult[]> {
  return backend
    ? mapMaybe(backend.filter(question), (filtering) =>
        runFilterBackends(more, question, [...told, filtering]),
      )
    : told;
}

function retrievePlan(located: Located): RetrievePlan {
  return {
    kind: 'retrieve',
    resource: located.resource,
    where: objectCondition(located),
    requester: located.requester,
  };
}

/** The row that the URL names. */
export function objectCondition({ route, resource, keys, within }: Located): Condition {
  const key: readonly Json[] | undefined = route.parent ? keys.childKey : keys.key;
  if (!key) throw new NotFound();
  return allOf([within, keyCondition(key, resource)]);
}

async function refuseParameters(located: Located): Promise<void> {
  const { resource, parameters } = located;
  if (resource.strict) refuseUnknownParameters(foldLists(await parameters(), resource), resource, false);
}
