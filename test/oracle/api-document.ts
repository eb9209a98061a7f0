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
  /** The names of its documented headers. */
  readonly headers: readonly string[];
  /** The JSON pointer of the schema, by media type. */
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
  /** The names of alternative schemes; an empty list permits anonymous callers. Undefined if the document has none. */
  readonly security: readonly (readonly string[])[] | undefined;
}

interface PlainOperation {
  readonly parameters?: readonly (ApiParameter | { readonly $ref: string })[];
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
export const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'];
const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;

/** An OpenAPI 3.1 document, which is all that the oracle knows of an application. */
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

  /** The methods of a path. */
  methodsOf(path: string): readonly string[] {
    return this.operations.filter((each) => each.path === path).map(({ method }) => method);
  }

  has(path: string): boolean {
    return this.patterns.some(([each]) => each === path);
  }

  /** The templated path that matches a concrete one. */
  pathOf(concrete: string): string | undefined {
    return this.patterns.find(([, pattern]) => pattern.test(concrete.replace(/(.)\/$/, '$1')))?.[0];
  }

  /** Resolves a reference to a schema. */
  resolve(schema: Schema): Schema {
    if (typeof schema.$ref !== 'string') return schema;
    return this.resolve(at(this.plain, schema.$ref) as Schema);
  }

  /** Whether a value of a request is valid against a schema. */
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

  /** The validation errors of a response body; undefined if there are none. Undocumented fields are errors. */
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
      parameters: (operation.parameters ?? []).map((each) =>
        '$ref' in each ? (at(this.plain, each.$ref) as ApiParameter) : each,
      ),
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
  // Ajv treats it as an annotation; here it is validated.
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

/** Makes the references of a part of the document absolute. */
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

/** The same document without additional properties. */
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
