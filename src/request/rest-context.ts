import { NO_ACCESS } from '../core/contracts/access-control.js';
import type { AccessControl, Access } from '../core/contracts/access-control.js';
import type { ExpandedFields, Renderer } from '../core/contracts/renderer.js';
import type {
  Requester,
  ExistsPlan,
  ListPlan,
  PagePlan,
  ParentValues,
  Precondition,
} from '../core/query/plan.js';
import type { ClaimRequest } from '../core/contracts/idempotency.js';
import type { Representation, Row } from '../core/contracts/serializer.js';
import { isRestException } from '../core/errors/rest-exception.js';
import type { Json } from '../core/errors/rest-exception.js';
import { isPromise } from '../core/maybe-promise.js';
import type { MaybePromise } from '../core/maybe-promise.js';
import { NEVER } from '../core/query/condition.js';
import type { Condition } from '../core/query/condition.js';
import type { Actor } from '../core/schema/caller.js';
import type { ResourceSchema } from '../core/schema/resource-schema.js';
import type { Resource } from '../core/schema/resource.js';
import type { Route, UrlKeys } from '../core/schema/route.js';
import type { HttpExchange } from './http-exchange.js';
import type { JsonObject, RequestInput } from './request-input.js';
import type { RestResponse } from './response/rest-response.js';

/** A create request of a model that stores its response under an `Idempotency-Key`. */
export interface IdempotentRequest {
  /** Whether it writes the object of its URL, without a body. */
  readonly ignoresBody: boolean;
  /** Undefined where the request has none. Throws 400. */
  key(): string | undefined;
  /** For the next rows that the request creates. Throws 400. */
  claim(key: string): Promise<ClaimRequest>;
}

/** The effect of `fields`, `omit` and `expand` on a response. */
export interface ResponseShape {
  /** The model with the selected fields. */
  readonly view: Resource;
  /** Whether related objects replace keys and links: they are read for each page of rows. */
  readonly expands: boolean;
  /**
   * The rows of one page with the expanded objects. Throws 400 where the response would hold too many objects.
   * @param transaction the one that has just written the rows.
   */
  expanded(rows: readonly Row[], transaction?: object): Promise<readonly Row[]>;
  represent(row: Row): Representation;
  /** As in `RenderedRows`; undefined without expanded objects. */
  expandedFields?: (() => ReadonlyMap<string, ExpandedFields>) | undefined;
}

/** The result of an operation: its value, and the row that the value represents. */
export interface OperationResult {
  /** Undefined for a deleted row. */
  readonly value: unknown;
  readonly row?: Row | undefined;
  /** Of a created row: its URL becomes the `Location`. */
  readonly key?: readonly Json[] | undefined;
  /** Undefined for the default status of the operation. */
  readonly status?: number | undefined;
  /** True if the response was created by an earlier request with the same `Idempotency-Key`. */
  readonly isReplayed?: boolean;
  /** The names of the members of each row, if they are not the fields of the model. */
  readonly fields?: readonly string[] | undefined;
  /** The member of the envelope that holds the rows of a page. */
  readonly rowsMember?: string | undefined;
  /** `ETag` and `Last-Modified` of the row, and headers of a page. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
}

/** The immutable part of a context. */
export interface RequestSource {
  readonly route: Route;
  /** The base path of links of the prefix: `/rest/v1`. */
  readonly base: string;
  readonly method: string;
  readonly input: RequestInput;
  /** Undefined for operations that the application runs itself. */
  readonly exchange?: HttpExchange | undefined;
  readonly keySegment?: string | undefined;
  readonly childSegment?: string | undefined;
  /** The `ExecutionContext` of Nest, if guards authenticate the model. */
  readonly nestContext?: unknown;
  /** Whether the request was sent as QUERY: `method` is GET, and the query of `exchange` is its body. */
  readonly isQuery?: boolean;
}

const NO_KEYS: UrlKeys = { key: undefined, childKey: undefined };

/**
 * One request, from the matched route to its response. Each stage sets its part, in the order of the fields. All fields
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
  readonly isQuery: boolean;

  /** `authenticate`. Null for an anonymous caller. */
  actor: Actor = null;
  /** The client on whose behalf rows are read and written; undefined for operations that the application runs itself. */
  requester: Requester | undefined = undefined;
  /** The error of a guard that authenticates the caller: permissions precede it. */
  guardError: Error | undefined = undefined;

  /** `authorize`. */
  access: AccessControl = NO_ACCESS;
  /** The rows of the model that the caller's grants include. */
  grantCondition: Condition = NEVER;
  /** The model with the fields that the caller may read and write. */
  resource: Resource;
  /** Whether a request to a list asks for aggregates of its rows. */
  isAggregate = false;
  /** True if the caller only reads, so that rows may come from a replica. */
  isReading = false;

  /** `negotiate`. Undefined for JSON. */
  renderer: Renderer | undefined = undefined;

  /** `parseKeys`. */
  keys: UrlKeys = NO_KEYS;
  /** The rows of the grants that belong to the parent in the URL, if there is one; without the object's own key. */
  scope: Condition = NEVER;
  parent: ParentValues | undefined = undefined;
  /** The existence check of the parent, if the statement of its list includes it. */
  parentCheck: ExistsPlan | undefined = undefined;

  /** Grants on the models that filters reach; undefined until they are evaluated. */
  queryAccess: ReadonlyMap<ResourceSchema, Access | undefined> | undefined = undefined;
  /** Undefined for the model's default representation. */
  fieldSelection: ResponseShape | undefined = undefined;
  /** The view from which the client has selected the fields of `resource`; undefined unless it has. */
  selectedFrom: Resource | undefined = undefined;
  /** The model of the response in which this list is expanded; undefined for the list of a URL. */
  expandedIn: Resource | undefined = undefined;
  idempotency: IdempotentRequest | undefined = undefined;
  /** The condition that the written row must meet. */
  precondition: Precondition | undefined = undefined;

  /** False if nothing but the response needs the value of the operation: the database then serializes JSON where possible. */
  needsValue = true;
  list: ListPlan | undefined = undefined;
  page: PagePlan | undefined = undefined;
  result: OperationResult | undefined = undefined;
  response: RestResponse | undefined = undefined;
  /** True if an interceptor or a method of the application may have changed the value. */
  isIntercepted = false;
  /** Checks that precede an error of parsing in the order of contract 6.3, and need a statement. */
  deferredChecks: readonly (() => Promise<void>)[] = [];
  /** Whether the statement of the operation includes the deferred checks: then they precede only a 400 of this statement. */
  hasChecksInStatement = false;

  private parsedParameters: MaybePromise<ReadonlyMap<string, string>> | undefined = undefined;

  constructor(source: RequestSource) {
    this.route = source.route;
    this.base = source.base;
    this.method = source.method;
    this.input = source.input;
    this.exchange = source.exchange;
    this.keySegment = source.keySegment;
    this.childSegment = source.childSegment;
    this.nestContext = source.nestContext;
    this.isQuery = source.isQuery === true;
    this.resource = source.route.resource;
  }

  /** Parsed once; after `selectFields`, with lists joined. Throws 400. */
  parameters(): MaybePromise<ReadonlyMap<string, string>> {
    return (this.parsedParameters ??= this.input.parameters());
  }

  setParameters(parameters: ReadonlyMap<string, string>): void {
    this.parsedParameters = parameters;
  }

  body(): MaybePromise<JsonObject> {
    return this.input.body();
  }

  /** The body, which may be a list in models with bulk writes. */
  items(): MaybePromise<JsonObject | readonly unknown[]> {
    return this.input.items ? this.input.items() : this.input.body();
  }

  header(name: string): string | undefined {
    return this.exchange?.header(name);
  }

  /**
   * `runStages` runs `check` before it reports an error of any later stage, until `clearDeferredChecks`; from
   * `moveChecksIntoStatement` on, before a 400.
   */
  defer(check: () => Promise<void>): void {
    this.deferredChecks = [...this.deferredChecks, check];
    this.hasChecksInStatement = false;
  }

  /** The next statement checks the same. If it is rejected, it has not. */
  moveChecksIntoStatement(): void {
    this.hasChecksInStatement = true;
  }

  /** Later stages check the same in their own statement. */
  clearDeferredChecks(): void {
    this.deferredChecks = [];
  }

  /** The same request with replaced parts. */
  fork(changes: Partial<RestContext> = {}): RestContext {
    return Object.assign(new RestContext(this), this, changes);
  }
}

/** A stage of a request: sets its part of the context, or throws a `RestException`. */
export type Stage = (context: RestContext) => MaybePromise<void>;

/**
 * Runs stages in sequence, synchronously until one returns a promise. The error of a stage is thrown or rejects
 * accordingly; the deferred checks of the context run first, and their errors have precedence.
 */
export function runStages(stages: readonly Stage[], context: RestContext, from = 0): MaybePromise<void> {
  for (let index = from; index < stages.length; index++) {
    let pending: MaybePromise<void>;
    try {
      pending = stages[index]?.(context);
    } catch (error) {
      return fail(context, error);
    }
    if (isPromise(pending))
      return pending.then(
        () => runStages(stages, context, index + 1),
        (error: unknown) => fail(context, error),
      );
  }
}

/** Deferred checks are removed before they run, so that nested stages run them once. */
function fail(context: RestContext, error: unknown): MaybePromise<never> {
  const checks = context.deferredChecks;
  if (checks.length === 0 || (context.hasChecksInStatement && !isInvalidRequest(error))) throw error;
  context.clearDeferredChecks();
  return checkFirst(checks, error);
}

function isInvalidRequest(error: unknown): boolean {
  return isRestException(error) && error.response.status === 400;
}

async function checkFirst(checks: RestContext['deferredChecks'], error: unknown): Promise<never> {
  for (const check of checks) await check();
  throw error;
}
