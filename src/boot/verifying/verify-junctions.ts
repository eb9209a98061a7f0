import type { DeclarationProblem } from '../../errors/declaration-error.js';
import type { JunctionDescription, ModelDescription } from '../../model/entity-description.js';
import type { Blueprint } from '../compiling/draft.js';

/** An entity on a junction's own table has the junction's columns, and its join table leaves the table to it. */
export function verifyJunctions({ description, drafts }: Blueprint): readonly DeclarationProblem[] {
  const served = new Set(drafts.map(({ entity }) => entity.id));
  const junctions = new Map<string, JunctionDescription>();
  for (const entity of description.entities) {
    for (const relation of entity.relations) {
      if (relation.kind === 'many-to-many' && (served.has(entity.id) || served.has(relation.target)))
        junctions.set(relation.junction.declaredAt, relation.junction);
    }
  }
  return [...junctions.values()].flatMap((junction) => problemsOf(junction, description));
}

function problemsOf(
  junction: JunctionDescription,
  { entities }: ModelDescription,
): readonly DeclarationProblem[] {
  const mapped = entities.find((entity) => entity.id === junction.mappedBy);
  if (!mapped) return [];
  const problems = junction.leftAlone ? [] : [doubledJunction(junction.declaredAt, mapped.name)];
  const missing = [
    ...junction.parent.map((pair) => pair.far),
    ...junction.other.map((pair) => pair.near),
  ].filter((id) => !mapped.columns.some((column) => column.id === id));
  if (missing.length === 0) return problems;
  return [
    ...problems,
    {
      where: junction.declaredAt,
      what: `its join table is the table of the entity ${mapped.name}, which has no column ${missing.map((name) => `"${name}"`).join(' and no ')}`,
      repair: `Name the entity's columns in joinColumn and inverseJoinColumn; known there: ${mapped.columns.map((column) => `"${column.id}"`).join(', ')}.`,
    },
  ];
}

/** TypeORM would create the table twice. */
export function doubledJunction(where: string, entity: string): DeclarationProblem {
  return {
    where,
    what: `its join table is also the table of the entity ${entity}, and TypeORM would create it twice`,
    repair:
      "Write @JoinTable({ name, joinColumn, inverseJoinColumn, synchronize: false }), with the names of the entity's table and columns.",
  };
}
