import type { DataSource, EntityMetadata } from 'typeorm';
import type { Column } from '../../core/schema/column.js';
import type { ColumnPair } from '../../core/schema/relation.js';
import type { ResourceSchema } from '../../core/schema/resource-schema.js';
import type { Dialect } from '../../sql/dialects/dialect.js';
import type { TableNames, TableRegistry } from '../../sql/table-names.js';
import { entityIdOf } from './metadata/entity-id.js';
import { discriminatorLiterals } from './metadata/inheritance.js';

/** The table of one entity, with TypeORM's metadata. */
export interface Table extends TableNames {
  readonly dataSource: DataSource;
  readonly metadata: EntityMetadata;
}

/** The tables of a data source by entity id. */
export class Tables implements TableRegistry {
  private readonly byEntity = new Map<string, Table>();
  private readonly guaranteed = new Set<string>();

  constructor(private readonly dataSource: DataSource) {
    for (const metadata of dataSource.entityMetadatas)
      this.byEntity.set(entityIdOf(metadata, dataSource), this.tableOf(metadata));
  }

  /** Reads from the catalogue, once at start, which foreign keys always have their row; none if that fails. */
  async readGuarantees({ guaranteedKeys }: Pick<Dialect, 'guaranteedKeys'>): Promise<void> {
    if (guaranteedKeys === undefined || this.byEntity.size === 0) return;
    const paths = new Set([...this.byEntity.values()].map(({ path }) => path));
    const { sql, parameters } = guaranteedKeys([...paths]);
    const rows = await this.dataSource
      .query<readonly GuaranteedKey[]>(sql, [...parameters])
      .catch((): readonly GuaranteedKey[] => []);
    for (const { c0, c1, c2 } of rows) this.guaranteed.add(keyName(c0, c2, c1));
  }

  isGuaranteed(near: TableNames, on: readonly ColumnPair[], far: TableNames): boolean {
    const columns = on.map((pair) => [pair.near.id, pair.far.id] as const);
    return this.guaranteed.size > 0 && this.guaranteed.has(keyName(near.path, columns, far.path));
  }

  of(resource: ResourceSchema): Table {
    return this.named(resource.entity);
  }

  named(entity: string): Table {
    const table = this.byEntity.get(entity);
    if (!table) throw new Error(`No table of the entity ${entity}`);
    return table;
  }

  /** The quoted table name, qualified with schema and database. */
  pathOf(metadata: EntityMetadata): string {
    return quotePath(metadata, (name) => this.dataSource.driver.escape(name));
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
      const quotedName = quoted.get(column.id);
      if (quotedName === undefined) throw new Error(`No column ${column.id} of ${metadata.name}`);
      return quotedName;
    };
    const deleted = metadata.deleteDateColumn;
    const discriminator = discriminatorCondition(metadata, quote);
    const rowsEvenDeleted = (alias: string): readonly string[] =>
      discriminator.map((condition) => `${alias}.${condition}`);
    return {
      dataSource: this.dataSource,
      metadata,
      path: quotePath(metadata, quote),
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

interface GuaranteedKey {
  /** The paths of the tables, as they were given. */
  readonly c0: string;
  readonly c1: string;
  readonly c2: readonly (readonly [near: string, far: string])[];
}

function keyName(near: string, on: readonly (readonly [near: string, far: string])[], far: string): string {
  return JSON.stringify([near, far, ...on.map((pair) => JSON.stringify(pair)).sort()]);
}

/** A row of a junction table exists as long as neither of its sides is soft-deleted. */
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
      `EXISTS (SELECT 1 FROM ${quotePath(side, quote)} side WHERE ${joined.join(' AND ')} AND side.${quote(deleted.databaseName)} IS NULL)`,
    ];
  });
}

function quotePath({ tablePath }: EntityMetadata, quote: (name: string) => string): string {
  return tablePath
    .split('.')
    .map((part) => (part === '' ? part : quote(part)))
    .join('.');
}

/** The discriminator condition of an entity that shares its table, without the alias. Its values are checked at boot. */
function discriminatorCondition(
  metadata: EntityMetadata,
  quote: (name: string) => string,
): readonly string[] {
  const column = metadata.discriminatorColumn;
  if (!column || metadata.tableType !== 'entity-child') return [];
  return [`${quote(column.databaseName)} IN (${discriminatorLiterals(metadata).join(', ')})`];
}
