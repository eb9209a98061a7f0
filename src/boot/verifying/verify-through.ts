import { didYouMean } from '../../errors/declaration-error.js';
import type { DeclarationProblem } from '../../errors/declaration-error.js';
import type { Blueprint, Draft } from '../compiling/draft.js';

/** `through` names many-to-many relations, and says nothing that a declaration of the junction's entity says. */
export function verifyThrough({ drafts }: Blueprint): readonly DeclarationProblem[] {
  return drafts.flatMap((draft) => Object.keys(draft.declaration.options.through ?? {}).flatMap((name) => problemOf(name, draft, drafts)));
}

function problemOf(name: string, { declaration, entity }: Draft, drafts: readonly Draft[]): readonly DeclarationProblem[] {
  const where = `${declaration.name}.through.${name}`;
  const known = entity.relations.filter((relation) => relation.kind === 'many-to-many');
  const relation = known.find((each) => each.path === name);
  if (!relation) return [{ where, what: `"${name}" is no many-to-many relation of ${declaration.name}`, repair: didYouMean(name, known.map((each) => each.path)) }];
  const own = drafts.find((draft) => draft.entity.id === relation.junction.mappedBy);
  return own ? [{ where, what: `its junction has a declaration of its own, on ${own.declaration.name}`, repair: `Give these options to @Restify on ${own.declaration.name}.` }] : [];
}
