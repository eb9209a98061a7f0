import type { DataSource, EntityMetadata, ObjectLiteral, QueryRunner } from 'typeorm';
import type { ColumnMetadata } from 'typeorm/metadata/ColumnMetadata.js';
import type { RelationMetadata } from 'typeorm/metadata/RelationMetadata.js';
import type { Json } from '../../../core/errors/rest-exception.js';
import type { ResourceSchema } from '../../../core/schema/resource-schema.js';
import { Scope } from '../../../sql/query-scope.js';
import { MappedTables } from '../metadata/describe-relations.js';
import { classOf } from '../metadata/inheritance.js';
import type { DroppedRows, Removal } from './dropped-rows.js';
import { whereIdentity } from './entity-values.js';
import type { WriterTools } from './row-writer.js';
import type { TreeKeeper } from './trees/tree-keeper.js';

/**
 * Removes rows, or soft-deletes them, and calls the listeners and subscribers as TypeORM does. TypeORM's own `remove` would
 * first delete the rows of the many-to-many relations, whatever the foreign keys say.
 */
export class EntityRemover {
  private readonly metadata: EntityMetadata;
  private readonly dataSource: DataSource;
  private readonly isSoft: boolean;
  private readonly pairs: UndeclaredPairs;

  constructor(
    private readonly resource: ResourceSchema,
    tools: WriterTools,
    private readonly parts: {
      readonly tree: TreeKeeper | undefined;
      readonly dropped: DroppedRows | undefined;
    },
  ) {
    const { metadata, dataSource } = tools.tables.of(resource);
    this.metadata = metadata;
    this.dataSource = dataSource;
    // A deleted row is purged.
    this.isSoft = metadata.deleteDateColumn !== undefined && !resource.deleted;
    this.pairs = new UndeclaredPairs(resource, tools);
  }

  async remove(entity: ObjectLiteral, removal: Removal, runner: QueryRunner): Promise<void> {
    const { isSoft } = this;
    const { loaded } = removal;
    const { broadcaster } = runner;
    const metadata = this.dataSource.getMetadata(classOf(entity, this.metadata));
    const cascades = metadata.relations.filter(
      (each) => this.cascadesOver(each) && each.getEntityValue(entity) !== each.getEntityValue(loaded),
    );
    await broadcaster.broadcast(isSoft ? 'BeforeSoftRemove' : 'BeforeRemove', metadata, entity, loaded);
    await this.removeRelated(
      entity,
      cascades.filter(({ isOwning }) => !isOwning),
      runner,
    );
    const count = await (isSoft ? this.softDelete(entity, removal, runner) : this.delete(removal, runner));
    if (count === 0) await this.parts.dropped?.assertDeleted(removal, runner);
    await this.removeRelated(
      entity,
      cascades.filter(({ isOwning }) => isOwning),
      runner,
    );
    await withoutKey(entity, isSoft ? [] : metadata.primaryColumns, () =>
      broadcaster.broadcast(isSoft ? 'AfterSoftRemove' : 'AfterRemove', metadata, entity, loaded),
    );
  }

  /** Whether TypeORM removes related objects over this relation. TypeORM 0.3 does so in soft deletions only. */
  private cascadesOver({ isCascadeRemove, isCascadeSoftRemove }: RelationMetadata): boolean {
    return this.isSoft ? isCascadeSoftRemove : isCascadeRemove && 'dataSource' in this.metadata;
  }

  /** Removes the objects that a hook has assigned to these relations. */
  private async removeRelated(
    entity: ObjectLiteral,
    relations: readonly RelationMetadata[],
    { manager }: QueryRunner,
  ): Promise<void> {
    for (const relation of relations) {
      const { target } = relation.inverseEntityMetadata;
      const related = ([] as unknown[])
        .concat(relation.getEntityValue(entity) as unknown)
        .filter((each): each is ObjectLiteral => typeof each === 'object' && each !== null);
      if (this.isSoft) await manager.softRemove(target, related);
      else await manager.remove(target, related);
    }
  }

  /** Returns the number of rows that the statement has deleted. */
  private async delete({ identity }: Removal, runner: QueryRunner): Promise<number | null | undefined> {
    await this.parts.tree?.beforeDelete(identity[0] ?? null, runner);
    await this.pairs.delete(identity, runner);
    const { affected } = await runner.manager
      .createQueryBuilder()
      .callListeners(false)
      .delete()
      .from(this.metadata.target)
      .whereInIds([whereIdentity(identity, this.resource, this.metadata)])
      .execute();
    return affected;
  }

  /** Assigns the date of the deletion to the entity, too. */
  private async softDelete(
    entity: ObjectLiteral,
    { identity }: Removal,
    runner: QueryRunner,
  ): Promise<number | undefined> {
    const { affected } = await runner.manager
      .createQueryBuilder()
      .callListeners(false)
      .softDelete()
      .from(this.metadata.target)
      .whereEntity(entity)
      .whereInIds([whereIdentity(identity, this.resource, this.metadata)])
      .execute();
    return affected;
  }
}

/** Runs listeners that see a removed entity as TypeORM shows it: without its key. */
async function withoutKey(
  entity: ObjectLiteral,
  columns: EntityMetadata['primaryColumns'],
  listen: () => Promise<void>,
): Promise<void> {
  const values = columns.map((column): unknown => column.getEntityValue(entity));
  for (const column of columns) column.setEntityValue(entity, undefined);
  await listen();
  for (const [index, column] of columns.entries()) column.setEntityValue(entity, values[index]);
}

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
    private readonly tools: Pick<WriterTools, 'tables' | 'dialect'>,
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
