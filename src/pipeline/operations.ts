import { NotFound } from '../core/errors/http-exceptions.js';
import type { Json } from '../core/errors/rest-exception.js';
import { allOf } from '../core/query/condition.js';
import type { Condition } from '../core/query/condition.js';
import type { FilterBackend, FilterQuestion, Filtering } from '../core/contracts/filter-backend.js';
import type { Operation } from '../core/schema/operation.js';
import type { CompletedRows, ListPlan, RetrievePlan } from '../core/query/plan.js';
import type { Resource } from '../core/schema/resource.js';
import type { Representation, Row } from '../core/contracts/serializer.js';
import { locatedIn } from '../request/rest-context.js';
import type { Answered, Asked, ListAnswer, Located } from '../request/rest-context.js';
import { isLater, whenThere } from '../core/maybe-promise.js';
import type { Soon } from '../core/maybe-promise.js';
import { textsOf } from '../request/response/json-stream.js';
import {
  expandedList,
  expandedTexts,
  ShapedAnswers,
} from '../features/field-selection/select-fields.stage.js';
import type { DataAdapter, StampedText } from '../core/data-adapter.js';
import { FieldFilter } from '../features/filtering/field-filter.js';
import { JsonServerFilter } from '../features/filtering/json-server-filter.js';
import { JsonServerSearch } from '../features/filtering/json-server-search.js';
import { SearchFilter } from '../features/filtering/search-filter.js';
import { JsonServerOrdering } from '../features/filtering/json-server-ordering.js';
import { OrderingFilter } from '../features/filtering/ordering-filter.js';
import { IdempotentCreates } from '../features/idempotency/idempotency.stage.js';
import { foldLists } from '../request/parse/list-parameters.js';
import { valuesOf } from '../request/parse/parse-query-string.js';
import { refuseUnknownParameters } from '../request/parse/parse-url-keys.js';
import { Preconditions } from '../features/conditional-requests/check-precondition.js';
import { shown, writingOf } from '../request/represent-row.js';
import { queriedTargets, restrictQueries } from '../features/permissions/restrict-queries.js';
import { shownByGet } from '../features/serialization/visible-to-get.js';
import { ModelSerializer } from '../features/serialization/model-serializer.js';
import { belongsTo, joiningValues, keyCondition, planList, planParent } from '../request/plan/plan-read.js';
import { parseBody, planCreate, planDelete, planUpdate } from '../request/plan/plan-write.js';

/** Told of an answer that was given before. */
export const REPLAYED = { 'Idempotency-Replayed': 'true' };

/** The six operations, on whichever way in: plan, execute, serialise. They throw the errors of contract 6.1. */
export class Operations {
  private readonly shapes: ShapedAnswers;
  private readonly preconditions: Preconditions;
  private readonly idempotent: IdempotentCreates;

  constructor(private readonly adapter: DataAdapter) {
    this.shapes = new ShapedAnswers(adapter, async (located) => this.planned(located));
    this.preconditions = new Preconditions(adapter);
    this.idempotent = new IdempotentCreates(adapter, adapter.answers);
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
        rows: await accesses.visible(route.parent),
        forWriting: !admission.reading,
        requester,
      }),
    );
    if (!parent) throw new NotFound();
    return locatedIn(asked, { within: allOf([rows, belongsTo(route.relation, parent)]), parent });
  }

  /** As `locate`, for a list: where the URL's key says which rows belong to the parent, the list finds out by itself whether it is there. */
  locateList(asked: Asked): Soon<Located> {
    const { route, keys, admission, requester } = asked;
    const { parent, relation } = route;
    const { key } = keys;
    const values = parent && relation && key ? joiningValues(key, parent, relation) : undefined;
    if (!parent || !relation || !key || !values) return this.locate(asked);
    return whenThere(admission.accesses.visible(parent), (rows) => {
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
  list(asked: Located): Soon<ListAnswer> {
    return this.listed(asked, (located, plan) => {
      const read = this.adapter.list(plan);
      return located.shape?.expands === true
        ? expandedList(read, located.shape)
        : { pages: read, represent: writingOf(located).represent };
    });
  }

  /** As `list`, as texts of rows with commas between; one where it is short, at once where nothing is waited for. */
  listTexts(asked: Located): Soon<string | AsyncIterable<string>> {
    return this.listed(asked, (located, plan) => {
      if (located.shape?.expands === true) return expandedTexts(this.adapter.list(plan), located.shape);
      const writing = writingOf(located);
      return (
        (isPlain(located) ? this.adapter.listTexts(plan, writing) : undefined) ??
        textsOf(this.adapter.list(plan), writing.represent)
      );
    });
  }

  private listed<Answer>(
    asked: Located,
    answer: (located: Located, plan: ListPlan) => Soon<Answer>,
  ): Soon<Answer> {
    return whenThere(asked.resource.shape ? this.shaped(asked) : asked, (located) =>
      whenThere(this.planned(located), (plan) => answer(located, plan)),
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
  planned(located: Located): Soon<ListPlan> {
    const { within, requester, pending } = located;
    return whenThere(
      queriedTargets(located.resource).length === 0 ? located.resource : this.queried(located),
      (resource) =>
        whenThere(
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
  retrieveText(located: Located): Soon<string | undefined> {
    const { resource } = located;
    if (resource.shape || resource.strict) return this.retrieveTextAsked(located);
    return isPlain(located) ? this.textOf(located) : undefined;
  }

  /** Of a model for which parameters say something. */
  private async retrieveTextAsked(asked: Located): Promise<string | undefined> {
    const located = await this.shapedObject(asked);
    if (!isPlain(located))
      return located.resource.shape && JSON.stringify((await this.retrieve(located)).value);
    return this.textOf(located);
  }

  private textOf(located: Located): Soon<string> {
    return whenThere(this.adapter.retrieveText(retrievePlan(located), writingOf(located)), (text) => {
      if (text === undefined) throw new NotFound();
      return text;
    });
  }

  /** As `retrieveText`, with what validators are made of. Of the whole row: not in a shape that a client asks for. */
  async retrieveStamped(located: Located): Promise<StampedText> {
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
    const { rows, replayed } = await this.idempotent.perform(located, async (read, completed) => [
      await this.made(read, completed),
    ]);
    const [row] = rows;
    if (!row) throw new Error(`Nothing was made of ${located.resource.label}.`);
    return { row, replayed };
  }

  private made(located: Located, completed: CompletedRows | undefined): Soon<Row> {
    return whenThere(located.body(), (body) =>
      whenThere(planCreate(located, body), (plan) =>
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
    if (!row) throw await this.preconditions.whyNot(located, where);
    return { value: await shown(row, asked), row, shaped: asked.shape !== undefined };
  }

  /** The object that is gone, where the model returns it. */
  async destroy(located: Located): Promise<Representation | undefined> {
    const { precondition } = located;
    const where = objectCondition(located);
    await this.afterObject(located, where, () => refuseParameters(located));
    const deleted = located.resource.returnDeleted
      ? await shownByGet(located, where, this.adapter)
      : undefined;
    const plan = planDelete(located, precondition ? allOf([where, precondition.where]) : where);
    const isDeleted = await this.adapter.delete({ ...plan, expected: precondition?.expected });
    if (!isDeleted) throw await this.preconditions.whyNot(located, where);
    return deleted;
  }

  /** The parent comes before the query in the order of checks: an error of the query waits for the look at the parent. */
  afterParent<Result>({ pending }: Pick<Located, 'pending'>, read: () => Soon<Result>): Soon<Result> {
    const failed = async (error: unknown): Promise<never> => {
      if (pending && !(await this.adapter.exists(pending))) throw new NotFound();
      throw error;
    };
    try {
      const given = read();
      return isLater(given) && pending ? given.catch(failed) : given;
    } catch (error) {
      if (!pending) throw error;
      return failed(error);
    }
  }

  /** Queries over relations stand under the grants of the models that they lead to. */
  async queried({ resource, admission }: Located): Promise<Resource> {
    const targets = queriedTargets(resource);
    const accesses = await Promise.all(
      targets.map(async (target) => [target, await admission.accesses.find(target, 'GET')] as const),
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
      await this.preconditions.refuseUnmet(located, where);
      throw error;
    }
  }
}

/** A serializer of the application's own has a say in every row, and what is expanded comes from other rows. */
export function isPlain({ resource, shape }: Located): boolean {
  return resource.serializer.constructor === ModelSerializer && shape?.expands !== true;
}

function filteringsOf(
  resource: Resource,
  { admission, parameters: read }: Located,
): Soon<readonly Filtering[]> {
  return whenThere(read(), (given) => {
    const parameters = foldLists(given, resource);
    if (parameters.size === 0 && resource.backends.every(saysNothingAlone)) return [];
    refuseUnknownParameters(parameters, resource, true);
    const question: FilterQuestion = {
      resource,
      parameters,
      values: (name) => valuesOf(name, parameters),
      actor: admission.actor,
    };
    return askEach(resource.backends, question, []);
  });
}

/** Of a request without parameters. A class that extends one of ours may say something. */
const SAY_NOTHING_ALONE: ReadonlySet<unknown> = new Set([
  FieldFilter,
  SearchFilter,
  OrderingFilter,
  JsonServerFilter,
  JsonServerSearch,
  JsonServerOrdering,
]);

function saysNothingAlone({ constructor }: FilterBackend): boolean {
  return SAY_NOTHING_ALONE.has(constructor);
}

/** One behind the other: what is wrong with the query is told by the first that finds it. */
function askEach(
  [backend, ...more]: readonly FilterBackend[],
  question: FilterQuestion,
  told: readonly Filtering[],
): Soon<readonly Filtering[]> {
  return backend
    ? whenThere(backend.filter(question), (filtering) => askEach(more, question, [...told, filtering]))
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
