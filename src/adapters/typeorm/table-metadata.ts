import type { DataSource, EntityMetadata } from 'typeorm';
import type { Column } from '../../core/schema/column.js';
import type { ColumnPair } from '../../core/schema/relation.js';
import type { ResourceSchema } from '../../core/schema/resource-schema.js';
import type { DeletedRows } from '../../core/schema/operation.js';
import type { Dialect } from '../../sql/dialects/dialect.js';
import type { TableNames, TableRegistry } from '../../sql/table-names.js';
import { declaredProperties, givenEntities } from './metadata/declared-properties.js';
import type { DeclaredProperties } from './metadata/declared-properties.js';
import { declaringEntity, discriminatorLiterals, holdersOf } from './metadata/inheritance.js';

/** Each name is asked for by all relations that lead to the entity. */
const IDS = new WeakMap<EntityMetadata, string>();

/** The adapter's name of an entity: readable, and unique in its data source. */
export function entityIdOf(metadata: EntityMetadata, dataSource: DataSource): string {
  const known = IDS.get(metadata);
  if (known !== undefined) return known;
  const id = `${metadata.targetName || metadata.name}@${dataSource.entityMetadatas.indexOf(metadata)}`;
  IDS.set(metadata, id);
  return id;
}

/** The table of one entity, with TypeORM's metadata. */
export interface Table extends TableNames {
  readonly dataSource: DataSource;
  readonly metadata: EntityMetadata;
}

/** The tables of a data source by entity id. */
export class Tables implements TableRegistry {
  private readonly byEntity = new Map<string, Table>();
  private readonly withDeleted = new Map<string, Readonly<Record<DeletedRows, Table>>>();
  private readonly guaranteed = new Set<string>();
  /** The tables with virtual generated columns; undefined if the database has no JSON subtype. */
  private jsonSubtypes: ReadonlySet<string> | undefined;
  private readonly declared: DeclaredProperties;

  constructor(private readonly dataSource: DataSource) {
    this.declared = declaredProperties(givenEntities(dataSource));
    for (const metadata of dataSource.entityMetadatas)
      this.byEntity.set(entityIdOf(metadata, dataSource), this.tableOf(metadata));
  }

  /**
   * Reads facts from the catalogue, once at start. Of virtual generated columns too, because migrations may have added some that no
   * entity declares.
   */
  async loadTableFacts({ json, guaranteedKeys }: Pick<Dialect, 'json' | 'guaranteedKeys'>): Promise<void> {
    if (json?.subtypeTables !== undefined) {
      const tables = await this.dataSource.query<readonly { readonly name: unknown }[]>(json.subtypeTables);
      this.jsonSubtypes = new Set(tables.map(({ name }) => String(name).toLowerCase()));
    }
    await this.readGuarantees(guaranteedKeys);
  }

  /**
   * Whether values of an entity may have SQLite's JSON subtype: the result of a JSON function has it until it is stored, and
   * `json_object` includes it without quoting, so that the text `"Bob"` would lose its quotes. A view may select from any table.
   */
  mayHaveJsonSubtype({ columns, tableName, tableType }: EntityMetadata): boolean {
    if (!this.jsonSubtypes) return false;
    const hasVirtualColumn = columns.some(
      ({ isVirtualProperty, asExpression, generatedType }) =>
        isVirtualProperty || (asExpression !== undefined && generatedType !== 'STORED'),
    );
    return (
      hasVirtualColumn ||
      this.jsonSubtypes.has(tableName.toLowerCase()) ||
      (tableType === 'view' && this.jsonSubtypes.size > 0)
    );
  }

  /** Reads which foreign keys always have their row; none if that fails. */
  private async readGuarantees(guaranteedKeys: Dialect['guaranteedKeys']): Promise<void> {
    if (guaranteedKeys === undefined || this.byEntity.size === 0) return;
    const paths = new Set([...this.byEntity.values()].map(({ path }) => path));
    const { sql, parameters } = guaranteedKeys([...paths]);
    const rows = await this.dataSource
      .query<readonly GuaranteedKey[]>(sql, [...parameters])
      .catch((): readonly GuaranteedKey[] => []);
    for (const { c0, c1, c2 } of rows) this.guaranteed.add(keyName(c0, c2, c1));
  }

  isGuaranteed(source: TableNames, on: readonly ColumnPair[], target: TableNames): boolean {
    const columns = on.map((pair) => [pair.localColumn.id, pair.referencedColumn.id] as const);
    return this.guaranteed.size > 0 && this.guaranteed.has(keyName(source.path, columns, target.path));
  }

  of({ entity, deleted }: Pick<ResourceSchema, 'entity' | 'deleted'>): Table {
    const table = this.named(entity);
    if (!deleted) return table;
    const views = this.withDeleted.get(entity) ?? deletedRows(table);
    this.withDeleted.set(entity, views);
    return views[deleted.rows];
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
    const column = (alias: string, read: Column): string => {
      const query = virtual.get(read.id)?.query;
      return query ? `(${query(alias)})` : `${alias}.${name(read)}`;
    };
    const [key] = metadata.primaryColumns.map(({ databaseName }) => quote(databaseName));
    const holders = new Map(
      metadata.columns.map((column) => [
        column.databaseName,
        holdersOf(column, { metadata, declared: this.declared }),
      ]),
    );
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
      column,
      joinedColumn: (alias, read) =>
        virtual.has(read.id) && key !== undefined
          ? `CASE WHEN ${alias}.${key} IS NOT NULL THEN ${column(alias, read)} END`
          : column(alias, read),
      holders: (alias, { id }) =>
        entityCondition(holders.get(id) ?? [], quote).map((condition) => `${alias}.${condition}`),
      rows: (alias) => [
        ...rowsEvenDeleted(alias),
        ...(deleted === undefined ? [] : [`${alias}.${quote(deleted.databaseName)} IS NULL`]),
        ...pairConditions(metadata, { alias, quote, dataSource: this.dataSource }),
      ],
      rowsEvenDeleted,
    };
  }
}

/** The table with other rows: the soft-deleted ones, or all. */
function deletedRows(table: Table): Readonly<Record<DeletedRows, Table>> {
  const { metadata, dataSource } = table;
  const rowsEvenDeleted = (alias: string): readonly string[] => table.rowsEvenDeleted(alias);
  const name = dataSource.driver.escape(metadata.deleteDateColumn?.databaseName ?? '');
  return {
    only: { ...table, rows: (alias) => [...rowsEvenDeleted(alias), `${alias}.${name} IS NOT NULL`] },
    with: { ...table, rows: rowsEvenDeleted },
  };
}

interface GuaranteedKey {
  /** The paths of the tables, as they were given. */
  readonly c0: string;
  readonly c1: string;
  readonly c2: readonly (readonly [source: string, target: string])[];
}

function keyName(
  source: string,
  on: readonly (readonly [source: string, target: string])[],
  target: string,
): string {
  return JSON.stringify([source, target, ...on.map((pair) => JSON.stringify(pair)).sort()]);
}

interface Quoting {
  readonly alias: string;
  readonly quote: (name: string) => string;
}

/** A row of a junction table exists as long as neither of its sides is soft-deleted, or has become a row of another entity. */
function pairConditions(
  metadata: EntityMetadata,
  { alias, quote, dataSource }: Quoting & { readonly dataSource: DataSource },
): readonly string[] {
  if (!metadata.isJunction) return [];
  const [owner, inverse] = sidesOf(metadata, dataSource);
  return [
    { columns: metadata.ownerColumns, side: owner },
    { columns: metadata.inverseColumns, side: inverse },
  ].flatMap(({ columns, side }) => {
    const deleted = side?.deleteDateColumn;
    const rows = side
      ? [
          ...discriminatorCondition(side, quote),
          ...(deleted ? [`${quote(deleted.databaseName)} IS NULL`] : []),
        ]
      : [];
    if (!side || rows.length === 0) return [];
    const joined = columns.map(
      (column) =>
        `side.${quote(column.referencedColumn?.databaseName ?? '')} = ${alias}.${quote(column.databaseName)}`,
    );
    const exists = [...joined, ...rows.map((row) => `side.${row}`)].join(' AND ');
    return [`EXISTS (SELECT 1 FROM ${quotePath(side, quote)} side WHERE ${exists})`];
  });
}

/** The entities of a junction table: those that declare the relations, of which TypeORM makes others of the base, too. */
function sidesOf(
  { ownerColumns, inverseColumns, tablePath }: EntityMetadata,
  { entityMetadatas }: DataSource,
): readonly (EntityMetadata | undefined)[] {
  const owner = entityMetadatas
    .flatMap(({ manyToManyRelations }) => manyToManyRelations)
    .find((each) => each.isOwning && each.junctionEntityMetadata?.tablePath === tablePath);
  if (!owner)
    return [ownerColumns, inverseColumns].map(([column]) => column?.referencedColumn?.entityMetadata);
  const { inverseRelation, inverseEntityMetadata } = owner;
  const isChild = inverseEntityMetadata.tableType === 'entity-child';
  return [
    declaringEntity(owner),
    inverseRelation && !isChild ? declaringEntity(inverseRelation) : inverseEntityMetadata,
  ];
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
  return metadata.tableType === 'entity-child' ? entityCondition([metadata], quote) : [];
}

/** The rows of any of these entities, without the alias. */
function entityCondition(
  entities: readonly EntityMetadata[],
  quote: (name: string) => string,
): readonly string[] {
  const column = entities[0]?.discriminatorColumn;
  if (!column) return [];
  const literals = new Set(entities.flatMap(discriminatorLiterals));
  return [`${quote(column.databaseName)} IN (${[...literals].join(', ')})`];
}
