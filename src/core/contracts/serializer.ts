import type { FieldErrors, Json } from '../errors/rest-exception.js';
import type { Actor } from '../schema/actor.js';
import type { Resource } from '../schema/resource.js';

/** The JSON object that stands for a row. */
export type Representation = Record<string, unknown>;

/**
 * A row as the adapter read it: one canonical value per readable field, in the order of `resource.fields` without
 * those that are not readable. Links and computed fields are filled in by the serializer.
 */
export interface Row {
  readonly key: readonly Json[];
  readonly values: readonly unknown[];
  /** The key in the collection of its own, where it is another than in the URL: that of a registered pair. */
  readonly identity?: readonly Json[];
  /** The entity, loaded where a computed field needs it. */
  readonly entity?: object;
  /** By field: what stands in the place of its key or link, where a client has asked for the objects themselves. */
  readonly expanded?: ReadonlyMap<string, unknown>;
  /** Its JSON object as it was answered before, of a row that a repeated request has made already. */
  readonly answered?: Representation;
  /** Of an upsert: it was there before. */
  readonly changed?: boolean;
}

export interface RepresentContext {
  readonly resource: Resource;
  /** The path below which the resource's links stand: `/rest/v1/polls/question`. */
  readonly basePath: string;
  readonly actor: Actor;
}

export interface ParseContext {
  readonly resource: Resource;
  readonly operation: 'create' | 'update' | 'partialUpdate';
  readonly actor: Actor;
  /** Fields that the URL fills: they are neither read from the body nor missing. */
  readonly given: ReadonlySet<string>;
}

/** Canonical values by field name, and the errors of the other fields. */
export interface ParsedBody {
  readonly values: ReadonlyMap<string, unknown>;
  readonly errors: FieldErrors;
  /** What was sent, for validators of the application that judge a date by its text. Without it they see the canonical one. */
  readonly sent?: Readonly<Record<string, unknown>>;
}

/**
 * Both directions between rows and bodies. The default is compiled from the model; extend `ModelSerializer` and name
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
  represent(row: Row, context: RepresentContext): Representation;
  parse(body: Readonly<Record<string, unknown>>, context: ParseContext): ParsedBody;
}
