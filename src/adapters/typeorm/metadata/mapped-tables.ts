import type { DataSource, EntityMetadata } from 'typeorm';

/** The application's entities by table. Names with and without schema and database are equal if they denote the same table. */
export class MappedTables {
  private readonly byTable = new Map<string, EntityMetadata[]>();

  constructor(private readonly dataSource: DataSource) {
    for (const metadata of dataSource.entityMetadatas) {
      if (metadata.isJunction || metadata.isClosureJunction || metadata.tableType === 'view') continue;
      const table = this.tableOf(metadata);
      const others = this.byTable.get(table);
      if (others) others.push(metadata);
      else this.byTable.set(table, [metadata]);
    }
  }

  entitiesOn(junction: EntityMetadata): readonly EntityMetadata[] {
    return this.byTable.get(this.tableOf(junction)) ?? [];
  }

  /** The full name of a table; the schema and database default to those of the connection. */
  private tableOf(metadata: EntityMetadata): string {
    const { database, schema, tableName } = this.dataSource.driver.parseTableName(metadata);
    return JSON.stringify([database, schema, tableName]);
  }
}
