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
  private readonly columns: readonly Column[];

  constructor(
    private readonly resource: ResourceSchema,
    private readonly metadata: EntityMetadata,
    private readonly tools: WriterTools,
  ) {
    const relations = metadata.relations.filter(
      (relation) => relation.isWithJoinColumn && !relation.isLazy && relation.embeddedMetadata,
    );
    this.columns = relations.flatMap(({ joinColumns }) =>
      joinColumns.flatMap(({ databaseName }) => resource.columns.get(databaseName) ?? []),
    );
  }

  /** Assigns the keys of the stored row to a loaded entity. */
  async load(entity: ObjectLiteral, where: Condition, runner: QueryRunner): Promise<void> {
    const { resource, metadata, tools, columns } = this;
    const values =
      columns.length === 0
        ? undefined
        : await selectForUpdate(resource, { columns, where }, { runner, tools });
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
