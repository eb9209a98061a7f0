/** JSON Schema 2020-12, as used by OpenAPI 3.1. */
export type Schema = Readonly<Record<string, unknown>>;

export interface Parameter {
  readonly name: string;
  readonly in: 'path' | 'query' | 'header';
  readonly required: boolean;
  readonly description?: string;
  readonly schema: Schema;
  readonly example?: unknown;
  readonly style?: string;
  readonly explode?: boolean;
}

/** Describes a parameter. A list can be sent as repeated parameters, the standard style of OpenAPI, or comma-separated. */
export function describeParameter(
  place: Parameter['in'],
  name: string,
  rest: Omit<Parameter, 'name' | 'in' | 'required'>,
): Parameter {
  return {
    name,
    in: place,
    required: place === 'path',
    ...rest,
    ...(rest.schema.type === 'array' ? { style: 'form', explode: true } : {}),
  };
}

/** A type alias, so that a reference is assignable to a schema. */
export type Reference = { readonly $ref: string };

export interface Response {
  readonly description: string;
  readonly headers?: Readonly<
    Record<string, Reference | { readonly description: string; readonly schema: Schema }>
  >;
  readonly content?: Readonly<Record<string, { readonly schema: Schema }>>;
}

/** By status: `200`. */
export type Responses = Readonly<Record<string, Response | Reference>>;

/** Scopes by the name of a security scheme; an empty object is an anonymous caller. */
export type SecurityRequirement = Readonly<Record<string, readonly string[]>>;

export interface OperationObject {
  readonly operationId: string;
  readonly summary: string;
  readonly description?: string;
  readonly tags: readonly string[];
  readonly parameters: readonly (Parameter | Reference)[];
  readonly requestBody?: {
    readonly required: boolean;
    readonly content: Readonly<Record<string, { readonly schema: Schema }>>;
  };
  readonly responses: Responses;
  /** Undefined if the document's security applies. */
  readonly security?: readonly SecurityRequirement[];
}

/** Operations by HTTP method in lower case. */
export type PathItem = Readonly<Record<string, unknown>>;

/** The used part of an OpenAPI document; everything else is unchanged. */
export interface OpenApiDocument {
  readonly openapi: string;
  readonly servers?: readonly unknown[];
  readonly security?: readonly unknown[];
  readonly tags?: readonly { readonly name: string }[];
  readonly paths: Readonly<Record<string, PathItem>>;
  readonly components?: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
}
