import type { DataSource, EntityMetadata } from 'typeorm';

/** The application's entities by the table that they are mapped on, however the table's schema and database are said. */
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

  /** With the schema and the database of the connection where the metadata names none. */
  private tableOf(metadata: EntityMetadata): string {
    const { database, schema, tableName } = this.dataSource.driver.parseTableName(metadata);
    return JSON.stringify([database, schema, tableName]);
  }
}
