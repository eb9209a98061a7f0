import type { EntityMetadata, QueryRunner } from 'typeorm';
import { evictOldest } from '../../../core/evict-oldest.js';
import type { ConstrainedTable, DatabaseError, Dialect } from '../../../sql/dialects/dialect.js';
import type { NamedTable } from '../../../sql/table-names.js';
import type { ConnectionManager } from '../../../execution/connection/connection-manager.js';
import type { Tables } from '../table-metadata.js';

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
    private readonly connections: ConnectionManager<QueryRunner>,
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
    const columns = names.includes(null) ? [] : names.map(String);
    this.cache.set(name, columns);
    evictOldest(this.cache, MAX_INDEXES);
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

/** The maximum number of tables that are remembered as a part of another one. */
const MAX_PARTS = 1000;

/** Decides whose constraint the database reports: that of the written table, or of one that a trigger or a subscriber writes. */
export class ViolatedConstraints {
  private readonly parts = new Set<string>();

  constructor(
    private readonly tools: {
      readonly tables: Tables;
      readonly dialect: Dialect;
      readonly connections: ConnectionManager<QueryRunner>;
      readonly indexes: IndexColumns;
    },
  ) {}

  /**
   * The error with the columns of the table; undefined if the constraint is that of another one. Queries outside of a
   * transaction.
   */
  async resolve(error: DatabaseError, metadata: EntityMetadata): Promise<DatabaseError | undefined> {
    const found = error.kind === 'unique' || error.kind === 'not-null' ? splitNames(error, metadata) : error;
    // A row to which others refer is not changed or deleted because of the constraint of their table.
    if (found.kind === 'foreign-key' && found.isDangling !== true)
      return (await this.hasForeignKey(metadata)) ? found : undefined;
    if ('table' in found && !(await this.isPart(found, metadata))) return undefined;
    if (found.kind === 'not-null' || found.kind === 'data')
      return (await this.hasColumn(found, metadata)) ? found : undefined;
    if (found.kind !== 'unique') return found;
    const columns = await this.tools.indexes.of(found, metadata);
    return columns && { kind: 'unique', columns };
  }

  /** Whether the table has the column of the error. True if it is not known. */
  private async hasColumn(
    { table, column }: Extract<DatabaseError, { kind: 'not-null' | 'data' }>,
    metadata: EntityMetadata,
  ): Promise<boolean> {
    const { columnOf } = this.tools.dialect;
    if (!columnOf || table !== undefined || column === undefined) return true;
    return (await this.tools.connections.read(columnOf(this.named(metadata), column), 'primary')).length > 0;
  }

  private named(metadata: EntityMetadata): NamedTable {
    const { tableName: name, database } = metadata;
    return { path: this.tools.tables.pathOf(metadata), name, database };
  }

  /** Whether a foreign key may connect the table with another one. True if the database names the table of the violated one. */
  private async hasForeignKey(metadata: EntityMetadata): Promise<boolean> {
    const { dialect, connections } = this.tools;
    const statement = dialect.foreignKeyAt?.(this.named(metadata));
    return !statement || (await connections.read(statement, 'primary')).length > 0;
  }

  /** Whether the table is that of the entity, a partition of it, or one that its view shows. True if it is not known. */
  private async isPart({ table, schema }: ConstrainedTable, metadata: EntityMetadata): Promise<boolean> {
    if (table === undefined) return true;
    const { dialect, connections } = this.tools;
    const whole = this.named(metadata);
    const statement = dialect.partOf(whole, { table, schema });
    if (!statement) return true;
    const name = JSON.stringify([whole.path, schema, table]);
    if (this.parts.has(name)) return true;
    const isPart = (await connections.read(statement, 'primary')).length > 0;
    if (this.parts.size >= MAX_PARTS) this.parts.clear();
    // Only what is a part: a partition may be added.
    if (isPart) this.parts.add(name);
    return isPart;
  }
}

type Named = Extract<DatabaseError, { kind: 'unique' | 'not-null' }>;

/** Splits `table.column` of SQLite where the name of the entity's table ends: both names may contain dots. */
function splitNames(error: Named, { tableName }: EntityMetadata): Named {
  const { table, schema } = error;
  if (table === undefined || schema !== undefined) return error;
  const columnOf = (column: string): string | undefined => {
    const text = `${table}.${column}`;
    const isOwn = text.toLowerCase().startsWith(`${tableName.toLowerCase()}.`);
    return isOwn ? text.slice(tableName.length + 1) : undefined;
  };
  if (error.kind === 'not-null') {
    const column = columnOf(error.column ?? '');
    return column === undefined ? error : { kind: 'not-null', table: tableName, column };
  }
  const columns = error.columns?.flatMap((column) => columnOf(column) ?? []) ?? [];
  return columns.length === 0 ? error : { kind: 'unique', table: tableName, columns };
}
