import { MethodNotAllowed, NotFound, PreconditionFailed } from '../core/errors/http-exceptions.js';
import type { Json } from '../core/errors/rest-exception.js';
import type { RouteAction } from '../core/schema/action.js';
import type { Actor } from '../core/schema/actor.js';
import { isOfMany, takesMany } from '../core/contracts/bulk.js';
import type { BulkOperation } from '../core/contracts/bulk.js';
import { allOf } from '../core/query/condition.js';
import { isReading, METHOD_OF, servedMethod, statusOf } from '../core/schema/operation.js';
import type { Operation } from '../core/schema/operation.js';
import type { Renderer } from '../core/contracts/renderer.js';
import type { Resource } from '../core/schema/resource.js';
import type { Route } from '../core/schema/route.js';
import { decodedSegment, keyRepresentation } from '../core/values/keys.js';
import type { Authenticator } from '../features/authentication/authenticator.js';
import { HttpRequester } from '../request/http-requester.js';
import { challengeOf } from '../features/authentication/challenge.js';
import { actionOf, askedMethod, linksOf, locationOf } from '../request/resource-urls.js';
import type { Call } from '../request/resource-urls.js';
import { withoutValidators } from '../features/conditional-requests/validators.js';
import {
  ConditionalObjects,
  applyCacheHeaders,
} from '../features/conditional-requests/conditional.stages.js';
import type { DataAdapter } from '../core/data-adapter.js';
import { describeRoute } from './options-metadata.js';
import { Operations } from './operations.js';
import { givenFields } from '../request/plan/plan-write.js';
import type { Admission, Answered, Located } from '../request/rest-context.js';
import { askedOver } from '../request/http-context.js';
import { BulkWrites } from '../features/bulk/bulk-write.stage.js';
import type { JsonObject } from '../request/parse/parse-body.js';
import { parseUrlKeys } from '../request/parse/parse-url-keys.js';
import { CallerAccess } from '../features/permissions/access-control.js';
import type { PermissionRules } from '../features/permissions/access-control.js';
import { restrictFields } from '../features/permissions/restrict-fields.js';
import { PagedLists } from '../features/pagination/paginate.stage.js';
import { keyCondition } from '../request/plan/plan-read.js';
import { mapMaybe } from '../core/maybe-promise.js';
import type { MaybePromise } from '../core/maybe-promise.js';
import { resolveRowFilter } from '../core/query/resolve-row-filter.js';
import { RenderedAnswers } from '../features/rendering/render.stage.js';
import { negotiate } from '../features/rendering/negotiate.js';
import { nameSearchErrors } from '../features/filtering/name-search-errors.js';
import { parameterName } from '../core/schema/parameter-names.js';
import { FORMAT_PARAMETER } from '../core/contracts/renderer.js';
import { chooseRenderer, formatOf } from '../features/rendering/negotiate-renderer.js';
import { renderTexts } from '../request/response/json-stream.js';
import { pageValue, renderPage } from '../request/response/json-page.js';
import { jsonResponse, valueResponse } from '../request/response/rest-response.js';
import type { RestResponse } from '../request/response/rest-response.js';

/** The keys that an action is told. */
export interface ActionKeys {
  readonly parentPk: Json | undefined;
  readonly childPk: string | undefined;
}

/** Methods whose generated answers show what was written. */
const SHOWN_WRITES: ReadonlySet<string> = new Set(['POST', 'PUT', 'PATCH']);

const WRITE_CONDITIONS = ['if-match', 'if-unmodified-since'];

/** An answer as a value, before it is sent. */
interface Made {
  readonly value: unknown;
  readonly headers: Readonly<Record<string, string>>;
  /** Undefined where it is that of the operation. */
  readonly status?: number | undefined;
  /** Where the rows stand in the envelope of a page. */
  readonly rows?: string | undefined;
}

/** What stands around an operation and may change its value: a list is one whole array, or its page. */
export type InterceptorChain = (operate: () => Promise<unknown>) => Promise<unknown>;

/** Runs a generated operation in the place of a method that replaces it. */
export type Operate = (operation: Operation, body?: JsonObject) => Promise<unknown>;

/** What a method that replaces an operation is told, and what it can fall back to. */
export interface Replacement extends ActionKeys {
  /** The key of the object. */
  readonly pk: Json | undefined;
  readonly operate: Operate;
}

/**
 * Everything that happens to a request below a prefix, in the order of contract 6.3: `admit`, run by the Nest guard, then
 * `answer`, run by the generated handler. Whatever replaces `answer` stands behind `admit`.
 */
export class RestPipeline {
  readonly operations: Operations;
  private readonly pages: PagedLists;
  private readonly rendered: RenderedAnswers;
  private readonly objects: ConditionalObjects;
  private readonly bulk: BulkWrites;

  constructor(
    private readonly adapter: DataAdapter,
    private readonly rules: PermissionRules,
    private readonly authenticator: Authenticator,
  ) {
    this.operations = new Operations(adapter);
    this.pages = new PagedLists(adapter, this.operations);
    this.rendered = new RenderedAnswers(this.operations, this.pages);
    this.objects = new ConditionalObjects(adapter, this.operations);
    this.bulk = new BulkWrites(adapter, this.operations);
  }

  /** Authenticate, authorize. Throws 429, 401, 403, and what a guard throws that stands for authentication. */
  admit(call: Call): MaybePromise<Admission> {
    const { request } = call.exchange;
    const { resource } = call.match.route;
    if (resource.guarded) return this.admitBehindGuards(call);
    return mapMaybe(this.authenticator.authenticate(call.exchange, resource.schemes), (actor) =>
      this.admitActor(actor, { resource, method: askedMethod(call), request, action: actionOf(call) }),
    );
  }

  /** Permissions come before what a guard answers but 401: it may know of an object, and tells only who may ask for it. */
  private async admitBehindGuards(call: Call): Promise<Admission> {
    const { request, address } = call.exchange;
    const { resource } = call.match.route;
    const asking = { request, address, context: call.context };
    const { actor, refusal } = await this.authenticator.identify(asking, resource.schemes);
    const admission = await this.admitActor(actor, {
      resource,
      method: askedMethod(call),
      request,
      action: actionOf(call),
    });
    if (refusal !== undefined) throw refusal;
    return admission;
  }

  /** Throws 403, and 401 for an anonymous caller of a model that can challenge. */
  admitActor(
    actor: Actor,
    {
      resource,
      method,
      request,
      action,
    }: { resource: Resource; method: string; request?: object; action?: RouteAction | undefined },
  ): MaybePromise<Admission> {
    const accesses = new CallerAccess(
      { actor, challenge: challengeOf(resource.schemes), request },
      this.rules,
      resolveRowFilter,
    );
    const answers = SHOWN_WRITES.has(method) && (!action || action.operation !== undefined);
    const admitted = answers
      ? accesses.authorizeWrite(resource, method, action?.permission)
      : accesses.authorize(resource, method, action?.permission);
    return mapMaybe(admitted, (access) => ({
      actor,
      accesses,
      rows: access.rows,
      resource: restrictFields(resource, access),
      reading: isReading(method),
      request,
    }));
  }

  /** Method, Accept, keys and parent, then the operation: parse, plan, execute, serialise, respond. */
  answer(call: Call, admission: Admission, around?: InterceptorChain): MaybePromise<RestResponse> {
    return nameSearchErrors(call.match.route.resource, () => this.answerCall(call, admission, around));
  }

  private answerCall(
    call: Call,
    admission: Admission,
    around?: InterceptorChain,
  ): MaybePromise<RestResponse> {
    const { exchange, match } = call;
    const { route } = match;
    if (exchange.method === 'OPTIONS') return optionsOf(call, admission);
    // Only the action itself answers what it replaces: its permissions may not be those of the default.
    if (actionOf(call)) throw new NotFound();
    const operation = route.operations.get(servedMethod(exchange.method));
    if (!operation) throw new MethodNotAllowed(exchange.method);
    const { renderers, conditional, cacheControl } = route.resource;
    const rendered =
      renderers.length > 0 && (operation === 'list' || operation === 'retrieve') ? operation : undefined;
    const renderer =
      rendered &&
      chooseRenderer(renderers, {
        accept: exchange.header('accept'),
        format: formatOf(exchange.query, parameterName(FORMAT_PARAMETER, route.resource)),
      });
    if (!rendered) negotiate(exchange.header('accept'));
    const response = around
      ? this.answerAround(operation, { call, admission, around, renderer })
      : this.perform(operation, { call, admission, renderer });
    return conditional || cacheControl
      ? mapMaybe(response, (made) =>
          this.conclude(call, admission, { response: made, surrounded: around !== undefined }),
        )
      : response;
  }

  /** Behind what has answered, of a model whose answers tell of caches or of their state. Throws 412. */
  conclude(
    { exchange, match }: Call,
    { actor, reading }: Admission,
    { response, surrounded }: { readonly response: RestResponse; readonly surrounded: boolean },
  ): RestResponse {
    const { resource } = match.route;
    if (!resource.conditional && !resource.cacheControl) return response;
    return applyCacheHeaders(response, {
      resource,
      reading,
      actor,
      surrounded,
      header: (name) => exchange.header(name),
    });
  }

  private async answerAround(
    operation: Operation,
    {
      call,
      admission,
      around,
      renderer,
    }: { call: Call; admission: Admission; around: InterceptorChain; renderer: Renderer | undefined },
  ): Promise<RestResponse> {
    let told: Omit<Made, 'value'> = { headers: {} };
    let located: Located | undefined;
    const value = await around(async () => {
      const asked = await this.operations.locate(askedOver(call, admission));
      located = renderer ? await this.operations.shaped(asked) : asked;
      const { value: made, ...rest } = await this.valueOf(
        operation,
        await this.conditionally(operation, located, call),
        call,
      );
      told = renderer ? { ...rest, headers: withoutValidators(rest.headers) } : rest;
      return made;
    });
    // An interceptor that answers by itself has asked for no rows.
    return renderer && located
      ? this.rendered.whole(value, located, { renderer, headers: told.headers, rows: told.rows })
      : valueResponse(told.status ?? statusOf(operation), value, told.headers);
  }

  /** Plain reading first: nothing of it is waited for but the database. */
  private perform(
    operation: Operation,
    { call, admission, renderer }: { call: Call; admission: Admission; renderer: Renderer | undefined },
  ): MaybePromise<RestResponse> {
    const { pagination, conditional } = call.match.route.resource;
    if (renderer || (operation === 'list' ? pagination : operation !== 'retrieve' || conditional))
      return this.performAny(operation, { call, admission, renderer });
    const asked = askedOver(call, admission);
    if (operation === 'list')
      return mapMaybe(this.operations.locateOwn(asked) ?? this.operations.locateList(asked), (list) =>
        mapMaybe(this.operations.listTexts(list), (texts) =>
          mapMaybe(renderTexts(texts), (body) => ({ status: 200, body })),
        ),
      );
    return mapMaybe(this.operations.locateOwn(asked) ?? this.operations.locate(asked), (located) =>
      mapMaybe(this.operations.retrieveText(located), (text) =>
        text === undefined
          ? this.run(operation, located, call)
          : { status: 200, body: { kind: 'text', text } },
      ),
    );
  }

  private async performAny(
    operation: Operation,
    { call, admission, renderer }: { call: Call; admission: Admission; renderer: Renderer | undefined },
  ): Promise<RestResponse> {
    const asked = askedOver(call, admission);
    const { route } = call.match;
    const located =
      this.operations.locateOwn(asked) ??
      (await (operation === 'list' && !renderer
        ? this.operations.locateList(asked)
        : this.operations.locate(asked)));
    if (renderer && (operation === 'list' || operation === 'retrieve'))
      return this.rendered.read(operation, located, { renderer, link: linksOf(call, located) });
    const { pagination, conditional } = route.resource;
    if (operation === 'list' && pagination) {
      const page = await this.pages.text(located, pagination, linksOf(call, located));
      return renderPage(page.rows, page);
    }
    if (takesMany(route, operation)) {
      const { value, headers, status } = await this.valueOf(operation, located, call);
      return valueResponse(status ?? statusOf(operation), value, headers);
    }
    if (conditional)
      return this.objects.respond(operation, located, {
        header: (name) => call.exchange.header(name),
        locationOf: (key) => locationOf(key, call),
      });
    return this.run(operation, located, call);
  }

  private async run(operation: Operation, located: Located, call: Call): Promise<RestResponse> {
    const { value, key, told } = await this.operations.run(operation, located);
    return valueResponse(statusOf(operation), value, { ...(key ? locationOf(key, call) : {}), ...told });
  }

  /** The whole answer as it is sent, for whoever stands around it; a list is the page that is asked for. */
  private async valueOf(operation: Operation, located: Located, call: Call): Promise<Made> {
    const { pagination } = located.resource;
    if (operation === 'list' && pagination) {
      const page = await this.pages.value(located, pagination, linksOf(call, located));
      return { value: pageValue(page.rows, page), headers: page.headers ?? {}, rows: page.envelope?.rows };
    }
    const runner = located.resource.conditional ? this.objects : this.operations;
    const { value, key, status, validators, told } = await (takesMany(located.route, operation)
      ? this.written(operation, located, call)
      : runner.run(operation, located));
    return { value, status, headers: { ...(key ? locationOf(key, call) : {}), ...validators, ...told } };
  }

  /** Many objects, or one where the body is one. */
  private written(operation: BulkOperation, located: Located, call: Call): Promise<Answered> {
    const { exchange, match } = call;
    const { conditional } = match.route.resource;
    const asksForState =
      conditional !== undefined && WRITE_CONDITIONS.some((name) => exchange.header(name) !== undefined);
    // What a condition is about is one object.
    if (asksForState && operation !== 'create') throw new PreconditionFailed();
    return this.bulk.run(operation, located, {
      conditional: asksForState,
      asking: (method) => this.relocated(method, call, located.admission),
      one: (single) => (conditional ? this.objects : this.operations).run(operation, single),
    });
  }

  /** With what the request asks of the object that it writes. */
  private conditionally(
    operation: Operation,
    located: Located,
    { exchange }: Call,
  ): Located | Promise<Located> {
    return located.resource.conditional
      ? this.objects.asking(operation, located, (name) => exchange.header(name))
      : located;
  }

  /** What belongs to `answer` before an action of the application's runs: Accept, then what the URL names. Throws 404, 406. */
  async prepareAction(call: Call, { actor, rows, accesses, reading }: Admission): Promise<ActionKeys> {
    const { route, keySegment, childSegment } = call.match;
    negotiate(call.exchange.header('accept'));
    const { key } = parseUrlKeys({ route, keySegment, childSegment: undefined });
    const childPk = childSegment === undefined ? undefined : decodedSegment(childSegment);
    if (childSegment !== undefined && childPk === undefined) throw new NotFound();
    if (key && actionOf(call)?.lookUp === true) {
      const seen = route.parent ? await accesses.readScope(route.parent) : rows;
      const named = route.parent ?? route.resource;
      if (
        !(await this.adapter.exists({
          resource: named,
          where: allOf([seen, keyCondition(key, named)]),
          forWriting: !reading,
          requester: new HttpRequester(call.exchange, actor),
        }))
      )
        throw new NotFound();
    }
    return { parentPk: key ? keyRepresentation(key) : undefined, childPk };
  }

  /**
   * Before a method that replaces an operation: Accept, keys, parent. It can run the generated one, or another one of
   * the same URL, which is admitted anew: who may read a row may not change it by that. `told` is told the headers of a
   * new object, and of a page.
   */
  async prepareReplacement(
    call: Call,
    admission: Admission,
    told: (headers: Readonly<Record<string, string>>) => void,
  ): Promise<Replacement> {
    negotiate(call.exchange.header('accept'));
    const { route, childSegment } = call.match;
    const asked = actionOf(call)?.operation;
    const found = await this.operations.locate(askedOver(call, admission));
    const located = asked ? await this.conditionally(asked, found, call) : found;
    await this.objects.refuseUnmet(located);
    // A method may do without `super`, which would ask.
    if (asked === 'create') located.repeatable?.key();
    const { key, childKey } = located.keys;
    let written = false;
    const object = route.parent ? childKey : key;
    return {
      parentPk: key ? keyRepresentation(key) : undefined,
      childPk: childSegment === undefined ? undefined : decodedSegment(childSegment),
      pk: object ? keyRepresentation(object) : undefined,
      operate: async (operation, body) => {
        const here = operation === asked ? located : await this.locateAgain(operation, call, admission);
        // What the request asks has been met when the method writes once more.
        const conditional = written
          ? { ...here, precondition: undefined }
          : here === located
            ? here
            : await this.conditionally(operation, here, call);
        const made = await this.valueOf(
          operation,
          body ? { ...conditional, body: () => Promise.resolve(body) } : conditional,
          call,
        );
        written ||= !isReading(METHOD_OF[operation]);
        told(made.headers);
        return made.value;
      },
    };
  }

  private async locateAgain(operation: Operation, call: Call, admission: Admission): Promise<Located> {
    const { route } = call.match;
    if (![...route.operations.values()].includes(operation) || isOfMany(route, operation))
      throw new Error(`${route.resource.label} has no operation "${operation}" at this URL.`);
    return this.relocated(METHOD_OF[operation], call, admission);
  }

  private async relocated(method: string, call: Call, { actor, request }: Admission): Promise<Located> {
    const { resource } = call.match.route;
    return this.operations.locate(
      askedOver(call, await this.admitActor(actor, { resource, method, ...(request ? { request } : {}) })),
    );
  }
}

async function optionsOf({ exchange, match: { route } }: Call, admission: Admission): Promise<RestResponse> {
  negotiate(exchange.header('accept'));
  return jsonResponse(200, describeRoute(route, givenFields(route), await writableViews(route, admission)));
}

/** What OPTIONS tells of: the fields that the caller may write, by the method that writes them. */
async function writableViews(
  { resource }: Route,
  { accesses }: Admission,
): Promise<ReadonlyMap<'POST' | 'PUT', Resource>> {
  const views = new Map<'POST' | 'PUT', Resource>();
  for (const method of ['POST', 'PUT'] as const) {
    const access = await accesses.tryAuthorize(resource, method);
    if (access) views.set(method, restrictFields(resource, access));
  }
  return views;
}
