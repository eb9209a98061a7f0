import type { QueryRunner } from 'typeorm';
import type { ResourceSchema } from '../../../core/schema/resource-schema.js';
import type { WriterTools } from './row-writer.js';

/** Whether the table of a resource is a view, which the database is asked once. */
export class TableKind {
  private isKnown: boolean | undefined;

  constructor(
    private readonly resource: ResourceSchema,
    private readonly tools: WriterTools,
  ) {}

  async isView(runner: QueryRunner): Promise<boolean> {
    const { tables, dialect, connections } = this.tools;
    if (this.isKnown !== undefined || !dialect.returning) return this.isKnown === true;
    const { metadata } = tables.of(this.resource);
    const statement = dialect.returning.view(metadata.tableName, tables.pathOf(metadata));
    const [record] = await connections.records(runner, statement);
    return (this.isKnown = Number(record?.[0] ?? 0) === 1);
  }
}
