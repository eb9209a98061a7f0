import type { DataSource, EntityMetadata } from 'typeorm';
import type { Column } from '../../core/schema/column.js';
import type { ResourceSchema } from '../../core/schema/resource-schema.js';
import type { TableNames, TableRegistry } from '../../sql/table-names.js';
import { entityIdOf } from './metadata/entity-id.js';
import { kindLiterals } from './metadata/inheritance.js';

/** One entity's table, with TypeORM's metadata. */
export interface Table extends TableNames {
  readonly dataSource: DataSource;
  readonly metadata: EntityMetadata;
}

/** The tables of a data source, by the adapter's entity names. */
export class Tables implements TableRegistry {
  private readonly byEntity = new Map<string, Table>();

  constructor(private readonly dataSource: DataSource) {
    for (const metadata of dataSource.entityMetadatas)
      this.byEntity.set(entityIdOf(metadata, dataSource), this.tableOf(metadata));
  }

  of(resource: ResourceSchema): Table {
    return this.named(resource.entity);
  }

  named(entity: string): Table {
    const table = this.byEntity.get(entity);
    if (!table) throw new Error(`No table of the entity ${entity}`);
    return table;
  }

  /** Quoted, with its schema and database. */
  pathOf(metadata: EntityMetadata): string {
    return pathOf(metadata, (name) => this.dataSource.driver.escape(name));
  }

  private tableOf(metadata: EntityMetadata): Table {
    const quote = (name: string): string => this.dataSource.driver.escape(name);
    const quoted = new Map(
      metadata.columns.map((column) => [column.databaseName, quote(column.databaseName)]),
    );
    const virtual = new Map(
      metadata.columns
        .filter((column) => column.isVirtualProperty && column.query)
        .map((column) => [column.databaseName, column]),
    );
    const name = (column: Column): string => {
      const found = quoted.get(column.id);
      if (found === undefined) throw new Error(`No column ${column.id} of ${metadata.name}`);
      return found;
    };
    const deleted = metadata.deleteDateColumn;
    const ofKind = kindCondition(metadata, quote);
    const rowsEvenDeleted = (alias: string): readonly string[] =>
      ofKind.map((condition) => `${alias}.${condition}`);
    return {
      dataSource: this.dataSource,
      metadata,
      path: pathOf(metadata, quote),
      ownAlias: quote(metadata.tableName),
      name,
      column: (alias, column) => {
        const query = virtual.get(column.id)?.query;
        return query ? `(${query(alias)})` : `${alias}.${name(column)}`;
      },
      rows: (alias) => [
        ...rowsEvenDeleted(alias),
        ...(deleted === undefined ? [] : [`${alias}.${quote(deleted.databaseName)} IS NULL`]),
        ...pairConditions(metadata, { alias, quote }),
      ],
      rowsEvenDeleted,
    };
  }
}

/** A pair is there while both of its sides are: its key is a side's key. */
function pairConditions(
  metadata: EntityMetadata,
  { alias, quote }: { alias: string; quote: (name: string) => string },
): readonly string[] {
  if (!metadata.isJunction) return [];
  return [metadata.ownerColumns, metadata.inverseColumns].flatMap((columns) => {
    const side = columns[0]?.referencedColumn?.entityMetadata;
    const deleted = side?.deleteDateColumn;
    if (!side || !deleted) return [];
    const joined = columns.map(
      (column) =>
        `side.${quote(column.referencedColumn?.databaseName ?? '')} = ${alias}.${quote(column.databaseName)}`,
    );
    return [
      `EXISTS (SELECT 1 FROM ${pathOf(side, quote)} side WHERE ${joined.join(' AND ')} AND side.${quote(deleted.databaseName)} IS NULL)`,
    ];
  });
}

function pathOf({ tablePath }: EntityMetadata, quote: (name: string) => string): string {
  return tablePath
    .split('.')
    .map((part) => (part === '' ? part : quote(part)))
    .join('.');
}

/** What tells an entity's rows from those of others in its table, without the alias. The values are the model's own, checked at boot. */
function kindCondition(metadata: EntityMetadata, quote: (name: string) => string): readonly string[] {
  const column = metadata.discriminatorColumn;
  if (!column || metadata.tableType !== 'entity-child') return [];
  return [`${quote(column.databaseName)} IN (${kindLiterals(metadata).join(', ')})`];
}
