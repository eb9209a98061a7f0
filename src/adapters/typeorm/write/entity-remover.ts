import type { DataSource, EntityMetadata, ObjectLiteral, QueryRunner } from 'typeorm';
import type { RelationMetadata } from 'typeorm/metadata/RelationMetadata.js';
import type { ResourceSchema } from '../../../core/schema/resource-schema.js';
import { classOf } from '../metadata/inheritance.js';
import type { DroppedRows, Removal } from './dropped-rows.js';
import { whereIdentity } from './entity-values.js';
import type { WriterTools } from './row-writer.js';
import type { TreeKeeper } from './trees/tree-keeper.js';
import { UndeclaredPairs } from './undeclared-pairs.js';

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
    this.isSoft = metadata.deleteDateColumn !== undefined;
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
