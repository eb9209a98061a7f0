import type { DeclarationProblem } from '../../errors/declaration-error.js';
import type { JunctionDescription } from '../../model/entity-description.js';
import type { Blueprint } from '../compiling/draft.js';

/** An entity on a junction's own table needs a join table that leaves the table to it. */
export function verifyJunctions({ description, drafts }: Blueprint): readonly DeclarationProblem[] {
  const served = new Set(drafts.map(({ entity }) => entity.id));
  const junctions = new Map<string, JunctionDescription>();
  for (const entity of description.entities) {
    for (const relation of entity.relations) {
      if (relation.kind === 'many-to-many' && (served.has(entity.id) || served.has(relation.target))) junctions.set(relation.junction.declaredAt, relation.junction);
    }
  }
  return [...junctions.values()]
    .filter((junction) => junction.mappedBy !== undefined && !junction.leftAlone)
    .map((junction) => ({
      where: junction.declaredAt,
      what: `its join table is also the table of the entity ${junction.mappedBy?.split('@')[0] ?? ''}, and TypeORM would create it twice`,
      repair: `Write @JoinTable({ name, joinColumn, inverseJoinColumn, synchronize: false }), with the names of the entity's table and columns.`,
    }));
}
