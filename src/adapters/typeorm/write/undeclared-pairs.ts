import type { EntityMetadata, QueryRunner } from 'typeorm';
import type { ColumnMetadata } from 'typeorm/metadata/ColumnMetadata.js';
import type { Json } from '../../../core/errors/rest-exception.js';
import type { ResourceSchema } from '../../../core/schema/resource-schema.js';
import { Scope } from '../../../sql/query-scope.js';
import { MappedTables } from '../metadata/mapped-tables.js';
import type { WriterTools } from './row-writer.js';

/** The columns of a join table that refer to one side. */
interface Side {
  /** The quoted table. */
  readonly path: string;
  readonly columns: readonly ColumnMetadata[];
}

/**
 * The pairs of a row in join tables without an entity that no foreign key deletes, although no relation says that it should
 * keep them: `createForeignKeyConstraints: false`, and the inverse side in TypeORM 0.3.
 */
export class UndeclaredPairs {
  /** Determined at the first deletion. */
  private sides: readonly Side[] | undefined;

  constructor(
    private readonly resource: ResourceSchema,
    private readonly tools: WriterTools,
  ) {}

  /** Whether there may be such pairs. */
  exist(): boolean {
    this.sides ??= this.findSides();
    return this.sides.length > 0;
  }

  async delete(identity: readonly Json[], runner: QueryRunner): Promise<void> {
    const { resource, tools } = this;
    const quote = (name: string): string => tools.tables.of(resource).dataSource.driver.escape(name);
    this.sides ??= this.findSides();
    for (const { path, columns } of this.sides) {
      const scope = Scope.begin(tools.dialect, tools.tables, resource);
      const { alias, table } = scope;
      const row = resource.identity.map(
        (column, index) =>
          `${alias}.${table.name(column)} = ${scope.bind(identity[index] ?? null, column.type)}`,
      );
      const joined = columns.map(
        ({ databaseName, referencedColumn }) =>
          `${alias}.${quote(referencedColumn?.databaseName ?? '')} = ${path}.${quote(databaseName)}`,
      );
      const found = `SELECT 1 FROM ${scope.from()} WHERE ${[...row, ...joined].join(' AND ')}`;
      await runner.query(`DELETE FROM ${path} WHERE EXISTS (${found})`, [...scope.parameters]);
    }
  }

  private findSides(): readonly Side[] {
    const { tables } = this.tools;
    const { metadata, dataSource } = tables.of(this.resource);
    const sides = dataSource.entityMetadatas
      .filter(({ isJunction }) => isJunction)
      .flatMap((junction) =>
        [junction.ownerColumns, junction.inverseColumns]
          .filter((columns) => !isLeftToDatabase(columns, junction))
          .map((columns) => ({ junction, columns })),
      )
      .filter(
        ({ columns: [first] }) => first?.referencedColumn?.entityMetadata.tablePath === metadata.tablePath,
      );
    if (sides.length === 0) return [];
    const mapped = new MappedTables(dataSource);
    return sides
      .filter(({ junction }) => mapped.entitiesOn(junction).length === 0)
      .map(({ junction, columns }) => ({ path: tables.pathOf(junction), columns }));
  }
}

/** Whether a foreign key deletes the pairs, or a relation declares what it does. */
function isLeftToDatabase(
  columns: readonly ColumnMetadata[],
  { foreignKeys, ownerColumns }: EntityMetadata,
): boolean {
  const key = foreignKeys.find((each) => each.columns[0] === columns[0]);
  const owner = columns[0]?.relationMetadata;
  const relation = columns === ownerColumns ? owner : owner?.inverseRelation;
  return key !== undefined && (key.onDelete === 'CASCADE' || relation?.onDelete !== undefined);
}
