import { Ajv2020 } from 'ajv/dist/2020.js';
import type { ValidateFunction } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';

export type Schema = Readonly<Record<string, unknown>>;

export interface ApiParameter {
  readonly name: string;
  readonly in: string;
  readonly required?: boolean;
  readonly schema: Schema;
  readonly explode?: boolean;
  readonly description?: string;
}

export interface ApiResponse {
  /** Names of the headers that it may have. */
  readonly headers: readonly string[];
  /** Where the schema of each media type stands in the document. */
  readonly content: ReadonlyMap<string, string>;
}

/** One method of one path, with its references resolved. */
export interface ApiOperation {
  /** `GET /rest/v1/polls/choice`. */
  readonly id: string;
  readonly method: string;
  readonly path: string;
  readonly parameters: readonly ApiParameter[];
  readonly body:
    { readonly required: boolean; readonly schema: Schema; readonly pointer: string } | undefined;
  readonly responses: ReadonlyMap<string, ApiResponse>;
  /** Names of schemes, one of which is enough; the empty list is for anonymous callers. Undefined: none is said. */
  readonly security: readonly (readonly string[])[] | undefined;
}

interface PlainOperation {
  readonly parameters?: readonly ApiParameter[];
  readonly requestBody?: {
    readonly required?: boolean;
    readonly content: Readonly<Record<string, { schema: Schema } | undefined>>;
  };
  readonly responses: Readonly<Record<string, PlainResponse & { readonly $ref?: string }>>;
  readonly security?: readonly Readonly<Record<string, unknown>>[];
}

interface PlainResponse {
  readonly headers?: Readonly<Record<string, unknown>>;
  readonly content?: Readonly<Record<string, unknown>>;
}

const JSON_TYPE = 'application/json';
const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'];
const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;

/** A document of OpenAPI 3.1 as the oracle reads it: all that it knows of an application. */
export class ApiDocument {
  readonly operations: readonly ApiOperation[];
  private readonly requests: Ajv2020;
  private readonly answers: Ajv2020;
  private readonly validators = new Map<string, ValidateFunction>();
  private readonly validatorsOfSchemas = new WeakMap<Schema, ValidateFunction>();
  private readonly patterns: readonly (readonly [path: string, pattern: RegExp])[];

  constructor(private readonly plain: object) {
    this.requests = ajvOf(plain);
    this.answers = ajvOf(closed(plain) as object);
    const { paths } = plain as {
      readonly paths: Readonly<Record<string, Readonly<Record<string, PlainOperation>>>>;
    };
    this.operations = Object.entries(paths).flatMap(([path, item]) =>
      METHODS.flatMap((method) => {
        const operation = item[method.toLowerCase()];
        return operation ? [this.read(path, method, operation)] : [];
      }),
    );
    this.patterns = Object.keys(paths)
      .map((path) => [path, patternOf(path)] as const)
      .sort(([a], [b]) => a.split('{').length - b.split('{').length);
  }

  /** Methods that a path serves. */
  methodsOf(path: string): readonly string[] {
    return this.operations.filter((each) => each.path === path).map(({ method }) => method);
  }

  has(path: string): boolean {
    return this.patterns.some(([each]) => each === path);
  }

  /** The path of the document that a concrete one is of. */
  pathOf(concrete: string): string | undefined {
    return this.patterns.find(([, pattern]) => pattern.test(concrete.replace(/(.)\/$/, '$1')))?.[0];
  }

  /** The schema itself, where this one only names it. */
  resolve(schema: Schema): Schema {
    if (typeof schema.$ref !== 'string') return schema;
    return this.resolve(at(this.plain, schema.$ref) as Schema);
  }

  /** Whether a value of a request is as a schema says. */
  fits(schema: Schema, value: unknown): boolean {
    const validate = this.validatorsOfSchemas.get(schema) ?? this.validatorOf(schema);
    this.validatorsOfSchemas.set(schema, validate);
    return validate(value);
  }

  private validatorOf(schema: Schema): ValidateFunction {
    const key = JSON.stringify(schema);
    const known = this.validators.get(key) ?? this.requests.compile(inDocument(schema) as Schema);
    this.validators.set(key, known);
    return known;
  }

  /** What is wrong with the body of an answer; undefined where nothing is. Fields that are not described are wrong. */
  answerProblem(pointer: string, body: unknown): string | undefined {
    const key = `answer ${pointer}`;
    const known =
      this.validators.get(key) ??
      this.answers.compile({ $ref: `document${pointer.replaceAll('{', '%7B').replaceAll('}', '%7D')}` });
    this.validators.set(key, known);
    if (known(body)) return undefined;
    return (known.errors ?? [])
      .slice(0, 3)
      .map(
        ({ instancePath, message, params }) => `${instancePath} ${message ?? ''} ${JSON.stringify(params)}`,
      )
      .join('; ');
  }

  private read(path: string, method: string, operation: PlainOperation): ApiOperation {
    const place = `#/paths/${escaped(path)}/${method.toLowerCase()}`;
    const body = operation.requestBody?.content[JSON_TYPE];
    const pointer = `${place}/requestBody/content/${escaped(JSON_TYPE)}/schema`;
    return {
      id: `${method} ${path}`,
      method,
      path,
      parameters: operation.parameters ?? [],
      body: body && { required: operation.requestBody.required === true, schema: body.schema, pointer },
      responses: new Map(
        Object.entries(operation.responses).map(([status, response]) => [
          status,
          this.readResponse(response.$ref ?? `${place}/responses/${status}`),
        ]),
      ),
      security: operation.security?.map((each) => Object.keys(each)),
    };
  }

  private readResponse(pointer: string): ApiResponse {
    const { headers = {}, content = {} } = at(this.plain, pointer) as PlainResponse;
    return {
      headers: Object.keys(headers),
      content: new Map(
        Object.keys(content).map((type) => [type, `${pointer}/content/${escaped(type)}/schema`]),
      ),
    };
  }
}

function ajvOf(document: object): Ajv2020 {
  const ajv = new Ajv2020({ strict: false, allErrors: false, validateSchema: false });
  addFormats.default(ajv);
  for (const name of ['time-local', 'decimal', 'float', 'double', 'int32', 'int64'])
    ajv.addFormat(name, true);
  // Ajv only notes it; the text of an answer or a body has to be what it says.
  ajv.removeKeyword('contentEncoding');
  ajv.addKeyword({
    keyword: 'contentEncoding',
    type: 'string',
    validate: (encoding: unknown, text: string) => encoding !== 'base64' || BASE64.test(text),
  });
  ajv.addSchema(document, 'document');
  return ajv;
}

function at(document: unknown, pointer: string): unknown {
  return pointer
    .split('/')
    .slice(1)
    .reduce(
      (place, step) => (place as Record<string, unknown>)[step.replaceAll('~1', '/').replaceAll('~0', '~')],
      document,
    );
}

/** References of a part of the document lead into it from anywhere. */
function inDocument(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(inDocument);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, each]) => [
      name,
      name === '$ref' && typeof each === 'string' ? `document${each}` : inDocument(each),
    ]),
  );
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

function patternOf(path: string): RegExp {
  const text = path.replace(/[.*+?^$()|[\]\\]/g, '\\$&').replace(/\{[^}]*\}/g, '[^/]+');
  return new RegExp(`^${text}$`);
}

function escaped(path: string): string {
  return path.replaceAll('~', '~0').replaceAll('/', '~1');
}
