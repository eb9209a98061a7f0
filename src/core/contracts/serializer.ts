import type { FieldErrors, Json } from '../errors/rest-exception.js';
import type { Actor } from '../schema/caller.js';
import type { ResourceSchema } from '../schema/resource-schema.js';

/** The serialized JSON object of a row. */
export type Representation = Record<string, unknown>;

/**
 * A row as read by the adapter: one canonical value for each readable field, in the order of `resource.fields`. Links and
 * computed fields are filled in by the serializer.
 */
export interface Row {
  readonly key: readonly Json[];
  readonly values: readonly unknown[];
  /** The key in the row's own collection, if it differs from the key in the URL: that of a registered junction. */
  readonly identity?: readonly Json[];
  /** The entity, loaded only for computed fields. */
  readonly entity?: object;
  /** By field: the expanded objects that replace its key or link. */
  readonly expanded?: ReadonlyMap<string, unknown>;
  /** The stored JSON object, for a row that an earlier request with the same idempotency key has created. */
  readonly answered?: Representation;
  /** True if an upsert updated the row rather than created it. */
  readonly changed?: boolean;
}

/** What a serializer knows of the response that it makes. */
export interface RepresentContext {
  readonly resource: ResourceSchema;
  /** The path prefix of the resource's links: `/rest/v1/polls/question`. */
  readonly basePath: string;
  readonly actor: Actor;
}

/** What a serializer knows of the request whose body it parses. */
export interface ParseContext {
  readonly resource: ResourceSchema;
  readonly operation: 'create' | 'update' | 'partialUpdate';
  readonly actor: Actor;
  /** Fields whose values come from the URL: they are neither read from the body nor required in it. */
  readonly given: ReadonlySet<string>;
}

/** Canonical values by field name, and the errors of the other fields. */
export interface ParsedBody {
  readonly values: ReadonlyMap<string, unknown>;
  readonly errors: FieldErrors;
  /** The raw body, for validators of the application that check the text of a date. Without it they see the canonical text. */
  readonly sent?: Readonly<Record<string, unknown>>;
  /** The errors of fields that the caller may read and not write: their values must be those of the stored row. */
  readonly errorsOfStored?: (stored: Row) => FieldErrors;
}

/**
 * Converts rows to bodies and bodies to values. The default is compiled from the model; extend `ModelSerializer` and give
 * the class as `serializer` to change it for one entity.
 *
 * ```ts
 * @Injectable()
 * export class ShoutingSerializer extends ModelSerializer {
 *   override represent(row: Row, context: RepresentContext): Representation {
 *     const body = super.represent(row, context);
 *     return { ...body, question_text: String(body.question_text).toUpperCase() };
 *   }
 * }
 * ```
 */
export interface Serializer {
  /** Converts a row to the JSON object of a response. */
  represent(row: Row, context: RepresentContext): Representation;
  /** Converts the JSON object of a request to values and errors, both by field. */
  parse(body: Readonly<Record<string, unknown>>, context: ParseContext): ParsedBody;
}
