import { didYouMean } from '../../core/errors/declaration-error.js';
import type { DeclarationProblem } from '../../core/errors/declaration-error.js';
import type { CompilerInput, EntityDeclaration } from '../compiler-input.js';
import { junctionEntities } from '../junction-entities.js';

/** Verifies that `through` refers to many-to-many relations without a declaration of the junction's entity. */
export function verifyThrough(input: CompilerInput): readonly DeclarationProblem[] {
  const known: Known = { drafts: input.drafts, entities: junctionEntities(input) };
  return input.drafts.flatMap((draft) =>
    Object.keys(draft.declaration.options.through ?? {}).flatMap((name) =>
      throughProblem(name, draft, known),
    ),
  );
}

interface Known {
  readonly drafts: readonly EntityDeclaration[];
  /** The entities of junctions. */
  readonly entities: ReadonlyMap<string, string>;
}

function throughProblem(
  name: string,
  draft: EntityDeclaration,
  { drafts, entities }: Known,
): readonly DeclarationProblem[] {
  const { declaration, entity } = draft;
  const where = `${declaration.name}.through.${name}`;
  const known = entity.relations.filter((relation) => relation.kind === 'many-to-many');
  const relation = known.find((each) => each.path === name);
  if (!relation)
    return [
      {
        where,
        what: `"${name}" is not a many-to-many relation of ${declaration.name}`,
        repair: didYouMean(
          name,
          known.map((each) => each.path),
        ),
      },
    ];
  const own = drafts.find((draft) => draft.entity.id === entities.get(relation.junction.entity));
  if (own)
    return [
      {
        where,
        what: `its junction has a declaration of its own, on ${own.declaration.name}`,
        repair: `Give these options to @Restify on ${own.declaration.name}.`,
      },
    ];
  const other = drafts.find((each) => each.entity.id === relation.target);
  return other && relation.junction.inverse !== undefined
    ? duplicateThrough({ draft, name }, { draft: other, name: relation.junction.inverse })
    : [];
}

interface ThroughSide {
  readonly draft: EntityDeclaration;
  readonly name: string;
}

/** Rejects an option that is given on both sides of a junction. */
function duplicateThrough(here: ThroughSide, there: ThroughSide): readonly DeclarationProblem[] {
  const optionsOf = ({ draft, name }: ThroughSide): object =>
    (draft.declaration.options.through as Readonly<Record<string, object>> | undefined)?.[name] ?? {};
  if (here.draft === there.draft && here.name === there.name) return [];
  const both = Object.keys(optionsOf(here)).filter((option) => Object.hasOwn(optionsOf(there), option));
  return both.map((option) => ({
    where: `${here.draft.declaration.name}.through.${here.name}.${option}`,
    what: `${there.draft.declaration.name}.through.${there.name} configures it too, and both use the same junction`,
    repair: 'Give it on one side: it holds for both.',
  }));
}
