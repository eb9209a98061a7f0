import type { Column } from '../core/schema/column.js';
import type { Resource } from '../core/schema/resource.js';

/** What SQL needs to know of one entity's table. Names are quoted once, at boot; nothing else names a table or column. */
export interface TableNames {
  /** Quoted, with its schema and database. */
  readonly path: string;
  /** Its quoted name alone. */
  readonly ownAlias: string;
  /** SQL of a column of the alias. */
  column(alias: string, column: Column): string;
  /** The quoted name alone, for INSERT and UPDATE. */
  name(column: Column): string;
  /**
   * SQL conditions for rows of the entity: the discriminator where several entities share the table, not soft-deleted, and for
   * rows of a junction, neither side soft-deleted.
   */
  rows(alias: string): readonly string[];
  /** The same, including soft-deleted rows. */
  rowsEvenDeleted(alias: string): readonly string[];
}

/** The tables of one database. Throws where an entity has none. */
export interface TableRegistry {
  of(resource: Resource): TableNames;
  /** By the adapter's name of the entity. */
  named(entity: string): TableNames;
}
