import type { DataType } from '../../core/schema/data-type.js';

/** SQL of a value as JSON. */
export interface JsonSql {
  readonly sql: string;
  /** A SQL condition under which the JSON is correct; undefined if it always is. */
  readonly guard?: string;
  /** A column that must not hold a BLOB, which could be mistaken for other JSON. */
  readonly bytes?: string;
}

/** The conversion of a column to JSON or to a path segment. */
export interface JsonColumn {
  of(column: string): JsonSql;
  /**
   * The source of a regular expression, for databases with dynamic types: it matches only if the process would have
   * serialized the same text. No alternatives outside of groups, and unambiguous repetitions, to avoid backtracking.
   */
  readonly pattern?: string;
  /** SQL of stored JSON text. The value in the object is then `[]`, in whose place the process writes what it parses. */
  readonly stored?: (column: string) => string;
}

/** A member of a JSON object; its name comes from the compiled model. */
export interface JsonMember extends JsonSql {
  readonly name: string;
}

/**
 * JSON serialization in SQL, byte for byte equal to `JSON.stringify` of the canonical values. Rows with types that are not
 * supported here are serialized in the process.
 */
export interface JsonWriter {
  /** Undefined for types that only `decode` can convert. */
  columnOf(type: DataType): JsonColumn | undefined;
  /** A key as a path segment; undefined for types that need URL encoding. `shown`: the key is also a member of the object. */
  keyTextOf(type: DataType, shown: boolean): JsonColumn | undefined;
  /** A URL: `begin` is a placeholder bound to `linkPrefix(text)`, `key` comes from `keyTextOf`, `end` consists of letters, digits, `_` and `/`. */
  link(begin: string, key: string, end: string): string;
  linkPrefix(text: string): string;
  /** The JSON object; NULL if a guard is false. */
  object(members: readonly JsonMember[]): JsonSql;
  /** Whether a statement has failed because a column has another type than the entity declares, with which it is no JSON. */
  isTypeError?(error: unknown): boolean;
  /** A query for the tables (`name`) with virtual generated columns, whose values may carry a JSON subtype (SQLite). */
  readonly subtypeTables?: string;
  /** An aggregate that joins the rows of a subquery with commas, in order, without NULLs. */
  joinRows(column: string): string;
  /** The same for stored JSON, joined by `TEXT_SEPARATOR`. */
  joinTexts(column: string): string;
  /**
   * Aggregates that read a column in the given rows of the subquery, counted from 1, in the same pass; null for missing
   * rows. Undefined for types that are not supported.
   */
  valuesAt(column: string, type: DataType, rows: readonly number[]): PickedValues | undefined;
}

/** The aggregates and the decoder of values in selected rows. */
export interface PickedValues {
  readonly sql: readonly string[];
  /** Decodes the driver's values of `sql`, in the order of the rows; undefined if one of them cannot be decoded. */
  read(raw: readonly unknown[]): readonly unknown[] | undefined;
}

/** Whether a name needs no escaping in SQL strings and in JSON. */
export function isPlainName(name: string): boolean {
  return /^[A-Za-z0-9_]+$/.test(name);
}
