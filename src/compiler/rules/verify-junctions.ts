import type { DeclarationProblem } from '../../core/errors/declaration-error.js';
import type {
  EntityDescription,
  JunctionDescription,
  ManyToManyDescription,
  ModelDescription,
} from '../../core/schema/entity-metadata.js';
import type { CompiledModel } from '../compile-resources.js';
import type { CompilerInput } from '../compiler-input.js';
import { junctionEntities, missingColumns } from '../junction-entities.js';

/** An entity on a junction's table whose options would have no effect, because it lacks the junction's columns. */
interface UnusableJunction {
  readonly junction: JunctionDescription;
  readonly entity: EntityDescription;
  readonly declared: boolean;
}

/** Verifies that a declared entity on the table of a served junction has the junction's columns: else its permissions would not apply there. */
export function verifyJunctions(input: CompilerInput, model: CompiledModel): readonly DeclarationProblem[] {
  return unfitEntities(input, model)
    .filter(({ declared }) => declared)
    .map(({ junction, entity }) => ({
      where: junction.declaredAt,
      what: `its join table is the table of the entity ${entity.name}, ${missingOf(junction, entity)}`,
      repair: `Name the entity's columns in joinColumn and inverseJoinColumn; known there: ${entity.columns.map((column) => `"${column.id}"`).join(', ')}. Or leave the relation out: exclude: ['${junction.ownerProperty}'].`,
    }));
}

/** Warnings about served junctions, which do not prevent the start. */
export function junctionWarnings(input: CompilerInput, model: CompiledModel): readonly string[] {
  const unfit = unfitEntities(input, model).filter(({ declared }) => !declared);
  return [
    ...unfit.map(
      ({ junction, entity }) =>
        `${junction.declaredAt}: its join table is the table of the entity ${entity.name}, ${missingOf(junction, entity)}. It is served as a pair of keys.`,
    ),
    ...servedJunctions(input, model).flatMap(({ declaredAt, conflict }) =>
      conflict
        ? [
            `${declaredAt}: its join table is also the table of the entity ${conflict.entity}. At each start \`synchronize\` of the data source drops the ${columnList(conflict.lost)} and adds them again, and what they hold is lost. Add synchronize: false to its @JoinTable, or turn \`synchronize\` of the data source off.`,
          ]
        : [],
    ),
  ];
}

/** Junctions with which TypeORM's `synchronize` fails. */
export function failingJunctions({ entities }: ModelDescription): readonly DeclarationProblem[] {
  const junctions = new Map(
    entities
      .flatMap(({ relations }) => relations.filter(isManyToMany))
      .map(({ junction }) => [junction.declaredAt, junction]),
  );
  return [...junctions.values()].flatMap(({ declaredAt, conflict }) =>
    conflict?.fails === true
      ? [
          {
            where: declaredAt,
            what: `its join table is also the table of the entity ${conflict.entity}, which has another key, and \`synchronize\` of the data source fails with both`,
            repair:
              'Add synchronize: false to its @JoinTable. Where the entities are not yours, turn `synchronize` of the data source off and write migrations.',
          },
        ]
      : [],
  );
}

function missingOf(junction: JunctionDescription, entity: EntityDescription): string {
  const missing = missingColumns(junction, entity).map((name) => `"${name}"`);
  return `which has no column ${missing.join(' and no ')}`;
}

function columnList(names: readonly string[]): string {
  return `column${names.length > 1 ? 's' : ''} ${names.map((name) => `"${name}"`).join(', ')}`;
}

function isManyToMany(relation: EntityDescription['relations'][number]): relation is ManyToManyDescription {
  return relation.kind === 'many-to-many';
}

/** The junctions of exposed relations, each once. */
function servedJunctions(
  { drafts }: CompilerInput,
  { resources }: CompiledModel,
): readonly JunctionDescription[] {
  const shown = new Map(
    resources.map(({ entity, nested }) => [entity, new Set(nested.map(({ name }) => name))]),
  );
  const junctions = new Map<string, JunctionDescription>();
  for (const { entity } of drafts) {
    for (const relation of entity.relations.filter(isManyToMany)) {
      if (shown.get(entity.id)?.has(relation.path) === true)
        junctions.set(relation.junction.declaredAt, relation.junction);
    }
  }
  return [...junctions.values()];
}

/** Junctions without a matching entity, and declared entities that do not match. */
function unfitEntities(input: CompilerInput, model: CompiledModel): readonly UnusableJunction[] {
  const through = junctionEntities(input);
  const entities = new Map(input.description.entities.map((entity) => [entity.id, entity]));
  const declared = new Set(input.drafts.map(({ entity }) => entity.id));
  return servedJunctions(input, model).flatMap((junction) =>
    junction.mappedBy.flatMap((id): readonly UnusableJunction[] => {
      const entity = entities.get(id);
      if (!entity || missingColumns(junction, entity).length === 0) return [];
      const matters = declared.has(id) || !through.has(junction.entity);
      return matters ? [{ junction, entity, declared: declared.has(id) }] : [];
    }),
  );
}
