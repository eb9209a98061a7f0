import type { DataSource, EntityMetadata } from 'typeorm';
import type { ColumnMetadata } from 'typeorm/metadata/ColumnMetadata.js';
import type { Column } from '../../../core/schema/column.js';
import type { ResourceSchema } from '../../../core/schema/resource-schema.js';
import type { Dialect } from '../../../sql/dialects/dialect.js';

/** What TypeORM would write into an omitted column. */
export interface ColumnDefault {
  readonly columnId: string;
  /** The quoted name of the column. */
  readonly name: string;
  readonly sql: string;
}

/** How new rows of an entity are written without TypeORM. */
export interface InsertRules {
  readonly defaults: readonly ColumnDefault[];
  /** The columns for which a UUID is generated in the process, unless the body has a value. */
  readonly generated: readonly Column[];
  /** The ids of the columns into which TypeORM would write a value that is not part of the body, unchanged. */
  readonly writable: ReadonlySet<string>;
}

export interface RulesContext {
  readonly dataSource: DataSource;
  readonly dialect: Dialect;
  /** The ids of the columns that TypeORM and `encode` write identically. */
  readonly alike: ReadonlySet<string>;
}

/** Undefined if TypeORM has to write new rows. */
export function insertRules(
  resource: ResourceSchema,
  metadata: EntityMetadata,
  context: RulesContext,
): InsertRules | undefined {
  if (metadata.beforeInsertListeners.length + metadata.afterInsertListeners.length > 0) return undefined;
  if (metadata.columns.some(isReadBack)) return undefined;
  const omitted = omittedColumns(resource, metadata, context);
  if (!omitted) return undefined;
  const writable = [...context.alike].filter(
    (id) => metadata.findColumnWithDatabaseName(id)?.isInsert === true,
  );
  return { ...omitted, writable: new Set(writable) };
}

/** Whether the database generates the value of a column that is not the key. */
function isReadBack({ isGenerated, isPrimary, generationStrategy }: ColumnMetadata): boolean {
  return isGenerated && !isPrimary && generationStrategy !== 'uuid';
}

/**
 * The defaults and generated columns of an INSERT without a value for them. PostgreSQL fills them itself, except for
 * the version; on SQLite TypeORM writes the entity's defaults, and NULL. Undefined if a default has no SQL.
 */
function omittedColumns(
  resource: ResourceSchema,
  metadata: EntityMetadata,
  { dataSource, dialect }: RulesContext,
): Pick<InsertRules, 'defaults' | 'generated'> | undefined {
  const inserted = metadata.columns.filter((column) => column.isInsert);
  const columns = dialect.oneConnection ? inserted : inserted.filter((column) => column.isVersion);
  const made = columns.filter((column) => column.isGenerated && column.generationStrategy === 'uuid');
  const generated = made.flatMap(({ databaseName }) => resource.columns.get(databaseName) ?? []);
  const defaults = columns
    .filter((column) => !made.includes(column))
    .map((column) => ({
      columnId: column.databaseName,
      name: dataSource.driver.escape(column.databaseName),
      sql: defaultSql(column, dataSource),
    }));
  const known = defaults.filter((each): each is ColumnDefault => each.sql !== undefined);
  return known.length === defaults.length && generated.length === made.length
    ? { defaults: known, generated }
    : undefined;
}

function defaultSql(column: ColumnMetadata, { driver }: DataSource): string | undefined {
  if (column.isVersion) return '1';
  return column.default === undefined || column.default === null ? 'NULL' : driver.normalizeDefault(column);
}
