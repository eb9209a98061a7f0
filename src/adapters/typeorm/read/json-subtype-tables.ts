import type { DataSource, EntityMetadata } from 'typeorm';
import type { JsonWriter } from '../../../sql/dialects/json-writer.js';

/**
 * The tables whose values may have SQLite's JSON subtype: the result of a JSON function has it until it is stored, and
 * `json_object` includes it without quoting, so that the text `"Bob"` would lose its quotes. Rows of these tables are
 * serialized in the process.
 */
export class JsonSubtypeTables {
  private names: ReadonlySet<string> = new Set();

  constructor(private readonly json: JsonWriter | undefined) {}

  /** Reads the tables with virtual generated columns from the database: migrations may have added columns that no entity declares. */
  async load(dataSource: DataSource): Promise<void> {
    const { subtypeTables } = this.json ?? {};
    if (subtypeTables === undefined) return;
    const tables = await dataSource.query<readonly { readonly name: unknown }[]>(subtypeTables);
    this.names = new Set(tables.map(({ name }) => String(name).toLowerCase()));
  }

  /** Whether values of an entity may have the subtype. A view may select from any table. */
  mayHaveSubtype({ columns, tableName, tableType }: EntityMetadata): boolean {
    if (this.json?.subtypeTables === undefined) return false;
    const hasVirtualColumn = columns.some(
      ({ isVirtualProperty, asExpression, generatedType }) =>
        isVirtualProperty || (asExpression !== undefined && generatedType !== 'STORED'),
    );
    return (
      hasVirtualColumn ||
      this.names.has(tableName.toLowerCase()) ||
      (tableType === 'view' && this.names.size > 0)
    );
  }
}
