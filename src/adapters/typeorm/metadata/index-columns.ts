import type { EntityMetadata } from 'typeorm';
import type { DatabaseError, Dialect } from '../../../sql/dialects/dialect.js';
import type { Tables } from '../table-metadata.js';
import type { ConnectionManager } from '../connection/connection-manager.js';

type Duplicate = Extract<DatabaseError, { kind: 'unique' }>;

/** The maximum number of cached indexes. Their names come from the database, not from clients. */
const MAX_INDEXES = 1000;

/**
 * Resolves the columns of a unique index by its name: from TypeORM's metadata, else from the error of the database, else by
 * a query, once per index. TypeORM does not know the names of indexes in hand-written migrations.
 */
export class IndexColumns {
  private readonly cache = new Map<string, readonly string[]>();

  constructor(
    private readonly tables: Tables,
    private readonly dialect: Dialect,
    private readonly connections: ConnectionManager,
  ) {}

  /**
   * The database names of the columns; empty if the index has expressions or they cannot be read, undefined if the table has no
   * such index. Queries outside of a transaction.
   */
  async of(duplicate: Duplicate, metadata: EntityMetadata): Promise<readonly string[] | undefined> {
    const { constraint, columns, table } = duplicate;
    if (constraint === undefined) return columns ?? [];
    const prefix = `${metadata.tableName}.`;
    const names = constraint.startsWith(prefix)
      ? [constraint, constraint.slice(prefix.length)]
      : [constraint];
    for (const name of names) {
      const found = constraintColumns(name, metadata) ?? columns ?? (await this.queried(name, metadata));
      if (found) return found;
    }
    // The index of a partition is not that of the table.
    return table === undefined ? undefined : [];
  }

  private async queried(index: string, metadata: EntityMetadata): Promise<readonly string[] | undefined> {
    const path = this.tables.pathOf(metadata);
    const name = `${path} ${index}`;
    const cached = this.cache.get(name);
    if (cached) return cached;
    const names = await this.query(index, { path, metadata });
    // Not cached: an index that cannot be found now may be found later.
    if (!names) return [];
    if (names.length === 0) return undefined;
    if (this.cache.size >= MAX_INDEXES) this.cache.clear();
    const columns = names.includes(null) ? [] : names.map(String);
    this.cache.set(name, columns);
    return columns;
  }

  /** Undefined if the query fails: the error message of the request does not require its result. */
  private async query(
    index: string,
    { path, metadata }: { readonly path: string; readonly metadata: EntityMetadata },
  ): Promise<readonly unknown[] | undefined> {
    const statement = this.dialect.indexColumns?.(
      { path, name: metadata.tableName, database: metadata.database },
      index,
    );
    if (!statement) return undefined;
    try {
      const rows: unknown = await this.connections.reading('primary', (runner) =>
        runner.query(statement.sql, [...statement.parameters]),
      );
      return (rows as readonly { readonly c0: unknown }[]).map(({ c0 }) => c0);
    } catch {
      return undefined;
    }
  }
}

function constraintColumns(constraint: string, metadata: EntityMetadata): readonly string[] | undefined {
  // TypeORM assigns the indexes of a child entity's relations to the base entity.
  const entities = [
    metadata,
    ...(metadata.tableType === 'entity-child' ? [metadata.parentEntityMetadata] : []),
  ];
  const index = entities
    .flatMap(({ uniques, indices }) => [...uniques, ...indices])
    .find((each) => each.name === constraint || each.givenName === constraint);
  if (index) return index.columns.map((column) => column.databaseName);
  return constraint === 'PRIMARY' ? metadata.primaryColumns.map((column) => column.databaseName) : undefined;
}
