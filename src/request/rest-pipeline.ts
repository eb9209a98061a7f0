import { MethodNotAllowed, NotFound } from '../errors/request-errors.js';
import { isRestError } from '../errors/rest-error.js';
import type { Json } from '../errors/rest-error.js';
import type { RouteAction } from '../model/action.js';
import type { Actor } from '../model/actor.js';
import { allOf, NEVER } from '../model/condition.js';
import type { Condition } from '../model/condition.js';
import type { Filtering } from '../model/filter-backend.js';
import type { Method, Operation } from '../model/operation.js';
import type { PermissionSource } from '../model/permission-source.js';
import type { KeyCheck, ParentValues } from '../model/plan.js';
import type { Resource } from '../model/resource.js';
import type { Route, RouteMatch } from '../model/route.js';
import type { ParsedBody, Row } from '../model/serializer.js';
import { decodedSegment, keyRepresentation, keyText } from '../values/keys.js';
import { authenticate, challengeOf } from './authentication/authenticate.js';
import type { DataAdapter } from './execution/data-adapter.js';
import { describeRoute } from './metadata/describe-route.js';
import type { HttpExchange } from './parsing/http-exchange.js';
import { readJsonObject } from './parsing/json-body.js';
import { parseQueryString } from './parsing/query-string.js';
import { parseUrlKeys, refuseUnknownParameters } from './parsing/rest-request.js';
import type { UrlKeys } from './parsing/rest-request.js';
import { Accesses } from './permissions/accesses.js';
import { queriedTargets, restrictFields, restrictQueries } from './permissions/restrict-resource.js';
import { belongsTo, joiningPairs, keyCondition, planKeyChecks, planList, planParent } from './planning/plan-rows.js';
import { resolveRowFilter } from './planning/resolve-row-filter.js';
import { negotiate } from './responses/negotiate.js';
import { renderList } from './responses/render-list.js';
import { jsonResponse } from './responses/rest-response.js';
import type { RestResponse } from './responses/rest-response.js';

/** Who was let in, and to what. Made by `admit`; without one nothing is answered. */
export interface Admission {
  readonly actor: Actor;
  /** Whose fields are those that the caller may read and write. */
  readonly resource: Resource;
  readonly rows: Condition;
  readonly accesses: Accesses;
}

/** A matched call below one prefix. */
export interface Call {
  readonly exchange: HttpExchange;
  readonly match: RouteMatch;
  /** The path below which the links of this prefix stand: `/rest/v1`. */
  readonly base: string;
}

/** The keys that an action is told. */
export interface ActionKeys {
  readonly parentPk: Json | undefined;
  readonly childPk: string | undefined;
}

/** What `answer` has found out before it runs an operation. */
interface Located {
  readonly route: Route;
  readonly resource: Resource;
  readonly admission: Admission;
  readonly call: Call;
  readonly keys: UrlKeys;
  /** What the URL and the grants leave of the rows, without the object's own key. */
  readonly within: Condition;
  readonly parent: ParentValues | undefined;
}

/**
 * Everything that happens to a request below a prefix, in the order of contract 6: `admit`, run by the Nest guard, then
 * `answer`, run by the generated handler. Whatever replaces `answer` stands behind `admit`.
 */
export class RestPipeline {
  constructor(
    private readonly adapter: DataAdapter,
    private readonly permissionSource: PermissionSource,
  ) {}

  /** Authenticate, authorize. Throws 401, 403. */
  async admit(call: Call): Promise<Admission> {
    const { exchange, match } = call;
    const { resource } = match.route;
    const actor = await authenticate(exchange.request, resource.schemes);
    const accesses = new Accesses({ actor, source: this.permissionSource, challenge: challengeOf(resource.schemes) }, resolveRowFilter);
    const action = actionOf(call);
    const access = await accesses.admit(resource, askedMethod(call), action?.permission);
    return { actor, accesses, rows: access.rows, resource: restrictFields(resource, access) };
  }

  /** Method, Accept, keys and parent, then the operation: parse, plan, execute, serialise, respond. */
  async answer(call: Call, admission: Admission): Promise<RestResponse> {
    const { exchange, match } = call;
    const { route } = match;
    if (exchange.method === 'OPTIONS') {
      negotiate(exchange.header('accept'));
      return jsonResponse(200, describeRoute(route, givenFields(route), await writableViews(route, admission)));
    }
    // Only the action itself answers what it replaces: its permissions may not be those of the default.
    if (actionOf(call)) throw new NotFound();
    const operation = route.operations.get((exchange.method === 'HEAD' ? 'GET' : exchange.method) as Method);
    if (!operation) throw new MethodNotAllowed(exchange.method);
    negotiate(exchange.header('accept'));
    const located = await this.locate(call, admission);
    return this.perform(operation, located);
  }

  /** What belongs to `answer` before an action of the application's runs: Accept, then what the URL names. Throws 404, 406. */
  async prepareAction(call: Call, { rows, accesses }: Admission): Promise<ActionKeys> {
    const { route, keySegment, childSegment } = call.match;
    negotiate(call.exchange.header('accept'));
    const { key } = parseUrlKeys({ route, keySegment, childSegment: undefined });
    const childPk = childSegment === undefined ? undefined : decodedSegment(childSegment);
    if (childSegment !== undefined && childPk === undefined) throw new NotFound();
    if (key && actionOf(call)?.lookUp === true) {
      const seen = route.parent ? await accesses.visible(route.parent) : rows;
      const named = route.parent ?? route.resource;
      if (!(await this.adapter.exists(named, allOf([seen, keyCondition(key, named)])))) throw new NotFound();
    }
    return { parentPk: key ? keyRepresentation(key) : undefined, childPk };
  }

  /** The keys of the URL and its parent. Throws 404. */
  private async locate(call: Call, admission: Admission): Promise<Located> {
    const { route } = call.match;
    const keys = parseUrlKeys(call.match);
    const { rows, resource, accesses } = admission;
    const base = { route, resource, admission, call, keys };
    if (!route.parent || !route.relation || !keys.key) return { ...base, within: rows, parent: undefined };
    const parent = await this.adapter.findParent(planParent(keys.key, { parent: route.parent, relation: route.relation, rows: await accesses.visible(route.parent) }));
    if (!parent) throw new NotFound();
    return { ...base, within: allOf([rows, belongsTo(route.relation, parent)]), parent };
  }

  private perform(operation: Operation, located: Located): Promise<RestResponse> {
    switch (operation) {
      case 'list':
        return this.list(located);
      case 'create':
        return this.create(located);
      case 'retrieve':
        return this.retrieve(located);
      case 'update':
      case 'partialUpdate':
        return this.update(located, operation);
      case 'destroy':
        return this.destroy(located);
      default:
        return operation satisfies never;
    }
  }

  private async list(located: Located): Promise<RestResponse> {
    const { admission, within, call } = located;
    const resource = await this.queriedBy(located);
    const parameters = parseQueryString(call.exchange.query);
    refuseUnknownParameters(parameters, resource, true);
    const filterings: Filtering[] = [];
    for (const backend of resource.backends) filterings.push(await backend.filter({ resource, parameters, actor: admission.actor }));
    const pages = this.adapter.list(planList(resource, within, filterings));
    return { status: 200, body: await renderList(pages, (row) => this.represent(row, located)) };
  }

  /** Queries over relations stand under the grants of the models that they lead to. */
  private async queriedBy({ resource, admission }: Located): Promise<Resource> {
    const targets = [...queriedTargets(resource)];
    if (targets.length === 0) return resource;
    const accesses = await Promise.all(targets.map(async (target) => [target, await admission.accesses.find(target, 'GET')] as const));
    return restrictQueries(resource, new Map(accesses));
  }

  /** The keys of a body, each among the rows that the caller may name. */
  private async keyChecks(body: ParsedBody, { resource, admission }: Located): Promise<readonly KeyCheck[]> {
    const visible = new Map<Resource, Condition>();
    for (const [name, value] of body.values) {
      const field = resource.fieldsByName.get(name);
      if (field?.kind === 'to-one' && value !== null) visible.set(field.relation.target, await admission.accesses.visible(field.relation.target));
    }
    return planKeyChecks(body, resource, (target) => visible.get(target) ?? NEVER);
  }

  private async retrieve(located: Located): Promise<RestResponse> {
    this.refuseParameters(located);
    const row = await this.adapter.retrieve({ kind: 'retrieve', resource: located.resource, where: this.objectCondition(located) });
    if (!row) throw new NotFound();
    return jsonResponse(200, this.represent(row, located));
  }

  private async create(located: Located): Promise<RestResponse> {
    this.refuseParameters(located);
    const { resource, route, parent, call } = located;
    const body = await this.parseBody(located, 'create');
    const row = await this.adapter.create({
      kind: 'create',
      resource,
      values: body.values,
      errors: body.errors,
      keys: await this.keyChecks(body, located),
      fixed: parent && route.relation ? joiningPairs(route.relation).map((pair, index) => ({ column: pair.far, value: parent[index] ?? null })) : [],
      where: located.within,
    });
    return jsonResponse(201, this.represent(row, located), locationOf(row, call));
  }

  private async update(located: Located, operation: 'update' | 'partialUpdate'): Promise<RestResponse> {
    const { resource } = located;
    const where = this.objectCondition(located);
    const body = await this.afterObject(located, where, async () => {
      this.refuseParameters(located);
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
    });
    if (!row) throw new NotFound();
    return jsonResponse(200, this.represent(row, located));
  }

  private async destroy(located: Located): Promise<RestResponse> {
    this.refuseParameters(located);
    const deleted = await this.adapter.delete({ kind: 'delete', resource: located.resource, where: this.objectCondition(located) });
    if (!deleted) throw new NotFound();
    return { status: 204 };
  }

  /** The object comes before the body in the order of checks: a body's error waits for the look at the object. */
  private async afterObject<Result>({ resource }: Located, where: Condition, read: () => Promise<Result>): Promise<Result> {
    try {
      return await read();
    } catch (error) {
      if (isRestError(error) && !(await this.adapter.exists(resource, where))) throw new NotFound();
      throw error;
    }
  }

  private async parseBody({ resource, route, admission, call }: Located, operation: 'create' | 'update' | 'partialUpdate'): Promise<ParsedBody> {
    const object = readJsonObject(await call.exchange.body(), call.exchange.header('content-type'));
    return resource.serializer.parse(object, { resource, operation, actor: admission.actor, given: givenFields(route) });
  }

  private objectCondition({ route, resource, keys, within }: Located): Condition {
    const key: readonly Json[] | undefined = route.parent ? keys.childKey : keys.key;
    if (!key) throw new NotFound();
    return allOf([within, keyCondition(key, resource)]);
  }

  private refuseParameters({ resource, call }: Located): void {
    if (resource.strict) refuseUnknownParameters(parseQueryString(call.exchange.query), resource, false);
  }

  private represent(row: Row, { resource, admission, call }: Located): Record<string, unknown> {
    return resource.serializer.represent(row, { resource, actor: admission.actor, basePath: `${call.base}/${resource.app}/${resource.model}` });
  }
}

/** The application's own method for this call, if there is one. HEAD follows GET. */
function actionOf({ exchange, match }: Call): RouteAction | undefined {
  return match.route.actions.get((exchange.method === 'HEAD' ? 'GET' : exchange.method) as Method);
}

/** An action below an object asks for the right to view it for GET, and to change it for all else. */
function askedMethod({ exchange, match }: Call): string {
  const reading = ['GET', 'HEAD', 'OPTIONS'].includes(exchange.method);
  return match.route.kind === 'object-action' && !reading ? 'PATCH' : exchange.method;
}

/** What OPTIONS tells of: the fields that the caller may write, by the method that writes them. */
async function writableViews({ resource }: Route, { accesses }: Admission): Promise<ReadonlyMap<'POST' | 'PUT', Resource>> {
  const views = new Map<'POST' | 'PUT', Resource>();
  for (const method of ['POST', 'PUT'] as const) {
    const access = await accesses.find(resource, method);
    if (access) views.set(method, restrictFields(resource, access));
  }
  return views;
}

/** Fields that the URL fills: the parent's side of a through object. */
function givenFields(route: Route): ReadonlySet<string> {
  const side = route.relation?.kind === 'many-to-many' ? route.relation.through.parentField : undefined;
  return new Set(side === undefined ? [] : [side]);
}

/** The absolute URL of a new object, where it has one (contract 3). */
function locationOf(row: Row, { exchange, match, base }: Call): Readonly<Record<string, string>> {
  const { route, keySegment } = match;
  const { resource, relation, parent } = route;
  const readable = [...resource.operations].some((operation) => operation !== 'list' && operation !== 'create');
  if (!readable) return {};
  const above = parent && relation ? `${parent.app}/${parent.model}/${keySegment ?? ''}/${relation.name}` : `${resource.app}/${resource.model}`;
  return { Location: `${exchange.protocol}://${exchange.host}${base}/${above}/${keyText(row.key)}/` };
}
