import type { INestApplication } from '@nestjs/common';
import { Ajv2020 } from 'ajv/dist/2020.js';
import type { ValidateFunction } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { RestifyOpenApi } from 'nestjs-restify';
import type { RestServer } from '../../src/http/rest-server.js';
import { getRoutePattern } from '../../src/http/route-pattern.js';
import { REST_SERVER } from '../../src/nest/tokens.js';
import { DESCRIPTION_MEDIA_TYPE } from '../../src/core/contracts/route-description.js';
import { METHODS } from '../../src/core/schema/operation.js';
import type { Route } from '../../src/core/schema/route.js';
import { comparedRead } from './compared-reads.js';
import type { Read } from './compared-reads.js';

/** The checked parts of a response. */
interface CheckedAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, unknown>>;
  readonly text: string;
  readonly json: unknown;
}

interface Described {
  readonly pattern: RegExp;
  readonly path: string;
  readonly item: Readonly<Record<string, DescribedOperation | undefined>>;
  /** HTTP methods handled by controllers of the application. */
  readonly free: ReadonlySet<string>;
  /** The counter that a GET increments, if it does not depend on the request. */
  read(): Read | undefined;
}

interface DescribedOperation {
  readonly responses: Readonly<Record<string, DescribedResponse | undefined>>;
}

interface DescribedResponse {
  readonly $ref?: string;
  readonly content?: object;
}

/** The documented content of a response. */
interface ExpectedContent {
  /** The beginning of error messages. */
  readonly text: string;
  /** The JSON pointer of the response in the document. */
  readonly pointer: string;
  readonly content: object | undefined;
}

interface Document {
  readonly paths: Readonly<Record<string, Described['item']>>;
  readonly components: {
    readonly responses: Readonly<Record<string, { readonly content?: object }>>;
    readonly schemas: Readonly<Record<string, object>>;
  };
}

/** The number of checked responses of one application. */
export interface Checked {
  /** Responses checked against the documented operation. */
  readonly described: number;
  /** Responses checked to be errors, because the document has no such operation. */
  readonly refused: number;
}

/** The media type of the browsable page, which is the same at every URL. */
const PAGE_TYPE = 'text/html; charset=utf-8';

/** Validates every response of one application to its `Client` against the OpenAPI document, so that each feature test also tests the document. */
export class AnswerCheck {
  private readonly validators = new Map<string, ValidateFunction>();
  private loaded:
    | { readonly document: Document; readonly ajv: Ajv2020; readonly described: readonly Described[] }
    | undefined;

  readonly checked = { described: 0, refused: 0 };
  /** The number of responses from read paths that must have been compared. */
  readonly read: Record<Read, number> = { pages: 0, rows: 0, askedPages: 0 };
  private readonly found: string[] = [];

  constructor(
    private readonly app: INestApplication,
    private readonly undescribed: readonly number[] = [],
  ) {}

  /** All differences, including those of calls whose failure a test ignored. */
  get differences(): readonly string[] {
    return this.found;
  }

  private get server(): RestServer {
    return this.app.get(REST_SERVER);
  }

  /** @throws if the response does not conform to the document. */
  check(call: { readonly method: string; readonly path: string }, answer: CheckedAnswer): void {
    try {
      this.compare(call, answer);
    } catch (error) {
      this.found.push(String(error));
      throw error;
    }
  }

  private compare(call: { readonly method: string; readonly path: string }, answer: CheckedAnswer): void {
    const { path } = call;
    // The description of a URL is listed as the response to OPTIONS.
    const method = answer.headers['content-type'] === DESCRIPTION_MEDIA_TYPE ? 'OPTIONS' : call.method;
    if (isUndescribed(method, answer) || this.undescribed.includes(answer.status)) return;
    const described = this.describedAt(path);
    if (!described) return;
    const operation = described.item[method.toLowerCase()];
    const text = `${method} ${path} answers ${answer.status} ${answer.text.slice(0, 500)}\n`;
    if (!operation) {
      this.checked.refused++;
      if (answer.status < 400) throw new Error(`${text}The document has no ${method} at ${described.path}.`);
      return;
    }
    // Custom methods and interceptors may return any response.
    if (described.free.has(method)) return;
    this.checked.described++;
    // Aggregates are read by no lane of rows.
    const isOfRows = method === 'GET' && !/[?&]aggregate=/.test(path);
    if (isOfRows && answer.status === 200) this.countRead(described);
    const response = operation.responses[String(answer.status)];
    if (!response)
      throw new Error(
        `${text}The document does not have this status of ${method} ${described.path}, only ${Object.keys(operation.responses).join(', ')}.`,
      );
    const pointer =
      response.$ref ??
      `#/paths/${escaped(described.path)}/${method.toLowerCase()}/responses/${answer.status}`;
    this.compareContent(answer, { text, pointer, content: this.contentOf(response) });
  }

  /** The documented path of a URL; undefined for a custom route, which takes precedence over an object with the same key. */
  private describedAt(path: string): Described | undefined {
    const [plain = ''] = path.split('?');
    if (this.server.applicationRoutes.has(plain)) return undefined;
    const trimmed = plain.length > 1 && plain.endsWith('/') ? plain.slice(0, -1) : plain;
    return this.load().described.find(({ pattern }) => pattern.test(trimmed));
  }

  private contentOf({ $ref, content }: DescribedResponse): object | undefined {
    if ($ref === undefined) return content;
    return this.load().document.components.responses[$ref.split('/').at(-1) ?? '']?.content;
  }

  private compareContent(answer: CheckedAnswer, { text, pointer, content }: ExpectedContent): void {
    if (!content) {
      if (answer.text !== '') throw new Error(`${text}The document has no body.`);
      return;
    }
    const type = String(answer.headers['content-type']);
    const media = Object.keys(content).find((each) =>
      each.endsWith('json') ? each === type : each === type.split(';')[0],
    );
    if (media === undefined)
      throw new Error(`${text}It is ${type}, and in the document ${Object.keys(content).join(' or ')}.`);
    // Media types other than JSON are strings.
    if (!/[/+]json$/.test(media)) return;
    const validate = this.validator(`${pointer}/content/${escaped(media)}/schema`);
    if (!validate(answer.json))
      throw new Error(`${text}It does not match the schema: ${JSON.stringify(validate.errors?.slice(0, 5))}`);
  }

  private countRead(found: Described): void {
    const read = found.read();
    if (read) this.read[read]++;
  }

  private validator(pointer: string): ValidateFunction {
    const known =
      this.validators.get(pointer) ??
      this.load().ajv.compile({ $ref: `document${pointer.replaceAll('{', '%7B').replaceAll('}', '%7D')}` });
    this.validators.set(pointer, known);
    return known;
  }

  /** Created lazily at the first response. */
  private load(): NonNullable<AnswerCheck['loaded']> {
    if (this.loaded) return this.loaded;
    const empty = { openapi: '3.1.0', info: { title: 'Test', version: '1' }, paths: {} };
    const document = closed(
      this.app.get(RestifyOpenApi).extend(empty, { listOptions: true, version: '3.2' }),
    ) as Document;
    const ajv = new Ajv2020({ strict: false, allErrors: false, validateSchema: false });
    addFormats.default(ajv);
    for (const name of ['time-local', 'decimal', 'float', 'double', 'int32', 'int64'])
      ajv.addFormat(name, true);
    ajv.addSchema(document, 'document');
    const routes = this.server.prefixes.flatMap(({ api: { prefix, routes: all }, pipeline }) =>
      all.map((route) => ({
        path: `/${getRoutePattern(prefix, route)}`.replace(/[:*](pk|childId)(?=\/|$)/g, '{$1}'),
        route,
        pipeline,
      })),
    );
    const described = Object.entries(document.paths).map(([path, item]): Described => {
      const found = routes.find((each) => path.endsWith(each.path));
      return {
        path,
        item,
        pattern: patternOf(path),
        free: freeMethods(found?.route),
        read: () => found && comparedRead(found.route, found.pipeline),
      };
    });
    // Concrete paths take precedence over templated ones.
    described.sort((a, b) => keys(a.path) - keys(b.path));
    this.loaded = { document, ajv, described };
    return this.loaded;
  }
}

/** Whether a response is the same at every URL, and not documented. */
function isUndescribed(method: string, { status, headers }: CheckedAnswer): boolean {
  // Middleware for CORS responds to preflights itself.
  const isPreflight = method === 'OPTIONS' && status === 204;
  return method === 'HEAD' || isPreflight || headers['content-type'] === PAGE_TYPE;
}

function freeMethods(route: Route | undefined): ReadonlySet<string> {
  if (!route) return new Set();
  return new Set<string>(route.resource.interceptors.length > 0 ? METHODS : route.actions.keys());
}

function keys(path: string): number {
  return path.split('{').length;
}

function patternOf(path: string): RegExp {
  const text = path
    .replace(/[.*+?^$()|[\]\\]/g, '\\$&')
    .replaceAll('{childId}', '.+')
    .replaceAll('{pk}', '[^/]+')
    .replace(/\{[^}]*\}/g, '[^/]+');
  return new RegExp(`^${text}$`);
}

function escaped(path: string): string {
  return path.replaceAll('~', '~0').replaceAll('/', '~1');
}

/** The same schema without additional properties. */
function closed(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(closed);
  if (typeof value !== 'object' || value === null) return value;
  const all = Object.fromEntries(Object.entries(value).map(([name, each]) => [name, closed(each)]));
  return all.type === 'object' && 'properties' in all && !('additionalProperties' in all)
    ? { ...all, additionalProperties: false }
    : all;
}
