import type { EntityMetadata, ObjectLiteral, QueryRunner } from 'typeorm';
import type { RelationMetadata } from 'typeorm/metadata/RelationMetadata.js';
import type { Json } from '../../../core/errors/rest-exception.js';
import { conjunction, equals } from '../../../core/query/condition.js';
import type { Condition } from '../../../core/query/condition.js';
import type { Column } from '../../../core/schema/column.js';
import type { ResourceSchema } from '../../../core/schema/resource-schema.js';
import { loadEntities } from '../unreadable-json.js';
import { hasIdentity, identityOf, setColumns, setRelation, whereIdentity } from './entity-values.js';
import type { WriterTools } from './row-writer.js';
import { selectForUpdate } from './select-for-update.js';

/** A relation of a loaded entity, and its value. */
export interface LoadedRelation {
  readonly relation: RelationMetadata;
  readonly value: unknown;
}

/** Loads the entities of rows that are written, by their keys. */
export class LoadedEntities {
  readonly metadata: EntityMetadata;
  private readonly hasTransformedKey: boolean;
  private readonly forward: string[];
  /**
   * The keys of forward relations in embedded objects. TypeORM 0.3 does not load them if the embedded object has no other
   * value, and so is not created.
   */
  private readonly embeddedKeys: readonly Column[];

  constructor(
    readonly resource: ResourceSchema,
    private readonly tools: WriterTools,
  ) {
    this.metadata = tools.tables.of(resource).metadata;
    this.hasTransformedKey = this.metadata.primaryColumns.some(
      ({ transformer }) => transformer !== undefined,
    );
    this.forward = this.metadata.relations
      .filter((relation) => relation.isWithJoinColumn && !relation.isLazy && !relation.embeddedMetadata)
      .map((relation) => relation.propertyPath);
    this.embeddedKeys = embeddedKeysOf(resource, this.metadata);
  }

  /** Loads an entity with the keys of its forward relations, as validators and listeners expect them. */
  async load(identity: readonly Json[], runner: QueryRunner): Promise<ObjectLiteral | null> {
    const relations = this.forward;
    const entity = await loadEntities(runner, () =>
      runner.manager.findOne<ObjectLiteral>(this.metadata.target, {
        where: whereIdentity(identity, this.resource, this.metadata),
        loadEagerRelations: false,
        ...(relations.length > 0 ? { loadRelationIds: { relations, disableMixedMap: true } } : {}),
      }),
    );
    // Without a transformer, TypeORM finds the row, and the driver may have rounded its key.
    if (!entity || (this.hasTransformedKey && !this.hasKey(entity, identity))) return null;
    this.clearUnselected(entity);
    this.setEmptyToNull(entity);
    if (this.embeddedKeys.length > 0) await this.loadEmbeddedKeys(entity, identity, runner);
    return entity;
  }

  /** Assigns the keys in embedded objects, which are created. */
  private async loadEmbeddedKeys(
    entity: ObjectLiteral,
    identity: readonly Json[],
    runner: QueryRunner,
  ): Promise<void> {
    const { resource, tools, embeddedKeys: columns } = this;
    const where = this.conditionOf(identity);
    const values = await selectForUpdate(resource, { columns, where }, { runner, tools });
    if (!values) return;
    const keys = columns.map((column, index) => ({ column, value: values[index] ?? null }));
    setColumns(entity, this.metadata, keys);
  }

  /**
   * Sets relations without a row to null. TypeORM loads their keys as an object without values, and would insert it as a
   * new row.
   */
  private setEmptyToNull(entity: ObjectLiteral): void {
    for (const relation of this.metadata.relations) {
      if (!this.forward.includes(relation.propertyPath)) continue;
      const related = relation.getEntityValue(entity) as ObjectLiteral | null | undefined;
      const empty =
        typeof related === 'object' &&
        related !== null &&
        relation.joinColumns.every(
          (column) => (column.referencedColumn?.getEntityValue(related) ?? null) === null,
        );
      if (empty) setRelation(entity, relation, null);
    }
  }

  /**
   * The values of a loaded entity that `save` would take for changes: forward relations that are null, and what the class or
   * `@AfterLoad` has assigned to the other relations, for which TypeORM would delete pairs and change or delete other rows.
   */
  unchangedRelations(entity: ObjectLiteral): readonly LoadedRelation[] {
    return this.metadata.relations
      .map((relation) => ({ relation, value: relation.getEntityValue(entity) as unknown }))
      .filter(({ relation, value }) => (relation.isWithJoinColumn ? value === null : value !== undefined));
  }

  /** Takes out what the class assigns to columns that are not loaded (`select: false`), which a save would write. */
  private clearUnselected(entity: ObjectLiteral): void {
    for (const column of this.metadata.columns)
      if (!column.isSelect && !column.isVirtual && column.getEntityValue(entity) !== undefined)
        column.setEntityValue(entity, undefined);
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
    return hasIdentity(entity, identity, this);
  }

  /** The key of a changed entity: the row's own key, unless it has another one. */
  changedKey(entity: ObjectLiteral, identity: readonly Json[]): readonly Json[] {
    return this.hasKey(entity, identity) ? identity : identityOf(entity, this.resource, this.metadata);
  }

  conditionOf(identity: readonly Json[]): Condition {
    return conjunction(
      this.resource.identity.map((column, index) => equals(column, identity[index] ?? null)),
    );
  }
}

function embeddedKeysOf(resource: ResourceSchema, { relations }: EntityMetadata): readonly Column[] {
  return relations
    .filter((relation) => relation.isWithJoinColumn && !relation.isLazy && relation.embeddedMetadata)
    .flatMap(({ joinColumns }) =>
      joinColumns.flatMap(({ databaseName }) => resource.columns.get(databaseName) ?? []),
    );
}
