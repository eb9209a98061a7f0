import type { INestApplication } from '@nestjs/common';
import { Ajv2020 } from 'ajv/dist/2020.js';
import type { ValidateFunction } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { RestifyOpenApi } from 'nestjs-restify';
import type { RestServer } from '../../src/boot/routing/rest-server.js';
import { routePattern } from '../../src/boot/routing/route-pattern.js';
import { REST_SERVER } from '../../src/boot/tokens.js';
import { METHODS } from '../../src/model/operation.js';
import type { Route } from '../../src/model/route.js';

/** What is looked at of an answer. */
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
  /** Methods of HTTP whose answers are the application's own. */
  readonly free: ReadonlySet<string>;
}

interface DescribedOperation {
  readonly responses: Readonly<
    Record<string, { readonly $ref?: string; readonly content?: object } | undefined>
  >;
}

interface Document {
  readonly paths: Readonly<Record<string, Described['item']>>;
  readonly components: {
    readonly responses: Readonly<Record<string, { readonly content?: object }>>;
    readonly schemas: Readonly<Record<string, object>>;
  };
}

/** How many answers were compared with the document in this file of tests. */
export const checkedAnswers = { described: 0, refused: 0 };

const CHECKS = new Map<number, AnswerCheck>();

/** Every answer of this application to a `Client` must be what its document says: so each feature test is a test of the document. */
export function checkAnswersOf(
  app: INestApplication,
  { port, undescribed }: { readonly port: number; readonly undescribed: readonly number[] },
): void {
  CHECKS.set(port, new AnswerCheck(app, undescribed));
}

export function endCheck(port: number): void {
  CHECKS.delete(port);
}

/** Throws where the answer is another than the document says. */
export function checkAnswer(
  port: number,
  call: { readonly method: string; readonly path: string },
  answer: CheckedAnswer,
): void {
  CHECKS.get(port)?.check(call, answer);
}

class AnswerCheck {
  private readonly validators = new Map<string, ValidateFunction>();
  private loaded:
    | { readonly document: Document; readonly ajv: Ajv2020; readonly described: readonly Described[] }
    | undefined;

  constructor(
    private readonly app: INestApplication,
    private readonly undescribed: readonly number[],
  ) {}

  private get server(): RestServer {
    return this.app.get(REST_SERVER);
  }

  check({ method, path }: { readonly method: string; readonly path: string }, answer: CheckedAnswer): void {
    // They are the same at every URL, and not described.
    if (method === 'HEAD' || method === 'OPTIONS' || this.undescribed.includes(answer.status)) return;
    const { described, document } = this.load();
    const [plain = ''] = path.split('?');
    const found = described.find(({ pattern }) =>
      pattern.test(plain.length > 1 && plain.endsWith('/') ? plain.slice(0, -1) : plain),
    );
    // A route of the application's own wins over an object whose key has its text.
    if (!found || this.server.foreign.has(plain)) return;
    const operation = found.item[method.toLowerCase()];
    const told = `${method} ${path} answers ${answer.status} ${answer.text.slice(0, 500)}\n`;
    if (!operation) {
      checkedAnswers.refused++;
      if (answer.status < 400) throw new Error(`${told}The document has no ${method} at ${found.path}.`);
      return;
    }
    // Methods and interceptors of the application's own answer what they like.
    if (found.free.has(method)) return;
    checkedAnswers.described++;
    const said = operation.responses[String(answer.status)];
    if (!said)
      throw new Error(
        `${told}The document does not know this status of ${method} ${found.path}, only ${Object.keys(operation.responses).join(', ')}.`,
      );
    const pointer =
      said.$ref ?? `#/paths/${escaped(found.path)}/${method.toLowerCase()}/responses/${answer.status}`;
    const response =
      said.$ref === undefined ? said : document.components.responses[said.$ref.split('/').at(-1) ?? ''];
    if (!response?.content) {
      if (answer.text !== '') throw new Error(`${told}By the document there is no body.`);
      return;
    }
    const type = String(answer.headers['content-type']);
    const media = Object.keys(response.content).find((each) =>
      each.endsWith('json') ? each === type : each === type.split(';')[0],
    );
    if (media === undefined)
      throw new Error(
        `${told}It is ${type}, and by the document ${Object.keys(response.content).join(' or ')}.`,
      );
    // Other forms than JSON are texts.
    if (!/[/+]json$/.test(media)) return;
    const validate = this.validator(`${pointer}/content/${escaped(media)}/schema`);
    if (!validate(answer.json))
      throw new Error(`${told}The document says otherwise: ${JSON.stringify(validate.errors?.slice(0, 5))}`);
  }

  private validator(pointer: string): ValidateFunction {
    const known =
      this.validators.get(pointer) ??
      this.load().ajv.compile({ $ref: `document${pointer.replaceAll('{', '%7B').replaceAll('}', '%7D')}` });
    this.validators.set(pointer, known);
    return known;
  }

  /** Made at the first answer: an application without one costs nothing. */
  private load(): NonNullable<AnswerCheck['loaded']> {
    if (this.loaded) return this.loaded;
    const empty = { openapi: '3.1.0', info: { title: 'Test', version: '1' }, paths: {} };
    const document = closed(this.app.get(RestifyOpenApi).extend(empty)) as Document;
    const ajv = new Ajv2020({ strict: false, allErrors: false, validateSchema: false });
    addFormats.default(ajv);
    for (const name of ['time-local', 'decimal', 'float', 'double', 'int32', 'int64'])
      ajv.addFormat(name, true);
    ajv.addSchema(document, 'document');
    const routes = this.server.apis.flatMap(({ prefix, routes: all }) =>
      all.map(
        (route) =>
          [`/${routePattern(prefix, route)}`.replace(/[:*](pk|childId)(?=\/|$)/g, '{$1}'), route] as const,
      ),
    );
    const described = Object.entries(document.paths).map(([path, item]): Described => ({
      path,
      item,
      pattern: patternOf(path),
      free: freeMethods(routes.find(([pattern]) => path.endsWith(pattern))?.[1]),
    }));
    // Concrete paths win over those with keys.
    described.sort((a, b) => keys(a.path) - keys(b.path));
    this.loaded = { document, ajv, described };
    return this.loaded;
  }
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

/** The same, and nothing beside what is described. */
function closed(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(closed);
  if (typeof value !== 'object' || value === null) return value;
  const all = Object.fromEntries(Object.entries(value).map(([name, each]) => [name, closed(each)]));
  return all.type === 'object' && 'properties' in all && !('additionalProperties' in all)
    ? { ...all, additionalProperties: false }
    : all;
}
