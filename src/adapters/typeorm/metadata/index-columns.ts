import type { EntityMetadata } from 'typeorm';
import type { DatabaseError, Dialect } from '../../../sql/dialects/dialect.js';
import type { Tables } from '../table-metadata.js';
import type { ConnectionManager } from '../connection/connection-manager.js';

type Duplicate = Extract<DatabaseError, { kind: 'unique' }>;

/** Indexes that are remembered. Their names come from the database, and not from clients. */
const MAX_INDEXES = 1000;

/**
 * The columns of unique indexes by their names: as TypeORM knows them, else as the database told them with its refusal, else as it
 * tells them when it is asked, once an index. An index that a migration written by hand has made has a name that TypeORM does not know.
 */
export class IndexColumns {
  private readonly found = new Map<string, readonly string[]>();

  constructor(
    private readonly tables: Tables,
    private readonly dialect: Dialect,
    private readonly connections: ConnectionManager,
  ) {}

  /** Names in the database; none where the index is not over columns alone, or nobody knows it. Asks outside of any transaction. */
  async of({ constraint, columns }: Duplicate, metadata: EntityMetadata): Promise<readonly string[]> {
    if (constraint === undefined) return columns ?? [];
    return declaredColumns(constraint, metadata) ?? columns ?? (await this.known(constraint, metadata));
  }

  private async known(index: string, metadata: EntityMetadata): Promise<readonly string[]> {
    const path = this.tables.pathOf(metadata);
    const name = `${path} ${index}`;
    const known = this.found.get(name);
    if (known) return known;
    const asked = await this.ask(index, { path, metadata });
    // One that cannot be found now may be found another time.
    if (!asked || asked.length === 0) return [];
    if (this.found.size >= MAX_INDEXES) this.found.clear();
    const columns = asked.includes(null) ? [] : asked.map(String);
    this.found.set(name, columns);
    return columns;
  }

  /** Undefined where the question itself fails: what the caller is told can do without its answer. */
  private async ask(
    index: string,
    { path, metadata }: { readonly path: string; readonly metadata: EntityMetadata },
  ): Promise<readonly unknown[] | undefined> {
    const question = this.dialect.indexColumns?.(
      { path, name: metadata.tableName, database: metadata.database },
      index,
    );
    if (!question) return undefined;
    try {
      const rows: unknown = await this.connections.reading('primary', (runner) =>
        runner.query(question.sql, [...question.parameters]),
      );
      return (rows as readonly { readonly c0: unknown }[]).map(({ c0 }) => c0);
    } catch {
      return undefined;
    }
  }
}

function declaredColumns(constraint: string, metadata: EntityMetadata): readonly string[] | undefined {
  // TypeORM keeps those of a child entity's relations with the base.
  const sharing = [
    metadata,
    ...(metadata.tableType === 'entity-child' ? [metadata.parentEntityMetadata] : []),
  ];
  const found = sharing
    .flatMap(({ uniques, indices }) => [...uniques, ...indices])
    .find((each) => each.name === constraint || each.givenName === constraint);
  if (found) return found.columns.map((column) => column.databaseName);
  return constraint === 'PRIMARY' ? metadata.primaryColumns.map((column) => column.databaseName) : undefined;
}
