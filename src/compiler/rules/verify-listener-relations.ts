import { didYouMean } from '../../core/errors/declaration-error.js';
import type { DeclarationProblem } from '../../core/errors/declaration-error.js';
import type { EntityDescription } from '../../core/schema/entity-metadata.js';
import type { CompilerInput } from '../compiler-input.js';

type RelationFlaw = Pick<DeclarationProblem, 'what' | 'repair'>;
type DescribedRelation = EntityDescription['relations'][number];

/** Verifies that `listenerRelations` are relations: first one with a foreign key in the row itself, then any. */
export function verifyListenerRelations({
  drafts,
  description,
}: CompilerInput): readonly DeclarationProblem[] {
  const byId = new Map(description.entities.map((entity) => [entity.id, entity]));
  return drafts.flatMap(({ declaration: { name, options }, entity }) =>
    (options.listenerRelations ?? []).flatMap((path, index): readonly DeclarationProblem[] => {
      const unfit = unfitPath(path, entity, byId);
      return unfit ? [{ where: `${name}.listenerRelations[${index}]`, ...unfit }] : [];
    }),
  );
}

function unfitPath(
  path: string,
  entity: EntityDescription,
  byId: ReadonlyMap<string, EntityDescription>,
): RelationFlaw | undefined {
  const found = relationOf(path, entity);
  if (!found) return unknown(path, entity);
  if (found.kind !== 'to-one')
    return {
      what: `"${found.path}" has no foreign key in ${entity.name}`,
      repair: 'Name a relation with the foreign key, and with a dot what lies behind it.',
    };
  return unfitBeyond(path.slice(found.path.length + 1), found, byId);
}

function unfitBeyond(
  path: string,
  { target }: DescribedRelation,
  byId: ReadonlyMap<string, EntityDescription>,
): RelationFlaw | undefined {
  const entity = byId.get(target);
  if (path === '' || !entity) return undefined;
  const found = relationOf(path, entity);
  return found ? unfitBeyond(path.slice(found.path.length + 1), found, byId) : unknown(path, entity);
}

/** The longest match, because a relation in an embedded object has dots in its own name. */
function relationOf(path: string, { relations }: EntityDescription): DescribedRelation | undefined {
  return relations.find((relation) => path === relation.path || path.startsWith(`${relation.path}.`));
}

function unknown(path: string, { name, relations }: EntityDescription): RelationFlaw {
  return {
    what: `"${path}" is not a relation of ${name}`,
    repair: didYouMean(
      path,
      relations.map((relation) => relation.path),
    ),
  };
}
