import type { DataSource, EntityMetadata } from 'typeorm';
import type { JsonWriter } from '../../../sql/dialects/json-writer.js';

/**
 * Tables whose values may be marked as JSON when they are read. SQLite marks what its JSON functions return until it is stored,
 * and writes what is marked into JSON as it is: the text `"Bob"` would lose its quotes. Such rows the process writes.
 */
export class JsonSubtypeTables {
  private names: ReadonlySet<string> = new Set();

  constructor(private readonly json: JsonWriter | undefined) {}

  /** Asks which tables the database makes columns of when they are read: a migration may have made more of them than entities say. */
  async load(dataSource: DataSource): Promise<void> {
    const { subtypeTables } = this.json ?? {};
    if (subtypeTables === undefined) return;
    const found = await dataSource.query<readonly { readonly name: unknown }[]>(subtypeTables);
    this.names = new Set(found.map(({ name }) => String(name).toLowerCase()));
  }

  /** A view may show such a column of any table. */
  mayHaveSubtype({ columns, tableName, tableType }: EntityMetadata): boolean {
    if (this.json?.subtypeTables === undefined) return false;
    const isMade = columns.some(
      ({ isVirtualProperty, asExpression, generatedType }) =>
        isVirtualProperty || (asExpression !== undefined && generatedType !== 'STORED'),
    );
    return isMade || this.names.has(tableName.toLowerCase()) || (tableType === 'view' && this.names.size > 0);
  }
}
