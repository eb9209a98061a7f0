import type { Column } from '../core/schema/column.js';
import type { ColumnPair } from '../core/schema/relation.js';
import type { ResourceSchema } from '../core/schema/resource-schema.js';

/** A table: `path` is quoted, the names are not. */
export interface NamedTable {
  readonly path: string;
  readonly name: string;
  readonly database: string | undefined;
}

/** The quoted identifiers of one entity's table. They are quoted once, at boot; no other code builds identifiers. */
export interface TableNames {
  /** The quoted table name, qualified with its schema and database. */
  readonly path: string;
  /** The quoted table name without qualifiers. */
  readonly ownAlias: string;
  /** A column qualified with an alias. */
  column(alias: string, column: Column): string;
  /** The same in a joined row that may be missing: NULL then, of a virtual column, too. */
  joinedColumn(alias: string, column: Column): string;
  /**
   * The condition for the rows that have a value in a column: of a column of entities that extend this one, the rows of those;
   * a row that became another one keeps what its columns held. Empty for the other columns.
   */
  holders(alias: string, column: Column): readonly string[];
  /** The quoted column name without qualifiers, for INSERT and UPDATE. */
  name(column: Column): string;
  /**
   * The conditions for rows of the entity: the discriminator if several entities share the table, not soft-deleted, and for
   * rows of a junction table, neither side soft-deleted or of another entity.
   */
  rows(alias: string): readonly string[];
  /** The same, including soft-deleted rows. */
  rowsEvenDeleted(alias: string): readonly string[];
}

/** The tables of one database. Throws if an entity has none. */
export interface TableRegistry {
  of(resource: ResourceSchema): TableNames;
  /** Looks a table up by the adapter's name of the entity. */
  named(entity: string): TableNames;
  /** Whether the database guarantees that each row of the first table has a row of the second one. */
  isGuaranteed(source: TableNames, on: readonly ColumnPair[], target: TableNames): boolean;
}
