import type { EntityMetadata, ObjectLiteral } from 'typeorm';
import type { ColumnMetadata } from 'typeorm/metadata/ColumnMetadata.js';
import type { Json } from '../../../core/errors/rest-exception.js';
import type { ColumnValue } from '../../../core/query/plan.js';
import type { Column } from '../../../core/schema/column.js';
import type { ResourceSchema } from '../../../core/schema/resource-schema.js';

interface ArrayColumn {
  readonly column: Column;
  readonly metadata: ColumnMetadata;
}

/**
 * The columns with arrays of JSON values, which are written after TypeORM's statement: TypeORM would serialize such an
 * array as one JSON text, which is not a PostgreSQL array.
 */
export class JsonArrays {
  private constructor(private readonly columns: readonly ArrayColumn[]) {}

  /** Undefined if the resource has no such column. */
  static of(resource: ResourceSchema, metadata: EntityMetadata): JsonArrays | undefined {
    const columns = [...resource.columns.values()].filter(isJsonArray).flatMap((column) => {
      const found = metadata.columns.find((each) => each.databaseName === column.id);
      return found ? [{ column, metadata: found }] : [];
    });
    return columns.length === 0 ? undefined : new JsonArrays(columns);
  }

  /**
   * Runs TypeORM's statement with placeholders for the entity's arrays (limited to `only` if given), and returns the
   * values that have to be written afterwards.
   */
  async withPlaceholders(
    entity: ObjectLiteral,
    write: () => Promise<void>,
    only?: ReadonlySet<string>,
  ): Promise<readonly ColumnValue[]> {
    const found = this.columns.flatMap(({ column, metadata }) => {
      const items: unknown = only?.has(column.id) === false ? undefined : metadata.getEntityValue(entity);
      return Array.isArray(items) ? [{ column, metadata, value: items as readonly Json[] }] : [];
    });
    for (const { metadata, value } of found) metadata.setEntityValue(entity, new ArrayPlaceholder(value));
    try {
      await write();
    } finally {
      for (const { metadata } of found) restoreArray(entity, metadata);
    }
    return found;
  }
}

function isJsonArray({ type, transform }: Column): boolean {
  return !transform?.outward && type.kind === 'list' && type.storage === 'array' && type.of.kind === 'json';
}

/** Serializes to `{}`, PostgreSQL's empty array. */
class ArrayPlaceholder {
  constructor(readonly items: readonly Json[]) {}

  toJSON(): object {
    return {};
  }
}

function restoreArray(entity: ObjectLiteral, metadata: ColumnMetadata): void {
  const now: unknown = metadata.getEntityValue(entity);
  if (now instanceof ArrayPlaceholder) metadata.setEntityValue(entity, now.items);
}
