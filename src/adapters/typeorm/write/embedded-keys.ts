import type { EntityMetadata, ObjectLiteral, QueryRunner } from 'typeorm';
import type { Column } from '../../../core/schema/column.js';
import type { Condition } from '../../../core/query/condition.js';
import type { ResourceSchema } from '../../../core/schema/resource-schema.js';
import { setColumns } from './entity-values.js';
import { selectForUpdate } from './select-for-update.js';
import type { WriterTools } from './row-writer.js';

/**
 * The keys of forward relations in embedded objects. TypeORM 0.3 does not load them if the embedded object has no other
 * value, and so is not created; this class creates it.
 */
export class EmbeddedKeys {
  private constructor(
    private readonly model: { readonly resource: ResourceSchema; readonly metadata: EntityMetadata },
    private readonly columns: readonly Column[],
    private readonly tools: WriterTools,
  ) {}

  /** Undefined if the resource has no such column. */
  static of(
    resource: ResourceSchema,
    metadata: EntityMetadata,
    tools: WriterTools,
  ): EmbeddedKeys | undefined {
    const relations = metadata.relations.filter(
      (relation) => relation.isWithJoinColumn && !relation.isLazy && relation.embeddedMetadata,
    );
    const columns = relations.flatMap(({ joinColumns }) =>
      joinColumns.flatMap(({ databaseName }) => resource.columns.get(databaseName) ?? []),
    );
    return columns.length === 0 ? undefined : new EmbeddedKeys({ resource, metadata }, columns, tools);
  }

  /** Assigns the keys of the stored row to a loaded entity. */
  async load(entity: ObjectLiteral, where: Condition, runner: QueryRunner): Promise<void> {
    const { tools, columns } = this;
    const { resource, metadata } = this.model;
    const values = await selectForUpdate(resource, { columns, where }, { runner, tools });
    if (values)
      setColumns(
        entity,
        metadata,
        columns.map((column, index) => ({ column, value: values[index] ?? null })),
      );
  }
}

/** False for an embedded object with forward relations and no column of its own, which TypeORM 0.3 cannot `save`. */
export function savesEmbedded({ embeddeds }: Pick<EntityMetadata, 'embeddeds'>): boolean {
  return embeddeds.every(
    (embedded) =>
      savesEmbedded(embedded) &&
      (embedded.columns.some((column) => !column.isVirtual) ||
        !embedded.relations.some((relation) => relation.isWithJoinColumn)),
  );
}
