import type { EntityDescription, JunctionDescription } from '../core/schema/entity-metadata.js';
import type { CompilerInput } from './compiler-input.js';

/**
 * The application's entities of junctions, by the ORM's internal entity: mapped to the junction's table, with the junction's
 * columns under any property names. A declared one takes precedence.
 */
export function junctionEntities({
  description,
  declarations,
}: Pick<CompilerInput, 'description' | 'declarations'>): ReadonlyMap<string, string> {
  const entities = new Map(description.entities.map((entity) => [entity.id, entity]));
  const declared = new Set(declarations.map(({ entity }) => entity.id));
  return new Map(
    description.entities
      .flatMap(({ relations }) => relations)
      .flatMap((relation): readonly (readonly [string, string])[] => {
        if (relation.kind !== 'many-to-many') return [];
        const { junction } = relation;
        const fitting = junction.mappedBy.filter((id) => isThrough(entities.get(id), junction));
        const chosen = fitting.find((id) => declared.has(id)) ?? fitting[0];
        return chosen === undefined ? [] : [[junction.entity, chosen]];
      }),
  );
}

function isThrough(entity: EntityDescription | undefined, junction: JunctionDescription): boolean {
  return entity !== undefined && missingColumns(junction, entity).length === 0;
}

/** The junction's columns that an entity on its table does not have. */
export function missingColumns(
  junction: JunctionDescription,
  { columns }: EntityDescription,
): readonly string[] {
  return junctionColumns(junction).filter((id) => !columns.some((column) => column.id === id));
}

/** The junction columns of both sides, which are all that the ORM knows of the table. */
export function junctionColumns({ parent, other }: JunctionDescription): readonly string[] {
  return [...parent.map((pair) => pair.referencedColumn), ...other.map((pair) => pair.localColumn)];
}
