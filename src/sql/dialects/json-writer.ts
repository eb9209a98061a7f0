import type { DataType } from '../../core/schema/data-type.js';

/** SQL of one value's JSON form. */
export interface JsonSql {
  readonly sql: string;
  /** SQL of whether the form is right for this row; left out where it always is. */
  readonly guard?: string;
  /** SQL of a column that must hold no bytes: as JSON they could look like something else. */
  readonly bytes?: string;
}

/** How the values of a column become JSON, or parts of a path. */
export interface JsonColumn {
  of(column: string): JsonSql;
  /**
   * The source of a regular expression, for a database that takes values of any kind: what is written looks so only if
   * the process would have written the same. It has no alternatives outside groups, and what it repeats ends where the next thing begins.
   */
  readonly pattern?: string;
}

/** A member of a JSON object: its name is one of the compiled model. */
export interface JsonMember extends JsonSql {
  readonly name: string;
}

/**
 * How a database writes JSON itself: byte for byte what `JSON.stringify` makes of the canonical values. What it cannot
 * write so has no form here, and the rows are read and written in process.
 */
export interface JsonWriter {
  /** Undefined for kinds whose text only `decode` can make. */
  columnOf(type: DataType): JsonColumn | undefined;
  /** A key as a part of a path; undefined for kinds that a path would escape. `shown`: it stands in the object itself, too. */
  keyTextOf(type: DataType, shown: boolean): JsonColumn | undefined;
  /** A text: `begin` is a placeholder that is bound to `textBegin(text)`, `key` is of `keyText`, `end` has letters, digits, `_` and `/` alone. */
  link(begin: string, key: string, end: string): string;
  linkPrefix(text: string): string;
  /** NULL where a guard does not hold. */
  object(members: readonly JsonMember[]): JsonSql;
  /** Where values of some columns may be marked as JSON: SQL of the tables (`name`) that have columns which are made when they are read. */
  readonly subtypeTables?: string;
  /** The rows of a subquery in their order, commas between; NULL is left out. */
  joinRows(column: string): string;
  /**
   * The values of a column in some rows of the subquery, counted from 1, by aggregates of the same pass; null where there is no
   * such row. Undefined for a type that has no such form here.
   */
  valuesAt(column: string, type: DataType, rows: readonly number[]): PickedValues | undefined;
}

/** Values of some rows. */
export interface PickedValues {
  readonly sql: readonly string[];
  /** From the driver's values of `sql`, in the order of the rows; undefined where one of them cannot be read so. */
  read(raw: readonly unknown[]): readonly unknown[] | undefined;
}

/** Names that stand in SQL texts and in JSON as they are. */
export function isPlainName(name: string): boolean {
  return /^[A-Za-z0-9_]+$/.test(name);
}
