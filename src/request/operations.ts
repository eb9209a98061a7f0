import { NotFound } from '../errors/request-errors.js';
import type { Json } from '../errors/rest-error.js';
import { allOf } from '../model/condition.js';
import type { Condition } from '../model/condition.js';
import type { FilterQuestion, Filtering } from '../model/filter-backend.js';
import type { Operation } from '../model/operation.js';
import type { ListPlan } from '../model/plan.js';
import type { Resource } from '../model/resource.js';
import type { Representation } from '../model/serializer.js';
import { locatedIn } from './asked.js';
import type { Answered, Asked, ListAnswer, Located } from './asked.js';
import { expandedList, ShapedAnswers } from './shaped-answers.js';
import type { DataAdapter, StampedText } from './execution/data-adapter.js';
import { IdempotentCreates } from './idempotent-creates.js';
import type { MadeRows } from './idempotent-creates.js';
import { valuesOf } from './parsing/query-string.js';
import { refuseUnknownParameters } from './parsing/rest-request.js';
import { Preconditions } from './preconditions.js';
import { basePathOf, represent, shown, writingOf } from './represent-row.js';
import { queriedTargets, restrictQueries } from './permissions/restrict-queries.js';
import { ModelSerializer } from './serializers/model-serializer.js';
import { belongsTo, joiningValues, keyCondition, planList, planParent } from './planning/plan-rows.js';
import { parseBody, planCreate, planDelete, planUpdate } from './write-plans.js';

/** Told of an answer that was given before. */
export const REPLAYED = { 'Idempotency-Replayed': 'true' };

/** The six operations, on whichever way in: plan, execute, serialise. They throw what contract 6 says. */
export class Operations {
  private readonly shapes: ShapedAnswers;
  private readonly preconditions: Preconditions;
  private readonly idempotent: IdempotentCreates;

  constructor(private readonly adapter: DataAdapter) {
    this.shapes = new ShapedAnswers(adapter, (located) => this.planned(located));
    this.preconditions = new Preconditions(adapter);
    this.idempotent = new IdempotentCreates(adapter, adapter.answers);
  }

  /** What is asked for on a URL that names no parent; undefined for one that does. */
  locateOwn(asked: Asked): Located | undefined {
    const { rows } = asked.admission;
    return asked.route.parent && asked.route.relation && asked.keys.key ? undefined : locatedIn(asked, { within: rows, parent: undefined });
  }

  /** The parent that the URL names, if it names one. Throws 404. */
  async locate(asked: Asked): Promise<Located> {
    const { route, keys, admission } = asked;
    const { rows, accesses } = admission;
    if (!route.parent || !route.relation || !keys.key) return locatedIn(asked, { within: rows, parent: undefined });
    const parent = await this.adapter.findParent(planParent(keys.key, { parent: route.parent, relation: route.relation, rows: await accesses.visible(route.parent), forWriting: !admission.reading }));
    if (!parent) throw new NotFound();
    return locatedIn(asked, { within: allOf([rows, belongsTo(route.relation, parent)]), parent });
  }

  /** As `locate`, for a list: where the URL's key says which rows belong to the parent, the list finds out by itself whether it is there. */
  async locateList(asked: Asked): Promise<Located> {
    const { route, keys, admission } = asked;
    const values = route.parent && route.relation && keys.key ? joiningValues(keys.key, route.parent, route.relation) : undefined;
    if (!route.parent || !route.relation || !keys.key || !values) return this.locate(asked);
    const { where, forWriting } = planParent(keys.key, { parent: route.parent, relation: route.relation, rows: await admission.accesses.visible(route.parent), forWriting: false });
    return locatedIn(asked, { within: allOf([admission.rows, belongsTo(route.relation, values)]), parent: values, pending: { resource: route.parent, where, forWriting } });
  }

  /** The whole answer as a value: a list in memory; nothing for a row that is deleted. */
  async run(operation: Operation, located: Located): Promise<Answered> {
    switch (operation) {
      case 'list':
        return { value: await this.wholeList(located) };
      case 'create':
        return this.create(located);
      case 'retrieve':
        return this.retrieve(located);
      case 'update':
      case 'partialUpdate':
        return this.update(located, operation);
      case 'destroy':
        await this.destroy(located);
        return { value: undefined };
      default:
        return operation satisfies never;
    }
  }

  /** All rows, whatever the pagination of the model. */
  async list(asked: Located): Promise<ListAnswer> {
    const located = asked.resource.shape ? await this.shaped(asked) : asked;
    const plan = await this.planned(located);
    const writing = writingOf(located);
    const read = this.adapter.list(plan);
    if (located.shape?.expands === true) return expandedList(read, located.shape);
    return { pages: read, represent: writing.represent, texts: isPlain(located) ? this.adapter.listTexts(plan, writing) : undefined };
  }

  /** In the shape that the parameters say, where the model lets them. Throws 400, and 404 for a parent that is not there. */
  async shaped(located: Located, reading = true): Promise<Located> {
    const rules = located.resource.shape;
    return rules && !located.shape ? this.afterParent(located, () => this.shapes.of(located, rules, reading)) : located;
  }

  /** What the parameters ask for, all rows of it. Throws what contract 6 says, in its order. */
  async planned(located: Located): Promise<ListPlan> {
    const { within, gone, pending } = located;
    const resource = queriedTargets(located.resource).length === 0 ? located.resource : await this.queried(located);
    const filterings = await this.afterParent(located, () => filteringsOf(resource, located));
    return planList(resource, { within, filterings, gone, parent: pending });
  }

  private async wholeList(located: Located): Promise<readonly Representation[]> {
    const { pages, represent: shown } = await this.list(located);
    const rows: Representation[] = [];
    for await (const page of pages) for (const row of page) rows.push(shown(row));
    return rows;
  }

  async retrieve(asked: Located): Promise<Answered<Representation>> {
    const located = await this.shaped(asked);
    await refuseParameters(located);
    const row = await this.adapter.retrieve({ kind: 'retrieve', resource: located.resource, where: objectCondition(located) });
    if (!row) throw new NotFound();
    return { value: await shown(row, located), row, shaped: located.shape !== undefined };
  }

  /** The row as JSON, or undefined where a serializer of the application's own has a say in it. */
  async retrieveText(asked: Located): Promise<string | undefined> {
    const located = asked.resource.shape ? await this.shaped(asked) : asked;
    if (!isPlain(located)) return located.resource.shape && JSON.stringify((await this.retrieve(located)).value);
    if (located.resource.strict) await refuseParameters(located);
    const plan = { kind: 'retrieve', resource: located.resource, where: objectCondition(located) } as const;
    const text = await this.adapter.retrieveText(plan, { basePath: basePathOf(located), represent: (row) => represent(row, located) });
    if (text === undefined) throw new NotFound();
    return text;
  }

  /** As `retrieveText`, with what validators are made of. Of the whole row: not in a shape that a client asks for. */
  async retrieveStamped(located: Located): Promise<StampedText> {
    await refuseParameters(located);
    const stamped = await this.adapter.retrieveStamped({ kind: 'retrieve', resource: located.resource, where: objectCondition(located) }, writingOf(located));
    if (!stamped) throw new NotFound();
    return stamped;
  }

  async create(asked: Located): Promise<Answered> {
    const located = await this.shaped(asked, false);
    await refuseParameters(located);
    const { rows, replayed } = await this.made(located);
    const [row] = rows;
    if (!row) throw new Error(`Nothing was made of ${located.resource.label}.`);
    return { value: await shown(row, located), row, key: row.key, shaped: located.shape !== undefined, told: replayed ? REPLAYED : undefined };
  }

  /** Once, where the request says so. */
  private made(located: Located): Promise<MadeRows> {
    return this.idempotent.perform(located, async (read, completed) => [await this.adapter.create({ ...(await planCreate(read, await read.body())), completed })]);
  }

  async update(located: Located, operation: 'update' | 'partialUpdate'): Promise<Answered> {
    const { precondition } = located;
    const where = objectCondition(located);
    const { body, asked } = await this.afterObject(located, where, async () => {
      const asked = await this.shaped(located, false);
      await refuseParameters(asked);
      return { asked, body: parseBody(asked, operation, await asked.body()) };
    });
    const plan = await planUpdate(located, { operation, body, where: precondition ? allOf([where, precondition.where]) : where });
    const row = await this.adapter.update({ ...plan, expected: precondition?.expected });
    if (!row) throw await this.preconditions.whyNot(located, where);
    return { value: await shown(row, asked), row, shaped: asked.shape !== undefined };
  }

  async destroy(located: Located): Promise<void> {
    const { precondition } = located;
    const where = objectCondition(located);
    await (precondition ? this.afterObject(located, where, () => refuseParameters(located)) : refuseParameters(located));
    const plan = planDelete(located, precondition ? allOf([where, precondition.where]) : where);
    const deleted = await this.adapter.delete({ ...plan, expected: precondition?.expected });
    if (!deleted) throw await this.preconditions.whyNot(located, where);
  }

  /** The parent comes before the query in the order of checks: an error of the query waits for the look at the parent. */
  async afterParent<Result>({ pending }: Pick<Located, 'pending'>, read: () => Promise<Result>): Promise<Result> {
    try {
      return await read();
    } catch (error) {
      if (pending && !(await this.adapter.exists(pending))) throw new NotFound();
      throw error;
    }
  }

  /** Queries over relations stand under the grants of the models that they lead to. */
  async queried({ resource, admission }: Located): Promise<Resource> {
    const targets = queriedTargets(resource);
    const accesses = await Promise.all(targets.map(async (target) => [target, await admission.accesses.find(target, 'GET')] as const));
    return restrictQueries(resource, new Map(accesses));
  }

  /** The object comes before the body in the order of checks, and so do preconditions: a body's error waits for the look at the object. */
  private async afterObject<Result>(located: Located, where: Condition, read: () => Promise<Result>): Promise<Result> {
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

async function filteringsOf(resource: Resource, { admission, parameters: read }: Located): Promise<readonly Filtering[]> {
  const given = read();
  const parameters = given instanceof Map ? given : await given;
  refuseUnknownParameters(parameters, resource, true);
  const question: FilterQuestion = { resource, parameters, values: (name) => valuesOf(name, parameters), actor: admission.actor };
  const filterings: Filtering[] = [];
  for (const backend of resource.backends) {
    const filtering = backend.filter(question);
    filterings.push('then' in filtering ? await filtering : filtering);
  }
  return filterings;
}

/** The row that the URL names. */
export function objectCondition({ route, resource, keys, within }: Located): Condition {
  const key: readonly Json[] | undefined = route.parent ? keys.childKey : keys.key;
  if (!key) throw new NotFound();
  return allOf([within, keyCondition(key, resource)]);
}

async function refuseParameters(located: Located): Promise<void> {
  if (located.resource.strict) refuseUnknownParameters(await located.parameters(), located.resource, false);
}
