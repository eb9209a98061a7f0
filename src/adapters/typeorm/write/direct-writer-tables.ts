import type { DataSource, EntityMetadata } from 'typeorm';
import type { WriterTools } from './row-writer.js';

const KNOWN = new WeakMap<DataSource, DirectWriterTables>();

/**
 * The tables without triggers or rules in the database that change rows. Queried once for each table, at its first
 * write.
 */
export class DirectWriterTables {
  private readonly plainTables = new Map<EntityMetadata, Promise<boolean> | boolean>();

  static of(dataSource: DataSource): DirectWriterTables {
    const known = KNOWN.get(dataSource) ?? new DirectWriterTables();
    KNOWN.set(dataSource, known);
    return known;
  }

  isPlain(metadata: EntityMetadata, tools: WriterTools): Promise<boolean> | boolean {
    const known = this.plainTables.get(metadata);
    if (known !== undefined) return known;
    const queried = this.query(metadata, tools);
    this.plainTables.set(metadata, queried);
    return queried;
  }

  private async query(
    metadata: EntityMetadata,
    { dialect, connections, tables }: WriterTools,
  ): Promise<boolean> {
    const statement = dialect.returning?.plainTable(metadata.tableName, tables.pathOf(metadata));
    try {
      const isPlain =
        statement !== undefined &&
        (await connections.needsNoPreparation()) &&
        Number((await connections.read(statement, 'primary'))[0]?.[0] ?? 0) === 1;
      this.plainTables.set(metadata, isPlain);
      return isPlain;
    } catch (error) {
      this.plainTables.delete(metadata);
      throw error;
    }
  }
}
