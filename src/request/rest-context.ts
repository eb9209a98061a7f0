import { NO_ACCESS } from '../core/contracts/access-control.js';
import type { AccessControl } from '../core/contracts/access-control.js';
import type { Renderer } from '../core/contracts/renderer.js';
import type { Requester } from '../core/contracts/requester.js';
import type { ClaimRequest } from '../core/contracts/response-store.js';
import type { Representation, Row } from '../core/contracts/serializer.js';
import type { Json } from '../core/errors/rest-exception.js';
import type { MaybePromise } from '../core/maybe-promise.js';
import { NEVER } from '../core/query/condition.js';
import type { Condition } from '../core/query/condition.js';
import type { ExistsPlan, ListPlan, PagePlan, ParentValues, Precondition } from '../core/query/plan.js';
import type { Access } from '../core/contracts/access-control.js';
import type { Actor } from '../core/schema/actor.js';
import type { Resource } from '../core/schema/resource.js';
import type { Route } from '../core/schema/route.js';
import type { HttpExchange } from './http-exchange.js';
import type { JsonObject } from './parse/parse-body.js';
import type { UrlKeys } from './parse/parse-url-keys.js';
import type { RestResponse } from './response/rest-response.js';

/** Query parameters and body of a request. Read by the stage that needs them, because their errors have an order (contract 6.3). */
export interface RequestInput {
  /** Throws 400. */
  parameters(): MaybePromise<ReadonlyMap<string, string>>;
  /** Throws 400, 413 and 415. */
  body(): MaybePromise<JsonObject>;
  /** The body where it may be a list; undefined where the model accepts one object alone. */
  readonly items?: (() => MaybePromise<JsonObject | readonly unknown[]>) | undefined;
}

/** A create request of a model that stores its response under an `Idempotency-Key`. */
export interface IdempotentRequest {
  /** Undefined where the request has none. Throws 400. */
  key(): string | undefined;
  /** For the next rows that the request creates. Throws 400. */
  claim(key: string): Promise<ClaimRequest>;
}

/** What `fields`, `omit` and `expand` make of a response. */
export interface ResponseShape {
  /** The model with the selected fields. */
  readonly view: Resource;
  /** Whether related objects replace keys and links: they are read for each page of rows. */
  readonly expands: boolean;
  /** The rows of one page with the expanded objects. Throws 400 where the response would hold too many objects. */
  expanded(rows: readonly Row[]): Promise<readonly Row[]>;
  represent(row: Row): Representation;
}

/** What an operation returned: its value, and the row that the value represents. */
export interface OperationResult {
  /** Undefined for a deleted row. */
  readonly value: unknown;
  readonly row?: Row | undefined;
  /** Of a created row: its URL becomes the `Location`. */
  readonly key?: readonly Json[] | undefined;
  /** Undefined where it is the operation's own. */
  readonly status?: number | undefined;
  /** Whether the response was created by an earlier request with the same `Idempotency-Key`. */
  readonly isReplayed?: boolean;
  /** The member of the envelope that holds the rows of a page. */
  readonly rowsMember?: string | undefined;
  /** `ETag` and `Last-Modified` of the row, and headers of a page. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
}

/** The fixed part of a context. */
export interface RequestSource {
  readonly route: Route;
  /** The path below which links of the prefix start: `/rest/v1`. */
  readonly base: string;
  readonly method: string;
  readonly input: RequestInput;
  /** Undefined where the application itself runs an operation. */
  readonly exchange?: HttpExchange | undefined;
  readonly keySegment?: string | undefined;
  readonly childSegment?: string | undefined;
  /** The `ExecutionContext` of Nest, where guards authenticate the model. */
  readonly nestContext?: unknown;
}

const NO_KEYS: UrlKeys = { key: undefined, childKey: undefined };

/**
 * One request, from the matched route to its response. Each stage fills in its part, in the order of the fields. All fields
 * are assigned by the constructor, so that every context has the same hidden class. Before `authorize` has run, a context
 * denies everything.
 */
export class RestContext {
  readonly route: Route;
  readonly base: string;
  readonly method: string;
  readonly input: RequestInput;
  readonly exchange: HttpExchange | undefined;
  readonly keySegment: string | undefined;
  readonly childSegment: string | undefined;
  readonly nestContext: unknown;

  /** `authenticate`. Null for an anonymous caller. */
  actor: Actor;
  /** What a guard threw that authenticates the caller: permissions come before it. */
  guardError: Error | undefined;

  /** `authorize`. */
  access: AccessControl;
  /** Rows that the caller's grants leave of the model. */
  rows: Condition;
  /** The model with the fields that the caller may read and write. */
  resource: Resource;
  /** Whether the caller only reads, so that rows may come from a replica. */
  isReading: boolean;

  /** `negotiate`. Undefined for JSON. */
  renderer: Renderer | undefined;

  /** `parseUrlKeys`. */
  keys: UrlKeys;
  /** Undefined where the application itself runs an operation. */
  requester: Requester | undefined;

  /** `resolveParent`: what the URL and the grants leave of the rows, without the object's own key. */
  scope: Condition;
  parent: ParentValues | undefined;
  /** The existence of the parent, where the statement of its list checks it. */
  parentCheck: ExistsPlan | undefined;

  /** Grants over the models that filters reach; undefined where they have not been evaluated. */
  queryAccess: ReadonlyMap<Resource, Access | undefined> | undefined;
  /** Undefined where the response is the model's own. */
  shape: ResponseShape | undefined;
  idempotency: IdempotentRequest | undefined;
  /** What must hold of the row that is written. */
  precondition: Precondition | undefined;

  list: ListPlan | undefined;
  page: PagePlan | undefined;
  result: OperationResult | undefined;
  response: RestResponse | undefined;
  /** Whether an interceptor or a method of the application may have changed the value. */
  isIntercepted: boolean;
  /** Checks that come before an error of parsing in the order of contract 6.3, and cost a statement. */
  deferredChecks: readonly (() => Promise<void>)[];

  private parsedParameters: MaybePromise<ReadonlyMap<string, string>> | undefined;

  constructor(source: RequestSource) {
    this.route = source.route;
    this.base = source.base;
    this.method = source.method;
    this.input = source.input;
    this.exchange = source.exchange;
    this.keySegment = source.keySegment;
    this.childSegment = source.childSegment;
    this.nestContext = source.nestContext;
    this.actor = null;
    this.guardError = undefined;
    this.access = NO_ACCESS;
    this.rows = NEVER;
    this.resource = source.route.resource;
    this.isReading = false;
    this.renderer = undefined;
    this.keys = NO_KEYS;
    this.requester = undefined;
    this.scope = NEVER;
    this.parent = undefined;
    this.parentCheck = undefined;
    this.queryAccess = undefined;
    this.shape = undefined;
    this.idempotency = undefined;
    this.precondition = undefined;
    this.list = undefined;
    this.page = undefined;
    this.result = undefined;
    this.response = undefined;
    this.isIntercepted = false;
    this.deferredChecks = [];
    this.parsedParameters = undefined;
  }

  /** Parsed once; behind `selectFields`, with the parameters of lists folded. Throws 400. */
  parameters(): MaybePromise<ReadonlyMap<string, string>> {
    return (this.parsedParameters ??= this.input.parameters());
  }

  setParameters(parameters: ReadonlyMap<string, string>): void {
    this.parsedParameters = parameters;
  }

  body(): MaybePromise<JsonObject> {
    return this.input.body();
  }

  /** The body, which is a list in models with bulk writes. */
  items(): MaybePromise<JsonObject | readonly unknown[]> {
    return this.input.items ? this.input.items() : this.input.body();
  }

  header(name: string): string | undefined {
    return this.exchange?.header(name);
  }

  /** Runs `check` before any error of the stages that follow, until `clearDeferredChecks`. */
  defer(check: () => Promise<void>): void {
    this.deferredChecks = [...this.deferredChecks, check];
  }

  /** What follows checks the same by its own statement. */
  clearDeferredChecks(): void {
    this.deferredChecks = [];
  }

  /** The same request with other parts. */
  fork(changes: ContextChanges = {}): RestContext {
    return Object.assign(new RestContext(this), this, changes);
  }
}

/** Parts that a fork may replace. */
export type ContextChanges = Partial<
  Pick<
    RestContext,
    | 'input'
    | 'method'
    | 'access'
    | 'rows'
    | 'resource'
    | 'isReading'
    | 'scope'
    | 'parentCheck'
    | 'queryAccess'
    | 'shape'
    | 'precondition'
    | 'deferredChecks'
  >
>;

/** With another body: the parameters are the same. */
export function etagWithBody(input: RequestInput, body: JsonObject): RequestInput {
  return {
    parameters: () => input.parameters(),
    body: () => body,
    items: input.items && (() => body),
  };
}

export function withParameters(input: RequestInput, parameters: ReadonlyMap<string, string>): RequestInput {
  return { parameters: () => parameters, body: () => input.body(), items: input.items };
}
