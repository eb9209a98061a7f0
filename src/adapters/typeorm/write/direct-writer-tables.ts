import type { DataSource, EntityMetadata } from 'typeorm';
import type { WriterTools } from './row-writer.js';

const KNOWN = new WeakMap<DataSource, DirectWriterTables>();

/**
 * The tables without triggers or rules in the database that change rows. Queried once for each table, at its first
 * write.
 */
export class DirectWriterTables {
  private readonly answers = new Map<EntityMetadata, Promise<boolean> | boolean>();

  static of(dataSource: DataSource): DirectWriterTables {
    const known = KNOWN.get(dataSource) ?? new DirectWriterTables();
    KNOWN.set(dataSource, known);
    return known;
  }

  isPlain(metadata: EntityMetadata, tools: WriterTools): Promise<boolean> | boolean {
    const known = this.answers.get(metadata);
    if (known !== undefined) return known;
    const asked = this.query(metadata, tools);
    this.answers.set(metadata, asked);
    return asked;
  }

  private async query(
    metadata: EntityMetadata,
    { dialect, connections, tables }: WriterTools,
  ): Promise<boolean> {
    const question = dialect.returning?.plainTable(metadata.tableName, tables.pathOf(metadata));
    try {
      const answer =
        question !== undefined &&
        (await connections.needsNoPreparation()) &&
        Number((await connections.read(question, 'primary'))[0]?.[0] ?? 0) === 1;
      this.answers.set(metadata, answer);
      return answer;
    } catch (error) {
      this.answers.delete(metadata);
      throw error;
    }
  }
}
