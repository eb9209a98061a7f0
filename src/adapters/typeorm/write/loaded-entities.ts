import type { EntityMetadata, ObjectLiteral, QueryRunner } from 'typeorm';
import type { Json } from '../../../core/errors/rest-exception.js';
import { conjunction, equals } from '../../../core/query/condition.js';
import type { Condition } from '../../../core/query/condition.js';
import type { ResourceSchema } from '../../../core/schema/resource-schema.js';
import { EmbeddedKeys } from './embedded-keys.js';
import { emptyRelationsAreNull } from './empty-relations.js';
import { identityOf, setColumns, whereIdentity } from './entity-values.js';
import type { WriterTools } from './row-writer.js';

/** Loads the entities of rows that are written, by their keys. */
export class LoadedEntities {
  private readonly metadata: EntityMetadata;
  private readonly forward: readonly string[];
  private readonly embedded: EmbeddedKeys | undefined;

  constructor(
    private readonly resource: ResourceSchema,
    tools: WriterTools,
  ) {
    this.metadata = tools.tables.of(resource).metadata;
    this.forward = this.metadata.relations
      .filter((relation) => relation.isWithJoinColumn && !relation.isLazy && !relation.embeddedMetadata)
      .map((relation) => relation.propertyPath);
    this.embedded = EmbeddedKeys.of(resource, this.metadata, tools);
  }

  /** Loads an entity with the keys of its forward relations, as validators and listeners expect them. */
  async load(identity: readonly Json[], runner: QueryRunner): Promise<ObjectLiteral | null> {
    const entity = await this.loadWith(this.forward, identity, runner);
    if (entity) await this.embedded?.load(entity, this.conditionOf(identity), runner);
    return entity;
  }

  /** Loads an entity with the keys of these relations only. */
  async loadWith(
    relations: readonly string[],
    identity: readonly Json[],
    runner: QueryRunner,
  ): Promise<ObjectLiteral | null> {
    const entity = await runner.manager.findOne<ObjectLiteral>(this.metadata.target, {
      where: whereIdentity(identity, this.resource, this.metadata),
      loadEagerRelations: false,
      ...(relations.length > 0
        ? { loadRelationIds: { relations: [...relations], disableMixedMap: true } }
        : {}),
    });
    if (entity) emptyRelationsAreNull(entity, this.metadata, relations);
    return entity;
  }

  /**
   * Assigns the key by which an entity was found. False if TypeORM has loaded another one, because the driver loses
   * digits of a number or date: with its own key TypeORM would update or delete another row.
   */
  restoreKey(entity: ObjectLiteral, identity: readonly Json[]): boolean {
    if (this.hasKey(entity, identity)) return true;
    setColumns(
      entity,
      this.metadata,
      this.resource.identity.map((column, index) => ({ column, value: identity[index] ?? null })),
    );
    return false;
  }

  hasKey(entity: ObjectLiteral, identity: readonly Json[]): boolean {
    return identityOf(entity, this.resource, this.metadata).every(
      (value, index) => value === identity[index],
    );
  }

  conditionOf(identity: readonly Json[]): Condition {
    return conjunction(
      this.resource.identity.map((column, index) => equals(column, identity[index] ?? null)),
    );
  }
}
