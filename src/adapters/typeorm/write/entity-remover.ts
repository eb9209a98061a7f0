import type { EntityMetadata, ObjectLiteral, QueryRunner } from 'typeorm';
import type { Json } from '../../../core/errors/rest-exception.js';
import type { DataSource } from 'typeorm';
import type { ResourceSchema } from '../../../core/schema/resource-schema.js';
import { unjoinedRelations } from '../metadata/describe-relations.js';
import { classOf } from '../metadata/inheritance.js';
import { whereIdentity } from './entity-values.js';
import type { WriterTools } from './row-writer.js';
import type { TreeKeeper } from './trees/tree-keeper.js';

/** A row to be removed. */
export interface Removal {
  readonly identity: readonly Json[];
  /** Whether TypeORM has loaded this key exactly. */
  readonly isKeyExact: boolean;
}

/** Removes entities by TypeORM's own statements, or soft-deletes them. */
export class EntityRemover {
  private readonly metadata: EntityMetadata;
  private readonly dataSource: DataSource;
  private readonly isUnjoined: boolean;

  constructor(
    private readonly resource: ResourceSchema,
    tools: WriterTools,
    private readonly tree: TreeKeeper | undefined,
  ) {
    const { metadata, dataSource } = tools.tables.of(resource);
    this.metadata = metadata;
    this.dataSource = dataSource;
    this.isUnjoined = unjoinedRelations(metadata).length > 0;
  }

  async remove(entity: ObjectLiteral, { identity, isKeyExact }: Removal, runner: QueryRunner): Promise<void> {
    if (!isKeyExact) {
      await this.deleteByIdentity(identity, runner);
      return;
    }
    const target = classOf(entity, this.metadata);
    if (this.metadata.deleteDateColumn) {
      await runner.manager.softRemove(target, entity);
      return;
    }
    await this.tree?.beforeDelete(identity[0] ?? null, runner);
    if (this.isUnjoined) await this.removeWithoutJunctions(entity, identity, runner);
    else await runner.manager.remove(target, entity);
  }

  /**
   * Deletes the row and calls the listeners, without the junction rows that TypeORM would query in a junction table
   * that does not exist.
   */
  private async removeWithoutJunctions(
    entity: ObjectLiteral,
    identity: readonly Json[],
    runner: QueryRunner,
  ): Promise<void> {
    const metadata = this.dataSource.getMetadata(classOf(entity, this.metadata));
    await runner.broadcaster.broadcast('BeforeRemove', metadata, entity, entity);
    await this.deleteByIdentity(identity, runner, false);
    await runner.broadcaster.broadcast('AfterRemove', metadata, entity, entity);
  }

  private async deleteByIdentity(
    identity: readonly Json[],
    runner: QueryRunner,
    listeners = true,
  ): Promise<void> {
    const builder = runner.manager.createQueryBuilder().callListeners(listeners);
    const where = [whereIdentity(identity, this.resource, this.metadata)];
    if (this.metadata.deleteDateColumn)
      await builder.softDelete().from(this.metadata.target).whereInIds(where).execute();
    else await builder.delete().from(this.metadata.target).whereInIds(where).execute();
  }
}
