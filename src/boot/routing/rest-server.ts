import type { LoggerService } from '@nestjs/common';
import type { DeclarationProblem } from '../../errors/declaration-error.js';
import { BodyTooLarge, MethodNotAllowed, NotFound, UnsupportedMediaType } from '../../errors/request-errors.js';
import type { Method } from '../../model/operation.js';
import type { Api } from '../../model/route.js';
import type { Resource } from '../../model/resource.js';
import { throttleRequest } from '../../request/throttling/throttle-request.js';
import { errorResponse } from '../../request/responses/error-response.js';
import { valueResponse } from '../../request/responses/rest-response.js';
import type { RestResponse } from '../../request/responses/rest-response.js';
import type { Admission } from '../../request/operations.js';
import type { Around, Call, RestPipeline } from '../../request/rest-pipeline.js';
import { setActionContext } from './action-context.js';
import { answerIndex } from './answer-index.js';
import type { AnswerableExchange, ExchangeOf, Place } from './answerable-exchange.js';
import { ForeignRoutes } from './foreign-routes.js';
import { Mounts } from './mounts.js';
import { urlOf } from './route-pattern.js';
import type { ActionBinding } from './route-pattern.js';

interface Served {
  readonly api: Api;
  readonly pipeline: RestPipeline;
  /** By what was decorated. */
  readonly resourceOf: (entity: object) => Resource | undefined;
  /** Where its index stands, below the mount; undefined where it has none. */
  readonly index: string | undefined;
  readonly lateProblems: () => readonly DeclarationProblem[];
  /** Its place among the `forRoot` calls of the process: which boot ends first says nothing. */
  readonly order: number;
}

/** Where a path stands among everything that is served. */
type Location =
  | { readonly kind: 'route'; readonly call: Call; readonly served: Served }
  | { readonly kind: 'unknown' }
  | { readonly kind: 'index'; readonly base: string; readonly path: string }
  | { readonly kind: 'elsewhere' };

const INDEX_ALLOW = 'GET, HEAD, OPTIONS';

/** All prefixes of one application, behind its HTTP library. */
export class RestServer {
  readonly mounts = new Mounts();
  /** The paths of all generated routes as Nest was told them, without the global prefix: `/rest/v1/polls/question/:pk`. */
  readonly patterns = new Set<string>();
  /** By pattern, the path of the model that it belongs to: `/rest/v1/polls/question`. */
  readonly models = new Map<string, string>();
  private readonly served: Served[] = [];
  private readonly claims: { readonly prefix: string; readonly owner: object }[] = [];
  private readonly admissions = new WeakMap<object, Admission>();
  private readonly surroundings = new WeakMap<object, Around>();
  /** Routes of the application's own: they win over the index, and their errors are none of ours. */
  readonly foreign = new ForeignRoutes();

  constructor(
    private readonly logger: LoggerService,
    readonly exchangeOf: ExchangeOf,
  ) {}

  add(served: Served): void {
    this.served.push(served);
    this.served.sort((a, b) => a.order - b.order);
  }

  /** What is wrong with what was declared, and could not be known before the application's providers were made. */
  lateProblems(): readonly DeclarationProblem[] {
    const problems = this.served.flatMap((each) => each.lateProblems());
    return problems.filter(({ where }, index) => problems.findIndex((each) => each.where === where) === index);
  }

  warn(text: string): void {
    this.logger.warn(text);
  }

  /** Before anything of a prefix is awaited, so that of two that boot at once the second finds the first. */
  claim(prefix: string, owner: object): void {
    this.claims.push({ prefix, owner });
  }

  /** Prefixes that others have claimed. */
  claimedBeside(owner: object): readonly string[] {
    return this.claims.filter((each) => each.owner !== owner).map(({ prefix }) => prefix);
  }

  /** What is served, in the order of the `forRoot` calls. */
  get prefixes(): readonly Pick<Served, 'api' | 'pipeline' | 'resourceOf'>[] {
    return this.served;
  }

  get apis(): readonly Api[] {
    return this.served.map(({ api }) => api);
  }

  get indexPaths(): readonly string[] {
    return [...new Set(this.served.flatMap(({ index }) => index ?? []))];
  }

  /** Whether the path is the index or below a prefix, a route or not. */
  isOurs(exchange: AnswerableExchange): boolean {
    const location = this.locate(exchange);
    return location.kind === 'index' ? !this.foreign.has(location.path) : location.kind !== 'elsewhere';
  }

  /** What a path leads to; undefined for what is somebody else's. */
  placeOf(exchange: AnswerableExchange): Place | undefined {
    const location = this.locate(exchange);
    if (location.kind === 'route') return { kind: 'route', prefix: location.served.api.prefix, match: location.call.match };
    return this.isOurs(exchange) ? { kind: 'rest' } : undefined;
  }

  /** The prefix below which a request stands, and what comes before it; undefined for one of somebody else's. */
  whereabouts(exchange: AnswerableExchange): { readonly prefix: string; readonly base: string } | undefined {
    const location = this.locate(exchange);
    if (location.kind !== 'route') return undefined;
    const { prefix } = location.served.api;
    return { prefix, base: prefix === '' ? location.call.base : location.call.base.slice(0, -prefix.length - 1) };
  }

  /** Before anything else of the application has seen the request: what it sets itself later is kept. */
  begin(exchange: AnswerableExchange): void {
    if (this.isOurs(exchange)) exchange.setContractHeaders(this.allowOf(exchange));
  }

  /** Step one of every generated route, run by its guard. Throws what contract 6 says. */
  async admit(exchange: AnswerableExchange): Promise<Resource> {
    const { call, served } = this.routeOf(exchange);
    this.admissions.set(exchange.request, await served.pipeline.admit(call));
    return call.match.route.resource;
  }

  /** Whether a request's own path and method are those that an action was bound to. HEAD follows GET. */
  leadsTo(exchange: AnswerableExchange, { url, method, handler }: ActionBinding): boolean {
    const location = this.locate(exchange);
    if (location.kind !== 'route') return false;
    const { route } = location.call.match;
    const asked = exchange.method === 'HEAD' ? 'GET' : exchange.method;
    return urlOf(route) === url && asked === method && route.actions.get(method)?.handler === handler;
  }

  /** Behind the guards. Throws 429. */
  async throttle(exchange: AnswerableExchange): Promise<void> {
    const admission = this.admissions.get(exchange.request);
    if (admission) await throttleRequest(this.routeOf(exchange).call.match.route.resource, { actor: admission.actor, address: exchange.address });
  }

  /** What stands around the generated answer to this request, told by its guard. */
  surround(exchange: AnswerableExchange, around: Around): void {
    this.surroundings.set(exchange.request, around);
  }

  /** Step two: answers, and writes. Never throws. */
  async handle(exchange: AnswerableExchange): Promise<void> {
    await this.writing(exchange, async () => {
      const { call, served } = this.routeOf(exchange);
      const admission = this.admissions.get(exchange.request) ?? (await served.pipeline.admit(call));
      return served.pipeline.answer(call, admission, this.surroundings.get(exchange.request));
    });
  }

  /** Before an action of the application's runs. Throws what contract 6 says. */
  async beginAction(exchange: AnswerableExchange): Promise<void> {
    const { call, served } = this.routeOf(exchange);
    const admission = this.admissions.get(exchange.request) ?? (await served.pipeline.admit(call));
    exchange.setContractHeaders(call.match.route.allow);
    const action = call.match.route.actions.get((exchange.method === 'HEAD' ? 'GET' : exchange.method) as Method);
    const told = action?.operation
      ? await served.pipeline.prepareReplacement(call, admission, (headers) => {
          for (const [name, value] of Object.entries(headers)) exchange.setHeader(name, value);
        })
      : await served.pipeline.prepareAction(call, admission);
    setActionContext(exchange.request, { actor: admission.actor, ...told });
  }

  /** What an action returned is the body: 200, or what `@HttpCode` says; nothing is 204 (contract 9). In the place of `create` it is 201. */
  async endAction(exchange: AnswerableExchange, value: unknown, code: number | undefined): Promise<void> {
    if (exchange.answered) return;
    const { route } = this.routeOf(exchange).call.match;
    const usual = route.actions.get(exchange.method as Method)?.operation === 'create' ? 201 : 200;
    await this.send(exchange, value === undefined && code !== undefined ? { status: code } : valueResponse(code ?? usual, value));
  }

  /** What no route of Nest's has answered. False where it is none of our business. */
  async handleRest(exchange: AnswerableExchange): Promise<boolean> {
    const location = this.locate(exchange);
    switch (location.kind) {
      case 'route':
        await this.refuseUnrouted(exchange, location);
        return true;
      case 'unknown':
        await this.fail(exchange, new NotFound());
        return true;
      case 'index':
        if (this.foreign.has(location.path)) return false;
        await this.writing(exchange, () => Promise.resolve(answerIndex(exchange, { apis: this.apis, base: location.base })));
        return true;
      case 'elsewhere':
        return false;
      default:
        return location satisfies never;
    }
  }

  /**
   * A URL of ours that Nest has not routed: a method that Nest does not know, or a path that the HTTP library cannot
   * decode. Only ever refused: what the application put before its routes has not seen this request.
   */
  private async refuseUnrouted(exchange: AnswerableExchange, { call, served }: Extract<Location, { kind: 'route' }>): Promise<void> {
    await this.writing(exchange, async () => {
      await served.pipeline.admit(call);
      const { operations, actions } = call.match.route;
      const method = (exchange.method === 'HEAD' ? 'GET' : exchange.method) as Method;
      throw method === 'OPTIONS' || operations.has(method) || actions.has(method) ? new NotFound() : new MethodNotAllowed(exchange.method);
    });
  }

  /** A body that is refused before any step has run: whoever may not send it is told that first. */
  async refuseBody(exchange: AnswerableExchange, kind: 'too-large' | 'unsupported'): Promise<void> {
    await this.writing(exchange, async () => {
      const { call, served } = this.routeOf(exchange);
      await served.pipeline.admit(call);
      throw kind === 'too-large' ? new BodyTooLarge() : new UnsupportedMediaType(exchange.header('content-type')?.slice(0, 200) ?? '');
    });
  }

  /** Writes an error that something else threw on one of our URLs. */
  async fail(exchange: AnswerableExchange, error: unknown): Promise<void> {
    const { response, logged } = errorResponse(error);
    if (logged) this.log(exchange, error);
    await this.send(exchange, response);
  }

  private async writing(exchange: AnswerableExchange, answer: () => Promise<RestResponse>): Promise<void> {
    try {
      await this.send(exchange, await answer());
    } catch (error) {
      await this.fail(exchange, error);
    }
  }

  /** A stream that fails half-way has broken the connection off; all that is left is the log. */
  private async send(exchange: AnswerableExchange, response: RestResponse): Promise<void> {
    try {
      await exchange.send(response, this.allowOf(exchange));
    } catch (error) {
      this.log(exchange, error);
    }
  }

  private log(exchange: AnswerableExchange, error: unknown): void {
    const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
    const text = cause instanceof Error ? (cause.stack ?? cause.message) : String(cause);
    this.logger.error(`${exchange.method} ${exchange.path} failed: ${text}`);
  }

  private allowOf(exchange: AnswerableExchange): string {
    const location = this.locate(exchange);
    if (location.kind === 'route') return location.call.match.route.allow;
    return location.kind === 'index' ? INDEX_ALLOW : '';
  }

  private routeOf(exchange: AnswerableExchange): Extract<Location, { kind: 'route' }> {
    const location = this.locate(exchange);
    if (location.kind !== 'route') throw new NotFound();
    return location;
  }

  private locate(exchange: AnswerableExchange): Location {
    const { path } = exchange;
    // Text that no URL holds, and that HTTP libraries read in different ways.
    const legible = !/[#\\]/.test(path);
    for (const mount of this.mounts.candidates(path)) {
      const below = path.slice(mount.length);
      const index = this.indexPaths.find((each) => withoutLastSlash(below) === (each === '' ? '' : `/${each}`));
      if (index !== undefined) return { kind: 'index', base: exchange.mountedAt + mount, path: mount + (index === '' ? '/' : `/${index}`) };
      const found = this.served.flatMap((served) => this.locateBelow(below, served, { exchange, mount, legible }) ?? []);
      // One prefix may stand below another: what one does not know, the other may.
      const location = found.find(({ kind }) => kind === 'route') ?? found[0];
      if (location && (location.kind === 'route' || !this.foreign.has(path))) return location;
    }
    return { kind: 'elsewhere' };
  }

  private locateBelow(below: string, served: Served, { exchange, mount, legible }: { exchange: AnswerableExchange; mount: string; legible: boolean }): Location | undefined {
    const prefix = served.api.prefix === '' ? '' : `/${served.api.prefix}`;
    if (below === prefix && prefix !== '') return { kind: 'unknown' };
    if (!below.startsWith(`${prefix}/`)) return undefined;
    const match = !legible ? undefined : served.api.match(withoutLastSlash(below.slice(prefix.length + 1)));
    if (match) return { kind: 'route', served, call: { exchange, match, base: `${exchange.mountedAt}${mount}${prefix}` } };
    // An empty prefix has nothing below it that is not somebody else's as well.
    return prefix === '' ? undefined : { kind: 'unknown' };
  }
}

function withoutLastSlash(path: string): string {
  return path.endsWith('/') ? path.slice(0, -1) : path;
}
