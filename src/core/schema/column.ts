import type { Json } from '../errors/rest-exception.js';
import type { Outcome } from '../values/parse-result.js';
import type { DataType } from './data-type.js';
import type { JsonType } from './json-value.js';

/** A column of a table, as described by the adapter. `id` is its name in the database, unique in its table. */
export interface Column {
  readonly id: string;
  /** The property's path in the entity, `address.city` in an embedded one; for a join column, the path of its relation. */
  readonly path: string;
  readonly type: DataType;
  readonly nullable: boolean;
  /** Whether an index begins with it, so that rows can be read in its order without sorting. */
  readonly indexed?: boolean;
  /** Set if a transformer of the application converts its values. */
  readonly transform?: Transform;
  /** Set if it is a value in another column, whose `id` it has. */
  readonly json?: JsonValue;
}

/** A value in a column of JSON: null if the document has none of this type at the place. */
export interface JsonValue {
  /** The column with the document. */
  readonly source: Column;
  /** The keys of the objects that lead to the value, from the outside in. */
  readonly keys: readonly string[];
  /** `any`: a value of any type, of which only the presence is read. */
  readonly as: JsonType | 'any';
  /** A generated column that has the value, so that an index may serve it. */
  readonly generated?: Column;
}

/** Identifies a column, or a value in one, among those of a table. */
export function columnKey({ id, json }: Column): string {
  return json ? JSON.stringify([id, json.as, json.keys, json.generated?.id]) : id;
}

/** The conversions of a column's transformer. */
export interface Transform {
  /** The type of the values in bodies, if it differs from the stored one. */
  readonly outward?: DataType;
  /** Converts a value of a body to the canonical stored one; errors if the transformer throws or the column cannot hold it. */
  stored(value: Json): Outcome<Json>;
}

/** The type of a column's values in bodies. */
export function outwardType({ type, transform }: Column): DataType {
  return transform?.outward ?? type;
}
