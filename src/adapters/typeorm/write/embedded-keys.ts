import type { EntityMetadata, ObjectLiteral, QueryRunner } from 'typeorm';
import type { Column } from '../../../core/schema/column.js';
import type { Condition } from '../../../core/query/condition.js';
import type { Resource } from '../../../core/schema/resource.js';
import { setColumns } from './entity-values.js';
import { selectForUpdate } from './select-for-update.js';
import type { WriterTools } from './row-writer.js';

/**
 * The keys of forward relations in embedded objects. TypeORM 0.3 fails to load them where such an object has no value but
 * its relations, so that it is not there yet; here it is made.
 */
export class EmbeddedKeys {
  private readonly columns: readonly Column[];

  constructor(
    private readonly resource: Resource,
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

  /** Puts those of the row on a loaded entity. */
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

/** TypeORM 0.3 cannot `save` an entity with an embedded object that has forward relations and no column of its own. */
export function savesEmbedded({ embeddeds }: Pick<EntityMetadata, 'embeddeds'>): boolean {
  return embeddeds.every(
    (embedded) =>
      savesEmbedded(embedded) &&
      (embedded.columns.some((column) => !column.isVirtual) ||
        !embedded.relations.some((relation) => relation.isWithJoinColumn)),
  );
}
