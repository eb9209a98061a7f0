import type { EntityMetadata, ObjectLiteral } from 'typeorm';
import type { ColumnMetadata } from 'typeorm/metadata/ColumnMetadata.js';
import type { Json } from '../../../core/errors/rest-exception.js';
import type { ColumnValue } from '../../../core/query/plan.js';
import type { ResourceSchema } from '../../../core/schema/resource-schema.js';

/**
 * A placeholder for an array of JSON values while TypeORM writes: TypeORM would serialize the array as one JSON text,
 * which is not a PostgreSQL array. This placeholder serializes to `{}`, PostgreSQL's empty array.
 */
class ArrayPlaceholder {
  constructor(readonly items: readonly Json[]) {}

  toJSON(): object {
    return {};
  }
}

/**
 * Runs TypeORM's statement with placeholders for the entity's arrays of JSON values (limited to `only` if given), and
 * returns the values that have to be written afterwards.
 */
export async function withArrayPlaceholders(
  entity: ObjectLiteral,
  {
    resource,
    metadata,
    only,
  }: { resource: ResourceSchema; metadata: EntityMetadata; only?: ReadonlySet<string> },
  write: () => Promise<void>,
): Promise<readonly ColumnValue[]> {
  const columns = [...resource.columns.values()].filter(
    ({ id, type, transform }) =>
      !transform?.outward &&
      type.kind === 'list' &&
      type.storage === 'array' &&
      type.of.kind === 'json' &&
      only?.has(id) !== false,
  );
  const found = columns.flatMap((column) => {
    const known = metadata.columns.find((each) => each.databaseName === column.id);
    const items: unknown = known?.getEntityValue(entity);
    return known && Array.isArray(items) ? [{ column, known, value: items as readonly Json[] }] : [];
  });
  for (const { known, value } of found) known.setEntityValue(entity, new ArrayPlaceholder(value));
  try {
    await write();
  } finally {
    for (const { known } of found) restoreArrays(entity, known);
  }
  return found;
}

function restoreArrays(entity: ObjectLiteral, known: ColumnMetadata): void {
  const now: unknown = known.getEntityValue(entity);
  if (now instanceof ArrayPlaceholder) known.setEntityValue(entity, now.items);
}
