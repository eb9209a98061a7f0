import type { RestifyOptions } from '../decorators/model-options.js';
import type {
  ColumnDescription,
  EntityDescription,
  ToOneDescription,
} from '../core/schema/entity-metadata.js';
import { exposedMember } from './exposed-properties.js';

/** A column that bodies write in the place of several relations. */
export interface PolymorphicColumn {
  readonly column: ColumnDescription;
  readonly relations: readonly ToOneDescription[];
}

/** The columns of an entity that are keys of several tables (contract 5.13), unless bodies write no column of the key. */
export function polymorphicColumns(
  entity: EntityDescription,
  options: RestifyOptions,
): readonly PolymorphicColumn[] {
  const found = entity.relations.flatMap((each) => (each.kind === 'to-one' && each.polymorphic ? each : []));
  if (found.length === 0 || !entity.writable) return [];
  const exposedIn = { entity, options, isServed: () => true };
  const isWritten = (column: ColumnDescription): boolean =>
    (column.insertable || column.updatable) &&
    // A transformed value is not a key.
    !column.transformer &&
    !column.generated &&
    exposedMember(column, exposedIn).writable;
  const written = new Set(entity.columns.filter(isWritten).map(({ id }) => id));
  return entity.columns.flatMap((column) => {
    const relations = found.filter(
      ({ on }) => on.some(({ near }) => near === column.id) && on.some(({ near }) => written.has(near)),
    );
    return relations.length > 0 ? [{ column, relations }] : [];
  });
}
